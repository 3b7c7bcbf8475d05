//! Waits that end because a pane, a client or the tmux server goes away, and the resources they
//! release.

use std::cell::Cell;
use std::ops::Not;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::{Mcp, TmuxServer, until};

use crate::support::waits::{has_begun, have_begun, stream_client};
use crate::support::{numbers, pane, raw_call, ready_pane, string};
use crate::{launch, serve};

/// Limit for waits that must end early: less than any timeout here, more than a slow machine needs.
const MAX_EARLY_END: Duration = Duration::from_secs(10);

/// Waits for text that never comes, and calls `then` once the wait has begun.
async fn wait_for_never(
    (tmux, mcp): (&TmuxServer, &Mcp),
    target: &str,
    then: impl AsyncFnOnce(),
) -> testkit::Outcome {
    let call = json!({"target": target, "until": ["text:NEVER"], "timeout": 60});
    let begun = Instant::now();
    let (outcome, ()) = tokio::join!(biased; mcp.call("wait_for", call), async {
        has_begun(tmux, mcp, target).await;
        then().await;
    });
    assert!(begun.elapsed() < MAX_EARLY_END, "{:?}", begun.elapsed());
    outcome
}

#[tokio::test]
async fn a_closed_pane_ends_its_wait() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "echo begun; cat", "begun").await;
    let kill = async || drop(tmux.tmux(&["kill-pane", "-t", &target]));
    let error = wait_for_never((&tmux, &mcp), &target, kill).await.err("lost");
    assert!(error.contains(&format!("{target} went away")), "{error}");
    assert!(error.contains("its last output may be missing"), "{error}");

    let target = ready_pane(&mcp, "echo begun; cat", "begun").await;
    let respawn = async || {
        mcp.call("send_keys", json!({"target": target, "text": "seen", "enter": true})).await.ok();
        until("cat has echoed the line", async || {
            tmux.screen(&target).contains("seen\nseen").then_some(())
        })
        .await;
        tmux.tmux(&["respawn-pane", "-k", "-t", &target, "cat"]);
    };
    let error = wait_for_never((&tmux, &mcp), &target, respawn).await.err("lost");
    assert!(error.contains("another program") && error.contains("seen"), "{error}");

    // The exit of the program is an event, with the exit code.
    let target = ready_pane(&mcp, "echo begun; read x; echo bye; exit 7", "begun").await;
    let enter =
        async || drop(mcp.call("send_keys", json!({"target": target, "enter": true})).await.ok());
    let result = wait_for_never((&tmux, &mcp), &target, enter).await.ok();
    assert_eq!(
        (&result["event"], &result["state"]),
        (&json!("exit"), &json!("exited")),
        "{result}"
    );
    assert_eq!(
        (&result["match"], &result["output"]),
        (&json!("exit code 7"), &json!("bye")),
        "{result}"
    );
    let call = json!({"target": target, "until": ["text:NEVER"]});
    let result = mcp.call("wait_for", call).await.ok();
    assert_eq!(result["event"], "exit", "{result}");
    mcp.close().await;
}

/// When a program exits, tmux drops output that it has not yet sent to a control client; 3.2a
/// crashes.
#[tokio::test]
async fn the_last_output_of_a_program_matches() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for round in 0..10 {
        let program = "echo begun; read x; seq 1 300; echo last words; exit 7";
        let target = ready_pane(&mcp, program, "begun").await;
        let call = json!({"target": target, "until": ["text:last words", "exit"], "timeout": 60});
        let (result, ()) = tokio::join!(biased; mcp.call("wait_for", call), async {
            has_begun(&tmux, &mcp, &target).await;
            tmux.presses(&target, &["Enter"]);
        });
        let result = result.ok();
        assert_eq!(result["event"], "text:last words", "{round}: {result}");
        let output = string(&result["output"]);
        assert_eq!(output, format!("{}\nlast words", numbers(1, 300)), "{round}");
    }
    mcp.close().await;
}

/// Waits for the last line of a program in a person's pane. The server is stopped until the pane is gone,
/// so it gets everything at once: another pane that closes, which makes it ask for the cursor, the line,
/// and the end. A query is ahead of the stream then.
async fn wait_for_last_line((tmux, mcp): (&TmuxServer, &Mcp), target: &str) -> testkit::Outcome {
    let other = tmux.tmux(&["split-window", "-d", "-P", "-F", "#{pane_id}", "-t", target, "cat"]);
    let server = i32::try_from(mcp.pid()).ok().and_then(Pid::from_raw).unwrap();
    let shows = async |text: &str| {
        until(text, async || tmux.screen(target).contains(text).then_some(())).await;
    };
    shows("begun").await;
    let call = json!({"target": target, "until": ["text:bye", "exit"], "timeout": 60});
    let (result, ()) = tokio::join!(biased; mcp.call("wait_for", call), async {
        has_begun(tmux, mcp, target).await;
        kill_process(server, Signal::STOP).unwrap();
        tmux.tmux(&["kill-pane", "-t", &other]);
        tmux.presses(target, &["Enter"]);
        shows("bye").await;
        tmux.presses(target, &["Enter"]);
        until("the pane is gone", async || {
            let panes = tmux.try_tmux(&["list-panes", "-a", "-F", "#{pane_id}"]);
            panes.is_ok_and(|panes| panes.lines().any(|pane| pane == target)).not().then_some(())
        })
        .await;
        kill_process(server, Signal::CONT).unwrap();
    });
    result
}

#[tokio::test]
async fn last_line_matches_although_its_pane_is_gone() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = tmux.open("echo begun; read x; echo bye; read x");
    let result = wait_for_last_line((&tmux, &mcp), &target).await.ok();
    assert_eq!(result["event"], "text:bye", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn last_line_matches_although_tmux_is_gone() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = tmux.open("echo begun; read x; echo bye; read x");
    // tmux exits with its last pane.
    tmux.tmux(&["kill-window", "-a", "-t", &target]);
    let result = wait_for_last_line((&tmux, &mcp), &target).await.ok();
    assert_eq!(result["event"], "text:bye", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn a_watched_command_is_lost_with_its_pane() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let call = json!({"command": "echo begun; sleep 1000", "until": ["text:NEVER"]});
    let (outcome, ()) = tokio::join!(biased; mcp.call("start_and_watch", call), async {
        let begun = async || {
            let panes = tmux.tmux(&["list-panes", "-a", "-F", "#{pane_id} #{pane_current_command}"]);
            panes.lines().find_map(|line| line.strip_suffix(" sleep").map(str::to_owned))
        };
        let pane = until("the command runs", begun).await;
        until("the command has printed", async || tmux.screen(&pane).contains("\nbegun").then_some(())).await;
        tmux.tmux(&["kill-pane", "-t", &pane]);
    });
    let error = outcome.err("lost");
    assert!(error.contains("begun") && error.contains("command_result c1"), "{error}");
    let result = mcp.call("command_result", json!({"command_id": "c1", "wait": 20})).await.ok();
    assert_eq!(result["status"], "lost", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn all_waits_end_with_the_tmux_server() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut panes = Vec::new();
    for _ in 0..5 {
        panes.push(pane(&mcp, "cat").await);
    }
    let conditions = ["text:NEVER", "password", "stable:50", "idle:50"];
    let waits = (0..20).map(|number| {
        let condition = conditions[number % 4];
        let call = json!({"target": panes[number % 5], "until": [condition], "timeout": 60});
        mcp.call("wait_for", call)
    });
    let begun = Instant::now();
    let (outcomes, ()) = tokio::join!(biased; join_all(waits), async {
        for pane in &panes {
            have_begun(&tmux, mcp.pid(), pane, 4).await;
        }
        tmux.tmux(&["kill-server"]);
    });
    assert!(begun.elapsed() < MAX_EARLY_END, "{:?}", begun.elapsed());
    for outcome in outcomes {
        let error = outcome.err("lost");
        assert!(error.contains("the tmux server went away"), "{error}");
    }
    until("another server can be started", async || {
        tmux.try_tmux(&["new-session", "-d", "-s", "main", "cat"]).ok()
    })
    .await;
    let result = mcp.call("wait_for", json!({"target": "main", "until": ["idle:0.1"]})).await.ok();
    assert_eq!(result["event"], "idle:0.1", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn a_wait_continues_after_its_client_detaches() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "echo begun; cat", "begun").await;
    let call = json!({"target": target, "until": ["text:AGAIN"], "timeout": 30});
    let ended = Cell::new(false);
    let wait = async {
        let result = mcp.call("wait_for", call).await.ok();
        ended.set(true);
        result
    };
    let (result, ()) = tokio::join!(biased; wait, async {
        has_begun(&tmux, &mcp, &target).await;
        let first = stream_client(&tmux, &target).unwrap();
        let clients = tmux.tmux(&["list-clients", "-F", "#{client_pid} #{client_name}"]);
        let name = clients.lines().find_map(|line| line.strip_prefix(&format!("{first} ")));
        tmux.tmux(&["detach-client", "-t", name.unwrap()]);
        until("another client is attached", async || {
            stream_client(&tmux, &target).filter(|client| *client != first)
        })
        .await;
        // Nothing shows that the wait reads from the new client, so the text is printed until it does.
        until("the wait has ended", async || {
            tmux.type_line(&target, "AGAIN");
            ended.get().then_some(())
        })
        .await;
    });
    assert_eq!(result["event"], "text:AGAIN", "{result}");
    assert!(string(&result["note"]).contains("missed"), "{result}");
    mcp.close().await;
}

/// The number of open descriptors, child processes and tmux clients of the program.
fn resource_counts(tmux: &TmuxServer, pid: u32) -> [usize; 3] {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let clients = tmux.tmux(&["list-clients"]).lines().count();
    [descriptors, children.split_whitespace().count(), clients]
}

#[tokio::test]
async fn cancelled_waits_leave_nothing_behind() {
    let tmux = TmuxServer::new();
    let mut raw = launch(&tmux).args(&["--toolset", "all", "--structured"]).raw();
    raw.initialize("2025-11-25").await;
    let mut panes = Vec::new();
    for _ in 0..5 {
        let made = raw_call(&mut raw, "create_pane", json!({"command": "cat"})).await;
        panes.push(string(&made["pane_id"]));
    }
    let before = resource_counts(&tmux, raw.pid());
    let mut ids = Vec::new();
    for number in 0..50 {
        let condition = ["text:NEVER", "exit", "password", "stable:50", "idle:50"][number % 5];
        let arguments = json!({"target": panes[number / 10], "until": [condition], "timeout": 60});
        let params = json!({"name": "wait_for", "arguments": arguments});
        ids.push(raw.start("tools/call", params).await);
    }
    until("all waits have begun", async || {
        (resource_counts(&tmux, raw.pid())[0] >= before[0] + 50).then_some(())
    })
    .await;
    for id in ids {
        let params = json!({"requestId": id, "reason": "enough"});
        let note = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        raw.send(&note).await;
    }
    // Stream clients and the link are kept for some seconds.
    until("all resources are released", async || {
        let now = resource_counts(&tmux, raw.pid());
        now.iter().zip(&before).all(|(now, before)| now <= before).then_some(())
    })
    .await;
    raw_call(&mut raw, "list_panes", json!({})).await;
    raw.hang_up();
    raw.wait().await;
}

#[tokio::test]
async fn a_progress_token_lifts_the_block_limit() {
    let tmux = TmuxServer::new();
    let config = tmux.home().join("config.toml");
    std::fs::write(&config, "[limits]\nblock = 1\n").unwrap();
    let config = config.to_str().unwrap();
    let mut raw = launch(&tmux).args(&["--structured", "--config", config]).raw();
    raw.initialize("2025-11-25").await;
    let arguments = json!({"target": "main", "until": ["text:NEVER"], "timeout": 60});
    let result = raw_call(&mut raw, "wait_for", arguments.clone()).await;
    assert_eq!(result["event"], "timeout", "{result}");
    let elapsed = result["elapsed"].as_f64().unwrap();
    // The limit counts from the call, `elapsed` from the moment the watch has begun.
    assert!((0.1..MAX_EARLY_END.as_secs_f64()).contains(&elapsed), "{result}");
    // With a progress token the wait continues and sends progress.
    let params =
        json!({"name": "wait_for", "arguments": arguments, "_meta": {"progressToken": "p"}});
    let id = raw.start("tools/call", params).await;
    let note = raw.receive().await.unwrap();
    assert_eq!(note["method"], "notifications/progress", "{note}");
    assert!(string(&note["params"]["message"]).contains("nothing yet"), "{note}");
    tmux.types(&tmux.tmux(&["display-message", "-p", "#{pane_id}"]), "NEVER");
    let answer = raw.receive().await.unwrap();
    assert_eq!(answer["id"], id, "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["event"], "text:NEVER", "{answer}");
    raw.hang_up();
    raw.wait().await;
}

#[tokio::test]
async fn number_of_watched_panes_is_limited() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    // It prints until the last wait has begun and seen it.
    let printer = "echo begun; read line; while sleep 0.1; do echo go; done";
    let target = ready_pane(&mcp, printer, "begun").await;
    let call = json!({"target": target, "until": ["text:go"], "timeout": 60});
    let refused = AtomicU32::new(0);
    let wait = async |_| {
        let result = mcp.call("wait_for", call.clone()).await.result();
        let text = result.content[0].as_text().unwrap().text.clone();
        if result.is_error == Some(true) {
            refused.fetch_add(1, Ordering::Relaxed);
        }
        text
    };
    let (texts, ()) = tokio::join!(join_all((0..260).map(wait)), async {
        until("four waits are refused", async || {
            (refused.load(Ordering::Relaxed) == 4).then_some(())
        })
        .await;
        let command = json!({"command": "touch started", "until": ["exit"]});
        mcp.call("start_and_watch", command).await.err("busy");
        assert!(!tmux.home().join("started").exists(), "the command was started");
        tmux.presses(&target, &["Enter"]);
    });
    let refused = texts.iter().filter(|text| text.starts_with("busy: at most 256 panes"));
    assert_eq!(refused.filter(|text| text.contains("Next: ")).count(), 4);
    assert_eq!(texts.iter().filter(|text| text.starts_with("text:go")).count(), 256);
    assert_eq!(mcp.call("wait_for", call).await.ok()["event"], "text:go");
    mcp.close().await;
}
