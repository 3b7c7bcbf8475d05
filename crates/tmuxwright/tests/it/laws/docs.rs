//! Generated documents: each must equal what its declarations yield. `make bless` rewrites them.

use std::fmt::Write;
use std::fs;

use serde_json::Value;
use tmuxwright::config::{
    INTERPRETER_KEYS, INTERPRETERS_TABLE, InterpreterKey, SERVER_KEYS, SERVERS_TABLE, SETTINGS,
    ServerKey, SettingKind,
};
use tmuxwright::context::ToolEntry;
use tmuxwright::contract::{Code, Group, Tier, Toolset};
use tmuxwright::policy::TIER_GROUPS;
use tmuxwright::prompts::{self, Presence};
use tmuxwright::redact::known_shapes;
use tmuxwright::resources::RESOURCES;
use tmuxwright::tools;
use tmuxwright::watch::{
    CONDITION_KINDS, ERROR_PATTERNS, ErrorPattern, HARMLESS_PATTERNS, HarmlessPattern,
};

use super::claims::root;

/// Compares a document with the text generated for it; with `BLESS` set, writes it.
pub(crate) fn must_be(path: &str, wanted: &str) {
    let file = root().join(path);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, wanted).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(found == wanted, "{path} is not current: run `make bless`");
}

/// The same for the part of a document between two comments that name it.
pub(crate) fn section_must_be(path: &str, name: &str, wanted: &str) {
    let (begin, end) =
        (format!("<!-- {name}: made by `make bless` -->\n"), format!("<!-- end of {name} -->"));
    let page = fs::read_to_string(root().join(path)).unwrap();
    let (before, rest) = page.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    must_be(path, &format!("{before}{begin}{wanted}{end}{after}"));
}

fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Read => "reads",
        Tier::Mutate => "changes",
        Tier::MutateOwn => "changes (own only, below `destructive`)",
        Tier::DestroyOwn => "destroys (own only, below `destructive`)",
        Tier::Destroy => "destroys",
        Tier::AsCalled => "as the calls it contains",
    }
}

fn sets(entry: &ToolEntry) -> String {
    let sets = entry.meta.sets.iter().chain([&Toolset::All]).map(|set| format!("`{set}`"));
    let sets = sets.collect::<Vec<_>>().join(", ");
    match entry.meta.group {
        Group::Prompt => format!("{sets}, with `--prompts-as-tools`"),
        _ => sets,
    }
}

/// `target`, `lines?`: the arguments in the order in which they are declared.
fn arguments(schema: &Value) -> Vec<(String, String, bool, String)> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().unwrap();
    properties
        .iter()
        .map(|(name, property)| {
            let kind = match property["enum"].as_array() {
                Some(values) => {
                    values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" \\| ")
                }
                None => property["type"].as_str().unwrap_or_default().to_owned(),
            };
            let needed = required.contains(&Value::from(name.as_str()));
            let text = property["description"].as_str().unwrap_or_default().to_owned();
            (name.clone(), kind, needed, text)
        })
        .collect()
}

#[test]
fn tools_md_is_current() {
    let mut doc = String::from(
        "# Tools\n\nGenerated from the declarations in `crates/tmuxwright/src/tools` by `make bless`.\n",
    );
    for entry in tools::all() {
        let meta = entry.meta;
        write!(doc, "\n## `{}`\n\n{}\n\n", meta.name, meta.description).unwrap();
        writeln!(doc, "{} · group `{}` · toolsets {}\n", tier(meta.tier), meta.group, sets(&entry))
            .unwrap();
        let arguments = arguments(&Value::Object((entry.input_schema)()));
        if arguments.is_empty() {
            doc.push_str("No arguments.\n");
        } else {
            doc.push_str("| argument | type | |\n|---|---|---|\n");
        }
        for (name, kind, needed, text) in arguments {
            let mark = if needed { " (required)" } else { "" };
            writeln!(doc, "| `{name}`{mark} | {kind} | {text} |").unwrap();
        }
        let output = Value::Object((entry.output_schema)());
        let fields: Vec<String> = output["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(|field| format!("`{field}`"))
            .collect();
        writeln!(doc, "\nResult fields (`--structured`): {}.", fields.join(", ")).unwrap();
    }
    doc.push_str(&groups());
    must_be("docs/tools.md", &doc);
}

#[test]
fn resources_md_is_current() {
    let mut doc = String::from(
        "# Resources\n\nGenerated from the declarations in `crates/tmuxwright/src/resources` by `make bless`.\n\n\
         MCP clients read these resources by URI, usually when a person selects one with `@`. A resource is the result of\n\
         one or more tools. Policy, cleaning, redaction, limits and the audit log apply as they do to calls. The tools need\n\
         not be in the enabled toolset; if `--tier` or `--tools` denies a tool, its resources are not offered either.\n\n\
         Values are percent-encoded: pane `%3` is `tmux://panes/%253`, session `a/b` is `tmux://sessions/a%2Fb`.\n\
         `tmux://panes/%3` is accepted too. `resources/list` names objects by id and leaves out the tails.\n\n\
         If several tmux servers can be reached, `?server=NAME` behind a URI chooses one ([servers.md](servers.md)).\n\n\
         | URI | contents | type | tools |\n|---|---|---|---|\n",
    );
    for resource in RESOURCES {
        let calls: Vec<String> = resource
            .calls
            .iter()
            .map(|ask| {
                let arguments: Vec<&str> = ask.arguments.iter().map(|(name, _)| *name).collect();
                match arguments.as_slice() {
                    [] => format!("`{}`", ask.tool),
                    some => format!("`{}({})`", ask.tool, some.join(", ")),
                }
            })
            .collect();
        writeln!(
            doc,
            "| `{}` | {} | {} | {} |",
            resource.template,
            resource.description,
            resource.mime(),
            calls.join(", "),
        )
        .unwrap();
    }
    must_be("docs/resources.md", &doc);
}

/// Names of variables, or none.
fn environment(names: &[&str]) -> String {
    match names {
        [] => "–".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}

/// The groups of tools, with their members.
fn groups() -> String {
    let mut doc = String::from(
        "\n# Groups\n\nGroups for `--tools`. `allow:run_command,@screen` offers only these tools, `deny:@input,kill` all but\n\
         these. A list without a prefix is an allow list. Toolset and tier still apply.\n\n| group | tools |\n|---|---|\n",
    );
    for group in Group::ALL {
        let tools: Vec<String> = tools::all()
            .iter()
            .filter(|entry| entry.meta.group == *group)
            .map(|entry| format!("`{}`", entry.meta.name))
            .collect();
        writeln!(doc, "| `@{group}` | {} |", tools.join(", ")).unwrap();
    }
    for (kind, what) in TIER_GROUPS {
        writeln!(doc, "| `@{kind}` | {what} |").unwrap();
    }
    doc
}

#[test]
fn prompts_md_is_current() {
    let mut doc = String::from(
        "# Prompts\n\nGenerated from the declarations in `crates/tmuxwright/src/prompts` by `make bless`.\n\n\
         Workflows that a person selects in an MCP client, usually with `/`. A prompt is a list of steps with the calls to\n\
         make. It names only tools that are offered: a prompt is hidden if a tool it needs is missing, and steps with other\n\
         missing tools are left out. Arguments are completed with live names and ids. For clients without prompts,\n\
         `--prompts-as-tools` offers them as the tools `list_prompts` and `get_prompt`.\n",
    );
    for prompt in prompts::ALL {
        write!(doc, "\n## `{}`\n\n{}\n\n", prompt.name, prompt.description).unwrap();
        let needs: Vec<String> = prompt.needs.iter().map(|tool| format!("`{tool}`")).collect();
        writeln!(doc, "Needs {}.\n\n| argument | |\n|---|---|", needs.join(", ")).unwrap();
        let mut given = serde_json::Map::new();
        for argument in prompt.arguments {
            let mark = match argument.presence {
                Presence::Required => " (required)".to_owned(),
                Presence::Optional => String::new(),
                Presence::Default(value) => format!(" (default {value})"),
            };
            writeln!(doc, "| `{}`{mark} | {} |", argument.name, argument.description).unwrap();
            if !matches!(argument.presence, Presence::Default(_)) {
                given.insert(argument.name.to_owned(), argument.name.to_uppercase().into());
            }
        }
        let text = prompt.text(given, &|_| true, &[]).unwrap();
        write!(doc, "\nText with all tools offered:\n\n```\n{text}```\n").unwrap();
    }
    must_be("docs/prompts.md", &doc);
}

/// The values of a setting, in words.
fn values(kind: SettingKind) -> String {
    match kind {
        SettingKind::Text(name) => name.replace('|', " or ").to_lowercase(),
        SettingKind::Choice(choices) => choices.join(", "),
        SettingKind::Switch => "true, false".to_owned(),
        SettingKind::Number => "number".to_owned(),
        SettingKind::List(name) => format!("list of {}", name.to_lowercase()),
        SettingKind::Secret(_) => "in the environment only".to_owned(),
    }
}

#[test]
fn config_md_is_current() {
    let mut doc = String::from(
        "# Settings\n\nGenerated from the declarations in `crates/tmuxwright/src/config` by `make bless`.\n\n\
         A flag beats the environment, the environment beats the config file, the file beats the default. The\n\
         file is TOML: `$XDG_CONFIG_HOME/tmuxwright/config.toml` (`~/.config` if unset, on macOS\n\
         `~/Library/Application Support`), or the file named by `--config FILE` or `TMUXWRIGHT_CONFIG`. The\n\
         server refuses to start on an unknown key or an unknown `TMUXWRIGHT_*` variable, and names the nearest known\n\
         one. [policy.md](policy.md) explains the policy.\n\n\
         | key | flag | environment | values | default | |\n|---|---|---|---|---|---|\n",
    );
    for setting in SETTINGS {
        let code = |text: Option<String>| text.map_or("–".to_owned(), |text| format!("`{text}`"));
        let values = values(setting.kind);
        writeln!(
            doc,
            "| `{}` | {} | {} | {values} | {} | {}. |",
            setting.key,
            code(setting.flag.map(|flag| format!("--{flag}"))),
            environment(setting.env),
            setting.default,
            setting.help,
        )
        .unwrap();
    }
    write!(
        doc,
        "\n## Interpreters\n\n\
         `run_in_repl` and `interrupt` know the usual interpreters by their programs and prompts. A table\n\
         `[{INTERPRETERS_TABLE}.NAME]` in the config file adds one, or changes the built-in one of that name: a key\n\
         that is left out keeps its built-in value.\n\n\
         ```toml\n[{INTERPRETERS_TABLE}.toy]\nprograms = [\"toy\", \"toy-client\"]\nprompt = 'toy\\d*> '\n\
         continuation = '\\.\\.> '\nleave = \"bye\"\nerror = \"oops: \"\n```\n\n\
         | key | values | default | |\n|---|---|---|---|\n",
    )
    .unwrap();
    for InterpreterKey { key, kind, default, help, .. } in INTERPRETER_KEYS {
        writeln!(doc, "| `{key}` | {} | {default} | {help}. |", values(*kind)).unwrap();
    }
    write!(
        doc,
        "\n## Servers\n\n\
         A table `[{SERVERS_TABLE}.NAME]` in the config file adds a tmux server beside that of `--socket`, which is called\n\
         `default`. Names hold letters, digits, `-`, `_` and `.`. [servers.md](servers.md) shows how to use them.\n\n\
         ```toml\n[{SERVERS_TABLE}.build1]\nssh = \"me@build1\"\ntier = \"readonly\"\n\n\
         [{SERVERS_TABLE}.box]\nvia = [\"docker\", \"exec\", \"-i\", \"box\"]\n```\n\n\
         | key | values | default | |\n|---|---|---|---|\n",
    )
    .unwrap();
    for ServerKey { key, kind, default, help, .. } in SERVER_KEYS {
        writeln!(doc, "| `{key}` | {} | {default} | {help}. |", values(*kind)).unwrap();
    }
    must_be("docs/config.md", &doc);
}

#[test]
fn until_md_is_current() {
    let mut doc = String::from(
        "# Conditions for waiting\n\nGenerated from the declarations in `crates/tmuxwright/src/watch/conditions` by\n\
         `make bless`.\n\n\
         The argument `until` of `wait_for`, `start_and_watch`, `send_keys` and `paste_text`, and `tmuxwright watch --until`,\n\
         take these conditions.\n\
         The first condition that holds ends the wait; if several hold at once, the first in the list. Only text printed\n\
         after the call began counts. It is matched line by line, whatever the width of the pane, and the echo of text\n\
         typed by a tool never matches.\n\n\
         `send_keys` and `paste_text` begin to watch before the first key. States (`prompt`, `input`, `password`, `exit` of a\n\
         shell's program, `gone`, `idle`, `stable`) count once a program has read the keys; time is counted from then on.\n\
         In a full-screen program the answer has the whole screen, so `stable:0.5` returns it settled.\n\n\
         `since` of `wait_for` takes the cursor of an earlier answer (`wait_for`, `start_and_watch`, `capture_since`, or\n\
         `send_keys` and `paste_text` with `until`): text printed after it counts too. If the cursor's place is no longer in\n\
         the history, all text left counts and the answer says that lines may be missing.\n\n\
         A program waits for input if it shows so: it is blocked in a read of the terminal and in nothing else, it has\n\
         switched the echo off, or the cursor stands behind an unfinished row. A program that only has its terminal open\n\
         for reading does not count; programs that pass keys on (ssh, sudo, script, docker, tmux) count if the row looks\n\
         like a question. At the time-out, `note` names a program that reads without a question.\n\n\
         | condition | holds when |\n|---|---|\n",
    );
    for kind in CONDITION_KINDS {
        writeln!(doc, "| `{}` | {} |", kind.form(), kind.help).unwrap();
    }
    doc.push_str(
        "\n## Error lines\n\n\
         The condition `error` holds when a line matches one of these regular expressions, each given with the programs\n\
         that print such lines and an example. `watch.errors` in the config file replaces the list; then nothing is left\n\
         out of a line either.\n\n```\n",
    );
    for ErrorPattern { source, example, regex } in ERROR_PATTERNS {
        writeln!(doc, "# {source}: {example}\n{regex}").unwrap();
    }
    doc.push_str(
        "```\n\nText that matches one of these reports no error. It is left out of a line before the line is matched.\n\n```\n",
    );
    for HarmlessPattern { meaning, example, regex } in HARMLESS_PATTERNS {
        writeln!(doc, "# {meaning}: {example}\n{regex}").unwrap();
    }
    doc.push_str("```\n");
    must_be("docs/until.md", &doc);
    let schema = tools::all().into_iter().find(|entry| entry.meta.name == "wait_for").unwrap();
    let schema = Value::Object((schema.input_schema)());
    let said = schema["properties"]["until"]["description"].as_str().unwrap();
    for kind in CONDITION_KINDS {
        assert!(
            said.split([' ', '\n', ',', '.', ':']).any(|word| word == kind.name),
            "{}",
            kind.name
        );
    }
}

#[test]
fn errors_md_is_current() {
    let mut doc = String::from(
        "# Errors\n\nGenerated from the declarations in `crates/tmuxwright/src/contract/error.rs` by `make bless`.\n\n\
         A failed call is a result with `isError`, never a protocol error. Its text is `code: message`, then\n\
         `Next: ` and the step to take. The code is also in `_meta` under `tmuxwright/code`.\n\n\
         | code | meaning |\n|---|---|\n",
    );
    for (_, name, meaning) in Code::ALL {
        writeln!(doc, "| `{name}` | {} |", meaning.trim()).unwrap();
    }
    must_be("docs/errors.md", &doc);
}

#[test]
fn tool_table_in_the_readme_is_current() {
    let mut table = String::from("| tool | | arguments |\n|---|---|---|\n");
    for entry in tools::all().iter().filter(|entry| entry.meta.group != Group::Prompt) {
        let arguments = arguments(&Value::Object((entry.input_schema)()));
        let arguments: Vec<String> = arguments
            .iter()
            .map(|(name, _, needed, _)| if *needed { name.clone() } else { format!("{name}?") })
            .collect();
        let meta = entry.meta;
        writeln!(table, "| `{}` | {} | {} |", meta.name, meta.description, arguments.join(", "))
            .unwrap();
    }
    section_must_be("README.md", "tools", &table);
}

#[test]
fn redaction_md_is_current() {
    let mut doc = String::from(
        "# Shapes of secrets\n\nGenerated from the table in `crates/tmuxwright/src/redact/table` by `make bless`.\n\n\
         With `policy.redact`, text of these shapes is replaced by `[redacted:KIND]`. [security.md](security.md) says where, and\n\
         what is not found. In the examples `{36}` stands for so many letters and digits, `{hex32}`, `{upper16}` and\n\
         `{digit9}` for those of a kind; the secret is between `⟦` and `⟧`, or is the whole example. A test tries every\n\
         example, and a similar text beside it that must stay.\n\n\
         *gitleaks* names a rule in the\n\
         [configuration of gitleaks](https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml), *GitHub secret\n\
         scanning* a pattern in its\n\
         [list](https://docs.github.com/en/code-security/secret-scanning/introduction/supported-secret-scanning-patterns).\n\n\
         | kind | example | left alone | source |\n|---|---|---|---|\n",
    );
    let code = |text: &str| format!("`{}`", text.trim_end().replace('\n', "↵").replace('|', "\\|"));
    for shape in known_shapes() {
        let (secret, harmless) = (code(shape.secret), code(shape.harmless));
        writeln!(doc, "| `{}` | {secret} | {harmless} | {} |", shape.kind, shape.source).unwrap();
    }
    must_be("docs/redaction.md", &doc);
}
