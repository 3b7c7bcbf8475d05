//! Tests of MCP over HTTP, in every revision and with many clients at once.

use std::path::Path;

use futures::future::join_all;
use serde_json::{Value, json};
use testkit::{HttpResponse, HttpServer, Launch, TmuxServer, until};

use crate::audit::log::{audit_log, records};
use crate::launch;
use crate::protocol::{INVALID_PARAMS, LEGACY};
use crate::support::string;
use crate::support::wire::{METHOD_NOT_FOUND, REVISIONS, STATELESS};

/// The bearer token of these tests.
pub(crate) const TOKEN: &str = "a-token-for-tests-0123456789";

/// The program with the token and an audit log, not started yet.
pub(crate) fn with_token(tmux: &TmuxServer) -> Launch {
    let log = audit_log(tmux);
    let args = ["--toolset", "all", "--audit", &log.to_string_lossy()];
    launch(tmux).env("TMUXWRIGHT_HTTP_TOKEN", TOKEN).args(&args)
}

pub(crate) async fn serve_http(tmux: &TmuxServer) -> HttpServer {
    with_token(tmux).http().await
}

/// A wait whose condition never holds.
pub(crate) fn endless_wait() -> Value {
    json!({"name": "wait_for", "_meta": {"progressToken": "p"},
        "arguments": {"target": "%0", "until": ["text:never to be seen"], "timeout": 600}})
}

/// The outcome of each recorded wait.
fn wait_outcomes(log: &Path) -> Vec<String> {
    let records = if log.exists() { records(log) } else { Vec::new() };
    let waits = records.iter().filter(|record| record["tool"] == "wait_for");
    waits.map(|record| record["outcome"].as_str().unwrap().to_owned()).collect()
}

/// Waits until so many waits are recorded, all cancelled.
async fn until_cancelled(tmux: &TmuxServer, count: usize) {
    until(&format!("{count} waits are cancelled"), async || {
        let outcomes = wait_outcomes(&audit_log(tmux));
        assert!(outcomes.iter().all(|outcome| outcome == "cancelled"), "{outcomes:?}");
        (outcomes.len() == count).then_some(())
    })
    .await;
}

/// Expects a progress notification as the next message.
async fn expect_progress(reply: &mut HttpResponse) {
    let note = reply.message().await.unwrap();
    assert_eq!(note["method"], "notifications/progress", "{note}");
    assert_eq!(note["params"]["progressToken"], "p", "{note}");
}

#[tokio::test]
async fn every_revision_lists_calls_waits_and_cancels() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let all = REVISIONS.map(async |version| {
        let mut client = server.client(TOKEN, version).await;
        let tools = client.request("tools/list", json!({})).await["result"]["tools"].clone();
        let panes = client.call("list_panes", json!({})).await["content"][0]["text"].clone();
        assert!(string(&panes).starts_with("%0 @0 $0 main:0.0 "), "{version}: {panes}");
        let (id, mut reply) = client.start("tools/call", endless_wait()).await;
        assert_eq!(reply.status, 200, "{version}");
        expect_progress(&mut reply).await;
        match client.session {
            // The rest of the stream is empty.
            Some(_) => {
                client.notify("notifications/cancelled", json!({"requestId": id})).await;
                assert_eq!(reply.answer(id).await, None, "{version}");
            }
            // In the newest revision closing the connection cancels the call.
            None => drop(reply),
        }
        tools
    });
    let tools = join_all(all).await;
    assert!(tools.iter().all(|list| list == &tools[0]), "the tools differ");
    assert!(tools[0].as_array().unwrap().len() > 5);
    until_cancelled(&tmux, REVISIONS.len()).await;
}

#[tokio::test]
async fn sixty_four_waiting_clients_get_their_answers() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let mut waiting = Vec::new();
    for number in 0..64 {
        let mut client = server.client(TOKEN, REVISIONS[number % REVISIONS.len()]).await;
        // The stream of notifications stays open beside the call.
        let stream = client.bare("GET").await;
        assert_eq!(stream.status, if client.session.is_some() { 200 } else { 405 });
        let until = format!("text:answer {number}.");
        let wait = json!({"name": "wait_for",
            "arguments": {"target": "%0", "until": [until], "timeout": 50}});
        let (id, connection) = client.send("tools/call", wait).await;
        waiting.push((number, client, stream, id, connection));
    }
    let mut other = server.client(TOKEN, LEGACY).await;
    let panes = other.call("list_panes", json!({})).await;
    assert_eq!(panes["isError"], false, "{panes}");
    // A wait sees only later output, so the lines are printed again for waits that begin late.
    let print = "while :; do for n in $(seq 0 63); do echo answer $n.; done; sleep 3; done";
    tmux.tmux(&["send-keys", "-t", "%0", print, "Enter"]);
    let all = waiting.into_iter().map(async |(number, _client, _stream, id, connection)| {
        let answer = connection.reply().await.answer(id).await.expect("an answer");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.contains(&format!("answer {number}.")), "{number}: {text}");
        assert!(text.starts_with(&format!("\"text:answer {number}.\" ")), "{number}: {text}");
    });
    join_all(all).await;
}

#[tokio::test]
async fn older_revisions_cancel_by_notification_or_session_end() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let mut client = server.client(TOKEN, LEGACY).await;
    let (id, mut reply) = client.start("tools/call", endless_wait()).await;
    expect_progress(&mut reply).await;
    drop(reply);
    // The client may reconnect for the answer, so the call continues and can still be cancelled.
    client.call("list_panes", json!({})).await;
    assert_eq!(wait_outcomes(&audit_log(&tmux)), Vec::<String>::new());
    client.notify("notifications/cancelled", json!({"requestId": id})).await;
    until_cancelled(&tmux, 1).await;
    let (_, _reply) = client.start("tools/call", endless_wait()).await;
    assert_eq!(client.bare("DELETE").await.status, 202);
    until_cancelled(&tmux, 2).await;
    assert_eq!(client.start("tools/list", json!({})).await.1.status, 404);
}

#[tokio::test]
async fn hanging_up_cancels_in_the_newest_revision() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let mut client = server.client(TOKEN, STATELESS).await;
    let (_, connection) = client.send("tools/call", endless_wait()).await;
    let clients = || tmux.tmux(&["list-clients", "-F", "#{client_control_mode}"]).lines().count();
    until("the pane is followed", async || (clients() == 2).then_some(())).await;
    drop(connection);
    until_cancelled(&tmux, 1).await;
    until("the pane is no longer followed", async || (clients() < 2).then_some(())).await;
    let stderr = server.process.stderr();
    assert!(!stderr.contains("ERROR"), "{stderr}");
}

#[tokio::test]
async fn audit_names_the_client_of_every_call() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    for version in REVISIONS {
        server.client(TOKEN, version).await.call("list_panes", json!({})).await;
    }
    let records = records(&audit_log(&tmux));
    assert_eq!(records.len(), REVISIONS.len());
    for record in records {
        assert_eq!(record["client"], "raw 1", "{record}");
    }
}

#[tokio::test]
async fn client_mistakes_are_reported_over_http() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let mut client = server.client(TOKEN, STATELESS).await;
    let reply = client.request("no/such/method", json!({})).await;
    assert_eq!(reply["error"]["code"], METHOD_NOT_FOUND, "{reply}");
    let reply = client.request("tools/call", json!({"name": "list_panes", "arguments": 3})).await;
    assert_eq!(reply["error"]["code"], INVALID_PARAMS, "{reply}");
    let reply = client.call("list_pane", json!({})).await;
    assert!(reply["content"][0]["text"].as_str().unwrap().contains("`list_panes`"), "{reply}");
    let mut old = server.client(TOKEN, LEGACY).await;
    old.session = Some("no-such-session".to_owned());
    assert_eq!(old.start("tools/list", json!({})).await.1.status, 404);
    old.session = None;
    assert_eq!(old.start("tools/list", json!({})).await.1.status, 400);
}

#[tokio::test]
async fn lists_are_byte_identical_for_every_client() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    for version in [LEGACY, STATELESS] {
        let mut first = server.client(TOKEN, version).await;
        let call = json!({"name": "create_session", "arguments": {"name": version}});
        let mut second = server.client(TOKEN, version).await;
        for list in ["tools/list", "prompts/list", "resources/templates/list"] {
            let before = first.request(list, json!({})).await["result"].to_string();
            first.request("tools/call", call.clone()).await;
            let now = second.request(list, json!({})).await["result"].to_string();
            assert_eq!(now, before, "{version} {list}");
        }
    }
}
