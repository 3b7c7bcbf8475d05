//! Everything that a server does, on a server of another system.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use testkit::{Sshd, TmuxServer, until, wait_until};
use tmux_control::channel::CancelOutcome;
use tmux_control::discover::SocketState;
use tmux_control::stream::ring::Chunk;
use tmux_control::{Command, Error, Program, Remote, Server, Socket};

use super::{command, connect, options, over_ssh};
use crate::{clients, first_pane, print, program};

/// Asserts everything that a server does.
async fn assert_works(tmux: &TmuxServer, remote: &Remote) {
    let server = connect(tmux, remote);
    assert_commands_work(tmux, &server).await;
    assert_stream_is_exact(tmux, &server).await;
    assert_buffers_are_exact(tmux, &server).await;
    assert_channels_work(tmux, &server).await;
    remote.close().await;
    let closed = server.run(print("x")).await;
    assert!(matches!(closed, Err(Error::Unreachable { .. })), "{closed:?}");
    wait_until("all clients have left", || clients(tmux).is_empty().then_some(()));
}

async fn assert_commands_work(tmux: &TmuxServer, server: &Server) {
    let odd = "it's \"quoted\" $HOME; \\ #{x}\nüñ€";
    let set = Command::action("set-option").arg("-g").arg("@odd").arg(odd);
    let show = Command::query("show-options").arg("-gv").arg("@odd");
    let replies = server.sequence(vec![set, show.clone()]).await.unwrap();
    assert_eq!(replies[1].text(), format!("{odd}\n"));
    assert_eq!(server.spawned(&[show]).await.unwrap()[0].text(), format!("{odd}\n"));
    let queries = [print("one"), Command::query("list-panes").arg("-a"), print("two")];
    assert_eq!(server.spawned(&queries).await.unwrap()[2].text(), "two\n");
    let unknown = || Command::query("list-panes").option("-t", "=nowhere:");
    for failed in
        [server.run(unknown()).await, server.spawned(&[unknown()]).await.map(|mut it| it.remove(0))]
    {
        assert!(failed.as_ref().is_err_and(Error::is_not_found), "{failed:?}");
    }
    let file = tmux.home().join("ran");
    let shell = Command::action("run-shell").arg(format!("echo > {}", file.display()));
    server.run(shell).await.unwrap();
    assert!(file.exists(), "the shell did not run");
    let pid: i32 = server.run(print("#{client_pid}")).await.unwrap().text().trim().parse().unwrap();
    assert_eq!(clients(tmux), [(pid, "main".to_owned())]);
    assert_eq!(server.version().await.unwrap(), connect_here(tmux).version().await.unwrap());
    assert!(server.address().ends_with(tmux.socket().to_str().unwrap()));
}

fn connect_here(tmux: &TmuxServer) -> Server {
    Server::new(program(tmux))
}

async fn assert_stream_is_exact(tmux: &TmuxServer, server: &Server) {
    let pane = first_pane(tmux);
    let mut stream = server.stream(pane).await.unwrap();
    tmux.type_line(&pane.to_string(), "seq 1 20000; echo 'e''nd'");
    let mut output = Vec::new();
    while !output.ends_with(b"end\r\n$ ") {
        match stream.next().await {
            Chunk::Bytes { bytes, .. } => output.extend_from_slice(&bytes),
            other => panic!("{other:?}"),
        }
    }
    let expected: String = (1..=20000).map(|number| format!("{number}\r\n")).collect();
    let output = String::from_utf8(output).unwrap();
    assert!(output.contains(&format!("\r\n{expected}end")), "output is missing or changed");
    // The client is known by its pid there, so that the pane is paused on it.
    let respawn = Command::action("respawn-pane").arg("-k").option("-t", pane).arg("exec /bin/sh");
    server.respawn(pane, respawn).await.unwrap();
    assert_eq!(clients(tmux).len(), 2);
    server.close_streams().await;
    wait_until("the stream client has left", || (clients(tmux).len() == 1).then_some(()));
}

async fn assert_buffers_are_exact(tmux: &TmuxServer, server: &Server) {
    let bytes: Vec<u8> = (0..300_000_u32).map(|number| (number % 251 + 1) as u8).collect();
    let mut writer = server.write_buffer("odd").await.unwrap();
    for piece in bytes.chunks(50_000) {
        writer.write(piece).await.unwrap();
    }
    writer.finish().await.unwrap();
    let mut read = Vec::new();
    let mut reader = server.read_buffer("odd").await.unwrap();
    while let Some(piece) = reader.next().await.unwrap() {
        read.extend_from_slice(piece);
    }
    assert!(read == bytes, "{} bytes of {}", read.len(), bytes.len());
    let mut dropped = server.write_buffer("odd").await.unwrap();
    dropped.write(b"half").await.unwrap();
    let processes = || {
        std::fs::read_dir("/proc").into_iter().flatten().flatten().any(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).into_owned();
            line.contains("load-buffer") && line.contains(tmux.socket().to_str().unwrap())
        })
    };
    drop(dropped);
    wait_until("the process has ended", || (!processes()).then_some(()));
    let rows = server.buffers().await.unwrap();
    assert_eq!((rows[0].name.as_str(), rows[0].bytes), ("odd", 300_000));
    let missing = server.read_buffer("none").await.unwrap().next().await.map(|_| ());
    assert!(missing.as_ref().is_err_and(Error::is_not_found), "{missing:?}");
}

async fn assert_channels_work(tmux: &TmuxServer, server: &Server) {
    let mut wait = server.wait_for_channel("c").await.unwrap();
    tmux.tmux(&["wait-for", "-S", "c"]);
    wait.signal().await.unwrap();
    let wait = server.wait_for_channel("c").await.unwrap();
    assert_eq!(wait.cancel().await, CancelOutcome::Removed);
    server.channel_waits_ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_works_over_ssh() {
    let tmux = TmuxServer::new();
    let sshd = Sshd::start();
    assert_works(&tmux, &over_ssh(&tmux, &sshd)).await;
    wait_until("no connection is left", || sshd.connections().is_empty().then_some(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn server_works_behind_a_printing_fish() {
    let tmux = TmuxServer::new();
    let shell = r#"echo Welcome; exec fish -c "$SSH_ORIGINAL_COMMAND""#;
    let sshd = Sshd::with_config(&format!("ForceCommand {shell}"));
    assert_works(&tmux, &over_ssh(&tmux, &sshd)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_works_through_commands() {
    for words in [&["env", "TMUX=/nowhere,1,0"][..], &["busybox"]] {
        let tmux = TmuxServer::new();
        let remote = Remote::new(command(words), options(&tmux));
        assert_works(&tmux, &remote).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn channels_beyond_the_session_limit_work() {
    let tmux = TmuxServer::new();
    let sshd = Sshd::with_config("MaxSessions 2");
    let remote = over_ssh(&tmux, &sshd);
    assert_works(&tmux, &remote).await;
    wait_until("no connection is left", || sshd.connections().is_empty().then_some(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn new_server_lets_the_channel_end() {
    let tmux = TmuxServer::not_started();
    let sshd = Sshd::start();
    let remote = over_ssh(&tmux, &sshd);
    let server = connect(&tmux, &remote);
    let none = server.run(print("x")).await;
    let Err(Error::NoServer { socket }) = none else { panic!("{none:?}") };
    assert_eq!(socket, format!("127.0.0.1:{}", tmux.socket().display()));
    let new = Command::action("new-session").arg("-d").option("-s", "main").arg("exec sleep 600");
    server.run(new).await.unwrap();
    assert_eq!(server.run(print("#{session_name}")).await.unwrap().text(), "main\n");
    remote.close().await;
    wait_until("no connection is left", || sshd.connections().is_empty().then_some(()));
    assert_eq!(tmux.tmux(&["list-sessions", "-F", "#{session_name}"]), "main");
}

#[tokio::test(flavor = "multi_thread")]
async fn named_sockets_follow_the_other_system() {
    let tmux = TmuxServer::new();
    let route = command(&["env", &format!("TMUX_TMPDIR={}", tmux.home().display())]);
    let remote = Remote::new(route, options(&tmux));
    let named = Socket::Name("other".to_owned());
    let server =
        Server::new(Program { socket: named, remote: Some(remote.clone()), ..program(&tmux) });
    let new = Command::action("new-session").arg("-d").arg("exec sleep 600");
    server.run(new).await.unwrap();
    let path = server.run(print("#{socket_path}")).await.unwrap().text();
    assert_eq!(server.socket_path().display().to_string(), path.trim());
    let directory = server.socket_path().parent().unwrap().to_path_buf();
    drop(UnixListener::bind(directory.join("stale")).unwrap());
    std::fs::write(directory.join("file"), "").unwrap();
    let found = server.sockets().await.unwrap();
    assert_eq!(found, [directory.join("other"), directory.join("stale")]);
    let state = server.probe_socket(&found[0]).await;
    assert!(matches!(state, SocketState::Server { sessions: 1, .. }), "{state:?}");
    assert_eq!(server.probe_socket(&found[1]).await, SocketState::Stale);
    assert_eq!(server.probe_socket(&directory.join("file")).await, SocketState::NoSocket);
    std::fs::set_permissions(&directory, Permissions::from_mode(0o701)).unwrap();
    assert!(server.sockets().await.unwrap().is_empty(), "others could have put them there");
    std::fs::set_permissions(&directory, Permissions::from_mode(0o700)).unwrap();
    server.run(Command::action("kill-server")).await.ok();
    until("the server has ended", async || {
        server.run(print("x")).await.is_err_and(|error| error.is_no_server()).then_some(())
    })
    .await;
}
