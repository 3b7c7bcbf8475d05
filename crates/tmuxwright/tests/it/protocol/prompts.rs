//! Tests of prompts: their calls fit the tools, and following them gives the promised result.

#![expect(clippy::panic, reason = "helpers fail like tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use testkit::{Raw, TmuxServer, until, wait_until};
use tmuxwright::contract::Toolset;
use tmuxwright::policy::{Ceiling, Policy};
use tmuxwright::prompts::{self, Presence, Prompt};
use tmuxwright::registry::Registry;
use tmuxwright::tools;

use crate::launch;
use crate::protocol::{INVALID_PARAMS, initialized};
use crate::support::string;

const TOOLSETS: [Toolset; 4] = [Toolset::Debug, Toolset::Agent, Toolset::Primitives, Toolset::All];
const TIERS: [Ceiling; 3] = [Ceiling::Readonly, Ceiling::Mutating, Ceiling::Destructive];

/// The program with these flags, after the handshake.
async fn ready(tmux: &TmuxServer, args: &[&str]) -> Raw {
    initialized(launch(tmux).args(args)).await
}

async fn get(raw: &mut Raw, name: &str, arguments: Value) -> Value {
    raw.request("prompts/get", json!({"name": name, "arguments": arguments})).await
}

/// The text of a prompt, which is one message of the user.
async fn text(raw: &mut Raw, name: &str, arguments: Value) -> String {
    let reply = get(raw, name, arguments).await;
    let messages = reply["result"]["messages"].as_array().unwrap_or_else(|| panic!("{reply}"));
    assert_eq!(messages.len(), 1, "{reply}");
    assert_eq!(messages[0]["role"], "user", "{reply}");
    assert_eq!(messages[0]["content"]["type"], "text", "{reply}");
    string(&messages[0]["content"]["text"])
}

async fn prompt_names(raw: &mut Raw) -> Vec<String> {
    let reply = raw.request("prompts/list", json!({})).await;
    let prompts = reply["result"]["prompts"].as_array().unwrap_or_else(|| panic!("{reply}"));
    prompts.iter().map(|prompt| string(&prompt["name"])).collect()
}

/// The calls in a text, each with the number of its step.
fn calls(text: &str) -> Vec<(u32, &str, Map<String, Value>)> {
    let mut step = 0;
    let mut calls = Vec::new();
    for line in text.lines() {
        if let Some((number, _)) = line.split_once(". ").filter(|_| !line.starts_with(' ')) {
            step = number.parse().unwrap_or(step);
        }
        let call = line.strip_prefix("   ").and_then(|call| call.split_once(' '));
        if let Some((tool, arguments)) = call {
            calls.push((step, tool, serde_json::from_str(arguments).unwrap()));
        }
    }
    calls
}

/// An argument with its references to earlier results filled in.
fn filled(value: &Value, answers: &BTreeMap<u32, Value>) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| filled(item, answers)).collect(),
        Value::String(text) => {
            let inner = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
            let Some((field, step)) = inner.and_then(|inner| inner.split_once(" of step ")) else {
                return value.clone();
            };
            let answer = &answers[&step.parse().unwrap()][field];
            assert!(answer.is_string(), "{text}: {answers:?}");
            answer.clone()
        }
        _ => value.clone(),
    }
}

/// Makes the calls of a prompt in their order, and returns the result of each step.
async fn follow(raw: &mut Raw, text: &str) -> BTreeMap<u32, Value> {
    let mut answers = BTreeMap::new();
    for (step, tool, arguments) in calls(text) {
        let arguments: Map<String, Value> =
            arguments.iter().map(|(name, value)| (name.clone(), filled(value, &answers))).collect();
        let call = json!({"name": tool, "arguments": arguments});
        let reply = raw.request("tools/call", call.clone()).await;
        assert_ne!(reply["result"]["isError"], true, "{call}: {reply}");
        answers.insert(step, reply["result"]["structuredContent"].clone());
    }
    answers
}

/// The first mismatch of a value and a schema. The schemas of tools are flat and use few keywords.
fn mismatch(schema: &Value, value: &Value) -> Option<String> {
    let fits = match schema["type"].as_str()? {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    if !fits || schema["enum"].as_array().is_some_and(|values| !values.contains(value)) {
        return Some(format!("{value} is not {schema}"));
    }
    let items = value.as_array().into_iter().flatten();
    if let Some(mismatch) = items.filter_map(|item| mismatch(&schema["items"], item)).next() {
        return Some(mismatch);
    }
    let fields = value.as_object()?;
    let properties = schema["properties"].as_object()?;
    let mut required = schema["required"].as_array().into_iter().flatten();
    if let Some(name) = required.find(|name| !fields.contains_key(name.as_str().unwrap())) {
        return Some(format!("{name} is missing"));
    }
    fields.iter().find_map(|(name, value)| match properties.get(name) {
        Some(property) => mismatch(property, value),
        None => Some(format!("there is no {name}")),
    })
}

/// Arguments for a prompt: all, or only the required ones.
fn arguments(prompt: &Prompt, all: bool) -> Map<String, Value> {
    let needed = prompt.arguments.iter().filter(|it| all || it.presence == Presence::Required);
    needed
        .map(|it| (it.name.to_owned(), json!(if it.name == "timeout" { "7" } else { "x" })))
        .collect()
}

#[test]
fn prompt_calls_fit_schemas_of_offered_tools() {
    let (mut written, mut used) = (0, BTreeSet::new());
    for (toolset, ceiling) in TOOLSETS.iter().flat_map(|set| TIERS.map(|tier| (*set, tier))) {
        let policy = Policy { ceiling, toolset, ..Policy::default() };
        let registry = Registry::new(tools::all(), Arc::new(policy), false);
        let has = |tool: &str| registry.find(tool).is_ok();
        for prompt in prompts::offered(&has) {
            for all in [false, true] {
                let text = prompt.text(arguments(prompt, all), &has, &[]).unwrap();
                let at = format!("{} with {toolset:?} at {ceiling}: {text}", prompt.name);
                assert!(text.len() <= 1_200, "{} bytes: {at}", text.len());
                used.extend(
                    calls(&text).iter().map(|(_, tool, _)| (prompt.name, tool.to_string())),
                );
                for (_, tool, arguments) in calls(&text) {
                    let schema = registry.find(tool).unwrap_or_else(|e| panic!("{e}: {at}"));
                    let schema = Value::Object((*schema.schema).clone());
                    let mismatch = mismatch(&schema, &Value::Object(arguments.clone()));
                    assert_eq!(mismatch, None, "{tool} {arguments:?}: {at}");
                    for until in arguments.get("until").into_iter().flat_map(|it| it.as_array()) {
                        for condition in until {
                            let name = condition.as_str().unwrap().split(':').next();
                            let known =
                                tmuxwright::watch::CONDITION_KINDS.iter().map(|kind| kind.name);
                            assert!(known.into_iter().any(|it| Some(it) == name), "{at}");
                        }
                    }
                    written += 1;
                }
            }
        }
    }
    assert!(written > 100, "{written}");
    for prompt in prompts::ALL {
        let is_used = |tool: &&&str| used.contains(&(prompt.name, (**tool).to_string()));
        let idle: Vec<_> = prompt.needs.iter().filter(|tool| !is_used(tool)).collect();
        assert!(idle.is_empty(), "{} does not need {idle:?}", prompt.name);
    }
}

#[test]
fn schema_check_finds_every_mismatch() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}, "side":
        {"type": "string", "enum": ["left"]}, "list": {"type": "array", "items": {"type": "string"}}},
        "required": ["n"]});
    assert_eq!(mismatch(&schema, &json!({"n": 1, "side": "left", "list": ["x"]})), None);
    for value in [
        json!({}),
        json!({"n": "1"}),
        json!({"n": 1, "side": "right"}),
        json!({"n": 1, "list": [2]}),
        json!({"n": 1, "other": 2}),
    ] {
        assert!(mismatch(&schema, &value).is_some(), "{value}");
    }
}

#[test]
fn prompts_are_named_and_described() {
    for Prompt { name, title, description, arguments, .. } in prompts::ALL {
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
        assert!(!title.is_empty() && !title.ends_with('.'), "{name}: {title}");
        let descriptions =
            [*description].into_iter().chain(arguments.iter().map(|it| it.description));
        for text in descriptions {
            assert!(text.ends_with('.') && text.len() <= 120, "{name}: {text}");
        }
    }
}

#[tokio::test]
async fn prompts_are_offered_only_with_their_tools() {
    let tmux = TmuxServer::new();
    let all: Vec<&str> = prompts::ALL.iter().map(|prompt| prompt.name).collect();
    for (args, expected) in [
        (&[][..], &all[..]),
        (&["--toolset", "debug"], &["diagnose_failing_pane"]),
        (&["--tier", "readonly"], &["diagnose_failing_pane"]),
        (&["--toolset", "primitives"], &all[..3]),
        (
            &["--tools", "deny:kill,capture_pane"],
            &["run_and_wait", "build_dev_workspace", "interrupt_gracefully"],
        ),
        (&["--tools", "list_panes"], &[]),
    ] {
        let mut raw = ready(&tmux, args).await;
        assert_eq!(prompt_names(&mut raw).await, expected, "{args:?}");
        let reply =
            get(&mut raw, "debug_service", json!({"server_command": "x", "client_command": "y"}))
                .await;
        let is_offered = expected.contains(&"debug_service");
        assert_eq!(reply["error"]["code"].is_null(), is_offered, "{args:?}: {reply}");
    }
    let mut raw = ready(&tmux, &["--tools", "deny:interrupt,command_result"]).await;
    let prompt = text(&mut raw, "run_and_wait", json!({"command": "make"})).await;
    assert!(prompt.contains("   send_keys {") && !prompt.contains("command_result"), "{prompt}");
    assert_eq!(calls(&prompt).iter().map(|(step, ..)| *step).collect::<Vec<_>>(), [1, 2]);
}

#[tokio::test]
async fn prompt_list_is_identical_in_every_revision() {
    let tmux = TmuxServer::new();
    let mut lists = Vec::new();
    for version in ["2024-11-05", "2025-06-18", "2025-11-25", "2025-11-25"] {
        let mut raw = launch(&tmux).raw();
        let hello = raw.initialize(version).await;
        let capabilities = &hello["result"]["capabilities"];
        assert_eq!(capabilities["prompts"], json!({}), "{hello}");
        assert_eq!(capabilities["completions"], json!({}), "{hello}");
        lists.push(raw.request("prompts/list", json!({})).await.to_string());
    }
    assert!(lists.windows(2).all(|pair| pair[0] == pair[1]), "{lists:#?}");
    assert!(lists[0].contains("\"title\":\"Run a command and wait\""), "{}", lists[0]);
    assert!(lists[0].contains("(default 60).\",\"required\":false"), "{}", lists[0]);
}

#[tokio::test]
async fn prompt_errors_name_the_nearest_match() {
    let tmux = TmuxServer::new();
    let mut raw = ready(&tmux, &[]).await;
    for (name, arguments, words) in [
        ("run_and_wate", json!({}), "`run_and_wait`"),
        ("zzz", json!({}), "run_and_wait, diagnose_failing_pane"),
        ("run_and_wait", json!({}), "`command` is missing"),
        ("run_and_wait", json!({"comand": "x"}), "did you mean `command`?"),
        ("run_and_wait", json!({"command": "x", "timeout": "soon"}), "`soon` is not a number"),
        ("run_and_wait", json!({"command": {}}), "expected text"),
    ] {
        let reply = get(&mut raw, name, arguments).await;
        assert_eq!(reply["error"]["code"], INVALID_PARAMS, "{reply}");
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
    for (method, params) in [
        ("prompts/get", json!({"name": 3})),
        ("prompts/get", json!({"name": "run_and_wait", "arguments": "x"})),
        ("prompts/list", json!({"cursor": "x"})),
    ] {
        let reply = raw.request(method, params).await;
        assert_eq!(reply["error"]["code"], INVALID_PARAMS, "{reply}");
    }
}

#[tokio::test]
async fn prompts_as_tools_setting_adds_prompt_tools() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).mcp().await;
    let arguments = json!({"name": "run_and_wait", "arguments": {"command": "make \"all\""}});
    for tool in ["list_prompts", "get_prompt"] {
        assert!(mcp.tools().await.iter().all(|it| it.name != tool), "{tool}");
        let error = mcp.call(tool, arguments.clone()).await.err("denied");
        assert!(error.contains("--prompts-as-tools"), "{error}");
    }
    mcp.close().await;
    let mut raw = ready(&tmux, &[]).await;
    let prompt = text(&mut raw, "run_and_wait", arguments["arguments"].clone()).await;
    let launch_with = launch(&tmux).env("TMUXWRIGHT_PROMPTS_AS_TOOLS", "1");
    let mcp = launch_with.args(&["--structured"]).mcp().await;
    assert_eq!(mcp.call("get_prompt", arguments).await.text(), prompt);
    let list = mcp.call("list_prompts", json!({})).await;
    let list = list.ok();
    let listed: Vec<String> =
        list["prompts"].as_array().unwrap().iter().map(|it| string(&it["name"])).collect();
    assert_eq!(listed, prompt_names(&mut raw).await);
    let timeout = json!({"name": "timeout", "description": "Seconds for which the first call waits.", "default": "60"});
    assert_eq!(list["prompts"][0]["arguments"][2], timeout);
    let rows = mcp.call("list_prompts", json!({})).await.text();
    assert!(rows.starts_with("run_and_wait · Run a command"), "{rows}");
    assert!(rows.contains("\n  command · required · "), "{rows}");
    assert!(rows.contains("\n  timeout · default 60 · Seconds"), "{rows}");
    // Some clients send an object as text.
    let sent = json!({"name": "diagnose_failing_pane", "arguments": "{\"pane\": \"%3\"}"});
    assert!(mcp.call("get_prompt", sent).await.text().contains("{\"target\":\"%3\""));
    let error = mcp.call("get_prompt", json!({"name": "debug_servce"})).await.err("not_found");
    assert!(error.contains("`debug_service`"), "{error}");
    let long = json!({"name": "run_and_wait", "arguments": {"command": "x".repeat(20_000)}});
    mcp.call("get_prompt", long).await.err("invalid_argument");
    mcp.close().await;
    let mcp = launch(&tmux).args(&["--toolset", "debug", "--prompts-as-tools"]).mcp().await;
    let rows = mcp.call("list_prompts", json!({})).await.text();
    assert_eq!(rows.lines().filter(|row| !row.starts_with(' ')).count(), 1, "{rows}");
    mcp.close().await;
}

#[tokio::test]
async fn run_and_wait_reports_the_exit_code() {
    let tmux = TmuxServer::new();
    let mut raw = ready(&tmux, &["--structured"]).await;
    let command = "echo one; echo 'error: two'; sleep 2; (exit 3)";
    let prompt = text(&mut raw, "run_and_wait", json!({"command": command, "timeout": "1"})).await;
    let answers = follow(&mut raw, &prompt).await;
    assert_eq!(answers[&1]["status"], "running");
    assert_eq!(answers[&2]["exit_code"], 3);
    assert_eq!(answers[&2]["output"], "one\nerror: two");
    assert_eq!(answers[&3]["output"], "1-one\n2:error: two");
    assert_eq!(answers[&4]["at_prompt"], true);
    let arguments = json!({"command": "echo \"$TMUX_PANE\"", "pane": "%0"});
    let prompt = text(&mut raw, "run_and_wait", arguments).await;
    assert_eq!(follow(&mut raw, &prompt).await[&1]["output"], "%0");
}

#[tokio::test]
async fn diagnose_failing_pane_finds_the_cause_by_reading() {
    let tmux = TmuxServer::new();
    tmux.type_line("%0", "echo 'fatal: no such thing'; seq 300; sh -c 'exit 4'");
    until("the command has failed", async || tmux.screen("%0").contains("\n300\n").then_some(()))
        .await;
    for args in [&["--tier", "readonly"][..], &["--toolset", "debug"]] {
        let mut raw = ready(&tmux, &[args, &["--structured"]].concat()).await;
        let prompt = text(&mut raw, "diagnose_failing_pane", json!({"pane": "main:0.0"})).await;
        let before = tmux.screen("%0");
        let answers = follow(&mut raw, &prompt).await;
        assert_eq!(tmux.screen("%0"), before);
        let shown = answers[&3].to_string();
        assert!(shown.contains("%0") && shown.contains("fatal: no such thing"), "{shown}");
    }
}

#[tokio::test]
async fn build_dev_workspace_leaves_an_attachable_session() {
    let tmux = TmuxServer::new();
    for (session, toolset) in [("dev", "agent"), ("a \"b\" 'c'", "primitives")] {
        let mut raw = ready(&tmux, &["--structured", "--toolset", toolset]).await;
        let log = "while :; do echo tick; sleep 1; done";
        let arguments = json!({"session": session, "log_command": log});
        let prompt = text(&mut raw, "build_dev_workspace", arguments.clone()).await;
        let answers = follow(&mut raw, &prompt).await;
        let panes = answers[&5]["panes"].as_array().unwrap();
        let sizes: Vec<(u64, u64)> = panes
            .iter()
            .map(|pane| (pane["width"].as_u64().unwrap(), pane["height"].as_u64().unwrap()))
            .collect();
        assert_eq!(panes.len(), 3, "{panes:?}");
        assert!(panes.iter().all(|pane| pane["session"] == session && pane["window"] == "work"));
        // One pane on the left, two on the right; the log is the lower one.
        assert!(sizes[0].1 > sizes[1].1 && sizes[1].0 == sizes[2].0, "{sizes:?}");
        let log = string(&panes[2]["pane_id"]);
        until("the log is followed", async || tmux.screen(&log).contains("tick").then_some(()))
            .await;
        let again = raw
            .request(
                "prompts/get",
                json!({"name": "build_dev_workspace", "arguments": {"session": session}}),
            )
            .await;
        let again = string(&again["result"]["messages"][0]["content"]["text"]);
        assert_eq!(calls(&again).len(), 3, "{again}");
        let (_, tool, arguments) = calls(&again).swap_remove(0);
        let reply = raw.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(reply.to_string().contains("exists: "), "{reply}");
        raw.hang_up();
        assert!(raw.wait().await.success());
        let kept = tmux.tmux(&["list-sessions", "-F", "#{session_name}"]);
        assert!(kept.lines().any(|name| name == session), "{kept}");
    }
}

#[tokio::test]
async fn interrupt_gracefully_brings_the_shell_back() {
    let tmux = TmuxServer::new();
    tmux.type_line("%0", "sleep 5000");
    wait_until("sleep runs", || {
        let command = tmux.tmux(&["display-message", "-p", "-t", "%0", "#{pane_current_command}"]);
        (command == "sleep").then_some(())
    });
    let mut raw = ready(&tmux, &["--structured"]).await;
    let prompt = text(&mut raw, "interrupt_gracefully", json!({"pane": "%0"})).await;
    let answers = follow(&mut raw, &prompt).await;
    assert_eq!(answers[&1]["at_prompt"], Value::Null, "{answers:?}");
    assert_eq!(answers[&2]["at_prompt"], true, "{answers:?}");
    assert_eq!(answers[&4]["at_prompt"], true, "{answers:?}");
    assert_eq!(tmux.tmux(&["list-panes", "-a"]).lines().count(), 1);
}

#[tokio::test]
async fn debug_service_shows_both_sides_and_cleans_up() {
    let tmux = TmuxServer::new();
    let mut raw = ready(&tmux, &["--structured"]).await;
    let server = "mkfifo q; echo listening on q; while :; do read x < q && echo \"got '$x'\"; done";
    let arguments = json!({"server_command": server, "client_command": "echo \"a b\" > q && echo sent",
        "cwd": tmux.home()});
    let prompt = text(&mut raw, "debug_service", arguments).await;
    let answers = follow(&mut raw, &prompt).await;
    assert_eq!(answers[&1]["match"], "listening on q", "{answers:?}");
    assert_eq!(answers[&2]["output"], "sent", "{answers:?}");
    assert_eq!(answers[&4]["lines"], json!(["got 'a b'"]), "{answers:?}");
    assert_ne!(answers[&1]["pane_id"], answers[&2]["pane_id"]);
    let panes = tmux.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]);
    for step in [1, 2] {
        let pane = string(&answers[&step]["pane_id"]);
        assert!(!panes.lines().any(|it| it == pane), "{pane} in {panes}");
    }
}
