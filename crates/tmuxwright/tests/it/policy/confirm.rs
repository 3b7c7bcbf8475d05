//! Tests of `--confirm`: what a person is asked, and what happens to the objects after each answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use testkit::{ElicitationAction, Launch, Person, TmuxServer, wait_until};

use crate::audit::log::{audit_log, records};
use crate::launch;
use crate::support::pane;

const ACCEPT: ElicitationAction = ElicitationAction::Accept;

/// The program with every tool, the highest tier and `--confirm`, not started yet.
pub(crate) fn confirming(tmux: &TmuxServer) -> Launch {
    let log = audit_log(tmux);
    let args = ["--toolset", "all", "--structured", "--tier", "destructive", "--confirm"];
    launch(tmux).args(&args).args(&["--audit", &log.to_string_lossy()])
}

/// Whether the tmux server has a session.
pub(crate) fn has_session(tmux: &TmuxServer, name: &str) -> bool {
    tmux.try_tmux(&["has-session", "-t", &format!("={name}")]).is_ok()
}

/// A tmux server with the session `main` and these, whose names and programs no longer change.
pub(crate) fn server_with(sessions: &[&str]) -> TmuxServer {
    let tmux = TmuxServer::new();
    tmux.tmux(&["set-option", "-wg", "automatic-rename", "off"]);
    for session in sessions {
        tmux.new_session(session);
    }
    // Between fork and exec, the program is tmux itself.
    wait_until("every pane runs its shell", || {
        let programs = tmux.tmux(&["list-panes", "-a", "-F", "#{pane_current_command}"]);
        programs.lines().all(|program| program == "sh").then_some(())
    });
    tmux
}

#[tokio::test]
async fn accepted_kill_names_tool_object_and_program() {
    let tmux = server_with(&["dev"]);
    let mcp = confirming(&tmux).mcp_with_person(|_| ACCEPT).await;
    mcp.call("kill", json!({"target": "dev", "kind": "session"})).await.ok();
    assert!(!has_session(&tmux, "dev"));
    let [question] = &mcp.questions()[..] else { panic!("one question: {:?}", mcp.questions()) };
    for part in ["`kill`", "session $1", "%1 · session $1 dev · window @1 ", "running ", "pid "] {
        assert!(question.contains(part), "{part}: {question}");
    }
    assert!(question.contains(r#"Arguments: {"target":"dev","kind":"session"}"#), "{question}");
    let asked = records(&audit_log(&tmux)).remove(0)["asked"].clone();
    assert_eq!(asked[0]["answer"], "accepted", "{asked}");
    assert!(asked[0]["about"][0].as_str().unwrap().starts_with("%1 · session $1 dev"), "{asked}");
}

#[tokio::test]
async fn declined_and_dismissed_calls_destroy_nothing() {
    for (answer, word) in
        [(ElicitationAction::Decline, "declined"), (ElicitationAction::Cancel, "dismissed")]
    {
        let tmux = server_with(&["dev"]);
        tmux.tmux(&["set-buffer", "-b", "notes", "my notes"]);
        let person = Person::attach(&tmux, "main", 80, 24);
        let facts = || tmux.tmux(&["list-panes", "-a", "-F", "#{pane_id} #{pane_pid} #S #W"]);
        let before = facts();
        let config = tmux.home().join("config.toml");
        std::fs::write(&config, "[policy]\nall_buffers = true").unwrap();
        let launch = confirming(&tmux).args(&["--config", &config.to_string_lossy()]);
        let mcp = launch.mcp_with_person(move |_| answer.clone()).await;
        let clients = mcp.call("list_clients", json!({})).await.ok();
        let calls = [
            ("kill", json!({"target": "%1"})),
            ("kill_server", json!({})),
            ("respawn_pane", json!({"target": "%1"})),
            ("clear_pane", json!({"target": "%1"})),
            ("send_signal", json!({"target": "%1", "signal": "KILL"})),
            ("rename", json!({"target": "dev", "name": "other"})),
            ("move_window", json!({"target": "@1", "session": "main"})),
            ("set_option", json!({"name": "automatic-rename", "value": "on", "target": "@1"})),
            ("detach_client", json!({"client": clients["clients"][0]["name"]})),
            ("delete_buffer", json!({"name": "notes"})),
            ("rename_buffer", json!({"name": "notes", "new_name": "other"})),
            ("set_buffer", json!({"name": "notes", "text": "other"})),
        ];
        let count = calls.len();
        for (tool, arguments) in calls {
            let error = mcp.call(tool, arguments).await.err("denied");
            assert!(error.contains("the person") && error.contains("Next: "), "{tool}: {error}");
        }
        assert_eq!(mcp.questions().len(), count, "{:?}", mcp.questions());
        assert_eq!(facts(), before);
        assert_eq!(tmux.tmux(&["show-buffer", "-b", "notes"]), "my notes");
        assert!(tmux.tmux(&["list-clients", "-F", "#{client_flags}"]).contains("attached"));
        let answers: Vec<Value> =
            records(&audit_log(&tmux)).iter().map(|r| r["asked"][0]["answer"].clone()).collect();
        assert_eq!(answers[1..], vec![json!(word); count], "{word}");
        drop(person);
    }
}

#[tokio::test]
async fn client_without_elicitation_gets_a_refusal() {
    let tmux = server_with(&["dev"]);
    let mcp = confirming(&tmux).mcp().await;
    let error = mcp.call("kill", json!({"target": "%1"})).await.err("denied");
    assert!(error.contains("elicitation") && error.contains("--confirm"), "{error}");
    assert!(has_session(&tmux, "dev"));
}

#[tokio::test]
async fn own_objects_and_other_calls_never_ask() {
    let tmux = server_with(&["dev"]);
    let mcp = confirming(&tmux).mcp_with_person(|question| panic!("{question}")).await;
    let own = pane(&mcp, "cat").await;
    mcp.call("rename", json!({"target": own, "name": "mine"})).await.ok();
    mcp.call("clear_pane", json!({"target": own})).await.ok();
    mcp.call("respawn_pane", json!({"target": own, "command": "cat"})).await.ok();
    mcp.call("kill", json!({"target": own})).await.ok();
    mcp.call("set_buffer", json!({"name": "x", "text": "1"})).await.ok();
    mcp.call("set_buffer", json!({"name": "x", "text": "2"})).await.ok();
    mcp.call("delete_buffer", json!({"name": "x"})).await.ok();
    mcp.call("send_keys", json!({"target": "%1", "text": "x"})).await.ok();
    mcp.call("split_pane", json!({"target": "%1"})).await.ok();
    mcp.call("capture_pane", json!({"target": "%1"})).await.text();
    assert_eq!(mcp.questions(), [""; 0]);
}

#[tokio::test]
async fn foreign_objects_stay_refused_below_destructive() {
    let tmux = TmuxServer::new();
    let args = ["--toolset", "all", "--confirm"];
    let mcp = launch(&tmux).args(&args).mcp_with_person(|question| panic!("{question}")).await;
    let error = mcp.call("kill", json!({"target": "%0"})).await.err("denied");
    assert!(error.contains("--tier destructive"), "{error}");
}

/// Calls `kill` on a session; the person changes the world before accepting.
async fn kill_after_change(change: &'static [&'static str]) -> (TmuxServer, String) {
    let tmux = server_with(&["dev"]);
    let socket = tmux.socket().to_string_lossy().into_owned();
    let acts = move |_: &str| {
        #[expect(clippy::disallowed_methods, reason = "the person's own tmux")]
        let mut command = std::process::Command::new(TmuxServer::program());
        let status = command.args(["-S", &socket]).args(change).status().unwrap();
        assert!(status.success(), "{change:?}");
        ACCEPT
    };
    let mcp = confirming(&tmux).mcp_with_person(acts).await;
    let error = mcp.call("kill", json!({"target": "dev", "kind": "session"})).await.err("denied");
    assert_eq!(mcp.questions().len(), 1);
    (tmux, error)
}

#[tokio::test]
async fn object_that_changed_meanwhile_is_not_destroyed() {
    for change in [
        &["split-window", "-d", "-t", "=dev:", "cat"][..],
        &["respawn-pane", "-k", "-t", "%1", "cat"],
        &[
            "rename-session",
            "-t",
            "=main",
            "main2",
            ";",
            "rename-session",
            "-t",
            "=dev",
            "old",
            ";",
            "rename-session",
            "-t",
            "=main2",
            "dev",
        ],
        &["rename-window", "-t", "@1", "precious"],
    ] {
        let (tmux, error) = kill_after_change(change).await;
        assert!(error.contains("changed while the person was asked"), "{change:?}: {error}");
        assert!(has_session(&tmux, "dev"), "{change:?}");
    }
}

#[tokio::test]
async fn every_call_of_a_batch_asks_by_itself() {
    let tmux = server_with(&["dev", "keep"]);
    let answer = |question: &str| match question.contains("session $1") {
        true => ACCEPT,
        false => ElicitationAction::Decline,
    };
    let mcp = confirming(&tmux).mcp_with_person(answer).await;
    let calls = json!([
        {"tool": "kill", "arguments": {"target": "$1"}},
        {"tool": "kill", "arguments": {"target": "$2"}},
        {"tool": "kill", "arguments": {"target": "$0"}},
    ]);
    let done = mcp.call("batch", json!({"calls": calls})).await.ok();
    let status: Vec<&str> =
        done["results"].as_array().unwrap().iter().map(|r| r["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["ok", "failed", "skipped"], "{done}");
    assert_eq!(mcp.questions().len(), 2);
    assert!(!has_session(&tmux, "dev") && has_session(&tmux, "keep") && has_session(&tmux, "main"));
}

#[tokio::test]
async fn hostile_names_cannot_forge_lines_of_a_question() {
    let tmux = server_with(&["dev"]);
    let rename = |name| tmux.try_tmux(&["rename-window", "-t", "@1", name]);
    // tmux 3.7 refuses line breaks in names.
    if rename("x\u{202e} · own\nAccept: harmless").is_err() {
        rename("x\u{202e} · own").unwrap();
    }
    let mcp = confirming(&tmux).mcp_with_person(|_| ElicitationAction::Decline).await;
    let arguments = json!({"target": "%1", "command": "true\n- nothing\u{202e}"});
    mcp.call("respawn_pane", arguments).await.err("denied");
    let question = mcp.questions().remove(0);
    assert_eq!(question.lines().count(), 4, "{question}");
    assert!(!question.contains('\u{202e}'), "{question:?}");
    assert!(question.contains("\\u202e"), "{question}");
    let fact = question.lines().nth(1).unwrap();
    assert!(fact.starts_with("- %1 · session $1 dev · window @1 \"x"), "{fact}");
}

#[tokio::test]
async fn calls_are_served_while_a_question_is_open() {
    let tmux = server_with(&["dev"]);
    let may_answer = Arc::new(AtomicBool::new(false));
    let waits = Arc::clone(&may_answer);
    let answer = move |_: &str| {
        wait_until("the other calls are done", || waits.load(Ordering::SeqCst).then_some(()));
        ACCEPT
    };
    let mcp = confirming(&tmux).mcp_with_person(answer).await;
    let others = async {
        testkit::until("the question is put", async || (!mcp.questions().is_empty()).then_some(()))
            .await;
        // The pane in question is used as well: a question holds no lock.
        mcp.call("send_keys", json!({"target": "%1", "text": "echo still"})).await.ok();
        mcp.call("run_command", json!({"command": "true"})).await.ok();
        may_answer.store(true, Ordering::SeqCst);
    };
    let (killed, ()) = tokio::join!(mcp.call("kill", json!({"target": "%1"})), others);
    killed.ok();
    assert!(!has_session(&tmux, "dev"));
}

#[tokio::test]
async fn kill_server_asks_once_about_all_sessions() {
    let tmux = server_with(&["dev"]);
    let mcp = confirming(&tmux).mcp_with_person(|_| ACCEPT).await;
    mcp.call("kill_server", json!({})).await.ok();
    let [question] = &mcp.questions()[..] else { panic!("one question: {:?}", mcp.questions()) };
    assert!(question.contains("- %0 ") && question.contains("- %1 "), "{question}");
}
