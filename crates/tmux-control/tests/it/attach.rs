//! Sessions that the control client attaches to, and its visibility to people.

use testkit::{TmuxServer, until, wait_until};
use tmux_control::{Command, Server, SessionId};

use crate::{clients, connect, impatient, print, program};

/// Waits until the tmux clients are in exactly these sessions.
fn wait_for_clients(tmux: &TmuxServer, sessions: &[&str]) {
    wait_until(&format!("there are clients in {sessions:?} and nowhere else"), || {
        let mut attached: Vec<String> = clients(tmux).into_iter().map(|client| client.1).collect();
        attached.sort();
        (attached == sessions).then_some(())
    });
}

/// The expansion of a format for a target.
fn expand(tmux: &TmuxServer, target: &str, format: &str) -> String {
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
        (expand(tmux, session, "#{session_attached}") == "1").then_some(())
    });
    terminal
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_client_detaches_and_attaches_again() {
    let tmux = TmuxServer::new();
    let server = Server::with_timing(program(&tmux), impatient());
    for _ in 0..2 {
        server.run(print("x")).await.unwrap();
        wait_for_clients(&tmux, &[]);
        assert_eq!(expand(&tmux, "main", "#{session_attached}"), "0");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_stays_attached_while_subscribed() {
    let tmux = TmuxServer::new();
    let server = Server::with_timing(program(&tmux), impatient());
    let subscriber = server.events();
    server.run(print("x")).await.unwrap();
    let ours = clients(&tmux);
    let idler = Server::with_timing(program(&tmux), impatient());
    for _ in 0..3 {
        idler.run(print("x")).await.unwrap();
        wait_for_clients(&tmux, &["main"]);
        assert_eq!(clients(&tmux), ours);
    }
    drop(subscriber);
    wait_for_clients(&tmux, &[]);
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_handle_ends_all_clients() {
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
async fn detached_client_is_replaced() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    for _ in 0..5 {
        until("a client is attached", async || {
            assert_eq!(server.run(print("x")).await.unwrap().text(), "x\n");
            (clients(&tmux).len() == 1).then_some(())
        })
        .await;
        tmux.tmux(&["detach-client", "-s", "=main"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_do_not_resize_windows() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["resize-window", "-t", "=main:", "-x", "200", "-y", "50"]);
    tmux.tmux(&["set-option", "-wu", "-t", "=main:", "window-size"]);
    let size = "#{window_width}x#{window_height}";
    let server = connect(&tmux);
    server.run(print("x")).await.unwrap();
    let pane = expand(&tmux, "main", "#{pane_id}").parse().unwrap();
    let _reader = server.stream(pane).await.unwrap();
    assert_eq!(clients(&tmux).len(), 2);
    assert_eq!(expand(&tmux, "main", size), "200x50");
    let flags = tmux.tmux(&["list-clients", "-F", "#{client_flags}"]);
    assert!(flags.lines().all(|flags| flags.contains("ignore-size")), "{flags}");
    drop(server);
    wait_for_clients(&tmux, &[]);
    assert_eq!(expand(&tmux, "main", size), "200x50");
}

#[tokio::test(flavor = "multi_thread")]
async fn own_session_is_preferred() {
    let tmux = TmuxServer::new();
    tmux.new_session("ours");
    tmux.new_session("zzz");
    let ours: SessionId = expand(&tmux, "=ours:", "#{session_id}").parse().unwrap();
    let server = connect(&tmux);
    server.prefer(ours);
    server.run(print("x")).await.unwrap();
    wait_for_clients(&tmux, &["ours"]);
    // A client that is attached elsewhere moves.
    let zzz: SessionId = expand(&tmux, "=zzz:", "#{session_id}").parse().unwrap();
    server.prefer(zzz);
    server.run(print("x")).await.unwrap();
    wait_for_clients(&tmux, &["zzz"]);
    // A preferred session that no longer exists is ignored.
    tmux.tmux(&["kill-session", "-t", "=zzz"]);
    server.run(print("x")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn client_in_an_own_session_does_not_move() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    server.run(print("x")).await.unwrap();
    wait_for_clients(&tmux, &["main"]);
    for name in ["one", "two"] {
        tmux.new_session(name);
        let session = expand(&tmux, &format!("={name}:"), "#{session_id}").parse().unwrap();
        server.prefer_also(session);
        server.run(print("x")).await.unwrap();
        server.run(print("x")).await.unwrap();
        wait_for_clients(&tmux, &["one"]);
    }
    tmux.tmux(&["kill-session", "-t", "=one"]);
    until("the client is attached to the other", async || {
        server.run(print("x")).await.unwrap();
        clients(&tmux).first().filter(|client| client.1 == "two").map(|_| ())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_command_is_lost_when_leaving_a_session() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    for round in 0..5 {
        tmux.new_session("ours");
        let ours: SessionId = expand(&tmux, "=ours:", "#{session_id}").parse().unwrap();
        server.prefer(ours);
        until("the client is attached to it", async || {
            server.run(print("x")).await.unwrap();
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
        let left = server.leave(ours).await;
        server.spawned(&[Command::action("kill-session").option("-t", ours)]).await.unwrap();
        for call in calls {
            call.await.unwrap_or_else(|error| panic!("round {round}: {error}"));
        }
        assert_eq!(tmux.tmux(&["show-options", "-gv", "@n7"]), "39");
        drop(left);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_avoids_a_left_session_until_released() {
    let tmux = TmuxServer::new();
    let main: SessionId = expand(&tmux, "=main:", "#{session_id}").parse().unwrap();
    let server = connect(&tmux);
    server.run(print("x")).await.unwrap();
    let left = server.leave(main).await;
    assert_eq!(server.run(print("x")).await.unwrap().text(), "x\n");
    wait_for_clients(&tmux, &[]);
    drop(left);
    server.run(print("x")).await.unwrap();
    wait_for_clients(&tmux, &["main"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn session_of_a_person_precedes_the_latest() {
    let tmux = TmuxServer::new();
    tmux.new_session("person");
    let _terminal = attach_a_person(&tmux, "person");
    let main: SessionId = expand(&tmux, "=main:", "#{session_id}").parse().unwrap();
    wait_until("the other session was used later", || {
        let visitor = tmux.try_tmux(&["-C", "attach-session", "-t", "=main"]);
        visitor.unwrap();
        let used = |session| expand(&tmux, session, "#{session_activity}").parse::<u64>().unwrap();
        (used("=main:") > used("=person:")).then_some(())
    });
    let server = connect(&tmux);
    server.run(print("x")).await.unwrap();
    wait_for_clients(&tmux, &["person", "person"]);
    server.prefer(main);
    server.run(print("x")).await.unwrap();
    wait_for_clients(&tmux, &["main", "person"]);
}
