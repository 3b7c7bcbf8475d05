//! tmux channels: `wait_for_channel` and `signal_channel`.

use std::collections::HashSet;

use serde_json::{Value, json};
use testkit::{Mcp, Raw, TmuxServer, until};
use tmux_control::channel::MAX_CHANNEL_WAITS;

use crate::support::{keys, pane, ready_pane, shows};
use crate::{launch, serve};

async fn wait(mcp: &Mcp, channel: &str, timeout: f64) -> Value {
    let arguments = json!({"channel": channel, "timeout": timeout});
    mcp.call("wait_for_channel", arguments).await.ok()
}

async fn signal(mcp: &Mcp, channel: &str) {
    let signalled = mcp.call("signal_channel", json!({"channel": channel})).await.ok();
    assert_eq!(signalled, json!({"channel": channel}));
}

/// The arguments of every process that talks to this tmux server.
fn tmux_processes(tmux: &TmuxServer) -> Vec<Vec<String>> {
    let socket = tmux.socket().to_string_lossy().into_owned();
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("cmdline")).ok())
        .map(|line| line.split('\0').map(str::to_owned).collect::<Vec<_>>())
        .filter(|words| words.contains(&socket))
        .collect()
}

/// The number of processes of the program under test that wait, or run another command.
fn waiters(tmux: &TmuxServer) -> usize {
    let processes = tmux_processes(tmux);
    processes.iter().filter(|words| words.iter().any(|word| word == "source-file")).count()
}

async fn nothing_waits(tmux: &TmuxServer) {
    until("no process waits", async || (waiters(tmux) == 0).then_some(())).await;
}

/// Waits until tmux has queued this many waits of calls: they then report progress.
async fn waits_have_begun(mcp: &Mcp, channel: &str, count: usize) {
    until(&format!("{count} waits have begun"), async || {
        let message = format!("waiting for {channel}");
        let begun: HashSet<String> = mcp
            .progress()
            .into_iter()
            .filter(|step| step.message.as_ref() == Some(&message))
            .map(|step| format!("{:?}", step.progress_token))
            .collect();
        (begun.len() >= count).then_some(())
    })
    .await;
}

/// Opens a person's pane in which a program waits on a channel and then prints `heard`.
async fn open_waiter(tmux: &TmuxServer, channel: &str) -> String {
    let program = TmuxServer::program().into_string().unwrap();
    let socket = tmux.socket().display();
    let command = format!("{program} -S {socket} wait-for {channel}; echo hea''rd; exec cat");
    let pane = tmux.open(&command);
    until("a process waits", async || {
        let waits = |words: &Vec<String>| words.iter().any(|word| word == channel);
        tmux_processes(tmux).iter().any(waits).then_some(())
    })
    .await;
    pane
}

#[tokio::test]
async fn a_signal_of_a_program_ends_the_wait() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let program = TmuxServer::program().into_string().unwrap();
    let (waited, _) = tokio::join!(biased; wait(&mcp, "done", 20.0), async {
        waits_have_begun(&mcp, "done", 1).await;
        pane(&mcp, &format!("exec {program} wait-for -S done")).await
    });
    assert_eq!(keys(&waited), ["channel", "elapsed", "event"], "{waited}");
    assert_eq!((&waited["channel"], &waited["event"]), (&json!("done"), &json!("signal")));
    assert!(waited["elapsed"].as_f64().unwrap() < 15.0, "{waited}");
    nothing_waits(&tmux).await;
    mcp.close().await;
}

#[tokio::test]
async fn an_earlier_signal_is_reported_as_left_over() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for timeout in [20.0, 0.0] {
        signal(&mcp, "old").await;
        let waited = wait(&mcp, "old", timeout).await;
        assert_eq!((&waited["event"], &waited["left_over"]), (&json!("signal"), &json!(true)));
        let waited = wait(&mcp, "old", timeout.min(0.1)).await;
        assert_eq!(keys(&waited), ["channel", "elapsed", "event"], "{waited}");
        assert_eq!(waited["event"], "timeout");
    }
    signal(&mcp, "old").await;
    let text = mcp.call("wait_for_channel", json!({"channel": "old"})).await.text();
    assert!(text.starts_with("signal · channel old · "), "{text}");
    assert!(text.ends_with(" · sent before this call"), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn no_signal_is_lost_after_a_timeout() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for _ in 0..3 {
        let waited = wait(&mcp, "late", 0.05).await;
        assert_eq!(keys(&waited), ["channel", "elapsed", "event"], "{waited}");
        assert_eq!(waited["event"], "timeout");
        nothing_waits(&tmux).await;
        // tmux must have no entry left of the ended wait, which would consume this signal.
        signal(&mcp, "late").await;
        assert_eq!(wait(&mcp, "late", 20.0).await["event"], "signal");
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_timeout_does_not_wake_another_waiter() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let theirs = open_waiter(&tmux, "shared").await;
    let waited = wait(&mcp, "shared", 0.05).await;
    assert_eq!(waited["event"], "timeout");
    assert!(waited["note"].as_str().unwrap().contains("loses the next signal"), "{waited}");
    assert_eq!(tmux.screen(&theirs), "");
    nothing_waits(&tmux).await;
    signal(&mcp, "shared").await;
    shows(&mcp, &theirs, "heard").await;
    mcp.close().await;
}

#[tokio::test]
async fn a_signal_wakes_every_waiter() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let (one, two, ()) = tokio::join!(wait(&mcp, "both", 20.0), wait(&mcp, "both", 20.0), async {
        waits_have_begun(&mcp, "both", 2).await;
        // Calls that change tmux and a new control client are not blocked.
        ready_pane(&mcp, "echo ready; exec cat", "ready").await;
        signal(&mcp, "both").await;
    });
    assert_eq!((&one["event"], &two["event"]), (&json!("signal"), &json!("signal")));
    mcp.close().await;
}

/// Starts the program for raw messages.
async fn raw(tmux: &TmuxServer) -> Raw {
    let mut raw = launch(tmux).args(&["--toolset", "all", "--structured"]).raw();
    raw.initialize("2025-11-25").await;
    raw
}

async fn start_waiting(tmux: &TmuxServer, raw: &mut Raw, channel: &str) -> u64 {
    let call = json!({"name": "wait_for_channel", "arguments": {"channel": channel}});
    let id = raw.start("tools/call", call).await;
    until("a process waits", async || (waiters(tmux) == 1).then_some(())).await;
    id
}

/// Signals a channel without a waiter, then waits on it: tmux must have kept the signal.
async fn assert_signal_is_kept(tmux: &TmuxServer, channel: &str) {
    nothing_waits(tmux).await;
    tmux.tmux(&["wait-for", "-S", channel]);
    let mcp = serve(tmux).await;
    assert_eq!(wait(&mcp, channel, 20.0).await["event"], "signal");
    mcp.close().await;
}

#[tokio::test]
async fn a_cancelled_wait_leaves_nothing_behind() {
    let tmux = TmuxServer::new();
    let mut raw = raw(&tmux).await;
    let id = start_waiting(&tmux, &mut raw, "cancelled").await;
    let params = json!({"requestId": id, "reason": "no longer needed"});
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
        .await;
    assert_signal_is_kept(&tmux, "cancelled").await;
}

#[tokio::test]
async fn an_exiting_server_leaves_no_waiter_behind() {
    let tmux = TmuxServer::new();
    let mut raw = raw(&tmux).await;
    start_waiting(&tmux, &mut raw, "hung-up").await;
    raw.hang_up();
    assert!(raw.wait().await.success());
    assert_eq!(waiters(&tmux), 0);
    assert_signal_is_kept(&tmux, "hung-up").await;
}

#[tokio::test]
async fn the_end_of_tmux_is_not_a_signal() {
    for kill in ["kill-server", "KILL"] {
        let tmux = TmuxServer::new();
        let mcp = serve(&tmux).await;
        let waiting = mcp.call("wait_for_channel", json!({"channel": "never", "timeout": 20}));
        let (outcome, ()) = tokio::join!(waiting, async {
            waits_have_begun(&mcp, "never", 1).await;
            match kill {
                "KILL" => {
                    let pid =
                        i32::try_from(tmux.pid()).ok().and_then(rustix::process::Pid::from_raw);
                    rustix::process::kill_process(pid.unwrap(), rustix::process::Signal::KILL)
                        .unwrap();
                }
                _ => drop(tmux.tmux(&["kill-server"])),
            }
        });
        let result = outcome.result();
        let text = result.content[0].as_text().unwrap().text.clone();
        assert!(text.starts_with("lost: "), "{kill}: {text}");
        assert!(text.contains("Next: "), "{text}");
        mcp.close().await;
    }
}

#[tokio::test]
async fn channel_names_are_not_visible_in_ps() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let secret = "name-that-only-two-programs-know";
    let (waited, ()) = tokio::join!(wait(&mcp, secret, 20.0), async {
        waits_have_begun(&mcp, secret, 1).await;
        let processes = tmux_processes(&tmux);
        assert!(processes.len() >= 2, "{processes:?}");
        let shown = processes.iter().flatten().any(|word| word.contains(secret));
        assert!(!shown, "{processes:?}");
        signal(&mcp, secret).await;
    });
    assert_eq!(waited["event"], "signal");
    mcp.close().await;
}

#[tokio::test]
async fn number_of_waits_is_limited() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let limit = MAX_CHANNEL_WAITS as usize;
    let waits = (0..limit).map(|_| wait(&mcp, "many", 60.0));
    let (waited, ()) = tokio::join!(futures::future::join_all(waits), async {
        waits_have_begun(&mcp, "many", limit).await;
        let error = mcp.call("wait_for_channel", json!({"channel": "more"})).await.err("busy");
        assert!(error.contains("waits for channels") && error.contains("Next: wait"), "{error}");
        signal(&mcp, "many").await;
    });
    assert!(waited.iter().all(|waited| waited["event"] == "signal"), "{waited:?}");
    signal(&mcp, "more").await;
    assert_eq!(wait(&mcp, "more", 20.0).await["event"], "signal");
    mcp.close().await;
}

#[tokio::test]
async fn both_tools_report_a_missing_server() {
    let tmux = TmuxServer::not_started();
    let mcp = serve(&tmux).await;
    for tool in ["wait_for_channel", "signal_channel"] {
        let error = mcp.call(tool, json!({"channel": "x"})).await.err("no_server");
        assert!(error.contains("create_session"), "{error}");
    }
    assert!(!tmux.socket().exists());
    mcp.close().await;
}

#[tokio::test]
async fn channel_names_are_literal() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for name in [
        "-S",
        "-U",
        "--",
        "a b",
        "a;b",
        "a;",
        ";",
        "\\;",
        "\"q\"",
        "'",
        "a\nb",
        "#{pid}",
        "#(id)",
        "$HOME",
        "~",
        "{",
        "}",
        "%if",
        "ü漢🙂",
        "\t",
        "=",
        "*",
        " ",
    ] {
        // On its command line tmux takes a trailing `;` as the end of the command.
        let plain = match name.strip_suffix(';') {
            Some(start) => format!("{start}\\;"),
            None => name.to_owned(),
        };
        tmux.tmux(&["wait-for", "-S", "--", &plain]);
        assert_eq!(wait(&mcp, name, 20.0).await["event"], "signal", "{name:?}");
        signal(&mcp, name).await;
        assert_eq!(wait(&mcp, name, 20.0).await["event"], "signal", "{name:?}");
        assert_eq!(wait(&mcp, name, 0.0).await["event"], "timeout", "{name:?}");
    }
    assert_eq!(tmux.tmux(&["list-sessions"]).lines().count(), 1);
    mcp.close().await;
}

#[tokio::test]
async fn invalid_arguments_are_named() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (arguments, words) in [
        (json!({}), "`channel` is missing"),
        (json!({"channel": ""}), "`channel` is empty"),
        (json!({"channel": "a\u{0}b"}), "NUL"),
        (json!({"channel": "x".repeat(20_000)}), "longer"),
        (json!({"channel": 7}), "`channel`"),
        (json!({"channel": "x", "name": "y"}), "`name`"),
    ] {
        for tool in ["wait_for_channel", "signal_channel"] {
            let error = mcp.call(tool, arguments.clone()).await.err("invalid_argument");
            assert!(error.contains(words) && error.contains("Next: "), "{error}");
        }
    }
    for timeout in [json!(-1), json!(601), json!("soon")] {
        let arguments = json!({"channel": "x", "timeout": timeout});
        mcp.call("wait_for_channel", arguments).await.err("invalid_argument");
    }
    mcp.close().await;
}
