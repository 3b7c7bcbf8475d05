//! The answer of `wait_for`, `start_and_watch` and tools that type and wait: the condition that ended the
//! wait, and its pane.

use schemars::JsonSchema;
use serde::Serialize;
use terminal::text::{inline, keep_tail};

use super::words::{FactRow, field, joined, seconds};
use crate::contract::{Form, Notice, Output};

/// The `event` of a wait that timed out.
pub(crate) const TIMEOUT: &str = "timeout";

/// The end of a wait.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WaitResult {
    /// Condition that held, as given in `until`; `exit` if the program ended first; or `timeout`.
    pub(crate) event: String,
    /// Pane in which it held.
    pub(crate) pane_id: String,
    /// Line that matched.
    #[serde(rename = "match")]
    pub(crate) matched: String,
    /// Newest output printed during the wait; in a full-screen program, its screen.
    pub(crate) output: String,
    /// Time waited, in seconds.
    pub(crate) elapsed: f64,
    /// State of the pane now: prompt, line, password, raw, running, exited, gone, or unknown if tmux does not answer.
    pub(crate) state: String,
    /// Cursor with which capture_since, and `since` of wait_for, continue.
    pub(crate) cursor: Option<String>,
    /// Command id, for command_result.
    pub(crate) command_id: Option<String>,
    /// Exit code of the command, if it has ended.
    pub(crate) exit_code: Option<i32>,
    /// Whether the beginning of the output is cut.
    pub(crate) truncated: bool,
    /// Remark on the shell, missing output, unread keys, or a program that reads without a question.
    pub(crate) note: Option<String>,
}

impl WaitResult {
    /// Puts a remark before the others.
    pub(crate) fn add_note(&mut self, note: Option<String>) {
        self.note = joined(note, self.note.take());
    }
}

impl Output for WaitResult {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let command = self.command_id.as_ref().map(|id| match self.exit_code {
            Some(code) => format!("command {id} exit {code}"),
            None => format!("command {id}"),
        });
        let matched = Some(&self.matched).filter(|line| !line.is_empty());
        let facts: String = FactRow::new(field(&self.event))
            .maybe(matched.map(|line| format!("match {}", field(line))))
            .fact(seconds(self.elapsed))
            .fact(format!("{} {}", self.pane_id, self.state))
            .maybe(command)
            .maybe(self.cursor.as_ref().map(|cursor| format!("cursor {cursor}")))
            .maybe(self.note.as_ref())
            .flag(self.truncated, "beginning cut; capture_pane with lines shows more")
            .into();
        if self.output.is_empty() { facts } else { format!("{facts}\n{}", self.output) }
    }

    fn notices(&self) -> Vec<Notice> {
        if self.event == TIMEOUT {
            return Vec::new();
        }
        let Self { event, pane_id, state, .. } = self;
        let event = inline(event);
        let after = seconds(self.elapsed);
        let command = self.command_id.as_ref().map(|id| format!(", command {id}"));
        let text = format!(
            "{event} in {pane_id}{} after {after}; now {state}",
            command.unwrap_or_default()
        );
        let mut facts = vec![
            ("event", event),
            ("pane_id", pane_id.clone()),
            ("state", state.clone()),
            ("elapsed", self.elapsed.to_string()),
        ];
        facts.extend(self.command_id.clone().map(|id| ("command_id", id)));
        facts.extend(self.exit_code.map(|code| ("exit_code", code.to_string())));
        vec![Notice { text, facts }]
    }

    fn limit(&mut self, max: usize) {
        self.truncated |= keep_tail(&mut self.output, max) > 0;
    }
}
