//! Tests of log messages to MCP clients that ask for them.

use serde_json::{Value, json};
use testkit::{Raw, TmuxServer};

use crate::launch;
use crate::protocol::{INVALID_PARAMS, LEGACY};
use crate::support::wire::{METHOD_NOT_FOUND, STATELESS, Wire, meta};

/// The metadata of a request in the newest revision that asks for this log level.
fn meta_with_level(level: &str) -> Value {
    let mut meta = meta();
    meta["io.modelcontextprotocol/logLevel"] = json!(level);
    meta
}

/// Level and text of a log message; none of any other.
fn logged(message: &Value) -> Option<(String, String)> {
    let params = message.get("params").filter(|_| message["method"] == "notifications/message")?;
    assert_eq!(params["logger"], "tmuxwright", "{message}");
    Some((params["level"].as_str()?.to_owned(), params["data"].as_str()?.to_owned()))
}

/// Makes a request, and returns the log messages before its reply, and the reply.
async fn request_with_log(
    raw: &mut Raw,
    method: &str,
    params: Value,
) -> (Vec<(String, String)>, Value) {
    let id = raw.start(method, params).await;
    let mut messages = Vec::new();
    loop {
        let message = raw.receive().await.unwrap();
        if message["id"] == id {
            return (messages, message);
        }
        messages.extend(logged(&message));
    }
}

/// A call of `run_command`.
fn run(command: &str) -> Value {
    json!({"name": "run_command", "arguments": {"command": command}})
}

/// Reads until a message with these words is logged.
async fn until_logged(raw: &mut Raw, words: &str) -> (String, String) {
    loop {
        let message = raw.receive().await.unwrap();
        if let Some(record) = logged(&message).filter(|(_, text)| text.contains(words)) {
            return record;
        }
    }
}

#[tokio::test]
async fn log_messages_are_sent_after_setting_a_level() {
    let tmux = TmuxServer::new();
    let mut raw = launch(&tmux).raw();
    let hello = raw.initialize(LEGACY).await;
    assert_eq!(hello["result"]["capabilities"]["logging"], json!({}), "{hello}");
    let (messages, _) = request_with_log(&mut raw, "tools/call", run("true")).await;
    assert_eq!(messages, [], "sent before a level was set");
    let set = raw.request("logging/setLevel", json!({"level": "info"})).await;
    assert_eq!(set["result"], json!({}), "{set}");
    raw.start("tools/call", run("(exit 3)")).await;
    let (level, text) = until_logged(&mut raw, "started").await;
    assert!(level == "info" && text.starts_with("command c2 started in %"), "{level} {text}");
    let (_, text) = until_logged(&mut raw, "exited").await;
    assert!(text.starts_with("command c2 in %") && text.ends_with("exited with 3"), "{text}");
    // stderr keeps its own level.
    assert_eq!(raw.stderr(), "");
}

#[tokio::test]
async fn messages_below_the_log_level_are_not_sent() {
    let tmux = TmuxServer::new();
    let mut raw = launch(&tmux).raw();
    raw.initialize("2024-11-05").await;
    raw.request("logging/setLevel", json!({"level": "debug"})).await;
    raw.start("tools/call", run("true")).await;
    let (level, text) = until_logged(&mut raw, "run_command: ok after").await;
    assert_eq!(level, "debug", "{text}");
    for level in ["notice", "warning", "error", "critical", "emergency"] {
        let set = raw.request("logging/setLevel", json!({"level": level})).await;
        assert_eq!(set["result"], json!({}), "{level}: {set}");
        for _ in 0..2 {
            let (messages, answer) = request_with_log(&mut raw, "tools/call", run("true")).await;
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            assert_eq!(messages, [], "{level}");
        }
    }
}

#[tokio::test]
async fn invalid_log_level_is_refused_with_valid_levels() {
    let tmux = TmuxServer::new();
    let mut raw = launch(&tmux).raw();
    raw.initialize("2025-06-18").await;
    for params in [json!({"level": "loud"}), json!({}), json!({"level": 3})] {
        let reply = raw.request("logging/setLevel", params).await;
        assert_eq!(reply["error"]["code"], INVALID_PARAMS, "{reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains("warning"), "{reply}");
    }
}

#[tokio::test]
async fn newest_revision_sets_the_level_per_request() {
    let tmux = TmuxServer::new();
    let mut wire = Wire::stdio(launch(&tmux), STATELESS).await;
    let silent = wire.request("tools/call", run("true")).await;
    assert_eq!(silent.notes, Vec::<Value>::new());
    let mut call = run("(exit 7)");
    call["_meta"] = meta_with_level("info");
    let answer = wire.request("tools/call", call).await;
    let messages: Vec<_> = answer.notes.iter().filter_map(logged).map(|(_, text)| text).collect();
    assert!(messages.iter().any(|text| text.contains("started in %")), "{messages:?}");
    assert!(messages.iter().any(|text| text.contains("exited with 7")), "{messages:?}");
    let silent = wire.request("tools/call", run("true")).await;
    assert_eq!(silent.notes, Vec::<Value>::new());
    let refused = wire.request("logging/setLevel", json!({"level": "info"})).await;
    assert_eq!(refused.reply["error"]["code"], METHOD_NOT_FOUND, "{}", refused.reply);
}

#[tokio::test]
async fn connection_and_own_session_events_are_logged() {
    let tmux = TmuxServer::new();
    let mut raw = launch(&tmux).raw();
    raw.initialize("2025-03-26").await;
    raw.request("logging/setLevel", json!({"level": "info"})).await;
    raw.start("tools/call", run("true")).await;
    until_logged(&mut raw, "connected to tmux 3.").await;
    until_logged(&mut raw, "created the own session $").await;
    until_logged(&mut raw, "exited with 0").await;
    let list = json!({"name": "list_panes", "arguments": {}});
    raw.request("tools/call", list).await;
    tmux.tmux(&["kill-server"]);
    until_logged(&mut raw, "tmux closed the connection").await;
}
