//! The answer of a tool that types into a pane: the pane, or the end of the wait it was asked for.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;

use super::wait::WaitResult;
use crate::contract::{Form, Notice, Output};
use crate::host::PaneState;

/// The answer of a tool that types.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Typed {
    /// Everything was typed.
    Into {
        /// Pane id.
        pane_id: String,
    },
    /// Everything was typed, and the wait has ended.
    Waited(WaitResult),
}

impl Typed {
    /// The answer without a wait.
    pub(crate) fn into_pane(pane: &PaneState) -> Self {
        Self::Into { pane_id: pane.pane.to_string() }
    }
}

/// The fields of a wait, of which only the pane is always there: MCP clients do not accept alternatives.
impl JsonSchema for Typed {
    fn schema_name() -> Cow<'static, str> {
        "Typed".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = WaitResult::json_schema(generator);
        schema.insert("required".to_owned(), json!(["pane_id"]));
        schema
    }
}

impl Output for Typed {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        match self {
            Self::Into { pane_id } => format!("typed into {pane_id}"),
            Self::Waited(wait) => wait.text(),
        }
    }

    fn notices(&self) -> Vec<Notice> {
        match self {
            Self::Into { .. } => Vec::new(),
            Self::Waited(wait) => wait.notices(),
        }
    }

    fn limit(&mut self, max: usize) {
        if let Self::Waited(wait) = self {
            wait.limit(max);
        }
    }
}
