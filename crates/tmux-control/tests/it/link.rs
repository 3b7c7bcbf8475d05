//! Commands through the link: order of replies, refusals, and stuck or missing clients and servers.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use testkit::{TmuxServer, until, wait_until};
use tmux_control::{Command, Error, Program, Server, Timing};

use crate::{clients, connect, impatient, print, program, program_behind};

/// A process that is stopped (SIGSTOP) until this is dropped.
struct Stopped(Pid);

impl Stopped {
    fn new(pid: i32) -> Self {
        let pid = Pid::from_raw(pid).unwrap();
        kill_process(pid, Signal::STOP).unwrap();
        wait_until("the process has stopped", || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
            stat.map_or(true, |stat| stat.contains(") T ")).then_some(())
        });
        Self(pid)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::CONT);
    }
}

fn set(name: &str, value: &str) -> Command {
    Command::action("set-option").arg("-g").arg(name).arg(value)
}

/// Asserts that the server replies.
async fn assert_replies(server: &Server) {
    assert_eq!(server.run(print("works")).await.unwrap().text(), "works\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_calls_receive_their_own_replies() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let calls: Vec<_> = (0..200)
        .map(|number| {
            let server = server.clone();
            tokio::spawn(async move { server.run(print(number)).await.unwrap().text() })
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap(), format!("{number}\n"));
    }
    assert_eq!(clients(&tmux).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn sequence_has_a_reply_per_command() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let replies = server.sequence(vec![print("a"), set("@x", "1"), print("b")]).await.unwrap();
    let texts: Vec<String> = replies.iter().map(tmux_control::TmuxReply::text).collect();
    assert_eq!(texts, ["a\n", "", "b\n"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn spawned_queries_have_a_reply_each() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let screen = Command::query("capture-pane").arg("-p").option("-t", "=main:");
    let queries = vec![print("one"), screen.clone(), print(""), screen, print("two\nthree")];
    let linked = server.sequence(queries.clone()).await.unwrap();
    assert_eq!(linked[4].text(), "two\nthree\n");
    assert_eq!(server.spawned(&queries).await.unwrap(), linked);
}

#[tokio::test(flavor = "multi_thread")]
async fn sequence_stops_at_the_first_failure() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let bad = || Command::action("kill-window").option("-t", "@99");
    let calls = || vec![set("@first", "1"), bad(), set("@second", "1"), set("@third", "1")];
    for linked in [true, false] {
        let outcome =
            if linked { server.sequence(calls()).await } else { server.spawned(&calls()).await };
        let error = outcome.unwrap_err();
        assert!(error.is_not_found(), "{error}");
        if linked {
            assert!(error.to_string().starts_with("tmux kill-window: "), "{error}");
        }
        let set = tmux.tmux(&["show-options", "-g"]);
        assert!(set.contains("@first") && !set.contains("@second") && !set.contains("@third"));
        assert_replies(&server).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_command_does_not_shift_later_replies() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let error =
        server.sequence(vec![print("a"), Command::query("no-such-command")]).await.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    assert_replies(&server).await;
    let error = server.run(print("a").arg("too").arg("many")).await.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    assert_replies(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_of_hooks_are_ignored() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    tmux.tmux(&["set-hook", "-g", "after-list-windows", "display-message -p hook ; list-keys"]);
    for _ in 0..3 {
        let list = Command::query("list-windows").option("-F", "#{session_name}");
        let replies = server.sequence(vec![list, print("after")]).await.unwrap();
        assert_eq!((replies[0].text(), replies[1].text()), ("main\n".into(), "after\n".into()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nested_commands_do_not_shift_later_replies() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    assert_replies(&server).await;
    let nested = Command::query("if-shell").arg("-F").arg("1").arg("display-message -p inner");
    assert_eq!(server.run(nested).await.unwrap().text(), "inner\n");
    assert_replies(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_of_the_attached_session_is_answered() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    assert_replies(&server).await;
    assert_eq!(clients(&tmux)[0].1, "main");
    tmux.new_session("other");
    server.run(Command::action("kill-session").option("-t", "=main")).await.unwrap();
    until("a client is attached to the other session", async || {
        assert_replies(&server).await;
        clients(&tmux).first().filter(|client| client.1 == "other").map(|_| ())
    })
    .await;
}

/// A server handle, and a function that makes its control client stuck.
///
/// Stopping the client itself has no effect, since the tmux server reads and writes its pipes. So
/// the client's output goes through one more process, which is stopped.
async fn connect_through_a_pipe(tmux: &TmuxServer) -> (Server, impl Fn() -> Stopped) {
    let script = r#"case "$*" in
        *" -C "*) "$TMUX_PROGRAM" "$@" | sh -c 'echo $$ >>~/pipes; exec cat' ;;
        *) exec "$TMUX_PROGRAM" "$@" ;;
        esac"#;
    let script = script.replace("~", &tmux.home().display().to_string());
    let timing = Timing { idle: Duration::from_secs(10), ..impatient() };
    let server = Server::with_timing(program_behind(tmux, &script), timing);
    assert_replies(&server).await;
    let pipes = tmux.home().join("pipes");
    (server, move || {
        let last = std::fs::read_to_string(&pipes).unwrap().lines().last().unwrap().to_owned();
        Stopped::new(last.parse().unwrap())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn query_is_answered_while_the_client_is_stuck() {
    let tmux = TmuxServer::new();
    let (server, stop_client) = connect_through_a_pipe(&tmux).await;
    let first = clients(&tmux);
    let _stopped = stop_client();
    assert_replies(&server).await;
    until("a new client took over", async || {
        assert_replies(&server).await;
        let clients = clients(&tmux);
        (clients.len() == 1 && clients != first).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn action_is_not_repeated_after_a_timeout() {
    let tmux = TmuxServer::new();
    let (server, stop_client) = connect_through_a_pipe(&tmux).await;
    let _stopped = stop_client();
    let append = || Command::action("set-option").arg("-ga").arg("@x").arg("1");
    let error = server.run(append()).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    server.run(append()).await.unwrap();
    assert_replies(&server).await;
    assert_eq!(tmux.tmux(&["show-options", "-gv", "@x"]), "11");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_calls_to_stuck_servers_time_out_together() {
    let tmux = TmuxServer::new();
    let timing = Timing { back_off: Duration::from_secs(5), ..impatient() };
    let server = Server::with_timing(program(&tmux), timing);
    let stuck = Stopped::new(i32::try_from(tmux.pid()).unwrap());
    let start = Instant::now();
    let calls: Vec<_> = (0..20)
        .map(|number| {
            let server = server.clone();
            tokio::spawn(async move { server.run(print(number)).await })
        })
        .collect();
    for call in calls {
        let outcome = call.await.unwrap();
        assert!(matches!(outcome, Err(Error::Timeout { .. })), "{outcome:?}");
    }
    assert!(start.elapsed() < timing.deadline * 10, "took {:?}", start.elapsed());
    drop(stuck);
    assert_replies(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restarted_server_is_used_after_an_outage() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    assert_replies(&server).await;
    tmux.kill();
    for command in [print("x"), set("@x", "1"), print("x")] {
        let error = server.run(command).await.unwrap_err();
        // An action may have been in flight already.
        assert!(error.is_no_server() || matches!(error, Error::Lost { .. }), "{error}");
    }
    let error = server.run(set("@x", "1")).await.unwrap_err();
    assert!(error.is_no_server(), "{error}");
    tmux.new_session("again");
    assert_replies(&server).await;
    assert_eq!(clients(&tmux)[0].1, "again");
}

#[tokio::test(flavor = "multi_thread")]
async fn new_session_starts_a_server() {
    let tmux = TmuxServer::not_started();
    let server = connect(&tmux);
    assert!(server.run(print("x")).await.unwrap_err().is_no_server());
    assert!(server.run(set("@x", "1")).await.unwrap_err().is_no_server());
    assert!(!tmux.socket().exists(), "a query started a server");
    let new = Command::action("new-session").arg("-d").option("-s", "first").arg("cat");
    server.run(new).await.unwrap();
    assert_replies(&server).await;
    assert_eq!(clients(&tmux)[0].1, "first");
}

#[tokio::test(flavor = "multi_thread")]
async fn server_without_sessions_replies() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    assert_replies(&server).await;
    tmux.tmux(&["set-option", "-g", "exit-empty", "off"]);
    tmux.tmux(&["kill-session", "-t", "=main"]);
    let list = server.run(Command::query("list-sessions")).await.unwrap();
    assert_eq!(list.text(), "");
    server.run(set("@x", "1")).await.unwrap();
    let shown = Command::query("show-options").arg("-gv").arg("@x");
    assert_eq!(server.run(shown).await.unwrap().text(), "1\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_program_is_named_in_the_error() {
    let tmux = TmuxServer::new();
    let path = tmux.home().join("no-such-tmux");
    let server = Server::new(Program { path: path.clone().into(), ..program(&tmux) });
    for command in [print("x"), Command::action("new-session").arg("-d")] {
        match server.run(command).await.unwrap_err() {
            Error::Missing { program } => assert_eq!(program, path.to_string_lossy()),
            other => panic!("{other}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn version_is_of_the_server_or_the_program() {
    let tmux = TmuxServer::not_started();
    let server = connect(&tmux);
    let of_program = server.version().await.unwrap();
    assert!(of_program.is_supported());
    tmux.new_session("main");
    assert_replies(&server).await;
    let of_server = tmux.tmux(&["display-message", "-p", "#{version}"]);
    assert_eq!(server.version().await.unwrap().to_string(), of_server);
    assert_eq!(of_program.to_string(), of_server);
}
