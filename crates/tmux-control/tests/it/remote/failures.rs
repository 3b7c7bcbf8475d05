//! Systems that cannot be reached, and losses of connections.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use testkit::{Sshd, TmuxServer, until, wait_until};
use tmux_control::stream::StreamChange;
use tmux_control::{Error, Program, Remote, RemoteState, Route};

use super::{command, connect, options, over_ssh, quick, text};
use crate::{clients, first_pane, print, program};

/// The reason for which a system cannot be reached.
async fn reason(remote: &Remote) -> String {
    match remote.connect().await {
        Err(Error::Unreachable { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reasons_for_refused_connections_are_told() {
    let tmux = TmuxServer::not_started();
    let sshd = Sshd::start();
    sshd.lose_user_key();
    let refused = reason(&over_ssh(&tmux, &sshd)).await;
    assert!(refused.contains("Permission denied (publickey"), "{refused}");
    sshd.forget_host_key();
    let unknown = reason(&over_ssh(&tmux, &sshd)).await;
    assert!(unknown.contains("its host key is unknown"), "{unknown}");
    sshd.trust();
    sshd.change_host_key();
    let changed = reason(&over_ssh(&tmux, &sshd)).await;
    assert!(changed.contains("ssh-keygen -R"), "{changed}");
    sshd.kill();
    let closed = reason(&over_ssh(&tmux, &sshd)).await;
    assert!(closed.contains("Connection refused"), "{closed}");
    let unknown = Remote::new(Route::ssh("-F none no-such-host.invalid").unwrap(), options(&tmux));
    let unknown = reason(&unknown).await;
    assert!(unknown.contains("Could not resolve hostname"), "{unknown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reasons_for_failed_commands_are_told() {
    let tmux = TmuxServer::not_started();
    let cases: [(&[&str], &str); 4] = [
        (&["no-such-program"], "`no-such-program` cannot be started"),
        (&["sh", "-c", "echo no such container >&2; exit 1"], "no such container"),
        (&["sh", "-c", "echo This account is not available; exit 1"], "account is not available"),
        (&["false"], "ended without a message"),
    ];
    for (words, expected) in cases {
        let told = reason(&Remote::new(command(words), options(&tmux))).await;
        assert!(told.contains(expected), "{words:?}: {told}");
    }
    let echo = reason(&Remote::new(command(&["cat", "--"]), options(&tmux))).await;
    assert!(!echo.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_hosts_delay_no_other_and_back_off() {
    let tmux = TmuxServer::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let silent = Route::ssh(&format!("-F none -p {port} 127.0.0.1")).unwrap();
    let silent = Remote::new(silent, quick(&tmux));
    let mute = Remote::new(command(&["sh", "-c", "exec sleep 600"]), quick(&tmux));
    let begun = Instant::now();
    let waiting: Vec<_> = [&silent, &mute]
        .map(|remote| {
            let (server, remote) = (connect(&tmux, remote), remote.clone());
            tokio::spawn(async move {
                let result = server.run(print("x")).await;
                let (elapsed, state) = (begun.elapsed(), remote.state());
                (result, elapsed, state, reason(&remote).await, begun.elapsed() - elapsed)
            })
        })
        .into_iter()
        .collect();
    until("both connect", async || {
        (mute.state() == RemoteState::Connecting && silent.state() == RemoteState::Connecting)
            .then_some(())
    })
    .await;
    let works = connect(&tmux, &Remote::new(command(&["env"]), options(&tmux)));
    assert_eq!(works.run(print("x")).await.unwrap().text(), "x\n");
    assert!(waiting.iter().all(|call| !call.is_finished()), "the others delayed it");
    for call in waiting {
        let (result, elapsed, state, again, pause) = call.await.unwrap();
        assert!(matches!(result, Err(Error::Unreachable { .. })), "{result:?}");
        assert!(elapsed < Duration::from_secs(6), "{elapsed:?}");
        let RemoteState::Failed { error, .. } = state else { panic!("{state:?}") };
        assert!(again.starts_with(&error) && again.contains("next attempt in"), "{again}");
        assert!(pause < Duration::from_millis(400), "{pause:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_connection_ends_calls_and_is_replaced() {
    let tmux = TmuxServer::new();
    let sshd = Sshd::start();
    let remote = over_ssh(&tmux, &sshd);
    let server = connect(&tmux, &remote);
    let mut stream = server.stream(first_pane(&tmux)).await.unwrap();
    let runs = tmux.home().join("runs");
    let script = format!("echo >{}; sleep 600", runs.display());
    let script = tokio::spawn({
        let remote = remote.clone();
        async move { remote.run(&script).await }
    });
    wait_until("the script runs", || runs.exists().then_some(()));
    let mut wait = server.wait_for_channel("never").await.unwrap();
    sshd.kill();
    let script = script.await.unwrap();
    assert!(matches!(script, Err(Error::HostLost { .. })), "{script:?}");
    assert!(wait.signal().await.is_err());
    while !matches!(stream.changed().await, StreamChange::End(_)) {}
    let RemoteState::Failed { error, .. } = remote.state() else { panic!("{:?}", remote.state()) };
    assert!(error.contains("refused") || error.contains("was lost"), "{error}");
    assert!(sshd.listen_again());
    until("it connects again", async || server.run(print("back")).await.ok()).await;
    assert_eq!(text(&remote, "echo back").await, "back\n");
    assert!(server.stream(first_pane(&tmux)).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_connection_is_lost_within_the_keep_alive_time() {
    let tmux = TmuxServer::new();
    let sshd = Sshd::start();
    let remote = Remote::new(Route::ssh(&sshd.destination()).unwrap(), quick(&tmux));
    let server = connect(&tmux, &remote);
    let mut stream = server.stream(first_pane(&tmux)).await.unwrap();
    assert_eq!(text(&remote, "echo works").await, "works\n");
    // Nothing answers any more, and nothing is closed: as if packets were dropped.
    let stopped = sshd.connections();
    assert_eq!(stopped.len(), 1);
    let begun = Instant::now();
    for pid in &stopped {
        kill_process(*pid, Signal::STOP).unwrap();
    }
    let script = remote.run("echo").await;
    assert!(matches!(script, Err(Error::HostLost { .. })), "{script:?}");
    while !matches!(stream.changed().await, StreamChange::End(_)) {}
    assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
    until("it connects again", async || server.run(print("back")).await.ok()).await;
    for pid in &stopped {
        kill_process(*pid, Signal::KILL).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_container_ends_its_channels() {
    let tmux = TmuxServer::new();
    // Only the guard, the first process, ends: the others do not see the end by themselves.
    let pid_file = tmux.home().join("guard");
    let exec = format!("[ -e {0} ] || echo $$ >{0}; exec \"$@\"", pid_file.display());
    let remote = Remote::new(command(&["sh", "-c", &exec, "x"]), quick(&tmux));
    let server = connect(&tmux, &remote);
    let mut stream = server.stream(first_pane(&tmux)).await.unwrap();
    let guard = std::fs::read_to_string(pid_file).unwrap().trim().parse().unwrap();
    kill_process(Pid::from_raw(guard).unwrap(), Signal::KILL).unwrap();
    while !matches!(stream.changed().await, StreamChange::End(_)) {}
    assert!(matches!(remote.state(), RemoteState::Failed { .. }));
    until("it connects again", async || server.run(print("back")).await.ok()).await;
}

#[test]
fn killed_client_leaves_nothing_behind() {
    let tmux = TmuxServer::new();
    let sshd = Sshd::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let remote = runtime.block_on(async {
        let remote = over_ssh(&tmux, &sshd);
        let server = connect(&tmux, &remote);
        let stream = server.stream(first_pane(&tmux)).await.unwrap();
        assert_eq!(text(&remote, "echo works").await, "works\n");
        // Never dropped, as in a process that is killed.
        std::mem::forget((server, stream));
        remote
    });
    assert_eq!(sshd.connections().len(), 1);
    // Kills all local processes without a word.
    runtime.shutdown_background();
    wait_until("no connection is left", || sshd.connections().is_empty().then_some(()));
    wait_until("no client is left", || clients(&tmux).is_empty().then_some(()));
    drop(remote);
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_tmux_program_is_named() {
    let tmux = TmuxServer::new();
    let sshd = Sshd::start();
    let remote = over_ssh(&tmux, &sshd);
    let missing =
        Program { path: "/no/such/tmux".into(), remote: Some(remote.clone()), ..program(&tmux) };
    let server = tmux_control::Server::new(missing);
    for failed in [server.run(print("x")).await.map(|_| ()), server.version().await.map(|_| ())] {
        let Err(Error::Missing { program }) = failed else { panic!("{failed:?}") };
        assert_eq!(program, "127.0.0.1:/no/such/tmux");
    }
    wait_until("no client is left", || clients(&tmux).is_empty().then_some(()));
}
