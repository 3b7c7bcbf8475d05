//! A command's result, as `run_command` and `command_result` give it.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::Instant;

use crate::context::Cx;
use crate::contract::{Form, Output};
use crate::run::{Alternate, Facts, Job, Status, Waiting};
use terminal::transcript::{self, Wish};

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
    #[serde(skip)]
    job: Arc<Job>,
    #[serde(skip)]
    wish: Wish,
    #[serde(skip)]
    limit: Option<usize>,
    #[serde(skip)]
    shown_lines: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum StatusName {
    Running,
    Exited,
    Lost,
}

impl CommandResult {
    /// The job as it is now, and the part of its output that is wanted.
    pub(crate) fn of(job: Arc<Job>, wish: Wish) -> Self {
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
            job,
            wish,
            limit: None,
            shown_lines: 0,
        }
    }

    /// The same with another limit on the characters that are shown; 0 is none.
    pub(crate) fn with_limit(self, limit: Option<usize>) -> Self {
        Self { limit, ..self }
    }
}

impl Output for CommandResult {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
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
        let facts = facts.join(" · ");
        if self.output.is_empty() { facts } else { format!("{facts}\n{}", self.output) }
    }

    fn whole(&mut self, max: usize) -> String {
        let limit = self.limit.take();
        if let Wish::Default { .. } = self.wish {
            let wish = std::mem::replace(&mut self.wish, Wish::From(1));
            self.limit(max);
            self.wish = wish;
        } else {
            self.limit(max);
        }
        self.limit = limit;
        self.text()
    }

    fn limit(&mut self, max: usize) {
        let Self { job, wish, limit, .. } = self;
        let max = limit.unwrap_or(max);
        match job.read(|view| transcript::show(view, wish, &job.id, max)) {
            Ok(shown) => {
                self.output = shown.text;
                self.total_lines = shown.total_lines;
                self.shown_lines = shown.shown_lines;
                self.truncated = shown.truncated;
                self.next = shown.next;
            }
            Err(error) => {
                self.truncated = true;
                self.note = Some(format!("the kept output cannot be read: {error}"));
            }
        }
    }
}

/// A time as people say it.
pub(crate) fn seconds(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

/// Waits for a job, and tells the client now and then that it goes on.
pub(crate) async fn wait(cx: &Cx, job: &Job, patience: Duration) {
    let message = || format!("{} runs, {} lines so far", job.id, job.lines());
    cx.wait(patience, job.wait(Instant::now() + patience), message).await;
}
