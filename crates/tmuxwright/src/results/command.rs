//! The answer of `run_command` and `command_result`: a command's state and a part of its output.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;
use terminal::transcript::{self, Excerpt, LineSelection, Mask};

use super::words::{FactRow, count, field, joined, seconds};
use crate::contract::{Form, Output};
use crate::run::{AlternateScreen, AwaitedInput, Job, JobFacts, JobStatus};

/// Limit of the output that is written to the directory `audit.full`.
const MAX_AUDITED_CHARS: usize = 10_000_000;

/// The note of a command that has ended with its pane's first process, where no keeper runs.
const LACKS_END: &str = "its shell exited on another system: its last output may be missing";

/// A command's state, with the part of its output that was asked for.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CommandResult {
    /// Command id, for command_result.
    command_id: String,
    /// Pane the command runs in.
    pane_id: String,
    /// Whether the command runs, has exited, or can no longer be followed (lost).
    status: CommandStatus,
    /// Exit code.
    exit_code: Option<i32>,
    /// Output, or the part that was asked for.
    output: String,
    /// Number of lines printed so far.
    total_lines: u64,
    /// Whether lines that were asked for are left out.
    truncated: bool,
    /// Run time so far, in seconds.
    duration: f64,
    /// Input that the command waits for: line, password or keys.
    waiting: Option<&'static str>,
    /// Whether the command has used the alternate screen, which is not part of the output.
    alternate_screen: bool,
    /// User and host of the shell, such as `me@host`, unless it is reached directly.
    ran_as: Option<String>,
    /// The next line to ask for with `from`.
    next: Option<u64>,
    /// Remark on the shell, or on lost or missing output.
    note: Option<String>,
    /// Number of output lines in `output`.
    #[serde(skip)]
    shown_lines: u64,
    /// The whole output, for the audit folder.
    #[serde(skip)]
    full_output: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CommandStatus {
    Running,
    Exited,
    Lost,
}

impl CommandResult {
    /// The present state of a job, with the wanted part of its output in at most `max_chars` characters
    /// (0: no limit). `mask` hides secrets before anything is cut.
    pub(crate) fn read(
        job: &Job,
        selection: &LineSelection,
        max_chars: usize,
        keep_full: bool,
        mask: Option<&Mask<'_>>,
    ) -> Self {
        let mut result = Self::of(job);
        match read(job, selection, max_chars, mask) {
            Ok(shown) => {
                result.output = shown.text;
                result.total_lines = shown.total_lines;
                result.shown_lines = shown.shown_lines;
                result.truncated = shown.truncated;
                result.next = shown.next;
            }
            Err(error) => {
                result.truncated = true;
                result.note = Some(format!("the stored output cannot be read: {error}"));
            }
        }
        if keep_full {
            let whole = match selection {
                LineSelection::BothEnds { .. } => &LineSelection::From(1),
                part => part,
            };
            let full = read(job, whole, MAX_AUDITED_CHARS, mask);
            result.full_output = full.ok().map(|shown| shown.text);
        }
        result
    }

    /// The state of a job, without its output.
    fn of(job: &Job) -> Self {
        let facts = job.facts();
        let JobFacts { status, waiting, reading, duration, alternate, unkept, may_lack_end } =
            facts;
        let (status, exit_code, lost) = match status {
            JobStatus::Running => (CommandStatus::Running, None, None),
            JobStatus::Exited(code) => (CommandStatus::Exited, Some(code), None),
            JobStatus::Lost(why) => (CommandStatus::Lost, None, Some(why)),
        };
        let notes = [
            lost.map(|why| format!("lost: {why}")),
            reading,
            alternate.map(|when| match when {
                AlternateScreen::Active => {
                    "uses the alternate screen; capture_pane shows it".to_owned()
                }
                AlternateScreen::Left => {
                    "used the alternate screen, which is not in the output".to_owned()
                }
            }),
            unkept.map(|(lines, why)| format!("{lines} lines could not be stored: {why}")),
            may_lack_end.then(|| LACKS_END.to_owned()),
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
                AwaitedInput::Line => "line",
                AwaitedInput::Password => "password",
                AwaitedInput::Keys => "keys",
            }),
            alternate_screen: alternate.is_some(),
            ran_as: job.ran_as().map(str::to_owned),
            next: None,
            note: (!note.is_empty()).then_some(note),
            shown_lines: 0,
            full_output: None,
        }
    }

    /// Puts a remark on the shell before the others.
    pub(crate) fn add_note(&mut self, note: Option<String>) {
        self.note = joined(note, self.note.take());
    }

    /// The first line of the answer.
    fn facts(&self) -> String {
        let state = match (self.status, self.exit_code) {
            (CommandStatus::Running, _) => "running".to_owned(),
            (CommandStatus::Lost, _) => "lost".to_owned(),
            (CommandStatus::Exited, Some(code)) => format!("exit {code}"),
            (CommandStatus::Exited, None) => "exited".to_owned(),
        };
        let waiting = self.waiting.map(|input| match input {
            "line" => "waits for a line of input: send_keys",
            "password" => "waits for a password: send_keys",
            _ => "waits for keys: send_keys",
        });
        let mut lines = count(self.total_lines, "line");
        if self.shown_lines < self.total_lines {
            lines.push_str(&format!(", {} shown", self.shown_lines));
        }
        lines.extend(self.next.map(|next| format!(", next line {next}")));
        FactRow::new(state)
            .maybe(waiting)
            .fact(seconds(self.duration))
            .fact(lines)
            .fact(format!("command {} in {}", self.command_id, self.pane_id))
            .maybe(self.ran_as.as_ref().map(|identity| format!("as {}", field(identity))))
            .maybe(self.note.as_ref())
            .into()
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

/// The selected part of a job's output. Notices in it name the call that shows more.
fn read(
    job: &Job,
    wish: &LineSelection,
    max_chars: usize,
    mask: Option<&Mask<'_>>,
) -> io::Result<Excerpt> {
    let call = |arguments: &str| format!("command_result(command_id={:?}, {arguments})", job.id);
    job.read(|view| transcript::excerpt(&view.masked(mask), wish, max_chars, &call))
}

fn with_output(facts: String, output: &str) -> String {
    if output.is_empty() { facts } else { format!("{facts}\n{output}") }
}
