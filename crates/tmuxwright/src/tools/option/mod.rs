//! Tools on tmux options, hooks, environment variables and formats, and the parts of an answer that
//! several of them share.

mod eval_format;
mod set_environment;
mod set_option;
mod show_environment;
mod show_hooks;
mod show_option;

use schemars::JsonSchema;
use serde::Serialize;

use crate::actions::options::{OptionHolder, Scope};
use crate::context::ToolEntry;
use crate::results::words::{FactRow, field};

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<show_option::ShowOption>(),
    ToolEntry::of::<set_option::SetOption>(),
    ToolEntry::of::<show_environment::ShowEnvironment>(),
    ToolEntry::of::<set_environment::SetEnvironment>(),
    ToolEntry::of::<show_hooks::ShowHooks>(),
    ToolEntry::of::<eval_format::EvalFormat>(),
];

/// The object that an option is read from or set on.
#[derive(Serialize, JsonSchema)]
struct HolderFields {
    /// Scope of the option.
    scope: Scope,
    /// Whether the value is the global one.
    global: bool,
    /// Session that has the option.
    session_id: Option<String>,
    /// Window that has the option.
    window_id: Option<String>,
    /// Pane that has the option.
    pane_id: Option<String>,
}

impl HolderFields {
    fn new(holder: &OptionHolder) -> Self {
        Self {
            scope: holder.scope,
            global: holder.is_global(),
            session_id: holder.id(Scope::Session),
            window_id: holder.id(Scope::Window),
            pane_id: holder.id(Scope::Pane),
        }
    }

    /// The holder as one fact: `session $0`, `global window`, `server`.
    fn fact(&self) -> String {
        let scope = self.scope.name();
        let ids = [&self.session_id, &self.window_id, &self.pane_id];
        match ids.into_iter().flatten().next() {
            Some(id) => format!("{scope} {id}"),
            None if self.global => format!("global {scope}"),
            None => scope.to_owned(),
        }
    }
}

/// The holder of environment variables as one fact: `session $0`, or `global`.
fn environment_fact(session_id: Option<&String>) -> String {
    session_id.map_or_else(|| "global".to_owned(), |id| format!("session {id}"))
}

/// `name=value`, each quoted if it could be misread.
fn assignment(name: &str, value: &str) -> String {
    let name = match name.contains('=') {
        true => serde_json::Value::from(name).to_string(),
        false => field(name),
    };
    format!("{name}={}", field(value))
}

/// A row of facts about a list, with the rows of the list below.
fn list_text(facts: FactRow, rows: impl Iterator<Item = String>) -> String {
    [String::from(facts)].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_is_read_in_one_way_only() {
        assert_eq!(assignment("mouse", "on"), "mouse=on");
        assert_eq!(assignment("@a=b", "c"), "\"@a=b\"=c");
        assert_eq!(assignment("@a", "x · inherited"), "@a=\"x · inherited\"");
        assert_eq!(assignment("@a", ""), "@a=\"\"");
    }
}
