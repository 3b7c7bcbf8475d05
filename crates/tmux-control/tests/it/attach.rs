//! Where the control client sits, and how little of it a person sees.

use testkit::{TmuxServer, until, wait_until};
use tmux_control::{Command, Server, SessionId};

use crate::{clients, connect, impatient, program, say};

/// Waits until the clients are in these sessions.
fn wait_for_clients(tmux: &TmuxServer, sessions: &[&str]) {
    wait_until(&format!("there are clients in {sessions:?} and nowhere else"), || {
        let mut there: Vec<String> = clients(tmux).into_iter().map(|client| client.1).collect();
        there.sort();
        (there == sessions).then_some(())
    });
}

fn ask(tmux: &TmuxServer, target: &str, format: &str) -> String {
    tmux.tmux(&["display-message", "-p", "-t", target, format])
}

/// A person's terminal, made of another tmux server, attached to `session`.
fn attach_a_person(tmux: &TmuxServer, session: &str) -> TmuxServer {
    let terminal = TmuxServer::new();
    let attach = format!(
        "exec env -u TMUX '{}' -u -S '{}' attach-session -t '={session}'",
        TmuxServer::program().to_string_lossy(),
        tmux.socket().display()
    );
    terminal.tmux(&["new-window", &attach]);
    wait_until("the person is attached", || {
        (ask(tmux, session, "#{session_attached}") == "1").then_some(())
    });
    terminal
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_client_leaves_and_comes_back_when_needed() {
    let tmux = TmuxServer::new();
    let server = Server::with_timing(program(&tmux), impatient());
    for _ in 0..2 {
        server.run(say("x")).await.unwrap();
        wait_for_clients(&tmux, &[]);
        assert_eq!(ask(&tmux, "main", "#{session_attached}"), "0");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_stays_while_it_is_listened_to() {
    let tmux = TmuxServer::new();
    let server = Server::with_timing(program(&tmux), impatient());
    let listener = server.events();
    server.run(say("x")).await.unwrap();
    let ours = clients(&tmux);
    let idler = Server::with_timing(program(&tmux), impatient());
    for _ in 0..3 {
        idler.run(say("x")).await.unwrap();
        wait_for_clients(&tmux, &["main"]);
        assert_eq!(clients(&tmux), ours);
    }
    drop(listener);
    wait_for_clients(&tmux, &[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_handle_leaves_no_client() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let pane = crate::first_pane(&tmux);
    let _reader = server.stream(pane).await.unwrap();
    let _events = server.events();
    assert_eq!(clients(&tmux).len(), 2);
    drop(server);
    wait_for_clients(&tmux, &[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_was_detached_is_replaced() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    for _ in 0..5 {
        until("a client is there", async || {
            assert_eq!(server.run(say("x")).await.unwrap().text(), "x\n");
            (clients(&tmux).len() == 1).then_some(())
        })
        .await;
        tmux.tmux(&["detach-client", "-s", "=main"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_changes_no_size() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["resize-window", "-t", "=main:", "-x", "200", "-y", "50"]);
    tmux.tmux(&["set-option", "-wu", "-t", "=main:", "window-size"]);
    let size = "#{window_width}x#{window_height}";
    let server = connect(&tmux);
    server.run(say("x")).await.unwrap();
    let pane = ask(&tmux, "main", "#{pane_id}").parse().unwrap();
    let _reader = server.stream(pane).await.unwrap();
    assert_eq!(clients(&tmux).len(), 2);
    assert_eq!(ask(&tmux, "main", size), "200x50");
    let flags = tmux.tmux(&["list-clients", "-F", "#{client_flags}"]);
    assert!(flags.lines().all(|flags| flags.contains("ignore-size")), "{flags}");
    drop(server);
    wait_for_clients(&tmux, &[]);
    assert_eq!(ask(&tmux, "main", size), "200x50");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_session_called_our_own_is_preferred() {
    let tmux = TmuxServer::new();
    tmux.new_session("ours");
    tmux.new_session("zzz");
    let ours: SessionId = ask(&tmux, "=ours:", "#{session_id}").parse().unwrap();
    let server = connect(&tmux);
    server.prefer(ours);
    server.run(say("x")).await.unwrap();
    wait_for_clients(&tmux, &["ours"]);
    // Also when it is said after the client has sat down elsewhere.
    let zzz: SessionId = ask(&tmux, "=zzz:", "#{session_id}").parse().unwrap();
    server.prefer(zzz);
    server.run(say("x")).await.unwrap();
    wait_for_clients(&tmux, &["zzz"]);
    // And one that is gone is no reason to fail.
    tmux.tmux(&["kill-session", "-t", "=zzz"]);
    server.run(say("x")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_in_a_session_of_our_own_does_not_move_to_another() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    server.run(say("x")).await.unwrap();
    wait_for_clients(&tmux, &["main"]);
    for name in ["one", "two"] {
        tmux.new_session(name);
        let session = ask(&tmux, &format!("={name}:"), "#{session_id}").parse().unwrap();
        server.prefer_also(session);
        server.run(say("x")).await.unwrap();
        server.run(say("x")).await.unwrap();
        wait_for_clients(&tmux, &["one"]);
    }
    tmux.tmux(&["kill-session", "-t", "=one"]);
    until("the client sits in the other", async || {
        server.run(say("x")).await.unwrap();
        clients(&tmux).first().filter(|client| client.1 == "two").map(|_| ())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_command_is_lost_with_a_session_that_was_left() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    for round in 0..5 {
        tmux.new_session("ours");
        let ours: SessionId = ask(&tmux, "=ours:", "#{session_id}").parse().unwrap();
        server.prefer(ours);
        until("the client sits in it", async || {
            server.run(say("x")).await.unwrap();
            clients(&tmux).first().filter(|client| client.1 == "ours").map(|_| ())
        })
        .await;
        let calls: Vec<_> = (0..8)
            .map(|number| {
                let server = server.clone();
                tokio::spawn(async move {
                    for value in 0..40 {
                        let name = format!("@n{number}");
                        let set = Command::action("set-option").arg("-g").arg(name).arg(value);
                        server.run(set).await.unwrap();
                    }
                })
            })
            .collect();
        let away = server.leave(ours).await;
        server.spawned(&[Command::action("kill-session").option("-t", ours)]).await.unwrap();
        for call in calls {
            call.await.unwrap_or_else(|error| panic!("round {round}: {error}"));
        }
        assert_eq!(tmux.tmux(&["show-options", "-gv", "@n7"]), "39");
        drop(away);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_keeps_out_of_a_session_only_while_it_is_told_to() {
    let tmux = TmuxServer::new();
    let main: SessionId = ask(&tmux, "=main:", "#{session_id}").parse().unwrap();
    let server = connect(&tmux);
    server.run(say("x")).await.unwrap();
    let away = server.leave(main).await;
    assert_eq!(server.run(say("x")).await.unwrap().text(), "x\n");
    wait_for_clients(&tmux, &[]);
    drop(away);
    server.run(say("x")).await.unwrap();
    wait_for_clients(&tmux, &["main"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_with_a_person_in_it_comes_before_the_one_used_last() {
    let tmux = TmuxServer::new();
    tmux.new_session("person");
    let _terminal = attach_a_person(&tmux, "person");
    let main: SessionId = ask(&tmux, "=main:", "#{session_id}").parse().unwrap();
    wait_until("the other session was used later", || {
        let visitor = tmux.try_tmux(&["-C", "attach-session", "-t", "=main"]);
        visitor.unwrap();
        let used = |session| ask(&tmux, session, "#{session_activity}").parse::<u64>().unwrap();
        (used("=main:") > used("=person:")).then_some(())
    });
    let server = connect(&tmux);
    server.run(say("x")).await.unwrap();
    wait_for_clients(&tmux, &["person", "person"]);
    server.prefer(main);
    server.run(say("x")).await.unwrap();
    wait_for_clients(&tmux, &["main", "person"]);
}
