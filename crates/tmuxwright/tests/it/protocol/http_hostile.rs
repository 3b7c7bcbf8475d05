//! Tests of hostile HTTP: half-open connections, too many sessions, and requests whose host is
//! ambiguous.

use serde_json::json;
use testkit::{HttpConnection, TmuxServer, until};

use crate::protocol::LEGACY;
use crate::protocol::http::{TOKEN, serve_http};
use crate::protocol::http_gate::{ACCEPT, BEARER, HOST, JSON, handshake_status, post_status};

#[tokio::test]
async fn half_open_connections_lock_nobody_out() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let mut half_open = Vec::new();
    for number in 0..300 {
        let mut connection = HttpConnection::open(server.address).await;
        if number % 2 == 0 {
            connection.write(b"POST /mcp HTTP/1.1\r\nHost: local").await;
        }
        half_open.push(connection);
    }
    let mut client = server.client(TOKEN, LEGACY).await;
    let (id, mut reply) = client.start("tools/list", json!({})).await;
    assert!(reply.answer(id).await.is_some());
    // The longest waiting connections were closed in exchange.
    assert!(half_open.remove(0).try_reply().await.is_none());
}

#[tokio::test]
async fn request_in_progress_survives_half_open_connections() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let mut client = server.client(TOKEN, LEGACY).await;
    let wait = json!({"name": "wait_for",
        "arguments": {"target": "%0", "until": ["text:dawn"], "timeout": 60}});
    let (id, connection) = client.send("tools/call", wait).await;
    until("the wait has begun", async || (crate::protocol::client_count(&tmux) > 1).then_some(()))
        .await;
    let mut half_open = Vec::new();
    for _ in 0..300 {
        half_open.push(HttpConnection::open(server.address).await);
    }
    tmux.types("%0", "echo da''wn");
    let answer = connection.reply().await.answer(id).await.unwrap();
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

#[tokio::test]
async fn ambiguous_hosts_are_bad_requests() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    for headers in [
        &[][..],
        &[HOST, HOST],
        &[HOST, ("Host", "evil.example")],
        &[("Host", "evil.example"), HOST],
        &[("Host", "localhost:80@evil.example")],
        &[("Host", "user@localhost")],
        &[("Host", "localhost:3000.evil.example")],
        &[("Host", "localhost:")],
        &[("Host", "[::1%25lo]")],
        &[("Host", "localhost, evil.example")],
    ] {
        assert_eq!(handshake_status(&server, headers).await, 400, "{headers:?}");
    }
    for headers in [
        &[("Host", "localhost.")][..],
        &[("Host", "evil.example"), ("X-Forwarded-Host", "localhost")],
        &[HOST, ("Origin", "http://localhost:3000.evil.example")],
        &[HOST, ("Origin", "http://localhost@evil.example")],
        &[HOST, ("Origin", "http://localhost:3000/")],
        &[HOST, ("Origin", "http://localhost."), ("X-Forwarded-For", "127.0.0.1")],
        &[HOST, ("Origin", "https://localhost")],
        &[HOST, ("Origin", "")],
        &[HOST, ("Origin", "http://localhost"), ("Origin", "http://evil.example")],
    ] {
        assert_eq!(handshake_status(&server, headers).await, 403, "{headers:?}");
    }
}

#[tokio::test]
async fn target_must_name_the_same_host() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    for target in ["http://localhost/mcp", "http://LOCALHOST/mcp"] {
        assert_eq!(post_status(&server, target, &[HOST]).await, 200, "{target}");
    }
    for (target, host) in [
        ("http://evil.example/mcp", "localhost"),
        ("http://localhost/mcp", "evil.example"),
        ("http://localhost:81/mcp", "localhost"),
        ("http://user@localhost/mcp", "localhost"),
        ("https://localhost/mcp", "localhost"),
        ("ftp://localhost/mcp", "localhost"),
    ] {
        let status = post_status(&server, target, &[("Host", host)]).await;
        assert_eq!(status, 400, "{target} {host}");
    }
    let status = post_status(&server, "http://evil.example/mcp", &[("Host", "evil.example")]).await;
    assert_eq!(status, 403);
}

/// A proxy in front could read another length, and take the rest of the body for the next request.
#[tokio::test]
async fn contradictory_body_lengths_are_bad_requests() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    for lengths in [
        [("Content-Length", "4"), ("Content-Length", "5")],
        [("Transfer-Encoding", "identity"), ("Transfer-Encoding", "x")],
    ] {
        let mut connection = HttpConnection::open(server.address).await;
        let headers = [&[HOST, BEARER, ACCEPT, JSON][..], &lengths].concat();
        connection.head("POST /mcp", &headers).await;
        assert_eq!(connection.reply().await.status, 400, "{lengths:?}");
    }
}

#[tokio::test]
async fn unused_sessions_make_room_used_ones_stay() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let mut clients = Vec::new();
    for _ in 0..128 {
        clients.push(server.client(TOKEN, LEGACY).await);
    }
    // The first has called a tool, the second is the oldest that has not.
    assert_eq!(clients[0].call("list_panes", json!({})).await["isError"], false);
    let mut further = server.client(TOKEN, LEGACY).await;
    assert_eq!(clients[1].start("tools/list", json!({})).await.1.status, 404);
    assert_eq!(clients[0].call("list_panes", json!({})).await["isError"], false);
    for client in clients.iter_mut().skip(2).chain([&mut further]) {
        assert_eq!(client.call("list_panes", json!({})).await["isError"], false);
    }
    assert_eq!(handshake_status(&server, &[HOST]).await, 503);
    // Clients of the stateless revision need no session.
    let mut stateless = server.client(TOKEN, "2026-07-28").await;
    assert_eq!(stateless.call("list_panes", json!({})).await["isError"], false);
    assert!(clients[0].bare("DELETE").await.status < 300);
    assert_eq!(handshake_status(&server, &[HOST]).await, 200);
}
