//! Answers that consist of ids: of new objects, of the selected pane. The field names are a contract.

use schemars::JsonSchema;
use serde::Serialize;

use super::words::{FactRow, field};
use crate::contract::{Form, Output};
use crate::host::{CreatedPane, PaneState};

/// The ids of a new pane and of the window and session it is in.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CreatedIds {
    /// Session id.
    session_id: String,
    /// Window id.
    window_id: String,
    /// Pane id.
    pane_id: String,
    /// Index of the window in its session.
    index: u32,
    /// Session name.
    session: String,
}

impl From<CreatedPane> for CreatedIds {
    fn from(created: CreatedPane) -> Self {
        Self {
            session_id: created.session.to_string(),
            window_id: created.window.to_string(),
            pane_id: created.pane.to_string(),
            index: created.index,
            session: created.session_name,
        }
    }
}

impl Output for CreatedIds {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        FactRow::new(format!("pane {}", self.pane_id))
            .fact(format!("window {} (index {})", self.window_id, self.index))
            .fact(format!("session {} {}", self.session_id, field(&self.session)))
            .into()
    }
}

/// The active pane after a selection, with its window and session.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SelectedIds {
    /// Session id.
    session_id: String,
    /// Id of the session's current window.
    window_id: String,
    /// Id of that window's active pane.
    pane_id: String,
}

impl From<PaneState> for SelectedIds {
    fn from(row: PaneState) -> Self {
        Self {
            session_id: row.session.to_string(),
            window_id: row.window.to_string(),
            pane_id: row.pane.to_string(),
        }
    }
}

impl Output for SelectedIds {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        FactRow::new(format!("selected pane {}", self.pane_id))
            .fact(format!("window {}", self.window_id))
            .fact(format!("session {}", self.session_id))
            .into()
    }
}
