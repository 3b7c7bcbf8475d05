//! Tests that a secret in the arguments of a call appears in no log, audit record or error.

use std::fs;

use serde_json::{Map, Value, json};
use testkit::{Mcp, TmuxServer, until};
use tmuxwright::context::ToolEntry;
use tmuxwright::tools;

use crate::audit::log::audit_log;
use crate::launch;
use crate::support::{ready_pane, shows};

const SECRET: &str = "hunter2-Zx81";

/// Arguments that are searched for, never typed: errors quote them.
const SEARCHED_ARGUMENTS: &[&str] = &["until", "pattern", "grep", "prompt"];

/// The program with an audit log, and with everything logged on stderr and to the MCP client.
async fn serve_logging(tmux: &TmuxServer) -> Mcp {
    let path = audit_log(tmux);
    let args = ["--toolset", "all", "--structured", "--log", "trace", "--audit"];
    let mcp = launch(tmux).args(&args).args(&[path.to_str().unwrap()]).mcp().await;
    mcp.enable_logging().await;
    mcp
}

/// Expects the secret in none of the three logs.
fn assert_not_logged(tmux: &TmuxServer, mcp: &Mcp) {
    let audit = fs::read_to_string(audit_log(tmux)).unwrap();
    let to_client = mcp.logged().join("\n");
    assert!(to_client.contains(" after "), "the client got no log: {to_client}");
    for (log, text) in
        [("the audit log", audit), ("stderr", mcp.stderr()), ("the client's log", to_client)]
    {
        assert!(!text.contains(SECRET), "{log} has the secret:\n{text}");
    }
}

#[tokio::test]
async fn typed_secrets_appear_in_no_log() {
    let tmux = TmuxServer::new();
    let mcp = serve_logging(&tmux).await;
    let pane = ready_pane(&mcp, "stty -echo; echo ready; exec cat > /dev/null", "ready").await;
    let keys: Vec<String> = SECRET.chars().map(String::from).collect();
    for (tool, arguments) in [
        ("send_keys", json!({"target": pane, "text": SECRET, "enter": true})),
        ("send_keys", json!({"target": pane, "keys": keys})),
        ("paste_text", json!({"target": pane, "text": SECRET, "enter": true})),
        ("run_command", json!({"command": format!(": {SECRET}")})),
        ("start_and_watch", json!({"command": format!(": {SECRET}"), "until": ["exit"]})),
        ("create_pane", json!({"command": "exec cat", "env": {"TOKEN": SECRET}})),
        ("create_session", json!({"command": format!(": {SECRET}; exec cat")})),
        ("create_window", json!({"target": "main", "env": {"TOKEN": SECRET}})),
        ("split_pane", json!({"target": "main", "command": format!(": {SECRET}; exec cat")})),
    ] {
        mcp.call(tool, arguments).await.ok();
    }
    let repl = ready_pane(&mcp, "exec python3 -q", ">>>").await;
    let arguments = json!({"target": repl, "input": format!("x = '{SECRET}'; 6 * 7")});
    assert_eq!(mcp.call("run_in_repl", arguments).await.ok()["output"], "42");
    let calls = json!([{"tool": "send_keys", "arguments": {"target": pane, "text": SECRET}}]);
    mcp.call("batch", json!({"calls": calls})).await.ok();
    assert_not_logged(&tmux, &mcp);
    mcp.close().await;
}

/// Calls of a tool with the secret in every hidden argument: first each with the right type, then one
/// with a wrong type.
fn calls(entry: &ToolEntry) -> Vec<Map<String, Value>> {
    let schema = (entry.input_schema)();
    let shape = (entry.disclosure)();
    let mut right = Map::new();
    let mut wrong = Vec::new();
    for (name, property) in schema["properties"].as_object().unwrap() {
        let is_shown = !shape.at(&format!("{name}.x")).clear().is_empty();
        let (fits, others) = match property["type"].as_str().unwrap() {
            "string" if name == "target" => (json!("%99"), vec![]),
            _ if is_shown || SEARCHED_ARGUMENTS.contains(&name.as_str()) => continue,
            "string" => (json!(SECRET), vec![json!([SECRET]), json!({SECRET: SECRET})]),
            "array" => (json!([SECRET]), vec![json!(SECRET), json!([{"x": SECRET}])]),
            _ => (json!({"NAME": SECRET}), vec![json!(SECRET), json!({"NAME": [SECRET]})]),
        };
        right.insert(name.clone(), fits);
        wrong.extend(others.into_iter().map(|value| (name.clone(), value)));
    }
    let mut calls = vec![right.clone()];
    calls.extend(wrong.into_iter().map(|(name, value)| {
        let mut call = right.clone();
        call.insert(name, value);
        call
    }));
    calls
}

#[tokio::test]
async fn errors_never_repeat_hidden_arguments() {
    let tmux = TmuxServer::new();
    let mcp = serve_logging(&tmux).await;
    let mut errors = 0;
    for entry in tools::all() {
        for arguments in calls(&entry) {
            let shown = Value::Object(arguments.clone());
            let result = mcp.call(entry.meta.name, Value::Object(arguments)).await.result();
            let text = serde_json::to_string(&result).unwrap();
            if result.is_error == Some(true) {
                errors += 1;
                assert!(!text.contains(SECRET), "{} {shown}: {text}", entry.meta.name);
            }
        }
    }
    assert!(errors > 40, "{errors}");
    assert_not_logged(&tmux, &mcp);
    mcp.close().await;
}

#[tokio::test]
async fn prompt_text_and_running_commands_are_not_quoted() {
    let tmux = TmuxServer::new();
    let mcp = serve_logging(&tmux).await;
    let shell = ready_pane(&mcp, "PS1='$ ' exec bash --norc", "$").await;
    mcp.call("send_keys", json!({"target": shell, "text": SECRET})).await.ok();
    shows(&mcp, &shell, SECRET).await;
    let run = json!({"target": shell, "command": "true"});
    let error = mcp.call("run_command", run.clone()).await.err("not_ready");
    assert!(!error.contains(SECRET), "{error}");
    mcp.call("send_keys", json!({"target": shell, "keys": ["C-u"]})).await.ok();
    let slow = format!(": {SECRET}; sleep 1000");
    let started = json!({"target": shell, "command": slow, "timeout": 0});
    mcp.call("run_command", started).await.ok();
    let error = mcp.call("run_command", run).await.err("busy");
    assert!(!error.contains(SECRET), "{error}");
    mcp.close().await;
}

#[tokio::test]
async fn messages_before_initialize_are_not_quoted() {
    let tmux = TmuxServer::new();
    let mut raw = launch(&tmux).args(&["--log", "trace"]).raw();
    raw.send(&json!({"jsonrpc": "2.0", "method": "x", "params": {"text": SECRET}})).await;
    let call = json!({"name": "send_keys", "arguments": {"target": "main", "text": SECRET}});
    raw.start("tools/call", call).await;
    raw.hang_up();
    while raw.receive().await.is_some() {}
    raw.wait().await;
    let logged = async || raw.stderr().contains("initialize").then_some(());
    until("the mistake is logged", logged).await;
    assert!(!raw.stderr().contains(SECRET), "{}", raw.stderr());
}
