//! Tests of a program that is killed, so that it cannot clean up itself.

use rustix::process::Signal;
use serde_json::json;
use testkit::{Raw, TmuxServer, wait_until};

use crate::launch;
use crate::protocol::{client_count, create_own_pane, initialized, session_names};
use crate::serve;
use crate::support::killing::{kill_successor, kill_with_successor, processes_of};

/// Starts the program, which then follows the pane `%0`, which prints, an own pane and a channel.
async fn following(tmux: &TmuxServer) -> Raw {
    let mut raw = initialized(launch(tmux).args(&["--toolset", "all", "--structured"])).await;
    let own = create_own_pane(&mut raw).await["pane_id"].clone();
    tmux.type_line("%0", "while :; do echo tick; done");
    for target in [json!("%0"), own] {
        let arguments =
            json!({"target": target, "until": ["text:never to be seen"], "timeout": 600});
        raw.start("tools/call", json!({"name": "wait_for", "arguments": arguments})).await;
    }
    let channel = json!({"channel": "never", "timeout": 600});
    raw.start("tools/call", json!({"name": "wait_for_channel", "arguments": channel})).await;
    // The link and two streams; the process that waits for the channel is not attached.
    wait_until("the waits have begun", || {
        (client_count(tmux) >= 3 && processes_of(tmux).len() >= 5).then_some(())
    });
    raw
}

/// Asserts that tmux goes on to read the output of the pane.
fn prints(tmux: &TmuxServer) {
    tmux.tmux(&["clear-history", "-t", "%0"]);
    let history = || tmux.tmux(&["display-message", "-p", "-t", "%0", "#{history_size}"]);
    wait_until("the pane prints", || (history() != "0").then_some(()));
}

/// Nobody waits for the killed process, so it stays in the process table.
#[tokio::test]
async fn killed_program_leaves_nothing_in_tmux() {
    let tmux = TmuxServer::new();
    let mut raw = following(&tmux).await;
    raw.signal(Signal::KILL);
    wait_until("the own session is gone", || (session_names(&tmux) == ["main"]).then_some(()));
    wait_until("no client is left", || (client_count(&tmux) == 0).then_some(()));
    wait_until("no process is left", || processes_of(&tmux).is_empty().then_some(()));
    prints(&tmux);
    raw.wait().await;
}

#[tokio::test]
async fn next_start_ends_the_clients_of_the_dead() {
    let tmux = TmuxServer::new();
    let mut raw = following(&tmux).await;
    kill_with_successor(&tmux, &mut raw).await;
    assert_eq!(session_names(&tmux).len(), 2);
    let next = serve(&tmux).await;
    wait_until("the own session is gone", || (session_names(&tmux) == ["main"]).then_some(()));
    wait_until("no client is left", || (client_count(&tmux) == 0).then_some(()));
    prints(&tmux);
    next.close().await;
}

/// The clean-up depends on no setting: this config file is valid with the flag only.
#[tokio::test]
async fn clean_up_needs_only_tmux() {
    let tmux = TmuxServer::new();
    let file = tmux.home().join("config.toml");
    std::fs::write(&file, "[policy]\nredact_patterns = [\"x\"]\n").unwrap();
    let launch = launch(&tmux).env("TMUXWRIGHT_CONFIG", &file.to_string_lossy());
    let mut raw = initialized(launch.args(&["--redact", "--toolset", "all", "--structured"])).await;
    create_own_pane(&mut raw).await;
    raw.signal(Signal::KILL);
    wait_until("the own session is gone", || (session_names(&tmux) == ["main"]).then_some(()));
    raw.wait().await;
}

#[tokio::test]
async fn program_works_without_its_successor() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    mcp.call("list_panes", json!({})).await.ok();
    kill_successor(&tmux);
    // A command needs new processes: at least the one that follows the pane.
    mcp.call("run_command", json!({"command": "echo one"})).await.ok();
    mcp.close().await;
    assert_eq!(session_names(&tmux), ["main"]);
}

#[tokio::test]
async fn orderly_exit_leaves_no_process() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    mcp.call("list_panes", json!({})).await.ok();
    assert!(processes_of(&tmux).len() >= 2);
    mcp.close().await;
    wait_until("no process is left", || processes_of(&tmux).is_empty().then_some(()));
}

/// The labels by which the next start recognizes clients must not hide those of other programs.
#[tokio::test]
async fn clients_of_the_living_stay() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    mcp.call("list_panes", json!({})).await.ok();
    let labels = || tmux.tmux(&["list-clients", "-F", "#{client_termname}"]);
    let before = labels();
    assert!(before.starts_with("tmuxwright."), "{before}");
    let (program, socket) = (TmuxServer::program(), tmux.socket().to_string_lossy());
    let args = ["clean-up", "0", &program.to_string_lossy(), &socket];
    let output = launch(&tmux).args(&args).output().await;
    assert!(output.status.success(), "{output:?}");
    assert_eq!(labels(), before);
    mcp.close().await;
}
