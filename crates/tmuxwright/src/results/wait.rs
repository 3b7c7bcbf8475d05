//! The answer of `wait_for` and `start_and_watch`: which condition ended the wait, and where.

use schemars::JsonSchema;
use serde::Serialize;
use terminal::text::{inline, keep_tail};

use super::words::seconds;
use crate::contract::{Form, Notice, Output};

/// The event of a wait that ended before any condition held.
pub(crate) const TIMEOUT: &str = "timeout";

/// What ended a wait.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WaitResult {
    /// The condition that held, as it was given; `exit` if the program ended first; or `timeout`.
    pub(crate) event: String,
    /// Where.
    pub(crate) pane_id: String,
    /// The line that made it hold.
    #[serde(rename = "match")]
    pub(crate) matched: String,
    /// The newest of what the pane printed meanwhile.
    pub(crate) output: String,
    /// How long it took, in seconds.
    pub(crate) elapsed: f64,
    /// What the pane does now: prompt, line, password, raw, running or exited.
    pub(crate) state: String,
    /// Where capture_since goes on reading.
    pub(crate) cursor: Option<String>,
    /// The command's id, for command_result.
    pub(crate) command_id: Option<String>,
    /// Its exit code, if it has ended.
    pub(crate) exit_code: Option<i32>,
    /// Whether the begin of the output is left out.
    pub(crate) truncated: bool,
    /// What else there is to say.
    pub(crate) note: Option<String>,
}

impl Output for WaitResult {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let mut facts = vec![inline(&self.event)];
        if !self.matched.is_empty() {
            facts.push(format!("`{}`", inline(&self.matched)));
        }
        facts.push(seconds(self.elapsed));
        facts.push(format!("{} {}", self.pane_id, self.state));
        facts.extend(self.command_id.as_ref().map(|id| format!("command {id}")));
        facts.extend(self.cursor.as_ref().map(|cursor| format!("cursor {cursor}")));
        if self.truncated {
            facts.push("beginning cut; capture_pane with lines shows more".to_owned());
        }
        facts.extend(self.note.clone());
        let facts = facts.join(" · ");
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
