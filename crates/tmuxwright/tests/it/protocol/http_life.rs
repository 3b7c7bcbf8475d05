//! The end of a server over HTTP, in every way it can come.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::{HttpClient, TmuxServer, until, wait_until};
use tokio::net::TcpStream;

use crate::protocol::http::{TOKEN, endless, serve_http};
use crate::serve;

fn sessions(tmux: &TmuxServer) -> Vec<String> {
    let names = tmux.tmux(&["list-sessions", "-F", "#{session_name}"]);
    names.lines().map(str::to_owned).collect()
}

fn clients(tmux: &TmuxServer) -> usize {
    tmux.tmux(&["list-clients", "-F", "x"]).lines().count()
}

/// Makes a session of the server's own.
async fn own_session(client: &mut HttpClient) {
    let made = client.call("create_pane", json!({"command": "exec sleep 1000"})).await;
    assert_eq!(made["isError"], false, "{made}");
}

#[tokio::test]
async fn a_signal_ends_it_well_whatever_goes_on() {
    for signal in [Signal::TERM, Signal::INT] {
        let tmux = TmuxServer::new();
        let mut server = serve_http(&tmux).await;
        let mut old = server.client(TOKEN, "2025-11-25").await;
        let mut new = server.client(TOKEN, "2026-07-28").await;
        own_session(&mut old).await;
        let mut stream = old.bare("GET").await;
        let (old_id, old_wait) = old.send("tools/call", endless()).await;
        let (new_id, new_wait) = new.send("tools/call", endless()).await;
        until("the waits have begun", async || (clients(&tmux) > 1).then_some(())).await;
        server.process.signal(signal);
        for (id, wait) in [(old_id, old_wait), (new_id, new_wait)] {
            let answer = wait.reply().await.answer(id).await.expect("it is answered");
            let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
            assert!(text.contains("the server is exiting"), "{text}");
        }
        assert_eq!(stream.message().await, None);
        assert!(server.process.wait().await.success(), "{}", server.process.stderr());
        assert!(TcpStream::connect(server.address).await.is_err());
        assert_eq!(sessions(&tmux), ["main"]);
        wait_until("our clients are gone", || (clients(&tmux) == 0).then_some(()));
    }
}

#[tokio::test]
async fn the_second_signal_ends_it_at_once() {
    let tmux = TmuxServer::new();
    let mut server = serve_http(&tmux).await;
    own_session(&mut server.client(TOKEN, "2025-11-25").await).await;
    // A tmux that does not answer holds up an end that would clean up.
    let stuck = Pid::from_raw(i32::try_from(tmux.pid()).unwrap()).unwrap();
    kill_process(stuck, Signal::STOP).unwrap();
    server.process.signal(Signal::TERM);
    until("it has heard the first", async || TcpStream::connect(server.address).await.err()).await;
    server.process.signal(Signal::INT);
    let status = server.process.wait().await;
    kill_process(stuck, Signal::CONT).unwrap();
    assert_eq!(status.code(), Some(130));
}

#[tokio::test]
async fn a_killed_server_leaves_no_client_and_the_next_one_removes_its_session() {
    let tmux = TmuxServer::new();
    let mut server = serve_http(&tmux).await;
    let mut client = server.client(TOKEN, "2025-11-25").await;
    own_session(&mut client).await;
    let (_, _wait) = client.send("tools/call", endless()).await;
    until("the wait has begun", async || (clients(&tmux) > 1).then_some(())).await;
    server.process.signal(Signal::KILL);
    server.process.wait().await;
    wait_until("our clients are gone", || (clients(&tmux) == 0).then_some(()));
    assert_eq!(sessions(&tmux).len(), 2);
    let next = serve(&tmux).await;
    until("the orphan is gone", async || (sessions(&tmux) == ["main"]).then_some(())).await;
    next.close().await;
}
