//! What hand-written pages may name: things that exist.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tmux_mcp::config::SETTINGS;
use tmux_mcp::tool::{Code, Entry};
use tmux_mcp::watch::KINDS;
use tmux_mcp::{cli, tools};

/// The project's directory.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What stands in backticks in a text.
pub(crate) fn named(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Whether there is such a thing: a tool, `tool.argument` or `tool.field`, a flag, an environment
/// variable, a config key, an error code, a condition, a command, a file, or a test `file::name`.
pub(crate) fn exists(thing: &str) -> bool {
    if let Some((file, test)) = thing.split_once("::") {
        let path = root().join(format!("crates/server/tests/it/{file}.rs"));
        let text = fs::read_to_string(path).unwrap_or_default();
        return text.contains(&format!("fn {test}("));
    }
    if let Some(flag) = thing.strip_prefix("--") {
        let command = cli::command();
        let known = command.get_arguments().filter_map(|argument| argument.get_long());
        return known.chain(["version", "help"]).any(|known| known == flag);
    }
    let is_tool = |name: &str, entry: &Entry| entry.meta.name == name;
    let tool = |name: &str| tools::all().into_iter().find(|entry| is_tool(name, entry));
    let has = |(name, part): (&str, &str)| {
        tool(name).is_some_and(|entry| {
            let input = Value::Object((entry.input_schema)());
            let output = Value::Object((entry.output_schema)());
            has_property(&input, part) || has_property(&output, part)
        })
    };
    tool(thing).is_some()
        || thing.split_once('.').is_some_and(has)
        || SETTINGS.iter().any(|it| it.key == thing || it.env == Some(thing))
        || Code::ALL.iter().any(|(_, code, _)| *code == thing)
        || KINDS.iter().any(|kind| kind.name == thing.trim_end_matches(':'))
        || cli::command().get_subcommands().any(|command| command.get_name() == thing)
        || (thing.contains('/') && root().join(thing).is_file())
}

/// Whether a schema has a property of this name at any depth.
fn has_property(schema: &Value, name: &str) -> bool {
    match schema {
        Value::Object(map) => {
            let here = map.get("properties").and_then(|properties| properties.get(name));
            here.is_some() || map.values().any(|inner| has_property(inner, name))
        }
        _ => false,
    }
}

#[test]
fn only_what_exists_exists() {
    for thing in [
        "run_command",
        "run_command.timeout",
        "list_panes.exit_code",
        "--socket",
        "TMUX_MCP_TMUX",
        "limits.block",
        "not_found",
        "text:",
        "exit",
        "demo",
        "docs/errors.md",
        "claims::only_what_exists_exists",
    ] {
        assert!(exists(thing), "{thing}");
    }
    for thing in [
        "run_commands",
        "run_command.tiemout",
        "--sockets",
        "TMUX_MCP_TMUXES",
        "limits.blocks",
        "not_there",
        "texts:",
        "demos",
        "docs/nothing.md",
        "docs/",
        "claims::nothing",
        "",
    ] {
        assert!(!exists(thing), "{thing}");
    }
}
