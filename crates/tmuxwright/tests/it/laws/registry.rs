//! Laws on the list of tools: names, descriptions, flat schemas, byte budgets, reviewed snapshots.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tmuxwright::config::Settings;
use tmuxwright::context::ToolEntry;
use tmuxwright::contract::{Code, Tier, Toolset};
use tmuxwright::policy::{Ceiling, Policy, group_names};
use tmuxwright::registry::Registry;
use tmuxwright::tools;

fn registry(toolset: Toolset, structured: bool) -> Registry {
    let ceiling = Ceiling::Destructive;
    let policy = Policy { ceiling, toolset, prompts_as_tools: true, ..Policy::default() };
    Registry::new(tools::all(), Arc::new(policy), structured)
}

/// The bytes of a toolset in a model's context: names, descriptions and input schemas.
fn bytes_of(toolset: Toolset) -> usize {
    let size = |tool: &rmcp::model::Tool| {
        json!({"name": tool.name, "description": tool.description, "inputSchema": *tool.input_schema})
            .to_string()
            .len()
    };
    let policy = Policy { ceiling: Ceiling::Destructive, toolset, ..Policy::default() };
    Registry::new(tools::all(), Arc::new(policy), false).wire().map(size).sum()
}

/// Every schema below this one, itself included.
fn schemas(schema: &Value, found: &mut Vec<Map<String, Value>>) {
    match schema {
        Value::Object(map) => {
            found.push(map.clone());
            map.values().for_each(|inner| schemas(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| schemas(inner, found)),
        _ => {}
    }
}

#[test]
fn names_are_short_words_and_unique() {
    let mut names = HashSet::new();
    for ToolEntry { meta, .. } in tools::all() {
        let name = meta.name;
        assert!(names.insert(name), "{name} is there twice");
        assert!(name.len() <= 30, "{name} is too long with a client's prefix");
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
    }
}

#[test]
fn descriptions_are_one_or_two_sentences() {
    for ToolEntry { meta, input_schema, .. } in tools::all() {
        let described = |text: &str| text.ends_with('.') && text.len() <= 160;
        assert!(described(meta.description), "{}: {}", meta.name, meta.description);
        assert!(!meta.title.is_empty() && !meta.title.ends_with('.'), "{}", meta.name);
        let schema = input_schema();
        for (argument, property) in schema["properties"].as_object().unwrap() {
            let text = property["description"].as_str().unwrap_or_default();
            assert!(described(text), "{}.{argument}: {text:?}", meta.name);
        }
    }
}

#[test]
fn schemas_use_only_widely_supported_keywords() {
    for ToolEntry { meta, input_schema, output_schema, .. } in tools::all() {
        for (side, schema) in [("input", input_schema()), ("output", output_schema())] {
            let at = format!("{} {side}", meta.name);
            assert_eq!(schema["type"], "object", "{at}");
            let mut all = Vec::new();
            schemas(&Value::Object(schema), &mut all);
            for part in all {
                for word in
                    ["$ref", "$defs", "$schema", "anyOf", "oneOf", "allOf", "const", "nullable"]
                {
                    assert!(!part.contains_key(word), "{at} has {word}: {part:?}");
                }
                let is_schema = part.get("type").is_some_and(Value::is_string);
                assert!(!part.get("type").is_some_and(Value::is_array), "{at}: {part:?}");
                assert!(!is_schema || !part.contains_key("format"), "{at}: {part:?}");
                if part.get("type") == Some(&json!("array")) {
                    assert!(part.contains_key("items"), "{at}: {part:?}");
                }
            }
        }
        let input = input_schema();
        assert_eq!(input["additionalProperties"], false, "{}", meta.name);
    }
}

#[test]
fn tool_lists_stay_within_their_byte_budgets() {
    for (toolset, budget) in
        [(Toolset::Debug, 3_500), (Toolset::Agent, 11_000), (Toolset::All, 31_000)]
    {
        let size = bytes_of(toolset);
        assert!(size <= budget, "{toolset:?}: {size} bytes of {budget}");
    }
    for tool in registry(Toolset::All, false).wire() {
        let schema = Value::Object((*tool.input_schema).clone()).to_string();
        assert!(schema.len() < 2_000, "{}: {} bytes", tool.name, schema.len());
    }
}

#[test]
fn hints_follow_from_the_tier() {
    for offered in registry(Toolset::All, false).wire() {
        let entry = tools::all().into_iter().find(|entry| entry.meta.name == offered.name).unwrap();
        let hints = offered.annotations.as_ref().unwrap();
        let destroys = matches!(entry.meta.tier, Tier::DestroyOwn | Tier::Destroy);
        assert_eq!(hints.read_only_hint, Some(entry.meta.tier == Tier::Read), "{}", offered.name);
        assert_eq!(hints.destructive_hint, Some(destroys), "{}", offered.name);
        assert!(hints.idempotent_hint.is_some() && hints.open_world_hint.is_some());
    }
}

/// Tools that clients load at once, and the one that needs a person's consent.
#[test]
fn titles_hints_and_metadata_follow_the_design() {
    let always = ["run_command", "wait_for", "capture_pane", "send_keys", "list_panes"];
    for tool in registry(Toolset::All, false).wire() {
        let name = tool.name.as_ref();
        assert!(tool.title.as_ref().is_some_and(|title| !title.is_empty()), "{name}");
        let hints = tool.annotations.as_ref().unwrap();
        let all = [
            hints.read_only_hint,
            hints.destructive_hint,
            hints.idempotent_hint,
            hints.open_world_hint,
        ];
        assert!(all.iter().all(Option::is_some), "{name}: {all:?}");
        let said = tool.meta.as_ref().map(|meta| Value::Object(meta.0.clone()));
        let wanted = match name {
            _ if always.contains(&name) => Some(json!({"anthropic/alwaysLoad": true})),
            "kill_server" => Some(json!({"anthropic/requiresUserInteraction": true})),
            _ => None,
        };
        assert_eq!(said, wanted, "{name}");
    }
}

#[test]
fn exactly_the_listed_tools_can_be_found() {
    let choices = group_names().flat_map(|group| [format!("@{group}"), format!("deny:@{group}")]);
    let choices: Vec<Option<String>> = choices.map(Some).chain([None]).collect();
    for toolset in [Toolset::Debug, Toolset::Agent, Toolset::Primitives, Toolset::All] {
        for ceiling in [Ceiling::Readonly, Ceiling::Mutating, Ceiling::Destructive] {
            for choice in &choices {
                let choice = choice.as_ref().map(|choice| choice.parse().unwrap());
                let policy = Policy { ceiling, toolset, tool_filter: choice, ..Policy::default() };
                let registry = Registry::new(tools::all(), Arc::new(policy), false);
                let listed: HashSet<String> =
                    registry.wire().map(|tool| tool.name.to_string()).collect();
                for ToolEntry { meta, .. } in tools::all() {
                    match registry.find(meta.name) {
                        Ok(_) => assert!(listed.contains(meta.name), "{}", meta.name),
                        Err(error) => {
                            assert!(!listed.contains(meta.name), "{}", meta.name);
                            assert_eq!(error.code, Code::Denied);
                            assert!(error.hint.unwrap().contains("a person can"));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn only_structured_mode_promises_structure() {
    assert!(registry(Toolset::All, false).wire().all(|tool| tool.output_schema.is_none()));
    assert!(registry(Toolset::All, true).wire().all(|tool| tool.output_schema.is_some()));
}

#[test]
fn tool_list_is_the_same_every_time() {
    let list = || serde_json::to_string(&registry(Toolset::All, true).wire().collect::<Vec<_>>());
    assert_eq!(list().unwrap(), list().unwrap());
}

/// One snapshot per tool, so that a review sees every change to its wire form.
#[test]
fn wire_form_of_tools_matches_their_snapshots() {
    for tool in registry(Toolset::All, true).wire() {
        insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../../snapshots"}, {
            insta::assert_json_snapshot!(tool.name.to_string(), tool);
        });
    }
    let kept = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots")).unwrap();
    let mut kept: Vec<String> =
        kept.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    kept.sort();
    let mut wanted: Vec<String> =
        tools::all().iter().map(|entry| format!("{}.snap", entry.meta.name)).collect();
    wanted.sort();
    assert_eq!(kept, wanted, "a snapshot without a tool, or a tool without a snapshot");
}

#[test]
fn default_settings_are_the_documented_ones() {
    let settings = Settings::default();
    assert_eq!(settings.policy.ceiling, Ceiling::Mutating);
    assert_eq!(settings.policy.toolset, Toolset::Agent);
    assert_eq!(settings.text_limit, 16_000);
}
