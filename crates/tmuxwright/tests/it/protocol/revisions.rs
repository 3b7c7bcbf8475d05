//! Tests that every revision of the protocol lists, calls, waits with progress and cancels.

use futures::future::join_all;
use serde_json::{Value, json};
use testkit::{Raw, TmuxServer, until};

use crate::audit::log::audit_log;
use crate::launch;
use crate::support::wire::{METHOD_NOT_FOUND, REVISIONS, STATELESS, Way, Wire};

/// Capability and method of each list that depends only on the settings.
const FIXED_LISTS: [(&str, &str); 3] = [
    ("tools", "tools/list"),
    ("prompts", "prompts/list"),
    ("resources", "resources/templates/list"),
];

async fn stdio(tmux: &TmuxServer, revision: &'static str) -> Wire<Raw> {
    let audit = audit_log(tmux);
    let args = ["--structured", "--audit", audit.to_str().unwrap()];
    Wire::stdio(launch(tmux).args(&args), revision).await
}

/// The result of each fixed list whose capability is declared.
async fn fixed_lists<W: Way>(wire: &mut Wire<W>) -> Vec<(&'static str, String)> {
    let mut lists = Vec::new();
    for (capability, method) in FIXED_LISTS {
        if wire.capabilities.get(capability).is_some() {
            let reply = wire.request(method, json!({})).await.reply;
            lists.push((method, reply["result"].to_string()));
        }
    }
    lists
}

async fn assert_lists<W: Way>(wire: &mut Wire<W>, revision: &str) {
    let tools = wire.request("tools/list", json!({})).await.reply;
    let names: Vec<&Value> =
        tools["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert!(names.contains(&&json!("run_command")), "{revision}: {names:?}");
    for (method, list) in fixed_lists(wire).await {
        assert!(list.len() > 100, "{revision}: {method}: {list}");
    }
}

async fn assert_calls<W: Way>(wire: &mut Wire<W>, revision: &str) {
    let result = wire.call("run_command", json!({"command": "echo one; (exit 3)"})).await;
    let answer = &result["structuredContent"];
    assert_eq!((&answer["output"], &answer["exit_code"]), (&json!("one"), &json!(3)), "{revision}");
    assert_eq!(result.get("resultType").is_some(), revision == STATELESS, "{revision}: {result}");
    let wrong = json!({"name": "run_command", "arguments": {"comand": "true"}});
    let reply = wire.request("tools/call", wrong).await.reply;
    assert_eq!(reply["result"]["isError"], true, "{revision}: {reply}");
}

/// Starts a wait in a pane, and returns its id once it has reported progress.
async fn start_wait<W: Way>(wire: &mut Wire<W>, pane: &str, condition: &str) -> u64 {
    let arguments = json!({"target": pane, "until": [condition], "timeout": 60});
    let call = json!({"name": "wait_for", "arguments": arguments, "_meta": {"progressToken": "p"}});
    let id = wire.start("tools/call", call).await;
    let note = wire.way.receive().await;
    assert_eq!(note["method"], "notifications/progress", "{note}");
    assert_eq!(note["params"]["progressToken"], "p", "{note}");
    id
}

async fn assert_waits<W: Way>(wire: &mut Wire<W>, tmux: &TmuxServer, revision: &str) {
    let id = start_wait(wire, "%0", "text:it is done").await;
    tmux.tmux(&["send-keys", "-t", "%0", "echo it is\" \"done", "Enter"]);
    let answer = wire.answer(id).await;
    let event = &answer.reply["result"]["structuredContent"]["event"];
    assert_eq!(*event, "text:it is done", "{revision}: {}", answer.reply);
    let others = answer.notes.iter().filter(|note| note["method"] != "notifications/progress");
    assert_eq!(others.count(), 0, "{revision}: {:?}", answer.notes);
}

/// A cancelled call ends with a record in the audit log, and is not answered.
async fn assert_cancels<W: Way>(wire: &mut Wire<W>, tmux: &TmuxServer, revision: &str) {
    let id = start_wait(wire, "%0", "text:never printed").await;
    wire.way.cancel(id).await;
    until(&format!("{revision}: the wait has ended"), async || {
        let audit = std::fs::read_to_string(audit_log(tmux)).unwrap_or_default();
        audit.contains("\"cancelled\"").then_some(())
    })
    .await;
    wire.call("list_panes", json!({})).await;
}

/// Runs a check in all revisions at the same time, since progress is reported every few seconds only.
async fn in_every_revision(check: impl AsyncFn(Wire<Raw>, &TmuxServer, &'static str)) {
    let checks = REVISIONS.map(async |revision| {
        let tmux = TmuxServer::new();
        check(stdio(&tmux, revision).await, &tmux, revision).await;
    });
    join_all(checks).await;
}

#[tokio::test]
async fn every_revision_lists_over_stdio() {
    in_every_revision(async |mut wire, _, revision| assert_lists(&mut wire, revision).await).await;
}

#[tokio::test]
async fn every_revision_calls_over_stdio() {
    in_every_revision(async |mut wire, _, revision| assert_calls(&mut wire, revision).await).await;
}

#[tokio::test]
async fn every_revision_waits_with_progress_over_stdio() {
    in_every_revision(async |mut wire, tmux, revision| {
        assert_waits(&mut wire, tmux, revision).await;
    })
    .await;
}

#[tokio::test]
async fn every_revision_cancels_over_stdio() {
    in_every_revision(async |mut wire, tmux, revision| {
        assert_cancels(&mut wire, tmux, revision).await;
    })
    .await;
}

#[tokio::test]
async fn newest_revision_rejects_removed_methods() {
    let tmux = TmuxServer::new();
    let mut wire = stdio(&tmux, STATELESS).await;
    for method in
        ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]
    {
        for params in [json!({}), json!({"level": "info", "uri": "tmux://server"})] {
            let reply = wire.request(method, params).await.reply;
            assert_eq!(reply["error"]["code"], METHOD_NOT_FOUND, "{method}: {reply}");
        }
    }
}

#[tokio::test]
async fn lists_are_byte_identical_at_every_start() {
    in_every_revision(async |mut one, tmux, revision| {
        let mut other = stdio(tmux, revision).await;
        let first = fixed_lists(&mut one).await;
        assert_calls(&mut one, revision).await;
        assert_eq!(fixed_lists(&mut one).await, first, "{revision}: after a call");
        assert_eq!(fixed_lists(&mut other).await, first, "{revision}: at another start");
    })
    .await;
}
