//! Tests of `batch`: several calls in one.

use serde_json::{Value, json};
use testkit::{TmuxServer, until};

use crate::protocol::{cancel, configured, initialized};
use crate::support::{list, string};
use crate::{launch, serve};

/// The status of each call.
fn statuses(result: &Value) -> Vec<&str> {
    result["results"].as_array().unwrap().iter().map(|it| it["status"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn batch_makes_calls_in_order_with_results() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let calls = json!([
        {"tool": "create_session", "arguments": {"name": "one"}},
        {"tool": "rename", "arguments": {"target": "one", "name": "two"}},
        {"tool": "list_sessions", "arguments": {"filter": "name=two"}},
        {"tool": "list_panes", "arguments": {"filter": "command=nothing"}},
        {"tool": "run_command", "arguments": "{\"command\": \"echo hello; false\"}"},
        {"tool": "server_info"},
    ]);
    let result = mcp.call("batch", json!({"calls": calls})).await.ok();
    assert_eq!(statuses(&result), ["ok"; 6], "{result}");
    let results = &result["results"];
    assert_eq!(results[0]["tool"], "create_session");
    assert_eq!(results[2]["result"]["sessions"][0]["name"], "two", "{result}");
    // Each result is complete: an empty list is present, too.
    assert_eq!(results[3]["result"]["panes"], json!([]), "{result}");
    assert_eq!(results[4]["result"]["output"], "hello", "{result}");
    assert_eq!(results[4]["result"]["exit_code"], 1, "{result}");
    assert!(results[5]["result"]["pid"].is_number(), "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn failed_call_stops_the_batch_by_default() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (on_error, expected, made) in [
        (None, ["ok", "failed", "skipped"], false),
        (Some("stop"), ["ok", "failed", "skipped"], false),
        (Some("continue"), ["ok", "failed", "ok"], true),
    ] {
        let calls = json!([
            {"tool": "list_panes"},
            {"tool": "capture_pane", "arguments": {"target": "%99"}},
            {"tool": "create_session", "arguments": {"name": "made"}},
        ]);
        let mut arguments = json!({"calls": calls});
        if let Some(on_error) = on_error {
            arguments["on_error"] = json!(on_error);
        }
        let result = mcp.call("batch", arguments).await.ok();
        assert_eq!(statuses(&result), expected, "{result}");
        let error = &result["results"][1]["error"];
        assert_eq!(error["code"], "not_found", "{result}");
        assert!(string(&error["message"]).contains("%99"), "{result}");
        assert!(!string(&error["hint"]).is_empty(), "{result}");
        let sessions = list(&mcp, "list_sessions", json!({"filter": "name=made"})).await;
        assert_eq!(!sessions.is_empty(), made, "{on_error:?}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn policy_judges_every_call_of_a_batch() {
    let tmux = TmuxServer::new();
    let before = tmux.tmux(&["list-windows", "-a"]);
    let mcp =
        launch(&tmux).args(&["--toolset", "all", "--structured", "--tier", "readonly"]).mcp().await;
    let calls = json!([
        {"tool": "create_window", "arguments": {"target": "main"}},
        {"tool": "kill", "arguments": {"target": "main", "kind": "session"}},
        {"tool": "nonsense"},
        {"tool": "list_windows"},
    ]);
    let result = mcp.call("batch", json!({"calls": calls, "on_error": "continue"})).await.ok();
    assert_eq!(statuses(&result), ["failed", "failed", "failed", "ok"], "{result}");
    assert_eq!(result["results"][0]["error"]["code"], "denied", "{result}");
    assert_eq!(result["results"][1]["error"]["code"], "denied", "{result}");
    assert_eq!(result["results"][2]["error"]["code"], "unknown_tool", "{result}");
    mcp.close().await;
    assert_eq!(tmux.tmux(&["list-windows", "-a"]), before);
}

#[tokio::test]
async fn invalid_batch_is_refused_before_any_call() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let made = json!({"tool": "create_session", "arguments": {"name": "made"}});
    for (calls, words) in [
        (json!([]), "0 calls"),
        (json!([made, {"tool": "batch", "arguments": {"calls": [made]}}]), "calls[1]"),
        (json!([made, {"tool": "list_panes", "args": {}}]), "args"),
        (json!([made, {"arguments": {}}]), "tool"),
        (json!([made, {"tool": "list_panes", "arguments": 7}]), "an object is expected"),
        (json!(vec![made.clone(); 101]), "101"),
    ] {
        let text = mcp.call("batch", json!({"calls": calls})).await.err("invalid_argument");
        assert!(text.contains(words), "{text}");
    }
    assert!(list(&mcp, "list_sessions", json!({"filter": "name=made"})).await.is_empty());
    mcp.close().await;
}

#[tokio::test]
async fn batch_text_shows_each_calls_result() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).args(&["--toolset", "all"]).mcp().await;
    let calls = json!([
        {"tool": "run_command", "arguments": {"command": "echo hello"}},
        {"tool": "select_pane", "arguments": {"target": "no\u{1b}[31mbody"}},
        {"tool": "list_panes"},
    ]);
    let text = mcp.call("batch", json!({"calls": calls})).await.text();
    assert!(
        text.starts_with("3 calls · 1 failed · 1 skipped\n[1] run_command ok\n  exit 0"),
        "{text}"
    );
    assert!(text.contains("\n  hello\n[2] select_pane failed\n  not_found: "), "{text}");
    assert!(text.ends_with("\n[3] list_panes skipped") && !text.contains('\u{1b}'), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn batch_results_share_one_text_limit() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let long = json!({"tool": "run_command",
        "arguments": {"command": "seq -f %0200.0f 1 150"}});
    let calls =
        json!([{"tool": "run_command", "arguments": {"command": "echo short"}}, long, long]);
    let result = mcp.call("batch", json!({"calls": calls})).await.ok();
    let lengths: Vec<usize> = (0..3)
        .map(|index| string(&result["results"][index]["result"]["output"]).chars().count())
        .collect();
    // The share that the first call leaves unused goes to the others.
    assert!(lengths[1] > 7000 && lengths[2] > 7000, "{lengths:?}");
    assert!(lengths.iter().sum::<usize>() < 16_500, "{lengths:?}");
    assert_eq!(result["results"][2]["result"]["truncated"], true);
    mcp.close().await;
}

#[tokio::test]
async fn batch_waits_share_one_block_limit() {
    let tmux = TmuxServer::new();
    let launch = configured(&tmux, "[limits]\nblock = 1\n");
    let mut raw = initialized(launch.args(&["--toolset", "all", "--structured"])).await;
    let wait = json!({"tool": "wait_for",
        "arguments": {"target": "main", "until": ["text:NEVER"], "timeout": 30}});
    let params = json!({"name": "batch", "arguments": {"calls": [wait, wait, wait]}});
    let answer = raw.request("tools/call", params).await;
    let results = &answer["result"]["structuredContent"]["results"];
    let waited: f64 =
        (0..3).map(|index| results[index]["result"]["elapsed"].as_f64().unwrap()).sum();
    assert!((1.0..1.9).contains(&waited), "{answer}");
    raw.hang_up();
    raw.wait().await;
}

#[tokio::test]
async fn cancelled_batch_makes_no_more_calls() {
    let tmux = TmuxServer::new();
    let mut raw = initialized(launch(&tmux).args(&["--toolset", "all"])).await;
    let calls = json!([
        {"tool": "create_session", "arguments": {"name": "begun"}},
        {"tool": "wait_for", "arguments": {"target": "main", "until": ["text:NEVER"]}},
        {"tool": "create_session", "arguments": {"name": "never"}},
    ]);
    let params = json!({"name": "batch", "arguments": {"calls": calls, "on_error": "continue"}});
    let id = raw.start("tools/call", params).await;
    let sessions = || tmux.tmux(&["list-sessions", "-F", "#{session_name}"]);
    until("the batch has begun", async || sessions().contains("begun").then_some(())).await;
    cancel(&mut raw, id).await;
    // A later call is answered once the cancellation is processed.
    raw.request("tools/call", json!({"name": "list_panes", "arguments": {}})).await;
    assert!(!sessions().contains("never"));
    raw.hang_up();
    raw.wait().await;
    assert!(!sessions().contains("never"));
}

#[tokio::test]
async fn progress_of_a_batch_only_grows() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let wait = json!({"tool": "wait_for",
        "arguments": {"target": "main", "until": ["text:NEVER"], "timeout": 5.5}});
    mcp.call("batch", json!({"calls": [wait, wait]})).await.ok();
    let steps = mcp.progress();
    assert!(steps.len() >= 2, "{steps:?}");
    assert!(steps.windows(2).all(|pair| pair[0].progress < pair[1].progress), "{steps:?}");
    assert!(steps[0].message.as_ref().unwrap().starts_with("1 of 2, wait_for"), "{steps:?}");
    mcp.close().await;
}
