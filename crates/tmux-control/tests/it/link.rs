//! Commands through the control client: their order, their failures, and what happens when the
//! client or the server is not what it should be.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use testkit::{TmuxServer, until, wait_until};
use tmux_control::{Command, Error, Program, Server, Timing};

use crate::{clients, connect, impatient, program, program_behind, say};

/// A process that is stopped for as long as this lives.
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

async fn works(server: &Server) {
    assert_eq!(server.run(say("works")).await.unwrap().text(), "works\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_to_many_calls_at_once_find_their_askers() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let calls: Vec<_> = (0..200)
        .map(|number| {
            let server = server.clone();
            tokio::spawn(async move { server.run(say(number)).await.unwrap().text() })
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap(), format!("{number}\n"));
    }
    assert_eq!(clients(&tmux).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sequence_answers_for_each_command() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let replies = server.sequence(vec![say("a"), set("@x", "1"), say("b")]).await.unwrap();
    let texts: Vec<String> = replies.iter().map(tmux_control::Reply::text).collect();
    assert_eq!(texts, ["a\n", "", "b\n"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered_apart_in_a_process_of_their_own_too() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let screen = Command::query("capture-pane").arg("-p").option("-t", "=main:");
    let questions = vec![say("one"), screen.clone(), say(""), screen, say("two\nthree")];
    let linked = server.sequence(questions.clone()).await.unwrap();
    assert_eq!(linked[4].text(), "two\nthree\n");
    assert_eq!(server.spawned(&questions).await.unwrap(), linked);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sequence_stops_at_the_first_failure() {
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
        let left = tmux.tmux(&["show-options", "-g"]);
        assert!(left.contains("@first") && !left.contains("@second") && !left.contains("@third"));
        works(&server).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_tmux_does_not_know_is_refused_and_shifts_nothing() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    let error =
        server.sequence(vec![say("a"), Command::query("no-such-command")]).await.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    works(&server).await;
    let error = server.run(say("a").arg("too").arg("many")).await.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    works(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_of_hooks_are_not_taken_for_ours() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    tmux.tmux(&["set-hook", "-g", "after-list-windows", "display-message -p hook ; list-keys"]);
    for _ in 0..3 {
        let list = Command::query("list-windows").option("-F", "#{session_name}");
        let replies = server.sequence(vec![list, say("after")]).await.unwrap();
        assert_eq!((replies[0].text(), replies[1].text()), ("main\n".into(), "after\n".into()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_that_run_others_do_not_shift_the_answers() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    works(&server).await;
    let twice = Command::query("if-shell").arg("-F").arg("1").arg("display-message -p inner");
    assert_eq!(server.run(twice).await.unwrap().text(), "inner\n");
    works(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_the_session_we_sit_in_is_answered() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    works(&server).await;
    assert_eq!(clients(&tmux)[0].1, "main");
    tmux.new_session("other");
    server.run(Command::action("kill-session").option("-t", "=main")).await.unwrap();
    until("a client sits in the other session", async || {
        works(&server).await;
        clients(&tmux).first().filter(|client| client.1 == "other").map(|_| ())
    })
    .await;
}

/// A server handle whose control clients can be made to get stuck, and a way to do it.
///
/// Stopping the client itself would do nothing: the tmux server reads and writes its ends of the
/// pipes. So the client's output goes through one more process, which can be stopped.
async fn connect_through_a_pipe(tmux: &TmuxServer) -> (Server, impl Fn() -> Stopped) {
    let script = r#"case "$*" in
        *" -C "*) "$TMUX_PROGRAM" "$@" | sh -c 'echo $$ >>~/pipes; exec cat' ;;
        *) exec "$TMUX_PROGRAM" "$@" ;;
        esac"#;
    let script = script.replace("~", &tmux.home().display().to_string());
    let timing = Timing { idle: Duration::from_secs(10), ..impatient() };
    let server = Server::with_timing(program_behind(tmux, &script), timing);
    works(&server).await;
    let pipes = tmux.home().join("pipes");
    (server, move || {
        let last = std::fs::read_to_string(&pipes).unwrap().lines().last().unwrap().to_owned();
        Stopped::new(last.parse().unwrap())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_is_answered_although_the_client_is_stuck() {
    let tmux = TmuxServer::new();
    let (server, stop_client) = connect_through_a_pipe(&tmux).await;
    let first = clients(&tmux);
    let _stopped = stop_client();
    works(&server).await;
    until("a new client took over", async || {
        works(&server).await;
        let clients = clients(&tmux);
        (clients.len() == 1 && clients != first).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_is_not_repeated_when_the_client_is_stuck() {
    let tmux = TmuxServer::new();
    let (server, stop_client) = connect_through_a_pipe(&tmux).await;
    let _stopped = stop_client();
    let append = || Command::action("set-option").arg("-ga").arg("@x").arg("1");
    let error = server.run(append()).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    server.run(append()).await.unwrap();
    works(&server).await;
    assert_eq!(tmux.tmux(&["show-options", "-gv", "@x"]), "11");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stuck_server_costs_many_calls_no_more_than_one() {
    let tmux = TmuxServer::new();
    let timing = Timing { back_off: Duration::from_secs(5), ..impatient() };
    let server = Server::with_timing(program(&tmux), timing);
    let stuck = Stopped::new(i32::try_from(tmux.pid()).unwrap());
    let start = Instant::now();
    let calls: Vec<_> = (0..20)
        .map(|number| {
            let server = server.clone();
            tokio::spawn(async move { server.run(say(number)).await })
        })
        .collect();
    for call in calls {
        let outcome = call.await.unwrap();
        assert!(matches!(outcome, Err(Error::Timeout { .. })), "{outcome:?}");
    }
    assert!(start.elapsed() < timing.deadline * 10, "took {:?}", start.elapsed());
    drop(stuck);
    works(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_gone_is_reported_and_one_that_came_back_is_used() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    works(&server).await;
    tmux.kill();
    for command in [say("x"), set("@x", "1"), say("x")] {
        let error = server.run(command).await.unwrap_err();
        // An action may have been on its way already.
        assert!(error.is_no_server() || matches!(error, Error::Lost { .. }), "{error}");
    }
    let error = server.run(set("@x", "1")).await.unwrap_err();
    assert!(error.is_no_server(), "{error}");
    tmux.new_session("again");
    works(&server).await;
    assert_eq!(clients(&tmux)[0].1, "again");
}

#[tokio::test(flavor = "multi_thread")]
async fn new_session_starts_the_server_where_there_is_none() {
    let tmux = TmuxServer::not_started();
    let server = connect(&tmux);
    assert!(server.run(say("x")).await.unwrap_err().is_no_server());
    assert!(server.run(set("@x", "1")).await.unwrap_err().is_no_server());
    assert!(!tmux.socket().exists(), "asking started a server");
    let new = Command::action("new-session").arg("-d").option("-s", "first").arg("cat");
    server.run(new).await.unwrap();
    works(&server).await;
    assert_eq!(clients(&tmux)[0].1, "first");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_sessions_still_answers() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    works(&server).await;
    tmux.tmux(&["set-option", "-g", "exit-empty", "off"]);
    tmux.tmux(&["kill-session", "-t", "=main"]);
    let list = server.run(Command::query("list-sessions")).await.unwrap();
    assert_eq!(list.text(), "");
    server.run(set("@x", "1")).await.unwrap();
    let shown = Command::query("show-options").arg("-gv").arg("@x");
    assert_eq!(server.run(shown).await.unwrap().text(), "1\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_program_is_named() {
    let tmux = TmuxServer::new();
    let path = tmux.home().join("no-such-tmux");
    let server = Server::new(Program { path: path.clone().into(), ..program(&tmux) });
    for command in [say("x"), Command::action("new-session").arg("-d")] {
        match server.run(command).await.unwrap_err() {
            Error::Missing { program } => assert_eq!(program, path.to_string_lossy()),
            other => panic!("{other}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_version_is_that_of_the_server_or_else_of_the_program() {
    let tmux = TmuxServer::not_started();
    let server = connect(&tmux);
    let of_program = server.version().await.unwrap();
    assert!(of_program.is_supported());
    tmux.new_session("main");
    works(&server).await;
    let told = tmux.tmux(&["display-message", "-p", "#{version}"]);
    assert_eq!(server.version().await.unwrap().to_string(), told);
    assert_eq!(of_program.to_string(), told);
}
