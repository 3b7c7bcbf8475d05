//! Tests of access over HTTP: token, `Host` and `Origin`, sizes, connections, and settings.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use testkit::{HttpConnection, HttpResponse, HttpServer, TmuxServer, until};

use crate::launch;
use crate::protocol::http::{TOKEN, serve_http, with_token};

pub(super) const BEARER: (&str, &str) = ("Authorization", "Bearer a-token-for-tests-0123456789");
pub(super) const HOST: (&str, &str) = ("Host", "localhost");
pub(super) const ACCEPT: (&str, &str) = ("Accept", "application/json, text/event-stream");
pub(super) const JSON: (&str, &str) = ("Content-Type", "application/json");

/// The reply to a request of which only the head is sent.
async fn head(server: &HttpServer, line: &str, headers: &[(&str, &str)]) -> HttpResponse {
    let mut connection = HttpConnection::open(server.address).await;
    connection.head(line, headers).await;
    connection.reply().await
}

/// The status of a handshake with these headers.
pub(super) async fn handshake_status(server: &HttpServer, headers: &[(&str, &str)]) -> u16 {
    post_status(server, "/mcp", headers).await
}

/// The same, with another request target.
pub(super) async fn post_status(
    server: &HttpServer,
    target: &str,
    headers: &[(&str, &str)],
) -> u16 {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"}});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let hello = hello.to_string();
    let mut connection = HttpConnection::open(server.address).await;
    let length = hello.len().to_string();
    let own = [BEARER, ACCEPT, JSON, ("Content-Length", &length)];
    connection.head(&format!("POST {target}"), &[&own, headers].concat()).await;
    connection.write(hello.as_bytes()).await;
    connection.reply().await.status
}

#[tokio::test]
async fn token_is_checked_before_anything_else() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let long = ("Content-Length", "1000000000");
    for (line, headers) in [
        ("POST /mcp", &[HOST, ACCEPT, JSON, long][..]),
        ("POST /mcp", &[HOST, long, ("Authorization", "Bearer wrong")]),
        ("POST /mcp", &[HOST, long, ("Authorization", "Bearer a-token-for-tests-012345678")]),
        ("POST /mcp", &[HOST, long, ("Authorization", "a-token-for-tests-0123456789")]),
        ("POST /mcp", &[HOST, long, ("Authorization", "Basic a-token-for-tests-0123456789")]),
        ("POST /mcp", &[HOST, long, BEARER, ("Authorization", "Bearer wrong")]),
        ("POST /mcp?token=a-token-for-tests-0123456789", &[HOST, long]),
        ("POST /mcp", &[("Host", "evil.example"), ("Origin", "http://evil.example"), long]),
        ("GET /mcp", &[HOST]),
        ("GET /", &[HOST]),
        ("OPTIONS /mcp", &[HOST, ("Origin", "http://localhost:1")]),
    ] {
        let mut reply = head(&server, line, headers).await;
        assert_eq!(reply.status, 401, "{line} {headers:?}");
        assert!(reply.header("www-authenticate").unwrap().starts_with("Bearer"), "{line}");
        assert_eq!(reply.header("connection"), Some("close"), "{line}");
        let text = reply.text().await;
        assert!(text.contains("Authorization: Bearer TOKEN") && !text.contains(TOKEN), "{text}");
    }
    assert_eq!(handshake_status(&server, &[HOST]).await, 200);
}

#[tokio::test]
async fn only_loopback_hosts_and_origins_are_allowed() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let port = server.address.port();
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")];
    for host in hosts.iter().map(String::as_str).chain(["LOCALHOST", "[::1]"]) {
        assert_eq!(handshake_status(&server, &[("Host", host)]).await, 200, "{host}");
    }
    let own = format!("http://127.0.0.1:{port}");
    for origin in [&own, "http://localhost:6274", "http://[::1]:3000", "http://localhost"] {
        assert_eq!(handshake_status(&server, &[HOST, ("Origin", origin)]).await, 200, "{origin}");
    }
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.1"] {
        assert_eq!(handshake_status(&server, &[("Host", host)]).await, 403, "{host}");
    }
    for origin in ["http://evil.example", "null", "https://localhost.evil.example", "x", "file://"]
    {
        assert_eq!(handshake_status(&server, &[HOST, ("Origin", origin)]).await, 403, "{origin}");
    }
    let foreign = [BEARER, ("Host", "evil.example"), ACCEPT, JSON, ("Content-Length", "9999")];
    let text = head(&server, "POST /mcp", &foreign).await.text().await;
    assert!(text.contains("http.hosts") && text.contains("http.origins"), "{text}");
}

#[tokio::test]
async fn configured_hosts_and_origins_are_allowed() {
    let tmux = TmuxServer::new();
    let config = tmux.home().join("http.toml");
    let lists = "[http]\nhosts = [\"box.lan\"]\norigins = [\"https://app.example\"]\n";
    fs::write(&config, lists).unwrap();
    let server = with_token(&tmux).args(&["--config", config.to_str().unwrap()]).http().await;
    assert_eq!(handshake_status(&server, &[("Host", "box.lan:80")]).await, 200);
    assert_eq!(handshake_status(&server, &[HOST, ("Origin", "https://app.example")]).await, 200);
    assert_eq!(handshake_status(&server, &[HOST, ("Origin", "http://localhost:1")]).await, 200);
    assert_eq!(handshake_status(&server, &[("Host", "other.lan")]).await, 403);
    for origin in ["http://app.example", "https://app.example:8443", "https://box.lan"] {
        assert_eq!(handshake_status(&server, &[HOST, ("Origin", origin)]).await, 403, "{origin}");
    }
}

#[tokio::test]
async fn only_the_mcp_path_is_served() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    for path in ["/", "/mcp/", "/mcpx", "/.well-known/oauth-protected-resource", "/%6dcp"] {
        let mut reply = head(&server, &format!("GET {path}"), &[HOST, BEARER]).await;
        assert_eq!(reply.status, 404, "{path}");
        assert!(reply.text().await.contains("/mcp"));
    }
    assert_eq!(head(&server, "PUT /mcp", &[HOST, BEARER]).await.status, 405);
    assert_eq!(head(&server, "GET /mcp", &[HOST, BEARER]).await.status, 406);
}

#[tokio::test]
async fn oversized_requests_are_refused() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let mut connection = HttpConnection::open(server.address).await;
    let size = 5_000_000;
    let length = size.to_string();
    let headers = [HOST, BEARER, ACCEPT, JSON, ("Content-Length", length.as_str())];
    connection.head("POST /mcp", &headers).await;
    // The end of the body is not sent, so that no byte is in flight when the reply comes.
    connection.write(&vec![b' '; size - 700_000]).await;
    assert_eq!(connection.reply().await.status, 413);
    let long = "x".repeat(40_000);
    let reply = head(&server, "POST /mcp", &[HOST, BEARER, ("X-Long", &long)]).await;
    assert_eq!(reply.status, 431);
}

#[tokio::test]
async fn request_above_the_limit_gets_retry_after() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let mut client = server.client(TOKEN, "2026-07-28").await;
    let mut slow = Vec::new();
    for _ in 0..192 {
        let mut connection = HttpConnection::open(server.address).await;
        let headers = [HOST, BEARER, ACCEPT, JSON, ("Content-Length", "100")];
        connection.head("POST /mcp", &headers).await;
        slow.push(connection);
    }
    let mut list = async || client.start("tools/list", json!({})).await.1;
    until("all request slots are taken", async || {
        let reply = list().await;
        (reply.status == 503).then(|| assert_eq!(reply.header("retry-after"), Some("1")))
    })
    .await;
    slow.pop();
    until("a request slot is free", async || (list().await.status == 200).then_some(())).await;
}

#[tokio::test]
async fn generated_token_is_private_and_shown_once() {
    let tmux = TmuxServer::new();
    let file = tmux.home().join(".local/state/tmuxwright/http-token");
    let server = launch(&tmux).http().await;
    let token = fs::read_to_string(&file).unwrap().trim().to_owned();
    assert_eq!(token.len(), 64);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let stderr = server.process.stderr();
    assert_eq!(stderr.matches(&token).count(), 1, "{stderr}");
    assert!(stderr.contains("claude mcp add --transport http tmux http://127.0.0.1:"), "{stderr}");
    assert!(stderr.contains(&format!("Bearer $(cat '{}')", file.display())), "{stderr}");
    server.client(&token, "2025-11-25").await.request("tools/list", json!({})).await;

    let next = launch(&tmux).args(&["--log", "trace"]).http().await;
    next.client(&token, "2026-07-28").await.request("tools/list", json!({})).await;
    let stderr = next.process.stderr();
    assert!(stderr.contains(file.to_str().unwrap()) && !stderr.contains(&token), "{stderr}");

    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let output = launch(&tmux).args(&["serve", "--http", "127.0.0.1:0"]).output().await;
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("chmod 600") && !stderr.contains(&token), "{stderr}");
}

#[tokio::test]
async fn given_token_reaches_no_log_or_pane() {
    let tmux = TmuxServer::not_started();
    let server = with_token(&tmux).args(&["--log", "trace"]).http().await;
    let mut client = server.client(TOKEN, "2025-11-25").await;
    let made = client.call("create_session", json!({"name": "new"})).await;
    assert_eq!(made["isError"], false, "{made}");
    let environment = tmux.tmux(&["show-environment", "-g"]);
    assert!(environment.contains("HOME=") && !environment.contains(TOKEN), "{environment}");
    let stderr = server.process.stderr();
    assert!(
        stderr.contains("Bearer $TMUXWRIGHT_HTTP_TOKEN") && !stderr.contains(TOKEN),
        "{stderr}"
    );
}

#[tokio::test]
async fn invalid_http_settings_stop_the_start() {
    let tmux = TmuxServer::not_started();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let busy = TmuxServer::new();
    let server = serve_http(&busy).await;
    let in_use = server.address.to_string();
    for (args, code, words) in [
        (vec!["--http", "0.0.0.0:0"], 2, "--http-allow-remote"),
        (vec!["--http", "[::]:0"], 2, "--http-allow-remote"),
        (vec!["--http", "8765"], 2, "127.0.0.1:8765"),
        (vec!["--http", &in_use], 1, "another port"),
        (vec!["--http", &taken, "--http-token-file", "/dev/null"], 1, "is not a regular file"),
        (vec!["--http", &taken, "--http-token-file", "/proc/nothing/x"], 1, "/proc/nothing/x"),
    ] {
        let output = launch(&tmux).args(&args).output().await;
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
        assert!(stderr.contains(words), "{args:?}: {stderr}");
    }
    let short = launch(&tmux).env("TMUXWRIGHT_HTTP_TOKEN", "short").args(&["--http", &taken]);
    let output = short.output().await;
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("TMUXWRIGHT_HTTP_TOKEN: the token has 5 characters"), "{stderr}");
    let both = with_token(&tmux).args(&["--http", &taken, "--http-token-file", "x"]);
    assert_eq!(both.output().await.status.code(), Some(2));
    assert!(!tmux.home().join("x").exists());
}

#[tokio::test]
async fn http_allow_remote_binds_every_address() {
    let tmux = TmuxServer::new();
    let remote =
        with_token(&tmux).args(&["--http-allow-remote"]).env("TMUXWRIGHT_HTTP", "0.0.0.0:0");
    let mut process = remote.raw();
    let port = until("the server listens", async || {
        let stderr = process.stderr();
        let port = stderr.split_once("http://0.0.0.0:")?.1.split_once("/mcp")?.0;
        port.parse::<u16>().ok()
    })
    .await;
    let mut connection = HttpConnection::open(([127, 0, 0, 1], port).into()).await;
    connection.head("GET /mcp", &[HOST]).await;
    assert_eq!(connection.reply().await.status, 401);
    process.signal(rustix::process::Signal::TERM);
    assert!(process.wait().await.success());
}
