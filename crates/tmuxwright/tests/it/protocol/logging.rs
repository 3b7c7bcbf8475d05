//! The log for clients that ask for it.

use serde_json::{Value, json};
use testkit::{Raw, TmuxServer};

use crate::launch;
use crate::support::wire::{METHOD_NOT_FOUND, Wire, meta};

/// What the server says of itself to a client of the newest revision that wants this level.
fn wanting(level: &str) -> Value {
    let mut meta = meta();
    meta["io.modelcontextprotocol/logLevel"] = json!(level);
    meta
}

/// Level and text of a message, if it is one of the log.
fn logged(message: &Value) -> Option<(String, String)> {
    let params = message.get("params").filter(|_| message["method"] == "notifications/message")?;
    assert_eq!(params["logger"], "tmuxwright", "{message}");
    Some((params["level"].as_str()?.to_owned(), params["data"].as_str()?.to_owned()))
}

/// Makes a request, and returns what was logged before its answer, and the answer.
async fn heard(raw: &mut Raw, method: &str, params: Value) -> (Vec<(String, String)>, Value) {
    let id = raw.start(method, params).await;
    let mut told = Vec::new();
    loop {
        let message = raw.receive().await.unwrap();
        if message["id"] == id {
            return (told, message);
        }
        told.extend(logged(&message));
    }
}

/// A call that starts a command and waits for its end.
fn run(command: &str) -> Value {
    json!({"name": "run_command", "arguments": {"command": command}})
}

/// Reads on until something like this was logged.
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
    let hello = raw.initialize("2025-11-25").await;
    assert_eq!(hello["result"]["capabilities"]["logging"], json!({}), "{hello}");
    let (told, _) = heard(&mut raw, "tools/call", run("true")).await;
    assert_eq!(told, [], "nobody has asked");
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
            let (told, answer) = heard(&mut raw, "tools/call", run("true")).await;
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            assert_eq!(told, [], "{level}");
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
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains("warning"), "{reply}");
    }
}

#[tokio::test]
async fn newest_revision_sets_the_level_per_request() {
    let tmux = TmuxServer::new();
    let mut wire = Wire::stdio(launch(&tmux), "2026-07-28").await;
    let silent = wire.request("tools/call", run("true")).await;
    assert_eq!(silent.notes, Vec::<Value>::new());
    let mut call = run("(exit 7)");
    call["_meta"] = wanting("info");
    let answer = wire.request("tools/call", call).await;
    let told: Vec<_> = answer.notes.iter().filter_map(logged).map(|(_, text)| text).collect();
    assert!(told.iter().any(|text| text.contains("started in %")), "{told:?}");
    assert!(told.iter().any(|text| text.contains("exited with 7")), "{told:?}");
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
    until_logged(&mut raw, "made session $").await;
    until_logged(&mut raw, "exited with 0").await;
    let list = json!({"name": "list_panes", "arguments": {}});
    raw.request("tools/call", list).await;
    tmux.tmux(&["kill-server"]);
    until_logged(&mut raw, "tmux closed the connection").await;
}
