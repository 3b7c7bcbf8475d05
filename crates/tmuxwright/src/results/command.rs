//! A command's result, as `run_command` and `command_result` give it.

use schemars::JsonSchema;
use serde::Serialize;
use terminal::transcript::{self, LineSelection};

use super::words::seconds;
use crate::contract::{Form, Output};
use crate::run::{Alternate, Facts, Job, Status, Waiting};

/// The most characters of output that are written to the audit folder.
const MAX_FULL_CHARS: usize = 10_000_000;

/// What is known of a command.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CommandResult {
    /// The command's id, for command_result.
    command_id: String,
    /// Where it runs.
    pane_id: String,
    /// Whether it runs, has exited, or was lost.
    status: StatusName,
    /// Its exit code.
    exit_code: Option<i32>,
    /// What it printed, or the part that was asked for.
    output: String,
    /// How many lines it printed.
    total_lines: u64,
    /// Whether some of what was asked for is left out.
    truncated: bool,
    /// How long it took, or has taken so far, in seconds.
    duration: f64,
    /// What it waits for: line, password or keys.
    waiting: Option<&'static str>,
    /// Whether it has taken over the screen; what it shows there is not in the output.
    alternate_screen: bool,
    /// The next line to ask for with `from`.
    next: Option<u64>,
    /// What else there is to say.
    note: Option<String>,
    /// Lines of the output in the text.
    #[serde(skip)]
    shown_lines: u64,
    /// All of the output, if it is kept for the audit folder.
    #[serde(skip)]
    full_output: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StatusName {
    Running,
    Exited,
    Lost,
}

impl CommandResult {
    /// The state of a job now, with the part of its output that is wanted, in at most `max_chars`
    /// characters (0: no limit).
    pub(crate) fn read(job: &Job, wish: &LineSelection, max_chars: usize, keep_full: bool) -> Self {
        let mut result = Self::of(job);
        match job.read(|view| transcript::show(view, wish, &job.id, max_chars)) {
            Ok(shown) => {
                result.output = shown.text;
                result.total_lines = shown.total_lines;
                result.shown_lines = shown.shown_lines;
                result.truncated = shown.truncated;
                result.next = shown.next;
            }
            Err(error) => {
                result.truncated = true;
                result.note = Some(format!("the kept output cannot be read: {error}"));
            }
        }
        if keep_full {
            let whole = match wish {
                LineSelection::BothEnds { .. } => &LineSelection::From(1),
                part => part,
            };
            let full = job.read(|view| transcript::show(view, whole, &job.id, MAX_FULL_CHARS));
            result.full_output = full.ok().map(|shown| shown.text);
        }
        result
    }

    /// The state of a job, without its output.
    fn of(job: &Job) -> Self {
        let Facts { status, waiting, duration, alternate, unkept } = job.facts();
        let (status, exit_code, lost) = match status {
            Status::Running => (StatusName::Running, None, None),
            Status::Exited(code) => (StatusName::Exited, Some(code), None),
            Status::Lost(why) => (StatusName::Lost, None, Some(why)),
        };
        let notes = [
            lost.map(|why| format!("lost: {why}")),
            alternate.map(|when| match when {
                Alternate::Now => "has taken over the screen; capture_pane shows it".to_owned(),
                Alternate::Before => {
                    "had taken over the screen; that is not in the output".to_owned()
                }
            }),
            unkept.map(|(lines, why)| format!("{lines} lines could not be kept: {why}")),
        ];
        let note = notes.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        Self {
            command_id: job.id.clone(),
            pane_id: job.pane.to_string(),
            status,
            exit_code,
            output: String::new(),
            total_lines: 0,
            truncated: false,
            duration: (duration.as_secs_f64() * 1e4).round() / 1e4,
            waiting: waiting.map(|waiting| match waiting {
                Waiting::Line => "line",
                Waiting::Password => "password",
                Waiting::Keys => "keys",
            }),
            alternate_screen: alternate.is_some(),
            next: None,
            note: (!note.is_empty()).then_some(note),
            shown_lines: 0,
            full_output: None,
        }
    }

    /// The first line of the answer.
    fn facts(&self) -> String {
        let mut facts = vec![match (self.status, self.exit_code) {
            (StatusName::Running, _) => "running".to_owned(),
            (StatusName::Lost, _) => "lost".to_owned(),
            (StatusName::Exited, Some(code)) => format!("exit {code}"),
            (StatusName::Exited, None) => "exited".to_owned(),
        }];
        facts.extend(self.waiting.map(|what| {
            let what = match what {
                "line" => "a line of input",
                "password" => "a password",
                _ => "keys",
            };
            format!("waits for {what}: send_keys")
        }));
        facts.push(seconds(self.duration));
        let Self { total_lines, shown_lines, .. } = self;
        facts.push(match total_lines {
            1 => "1 line".to_owned(),
            _ if shown_lines < total_lines => format!("{total_lines} lines, {shown_lines} shown"),
            _ => format!("{total_lines} lines"),
        });
        facts.push(format!("command {} in {}", self.command_id, self.pane_id));
        facts.extend(self.note.clone());
        facts.join(" · ")
    }
}

impl Output for CommandResult {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        with_output(self.facts(), &self.output)
    }

    fn full_text(&self) -> String {
        with_output(self.facts(), self.full_output.as_ref().unwrap_or(&self.output))
    }
}

fn with_output(facts: String, output: &str) -> String {
    if output.is_empty() { facts } else { format!("{facts}\n{output}") }
}
