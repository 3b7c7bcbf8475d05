//! The names that hand-written pages may use: tools, settings, resources, files and tests that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tmuxwright::config::{
    INTERPRETER_KEYS, INTERPRETERS_TABLE, InterpreterKey, SERVER_KEYS, SERVERS_TABLE, SETTINGS,
    ServerKey,
};
use tmuxwright::contract::Code;
use tmuxwright::registry::SERVER_ARGUMENT;
use tmuxwright::resources::RESOURCES;
use tmuxwright::watch::{CONDITION_KINDS, ConditionKind};
use tmuxwright::{cli, prompts, tools};

/// The project's directory.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The parts of a text between backticks.
pub(crate) fn backticked(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Splits `name(one, two)` into the name and its arguments.
pub(crate) fn signature(text: &str) -> (&str, Vec<&str>) {
    match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((name, arguments)) => (name, arguments.split(", ").collect()),
        None => (text, Vec::new()),
    }
}

/// The names of everything that the program has.
pub(crate) struct KnownNames {
    /// Flags, environment variables, config keys and tables, commands, conditions, errors, groups,
    /// URI templates of resources.
    names: BTreeSet<String>,
    /// The arguments of each tool.
    arguments: BTreeMap<&'static str, BTreeSet<String>>,
    /// The arguments of each prompt.
    prompts: BTreeMap<&'static str, BTreeSet<String>>,
    /// The fields in the results of each tool, at any depth.
    fields: BTreeMap<&'static str, BTreeSet<String>>,
}

impl KnownNames {
    pub(crate) fn new() -> Self {
        let mut names = BTreeSet::new();
        for setting in SETTINGS {
            names.insert(setting.key.to_owned());
            names.extend(setting.env.iter().map(|env| (*env).to_owned()));
            names.extend(setting.key.rsplit_once('.').map(|(table, _)| format!("[{table}]")));
        }
        for InterpreterKey { key, .. } in INTERPRETER_KEYS {
            names.insert(format!("{INTERPRETERS_TABLE}.NAME.{key}"));
        }
        names.insert(format!("[{INTERPRETERS_TABLE}.NAME]"));
        for ServerKey { key, .. } in SERVER_KEYS {
            names.insert(format!("{SERVERS_TABLE}.NAME.{key}"));
        }
        names.insert(format!("[{SERVERS_TABLE}.NAME]"));
        names.insert(SERVER_ARGUMENT.to_owned());
        let mut command = cli::command();
        command.build();
        for argument in command.get_arguments() {
            names.extend(argument.get_long().map(|long| format!("--{long}")));
            names.extend(argument.get_env().map(|env| env.to_string_lossy().into_owned()));
        }
        names.extend(command.get_subcommands().map(|sub| format!("tmuxwright {}", sub.get_name())));
        names.extend(CONDITION_KINDS.iter().map(ConditionKind::form));
        names.extend(RESOURCES.iter().map(|resource| resource.template.to_owned()));
        names.extend(["logging/setLevel", "notifications/message"].map(str::to_owned));
        names.extend(Code::ALL.iter().map(|(_, name, _)| (*name).to_owned()));
        let (mut arguments, mut fields) = (BTreeMap::new(), BTreeMap::new());
        for entry in tools::all() {
            names.insert(format!("@{}", entry.meta.group));
            let schema = (entry.input_schema)();
            let known = schema["properties"].as_object().unwrap().keys().cloned().collect();
            arguments.insert(entry.meta.name, known);
            let mut known = BTreeSet::new();
            properties(&(entry.output_schema)(), &mut known);
            fields.insert(entry.meta.name, known);
        }
        let prompts = prompts::ALL.iter().map(|prompt| {
            let known = prompt.arguments.iter().map(|argument| argument.name.to_owned());
            (prompt.name, known.collect())
        });
        names.insert("completion/complete".to_owned());
        Self { names, arguments, prompts: prompts.collect(), fields }
    }

    /// Whether a name exists: a tool or prompt, also with arguments (`tool(one, two)`) or a
    /// field of its result (`tool→field`), a method, a setting, a command, a condition, an error, a group,
    /// a resource, a file of the project, or a test (`area::file::name`).
    pub(crate) fn has(&self, item: &str) -> bool {
        if let Some((tool, field)) = item.split_once('→') {
            return self.fields.get(tool).is_some_and(|fields| fields.contains(field));
        }
        if let Some((file, test)) = item.rsplit_once("::") {
            let file = file.replace("::", "/");
            let file = root().join(format!("crates/tmuxwright/tests/it/{file}.rs"));
            let text = fs::read_to_string(file).unwrap_or_default();
            return text.contains(&format!("fn {test}("));
        }
        let (tool, wanted) = signature(item);
        let is_tool = |known: &BTreeSet<String>| wanted.iter().all(|name| known.contains(*name));
        self.arguments.get(tool).or_else(|| self.prompts.get(tool)).is_some_and(is_tool)
            || self.names.contains(item)
            || (item.contains('/') && root().join(item).is_file())
    }

    /// Whether any tool has such an argument.
    pub(crate) fn has_argument(&self, name: &str) -> bool {
        self.arguments.values().any(|known| known.contains(name))
    }
}

/// The names of all properties in a schema.
fn properties(schema: &Map<String, Value>, found: &mut BTreeSet<String>) {
    if let Some(Value::Object(own)) = schema.get("properties") {
        found.extend(own.keys().cloned());
    }
    for inner in schema.values().filter_map(Value::as_object) {
        properties(inner, found);
    }
}

#[test]
fn only_existing_names_are_known() {
    let known = KnownNames::new();
    for item in [
        "run_command",
        "run_command(timeout, cwd)",
        "list_panes→exit_code",
        "run_and_wait(command, pane)",
        "completion/complete",
        "--socket",
        "--help",
        "TMUXWRIGHT_TMUX",
        "limits.block",
        "[limits]",
        "not_found",
        "text:TEXT",
        "exit",
        "tmuxwright demo",
        "logging/setLevel",
        "@pane",
        "tmux://panes/{pane}/content",
        "docs/errors.md",
        "laws::claims::only_existing_names_are_known",
    ] {
        assert!(known.has(item), "{item}");
    }
    for item in [
        "run_commands",
        "run_command(timeout, cmd)",
        "list_panes→code",
        "run_and_wait(command, pane_id)",
        "--sockets",
        "TMUXWRIGHT_TMUXES",
        "limits.blocks",
        "not_there",
        "texts:TEXT",
        "tmuxwright demos",
        "tmux://panes/{pane}/contents",
        "docs/nothing.md",
        "docs/",
        "laws::claims::nothing",
        "",
    ] {
        assert!(!known.has(item), "{item}");
    }
}
