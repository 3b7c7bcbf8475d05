//! The ids of the objects that a call used, as in answers, arguments and audit records.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Ids of the objects that a call used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectIds {
    /// The pane, from the answer or else from the resolved target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pane_id: Option<String>,
    /// The window, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_id: Option<String>,
    /// The session, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The command of `run_command` or `start_and_watch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_id: Option<String>,
}

impl ObjectIds {
    /// The ids in an answer or in arguments.
    pub fn of(value: Option<&Map<String, Value>>) -> Self {
        let text = |name: &str| Some(value?.get(name)?.as_str()?.to_owned());
        Self {
            pane_id: text("pane_id"),
            window_id: text("window_id"),
            session_id: text("session_id"),
            command_id: text("command_id"),
        }
    }

    /// These ids, with missing ones taken from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            pane_id: self.pane_id.or(other.pane_id),
            window_id: self.window_id.or(other.window_id),
            session_id: self.session_id.or(other.session_id),
            command_id: self.command_id.or(other.command_id),
        }
    }
}
