//! Tests of how the HTTP server ends: by a signal, by a second one, and killed.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::{HttpClient, TmuxServer, until, wait_until};
use tokio::net::TcpStream;

use crate::protocol::http::{TOKEN, endless_wait, serve_http};
use crate::protocol::{LEGACY, client_count, session_names};

/// Makes the own session by making a pane in it.
async fn own_session(client: &mut HttpClient) {
    let made = client.call("create_pane", json!({"command": "exec sleep 1000"})).await;
    assert_eq!(made["isError"], false, "{made}");
}

#[tokio::test]
async fn signal_ends_the_server_with_open_waits() {
    for signal in [Signal::TERM, Signal::INT] {
        let tmux = TmuxServer::new();
        let mut server = serve_http(&tmux).await;
        let mut old = server.client(TOKEN, LEGACY).await;
        let mut new = server.client(TOKEN, "2026-07-28").await;
        own_session(&mut old).await;
        let mut stream = old.bare("GET").await;
        let (old_id, old_wait) = old.send("tools/call", endless_wait()).await;
        let (new_id, new_wait) = new.send("tools/call", endless_wait()).await;
        until("the waits have begun", async || (client_count(&tmux) > 1).then_some(())).await;
        server.process.signal(signal);
        for (id, wait) in [(old_id, old_wait), (new_id, new_wait)] {
            let answer = wait.reply().await.answer(id).await.expect("the wait is answered");
            let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
            assert!(text.contains("the server is exiting"), "{text}");
        }
        assert_eq!(stream.message().await, None);
        assert!(server.process.wait().await.success(), "{}", server.process.stderr());
        assert!(TcpStream::connect(server.address).await.is_err());
        assert_eq!(session_names(&tmux), ["main"]);
        wait_until("the control clients are gone", || (client_count(&tmux) == 0).then_some(()));
    }
}

#[tokio::test]
async fn second_signal_ends_the_server_at_once() {
    let tmux = TmuxServer::new();
    let mut server = serve_http(&tmux).await;
    own_session(&mut server.client(TOKEN, LEGACY).await).await;
    // A stopped tmux server delays the clean-up.
    let stuck = Pid::from_raw(i32::try_from(tmux.pid()).unwrap()).unwrap();
    kill_process(stuck, Signal::STOP).unwrap();
    server.process.signal(Signal::TERM);
    until("the first signal has arrived", async || TcpStream::connect(server.address).await.err())
        .await;
    server.process.signal(Signal::INT);
    let status = server.process.wait().await;
    kill_process(stuck, Signal::CONT).unwrap();
    assert_eq!(status.code(), Some(130));
}

#[tokio::test]
async fn killed_server_leaves_nothing_in_tmux() {
    let tmux = TmuxServer::new();
    let mut server = serve_http(&tmux).await;
    let mut client = server.client(TOKEN, LEGACY).await;
    own_session(&mut client).await;
    let (_, _wait) = client.send("tools/call", endless_wait()).await;
    until("the wait has begun", async || (client_count(&tmux) > 1).then_some(())).await;
    server.process.signal(Signal::KILL);
    server.process.wait().await;
    wait_until("the control clients are gone", || (client_count(&tmux) == 0).then_some(()));
    wait_until("the own session is gone", || (session_names(&tmux) == ["main"]).then_some(()));
}
