//! A secret that goes through a tool is in no log, no audit and no error.

use std::fs;

use serde_json::{Map, Value, json};
use testkit::{Mcp, TmuxServer, until};
use tmuxwright::tool::Entry;
use tmuxwright::tools;

use crate::audit::log::log;
use crate::launch;
use crate::support::{ready_pane, shows};

const SECRET: &str = "hunter2-Zx81";

/// Arguments that say what to look for: nobody types them, and errors quote them.
const LOOKED_FOR: &[&str] = &["until", "pattern", "grep", "prompt"];

async fn serve(tmux: &TmuxServer) -> Mcp {
    let path = log(tmux);
    let args = ["--toolset", "all", "--structured", "--log", "trace", "--audit"];
    let mcp = launch(tmux).args(&args).args(&[path.to_str().unwrap()]).mcp().await;
    mcp.enable_logging().await;
    mcp
}

fn must_be_silent(tmux: &TmuxServer, mcp: &Mcp) {
    let audit = fs::read_to_string(log(tmux)).unwrap();
    let to_client = mcp.logged().join("\n");
    assert!(to_client.contains(" after "), "the client hears nothing: {to_client}");
    for (what, text) in
        [("the audit log", audit), ("the log", mcp.stderr()), ("the client's log", to_client)]
    {
        assert!(!text.contains(SECRET), "{what} has the secret:\n{text}");
    }
}

#[tokio::test]
async fn what_is_typed_is_in_no_log() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
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
    must_be_silent(&tmux, &mcp);
    mcp.close().await;
}

/// Calls of a tool in which every argument that is hidden has the secret: all of them rightly, then
/// one after the other wrongly.
fn calls(entry: &Entry) -> Vec<Map<String, Value>> {
    let schema = (entry.input_schema)();
    let shape = (entry.shape)();
    let mut right = Map::new();
    let mut wrong = Vec::new();
    for (name, property) in schema["properties"].as_object().unwrap() {
        let is_shown = !shape.at(&format!("{name}.x")).clear().is_empty();
        let (fits, others) = match property["type"].as_str().unwrap() {
            "string" if name == "target" => (json!("%99"), vec![]),
            _ if is_shown || LOOKED_FOR.contains(&name.as_str()) => continue,
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
async fn no_error_repeats_what_was_to_be_typed() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut errors = 0;
    for entry in tools::all() {
        for arguments in calls(&entry) {
            let shown = Value::Object(arguments.clone());
            let result = mcp.call(entry.meta.name, Value::Object(arguments)).await.result();
            let said = serde_json::to_string(&result).unwrap();
            if result.is_error == Some(true) {
                errors += 1;
                assert!(!said.contains(SECRET), "{} {shown}: {said}", entry.meta.name);
            }
        }
    }
    assert!(errors > 40, "{errors}");
    must_be_silent(&tmux, &mcp);
    mcp.close().await;
}

#[tokio::test]
async fn what_is_at_a_prompt_or_under_way_is_not_repeated() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
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
async fn a_client_that_does_not_begin_rightly_is_not_quoted() {
    let tmux = TmuxServer::new();
    let mut raw = launch(&tmux).args(&["--log", "trace"]).raw();
    raw.send(&json!({"jsonrpc": "2.0", "method": "x", "params": {"text": SECRET}})).await;
    let call = json!({"name": "send_keys", "arguments": {"target": "main", "text": SECRET}});
    raw.start("tools/call", call).await;
    raw.hang_up();
    while raw.receive().await.is_some() {}
    raw.wait().await;
    let said = async || raw.stderr().contains("initialize").then_some(());
    until("it says what was wrong", said).await;
    assert!(!raw.stderr().contains(SECRET), "{}", raw.stderr());
}
