//! Events without a tool call: the subcommand `tmuxwright watch`, and channel mode.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::{TmuxServer, until};

use crate::launch;
use crate::support::string;
use crate::support::waits::{have_begun, stream_client};

/// Limit for one run of `watch`. Long enough for a busy machine; no test waits for it to pass.
const MAX_RUN_TIME: Duration = Duration::from_secs(15);

/// Waits until `watch` reads the output of this pane.
async fn wait_for_stream(tmux: &TmuxServer, pane: &str) {
    let client = async || stream_client(tmux, pane);
    let client = until("a stream client is attached", client).await;
    // The tmux client is a child of the program.
    have_begun(tmux, process::ancestors(client)[1], pane, 1).await;
}

/// Runs `watch` to its end while `then` runs. Returns exit code, lines of stdout, and stderr.
async fn watch(
    tmux: &TmuxServer,
    args: &[&str],
    then: impl AsyncFnOnce(),
) -> (Option<i32>, Vec<String>, String) {
    let output = launch(tmux).args(&[&["watch"], args].concat()).output();
    let both = async { tokio::join!(output, then()) };
    let (output, ()) = tokio::time::timeout(MAX_RUN_TIME, both).await.unwrap();
    let lines = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    (output.status.code(), lines, String::from_utf8(output.stderr).unwrap())
}

#[tokio::test]
async fn every_event_prints_a_line() {
    let tmux = TmuxServer::new();
    let program = "printf begun; read x; echo one READY; echo error: no; echo two READY; printf '\\aDONE'; read x";
    let pane = tmux.open(program);
    let other = tmux.open("exec cat");
    let args = [&pane, "--until", "text:READY", "--until", "error", "--until", "bell", &other];
    let (code, lines, errors) = watch(&tmux, &args, async || {
        wait_for_stream(&tmux, &pane).await;
        tmux.presses(&pane, &["Enter"]);
        // tmux before 3.7 drops output that is printed just before an exit.
        until("the first program has printed", async || {
            tmux.screen(&pane).contains("DONE").then_some(())
        })
        .await;
        tmux.presses(&pane, &["Enter"]);
        until("the first pane is closed", async || {
            (!tmux.tmux(&["list-panes", "-s", "-F", "#{pane_id}"]).contains(&pane)).then_some(())
        })
        .await;
        tmux.tmux(&["kill-pane", "-t", &other]);
    })
    .await;
    assert_eq!(code, Some(0), "{errors}");
    let mut expected = vec![
        format!("{pane}\ttext:READY\tone READY"),
        format!("{pane}\ttext:READY\ttwo READY"),
        format!("{pane}\terror\terror: no"),
        format!("{pane}\tbell"),
    ];
    expected.push(format!("{pane}\tgone\t{pane} went away"));
    expected.push(format!("{other}\tgone\t{other} went away"));
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    assert_eq!(lines.last(), expected.last(), "{lines:?}");
    assert_eq!(sorted(lines), sorted(expected));
}

#[tokio::test]
async fn once_and_timeout_end_the_watch() {
    let tmux = TmuxServer::new();
    let pane = tmux.open("exec cat");
    let args = [&pane, "--until", "regex:^a.c$", "--once"];
    let (code, lines, errors) = watch(&tmux, &args, async || {
        wait_for_stream(&tmux, &pane).await;
        tmux.types(&pane, "abc");
    })
    .await;
    assert_eq!((code, lines), (Some(0), vec![format!("{pane}\tregex:^a.c$\tabc")]), "{errors}");
    let args = [&pane, "--until", "text:never", "--timeout", "0.2"];
    let (code, lines, errors) = watch(&tmux, &args, async || {}).await;
    assert_eq!((code, lines), (Some(1), vec![]), "{errors}");
    assert!(errors.contains("no condition was met"), "{errors}");
    let args = [&pane, "--until", "idle:0.1", "--timeout", "2"];
    let (code, lines, _) = watch(&tmux, &args, async || {}).await;
    assert_eq!((code, lines), (Some(0), vec![format!("{pane}\tidle:0.1")]));
}

#[tokio::test]
async fn invalid_watch_arguments_are_named_on_stderr() {
    let tmux = TmuxServer::new();
    for (args, code, message) in [
        (&["main", "--until", "soon"][..], 2, "no condition `soon`\nhint: "),
        (&["main"], 2, "--until"),
        (&["main", "--until", "exit", "--timeout=-1"], 2, "--timeout"),
        (&["nobody", "--until", "exit"], 1, "`nobody`\nhint: "),
    ] {
        let (exit, lines, errors) = watch(&tmux, args, async || {}).await;
        assert_eq!((exit, lines), (Some(code), vec![]), "{args:?}: {errors}");
        assert!(errors.contains(message), "{args:?}: {errors}");
    }
    let none = TmuxServer::not_started();
    let (exit, _, errors) = watch(&none, &["x", "--until", "exit"], async || {}).await;
    assert_eq!(exit, Some(1), "{errors}");
    assert!(errors.contains("no tmux server"), "{errors}");
}

#[tokio::test]
async fn channel_mode_pushes_events_without_pane_text() {
    let tmux = TmuxServer::new();
    let call = json!({"name": "start_and_watch", "arguments":
        {"command": "echo SEC'RET'; sleep 1000", "until": ["regex:RET$"]}});
    for (args, pushes) in [(&["--channel"][..], true), (&[], false)] {
        let mut raw = launch(&tmux).args(args).raw();
        let hello = raw.initialize("2025-11-25").await;
        let declared = &hello["result"]["capabilities"]["experimental"]["claude/channel"];
        assert_eq!(*declared, if pushes { json!({}) } else { Value::Null }, "{hello}");
        let id = raw.start("tools/call", call.clone()).await;
        let mut message = raw.receive().await.unwrap();
        if pushes {
            assert_eq!(message["method"], "notifications/claude/channel", "{message}");
            let params = &message["params"];
            let text = string(&params["content"]);
            assert!(text.starts_with("regex:RET$ in %"), "{text}");
            assert_eq!(params["meta"]["event"], "regex:RET$", "{params}");
            assert_eq!(params["meta"]["command_id"], "c1", "{params}");
            assert!(!message.to_string().contains("SECRET"), "{message}");
            message = raw.receive().await.unwrap();
        }
        assert_eq!(message["id"], id, "{message}");
        assert!(message.to_string().contains("SECRET"), "{message}");
        let nothing = json!({"name": "wait_for", "arguments":
            {"target": "main", "until": ["text:NEVER"], "timeout": 0.1}});
        let id = raw.start("tools/call", nothing).await;
        assert_eq!(raw.receive().await.unwrap()["id"], id);
        raw.hang_up();
        raw.wait().await;
    }
}

/// Clients of the stateless revision ignore channel notifications, so channel mode refuses it.
#[tokio::test]
async fn channel_mode_refuses_the_stateless_revision() {
    let tmux = TmuxServer::new();
    let mut raw = launch(&tmux).args(&["--channel"]).raw();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let answer = raw.request("server/discover", json!({"_meta": meta})).await;
    assert!(answer["error"].to_string().contains("2025-11-25"), "{answer}");
    let hello = raw.initialize("2026-07-28").await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
    raw.hang_up();
    raw.wait().await;
}

#[tokio::test]
async fn private_files_are_removed_after_a_signal() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let tmux = TmuxServer::new();
        let temporary = tmux.home().join("temporary");
        std::fs::create_dir(&temporary).unwrap();
        let launch = launch(&tmux).env("TMPDIR", temporary.to_str().unwrap());
        let mut raw = launch.args(&["watch", "%0", "--until", "text:never"]).raw();
        wait_for_stream(&tmux, "%0").await;
        raw.signal(signal);
        assert_eq!(raw.wait().await.code(), Some(code));
        let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
