//! Tests of tiers, toolsets and the `tools` setting: exactly the listed tools can be called.

#![expect(clippy::panic, reason = "helpers fail like tests")]

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use testkit::{Launch, Mcp, TmuxServer};

use tmuxwright::contract::{Group, Meta, Tier};
use tmuxwright::tools;

use crate::policy::listed_tools;

/// Arguments with which a call of the tool has no effect: its target does not exist.
fn arguments(tool: &str) -> Value {
    match tool {
        "list_sessions" | "list_windows" | "list_panes" | "server_info" | "list_clients"
        | "list_servers" | "list_buffers" | "list_prompts" => json!({}),
        "get_prompt" => json!({"name": "none"}),
        // An unknown argument, since the other calls need the tmux server.
        "kill_server" => json!({"really": true}),
        "detach_client" => json!({"client": "/dev/nobody"}),
        "show_message" => json!({"text": ""}),
        "write_to_display" => json!({"target": "%99", "text": "x"}),
        "set_option" | "set_environment" => json!({"target": "%99", "name": "@x", "value": "x"}),
        "eval_format" => json!({"target": "%99", "format": "x"}),
        "socket_for_path" => json!({"path": "/nonexistent"}),
        "show_buffer" | "delete_buffer" => json!({"name": "none"}),
        "search_buffer" => json!({"pattern": "x"}),
        "set_buffer" => json!({"text": ""}),
        "save_buffer" => json!({"name": "none", "path": "/nonexistent-file"}),
        "rename_buffer" => json!({"name": "none", "new_name": "other"}),
        "paste_buffer" => json!({"name": "none", "target": "%99"}),
        "create_session" => json!({"cwd": "/nonexistent"}),
        "create_pane" => json!({"command": "true", "cwd": "/nonexistent"}),
        "send_keys" | "paste_text" => json!({"target": "%99", "text": "x"}),
        "rename" => json!({"target": "%99", "name": "x"}),
        "resize_pane" => json!({"target": "%99", "zoom": true}),
        "select_window" | "select_pane" => json!({"target": "%99", "direction": "next"}),
        "run_command" => json!({"target": "%99", "command": "true"}),
        "run_in_repl" => json!({"target": "%99", "input": "1"}),
        "send_signal" => json!({"target": "%99", "signal": "TERM"}),
        "wait_for" => json!({"target": "%99", "until": ["exit"]}),
        "start_and_watch" => {
            json!({"target": "%99", "command": "true", "until": ["exit"]})
        }
        "command_result" => json!({"command_id": "c99"}),
        "batch" => json!({"calls": []}),
        "find_pane" => json!({"target": "%99", "corner": "top-left"}),
        "resize_window" => json!({"target": "%99", "width": 80}),
        "select_layout" => json!({"target": "%99", "layout": "tiled"}),
        "move_window" => json!({"target": "%99", "index": 9}),
        "swap_pane" | "join_pane" => json!({"source": "%99", "target": "%98"}),
        "synchronize_panes" => json!({"target": "%99", "on": false}),
        "copy_mode" => json!({"target": "%99", "action": "exit"}),
        "search_panes" => json!({"target": "%99", "pattern": "x"}),
        // A second signal without a waiter would make tmux forget the first.
        "wait_for_channel" | "signal_channel" => json!({"channel": ""}),
        _ => json!({"target": "%99"}),
    }
}

/// The tools of the mutating tier.
const MUTATING_TOOLS: &[&str] = &[
    "run_command",
    "command_result",
    "interrupt",
    "run_in_repl",
    "send_signal",
    "wait_for",
    "start_and_watch",
    "list_sessions",
    "list_windows",
    "list_panes",
    "get_info",
    "server_info",
    "create_session",
    "create_window",
    "create_pane",
    "split_pane",
    "select_window",
    "select_pane",
    "rename",
    "resize_pane",
    "resize_window",
    "select_layout",
    "move_window",
    "synchronize_panes",
    "find_pane",
    "swap_pane",
    "join_pane",
    "break_pane",
    "clear_pane",
    "respawn_pane",
    "pipe_pane",
    "copy_mode",
    "kill",
    "send_keys",
    "paste_text",
    "capture_pane",
    "capture_since",
    "snapshot_pane",
    "screenshot_pane",
    "search_panes",
    "pane_state",
    "wait_for_channel",
    "signal_channel",
    "batch",
    "list_clients",
    "show_message",
    "write_to_display",
    "show_option",
    "set_option",
    "show_environment",
    "set_environment",
    "show_hooks",
    "eval_format",
    "list_servers",
    "socket_for_path",
    "list_buffers",
    "show_buffer",
    "search_buffer",
    "set_buffer",
    "save_buffer",
    "rename_buffer",
    "delete_buffer",
    "paste_buffer",
    "list_prompts",
    "get_prompt",
];

/// The tools that only the destructive tier adds.
const DESTRUCTIVE_TOOLS: &[&str] = &["detach_client", "kill_server"];

/// The tools of the readonly tier.
const READ_TOOLS: &[&str] = &[
    "command_result",
    "wait_for",
    "list_sessions",
    "list_windows",
    "list_panes",
    "get_info",
    "find_pane",
    "server_info",
    "capture_pane",
    "capture_since",
    "snapshot_pane",
    "screenshot_pane",
    "search_panes",
    "pane_state",
    // Its calls are judged one by one.
    "batch",
    "list_clients",
    "show_option",
    "show_environment",
    "show_hooks",
    "eval_format",
    "list_servers",
    "socket_for_path",
    "list_buffers",
    "show_buffer",
    "search_buffer",
    "list_prompts",
    "get_prompt",
];

/// The program with prompts as tools.
fn launch(tmux: &TmuxServer) -> Launch {
    crate::launch(tmux).args(&["--prompts-as-tools"])
}

/// Calls every tool and returns those that were not denied.
async fn callable(mcp: &Mcp) -> BTreeSet<String> {
    let mut callable = BTreeSet::new();
    for tool in MUTATING_TOOLS.iter().chain(DESTRUCTIVE_TOOLS) {
        let result = mcp.call(tool, arguments(tool)).await.result();
        let code = result.meta.and_then(|meta| meta.0.get("tmuxwright/code").cloned());
        let text = result.content.first().and_then(|block| block.as_text()).map(|t| t.text.clone());
        match code.as_ref().and_then(Value::as_str) {
            Some("denied") => {
                let text = text.unwrap_or_default();
                assert!(text.contains(tool) && text.contains("Next: a person can"), "{text}");
            }
            None | Some("not_found" | "invalid_argument") => {
                callable.insert((*tool).to_owned());
            }
            other => panic!("{tool}: {other:?} {text:?}"),
        }
    }
    callable
}

fn set(tools: &[&str]) -> BTreeSet<String> {
    tools.iter().map(|tool| (*tool).to_owned()).collect()
}

#[tokio::test]
async fn each_tier_calls_exactly_its_listed_tools() {
    let tmux = TmuxServer::new();
    let all = [MUTATING_TOOLS, DESTRUCTIVE_TOOLS].concat();
    for (tier, expected) in
        [("readonly", READ_TOOLS), ("mutating", MUTATING_TOOLS), ("destructive", &all)]
    {
        let mcp = launch(&tmux).args(&["--toolset", "all", "--tier", tier]).mcp().await;
        assert_eq!(listed_tools(&mcp).await, set(expected), "{tier}");
        assert_eq!(callable(&mcp).await, set(expected), "{tier}");
        mcp.close().await;
    }
    assert_eq!(tmux.tmux(&["list-sessions"]).lines().count(), 1);
}

#[tokio::test]
async fn each_toolset_calls_exactly_its_listed_tools() {
    let tmux = TmuxServer::new();
    let agent = [
        "run_command",
        "command_result",
        "interrupt",
        "run_in_repl",
        "wait_for",
        "start_and_watch",
        "list_sessions",
        "list_panes",
        "create_session",
        "create_window",
        "split_pane",
        "kill",
        "send_keys",
        "paste_text",
        "capture_pane",
        "capture_since",
        "search_panes",
        "pane_state",
        "show_message",
        "list_prompts",
        "get_prompt",
    ];
    let debug = [
        "list_panes",
        "create_pane",
        "kill",
        "send_keys",
        "capture_pane",
        "list_prompts",
        "get_prompt",
    ];
    let others = [
        "capture_since",
        "create_pane",
        "find_pane",
        "copy_mode",
        "interrupt",
        "run_in_repl",
        "send_signal",
        "wait_for",
        "start_and_watch",
        "snapshot_pane",
        "screenshot_pane",
        "search_panes",
        "pane_state",
        "wait_for_channel",
        "signal_channel",
        "batch",
        "show_message",
        "write_to_display",
        "list_servers",
        "socket_for_path",
        "list_buffers",
        "show_buffer",
        "search_buffer",
        "set_buffer",
        "save_buffer",
        "rename_buffer",
        "delete_buffer",
        "paste_buffer",
    ];
    let primitives: Vec<&str> =
        MUTATING_TOOLS.iter().copied().filter(|tool| !others.contains(tool)).collect();
    for (toolset, expected) in [
        ("debug", &debug[..]),
        ("agent", &agent),
        ("primitives", &primitives),
        ("all", MUTATING_TOOLS),
    ] {
        let mcp = launch(&tmux).env("TMUXWRIGHT_TOOLSET", toolset).mcp().await;
        assert_eq!(listed_tools(&mcp).await, set(expected), "{toolset}");
        assert_eq!(callable(&mcp).await, set(expected), "{toolset}");
        mcp.close().await;
    }
}

/// The setting selects from the tools that the tier and the toolset offer.
#[tokio::test]
async fn each_tools_setting_calls_exactly_its_listed_tools() {
    let tmux = TmuxServer::new();
    let all = tools::all();
    let chosen = |keep: &dyn Fn(&Meta) -> bool| -> BTreeSet<String> {
        let offered = all.iter().filter(|entry| entry.meta.tier != Tier::Destroy);
        let kept = offered.filter(|entry| keep(entry.meta));
        kept.map(|entry| entry.meta.name.to_owned()).collect()
    };
    let mut cases: Vec<(String, BTreeSet<String>)> = Vec::new();
    for group in Group::ALL.iter().filter(|group| all.iter().any(|e| e.meta.group == **group)) {
        cases.push((format!("@{group}"), chosen(&|meta| meta.group == *group)));
        cases.push((format!("deny:@{group}"), chosen(&|meta| meta.group != *group)));
    }
    cases.extend([
        ("allow:@read".to_owned(), chosen(&|meta| meta.tier == Tier::Read)),
        (
            "@mutate kill".to_owned(),
            chosen(&|meta| {
                matches!(meta.tier, Tier::Mutate | Tier::MutateOwn) || meta.name == "kill"
            }),
        ),
        (
            "deny:@destroy,send_keys".to_owned(),
            chosen(&|meta| {
                !matches!(meta.tier, Tier::DestroyOwn | Tier::Destroy) && meta.name != "send_keys"
            }),
        ),
        ("@all".to_owned(), set(MUTATING_TOOLS)),
        ("deny:@all".to_owned(), set(&[])),
    ]);
    for (choice, expected) in cases {
        let mcp = launch(&tmux).args(&["--toolset", "all", "--tools", &choice]).mcp().await;
        assert_eq!(listed_tools(&mcp).await, expected, "{choice}");
        assert_eq!(callable(&mcp).await, expected, "{choice}");
        mcp.close().await;
    }
}

#[tokio::test]
async fn tools_setting_never_widens_tier_or_toolset() {
    let tmux = TmuxServer::new();
    let args = ["--tier", "readonly", "--toolset", "debug", "--tools", "allow:kill,list_panes"];
    let mcp = launch(&tmux).args(&args).mcp().await;
    assert_eq!(listed_tools(&mcp).await, set(&["list_panes"]));
    assert!(mcp.instructions().contains("list_panes"), "{}", mcp.instructions());
    assert!(!mcp.instructions().contains("send_keys"), "{}", mcp.instructions());
    mcp.close().await;
    let mcp = launch(&tmux).args(&["--toolset", "all", "--tools", "deny:@input"]).mcp().await;
    let calls = json!([{"tool": "send_keys", "arguments": {"target": "main", "text": "x"}}]);
    let text = mcp.call("batch", json!({"calls": calls})).await;
    let text = format!("{:?}", text.result().content);
    assert!(text.contains("denied") && text.contains("deny:@input"), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn unknown_tool_in_the_setting_stops_startup() {
    let tmux = TmuxServer::new();
    for (choice, words) in [
        ("deny:send_key", "`send_keys`"),
        ("deny:@inptu", "`@input`"),
        ("deny:input", "`@input`"),
        ("block:kill", "`block:`"),
    ] {
        let run = launch(&tmux).args(&["tools", "--tools", choice]).output().await;
        assert_eq!(run.status.code(), Some(2), "{choice}");
        let error = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(error.contains(words), "{choice}: {error}");
    }
    let run = launch(&tmux).env("TMUXWRIGHT_TOOLS", "@screen").args(&["tools"]).output().await;
    let seen = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(seen.contains("capture_pane") && !seen.contains("run_command"), "{seen}");
}

#[tokio::test]
async fn call_is_refused_before_its_arguments_are_read() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).args(&["--tier", "readonly", "--toolset", "debug"]).mcp().await;
    let reading = ["capture_pane", "list_panes", "list_prompts", "get_prompt"];
    assert_eq!(listed_tools(&mcp).await, set(&reading));
    let error = mcp.call("kill", json!({"nonsense": 1})).await.err("denied");
    assert!(error.contains("--tier mutating"), "{error}");
    let error = mcp.call("send_keys", json!({"target": "main", "text": "x"})).await.err("denied");
    assert!(error.contains("`readonly`"), "{error}");
    let error = mcp.call("server_info", json!({})).await.err("denied");
    assert!(error.contains("toolset"), "{error}");
    let error = mcp.call("rm", Value::Object(Map::new())).await.err("unknown_tool");
    assert!(error.contains("list_panes"), "{error}");
    mcp.close().await;
}
