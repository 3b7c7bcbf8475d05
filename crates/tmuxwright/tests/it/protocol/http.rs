//! The protocol over HTTP, in every revision and for many clients at once.

use std::path::Path;

use futures::future::join_all;
use serde_json::{Value, json};
use testkit::{HttpResponse, HttpServer, Launch, TmuxServer, until};

use crate::audit::log::{log, records};
use crate::launch;

/// What clients show in these tests.
pub(crate) const TOKEN: &str = "a-token-for-tests-0123456789";

const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// The program with that token and an audit log, not started yet.
pub(crate) fn with_token(tmux: &TmuxServer) -> Launch {
    let log = log(tmux);
    let args = ["--toolset", "all", "--audit", &log.to_string_lossy()];
    launch(tmux).env("TMUXWRIGHT_HTTP_TOKEN", TOKEN).args(&args)
}

pub(crate) async fn serve_http(tmux: &TmuxServer) -> HttpServer {
    with_token(tmux).http().await
}

/// A wait that nothing ends.
pub(crate) fn endless() -> Value {
    json!({"name": "wait_for", "_meta": {"progressToken": "p"},
        "arguments": {"target": "%0", "until": ["text:never to be seen"], "timeout": 600}})
}

/// How the waits ended that are over.
fn ends_of_waits(log: &Path) -> Vec<String> {
    let records = if log.exists() { records(log) } else { Vec::new() };
    let waits = records.iter().filter(|record| record["tool"] == "wait_for");
    waits.map(|record| record["outcome"].as_str().unwrap().to_owned()).collect()
}

async fn cancelled(tmux: &TmuxServer, count: usize) {
    until(&format!("{count} waits are cancelled"), async || {
        let ends = ends_of_waits(&log(tmux));
        assert!(ends.iter().all(|end| end == "cancelled"), "{ends:?}");
        (ends.len() == count).then_some(())
    })
    .await;
}

async fn progress(reply: &mut HttpResponse) {
    let note = reply.message().await.unwrap();
    assert_eq!(note["method"], "notifications/progress", "{note}");
    assert_eq!(note["params"]["progressToken"], "p", "{note}");
}

#[tokio::test]
async fn every_revision_lists_calls_waits_with_progress_and_cancels() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let all = REVISIONS.map(async |version| {
        let mut client = server.client(TOKEN, version).await;
        let tools = client.request("tools/list", json!({})).await["result"]["tools"].clone();
        let panes = client.call("list_panes", json!({})).await["structuredContent"].clone();
        assert_eq!(panes["panes"][0]["pane_id"], "%0", "{version}: {panes}");
        let (id, mut reply) = client.start("tools/call", endless()).await;
        assert_eq!(reply.status, 200, "{version}");
        progress(&mut reply).await;
        match client.session {
            // What is left of the stream is nothing.
            Some(_) => {
                client.notify("notifications/cancelled", json!({"requestId": id})).await;
                assert_eq!(reply.answer(id).await, None, "{version}");
            }
            // Hanging up is how a call is cancelled there.
            None => drop(reply),
        }
        tools
    });
    let tools = join_all(all).await;
    assert!(tools.iter().all(|list| list == &tools[0]), "the tools differ");
    assert!(tools[0].as_array().unwrap().len() > 5);
    cancelled(&tmux, REVISIONS.len()).await;
}

#[tokio::test]
async fn sixty_four_clients_that_wait_each_get_their_own_answer() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let mut waiting = Vec::new();
    for number in 0..64 {
        let mut client = server.client(TOKEN, REVISIONS[number % REVISIONS.len()]).await;
        // The stream of notifications stays open beside it.
        let stream = client.bare("GET").await;
        assert_eq!(stream.status, if client.session.is_some() { 200 } else { 405 });
        let until = format!("text:answer {number}.");
        let wait = json!({"name": "wait_for",
            "arguments": {"target": "%0", "until": [until], "timeout": 50}});
        let (id, connection) = client.send("tools/call", wait).await;
        waiting.push((number, client, stream, id, connection));
    }
    let mut other = server.client(TOKEN, "2025-11-25").await;
    let panes = other.call("list_panes", json!({})).await;
    assert_eq!(panes["isError"], false, "{panes}");
    // Waits see what is printed after they began, so it is printed again for those that begin late.
    let print = "while :; do for n in $(seq 0 63); do echo answer $n.; done; sleep 3; done";
    tmux.tmux(&["send-keys", "-t", "%0", print, "Enter"]);
    let all = waiting.into_iter().map(async |(number, _client, _stream, id, connection)| {
        let answer = connection.reply().await.answer(id).await.expect("an answer");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.contains(&format!("answer {number}.")), "{number}: {text}");
        assert!(text.starts_with(&format!("text:answer {number}. ")), "{number}: {text}");
    });
    join_all(all).await;
}

#[tokio::test]
async fn in_older_revisions_hanging_up_is_no_cancelling_but_ending_the_session_is() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let mut client = server.client(TOKEN, "2025-11-25").await;
    let (id, mut reply) = client.start("tools/call", endless()).await;
    progress(&mut reply).await;
    drop(reply);
    // The client may come back for the answer, so the call goes on: it can still be cancelled.
    client.call("list_panes", json!({})).await;
    assert_eq!(ends_of_waits(&log(&tmux)), Vec::<String>::new());
    client.notify("notifications/cancelled", json!({"requestId": id})).await;
    cancelled(&tmux, 1).await;
    let (_, _reply) = client.start("tools/call", endless()).await;
    assert_eq!(client.bare("DELETE").await.status, 202);
    cancelled(&tmux, 2).await;
    assert_eq!(client.start("tools/list", json!({})).await.1.status, 404);
}

#[tokio::test]
async fn an_unanswered_call_of_the_newest_revision_ends_when_its_client_hangs_up() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let mut client = server.client(TOKEN, "2026-07-28").await;
    let (_, connection) = client.send("tools/call", endless()).await;
    let clients = || tmux.tmux(&["list-clients", "-F", "#{client_control_mode}"]).lines().count();
    until("the pane is followed", async || (clients() == 2).then_some(())).await;
    drop(connection);
    cancelled(&tmux, 1).await;
    until("nobody follows the pane", async || (clients() < 2).then_some(())).await;
    let said = server.process.stderr();
    assert!(!said.contains("ERROR"), "{said}");
}

#[tokio::test]
async fn the_audit_names_the_client_of_every_call() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    for version in REVISIONS {
        server.client(TOKEN, version).await.call("list_panes", json!({})).await;
    }
    let records = records(&log(&tmux));
    assert_eq!(records.len(), REVISIONS.len());
    for record in records {
        assert_eq!(record["client"], "raw 1", "{record}");
    }
}

#[tokio::test]
async fn what_a_client_does_wrong_is_said_and_does_no_harm() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let mut client = server.client(TOKEN, "2026-07-28").await;
    let reply = client.request("no/such/method", json!({})).await;
    assert_eq!(reply["error"]["code"], -32601, "{reply}");
    let reply = client.request("tools/call", json!({"name": "list_panes", "arguments": 3})).await;
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    let reply = client.call("list_pane", json!({})).await;
    assert!(reply["content"][0]["text"].as_str().unwrap().contains("`list_panes`"), "{reply}");
    let mut old = server.client(TOKEN, "2025-11-25").await;
    old.session = Some("no-such-session".to_owned());
    assert_eq!(old.start("tools/list", json!({})).await.1.status, 404);
    old.session = None;
    assert_eq!(old.start("tools/list", json!({})).await.1.status, 400);
}

#[tokio::test]
async fn what_is_listed_is_the_same_to_the_byte_for_every_client() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    for version in ["2025-11-25", "2026-07-28"] {
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
