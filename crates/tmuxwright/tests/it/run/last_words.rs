//! The last output of programs whose pane ends with them, and the keeper around them.

use serde_json::json;
use testkit::{Shell, TmuxServer, until};

use crate::run::fixture::ShellFixture;
use crate::run::input::process_state;
use crate::serve;
use crate::support::{exited, numbers, pane, ready_pane, screen};

/// Lines that a program prints right before it exits: tmux reads them in several pieces.
const LINES: u64 = 3000;

#[tokio::test]
async fn last_output_of_exec_is_complete() {
    for shell in Shell::ALL {
        let fixture = ShellFixture::own(shell).await;
        for round in 0..5 {
            let result = fixture.answer(&format!("exec sh -c 'seq 1 {LINES}; exit 4'")).await;
            assert_eq!(result["exit_code"], 4, "{fixture}, {round}: {result}");
            assert_eq!(result["total_lines"], LINES, "{fixture}, {round}: {result}");
        }
        fixture.close().await;
    }
}

#[tokio::test]
async fn last_output_of_an_exit_trap_is_complete() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Dash] {
        let fixture = ShellFixture::own(shell).await;
        for round in 0..5 {
            let command = format!("trap 'seq 1 {LINES}; echo bye' EXIT; exit 3");
            let result = fixture.answer(&command).await;
            assert_eq!(result["exit_code"], 3, "{fixture}, {round}: {result}");
            let output = result["output"].as_str().unwrap();
            assert!(output.ends_with(&format!("{LINES}\nbye")), "{fixture}, {round}: {result}");
        }
        fixture.close().await;
    }
}

#[tokio::test]
async fn last_output_of_a_program_stays_on_screen() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for round in 0..10 {
        let pane = pane(&mcp, &format!("exec seq 1 {LINES}")).await;
        exited(&mcp, &pane).await;
        let shown = tmux.tmux(&["capture-pane", "-p", "-S", "-", "-t", &pane]);
        assert!(shown.contains(&numbers(1, LINES)), "{round}: {shown}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn kept_program_has_terminal_and_signals() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    // It would get no key if it could be stopped, or if its keeper had the foreground.
    let reader = ready_pane(
        &mcp,
        "stty -echo; echo ready; read -r line; echo got $line; exec sleep 100",
        "ready",
    )
    .await;
    mcp.call("send_keys", json!({"target": reader, "keys": ["C-z"]})).await.ok();
    let typed =
        json!({"target": reader, "text": "a line", "enter": true, "until": ["text:got a line"]});
    mcp.call("send_keys", typed).await.ok();
    mcp.call("send_keys", json!({"target": reader, "keys": ["C-c"]})).await.ok();
    assert_eq!(exited(&mcp, &reader).await["exit_code"], 130, "{}", screen(&mcp, &reader).await);
    let killed = pane(&mcp, "kill -9 $$").await;
    assert_eq!(exited(&mcp, &killed).await["exit_code"], 137);
    let missing = pane(&mcp, "exec /nonexistent/program").await;
    assert_eq!(exited(&mcp, &missing).await["exit_code"], 127);
    mcp.close().await;
}

#[tokio::test]
async fn a_stopped_shell_ends_with_its_pane() {
    let fixture = ShellFixture::own(Shell::Bash).await;
    let begun = fixture.answer_within("echo $$; kill -STOP $$", 0.0).await;
    let pid = until("the shell is stopped", async || {
        let pid = fixture.result(&begun).await["output"].as_str()?.trim().to_owned();
        let is_stopped = process_state(&fixture.tmux, &pid).starts_with('T');
        is_stopped.then(|| pid.parse::<u32>().unwrap())
    })
    .await;
    fixture.mcp.call("kill", json!({"target": begun["pane_id"]})).await.ok();
    until("the shell has ended", async || process::started(pid).is_none().then_some(())).await;
    fixture.close().await;
}

#[tokio::test]
async fn closed_pane_ends_its_background_jobs() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let fixture = ShellFixture::own(shell).await;
        let file = fixture.tmux.home().join("pid");
        // The shell must hear of the closed terminal although a command has the foreground.
        let command = format!("sh -c 'echo $$ >{}; exec sleep 1000' & sleep 1000", file.display());
        let begun = fixture.answer_within(&command, 0.1).await;
        let pid = until("the job runs", async || {
            std::fs::read_to_string(&file).ok()?.trim().parse::<u32>().ok()
        })
        .await;
        fixture.mcp.call("kill", json!({"target": begun["pane_id"]})).await.ok();
        until("the job has ended", async || process::started(pid).is_none().then_some(())).await;
        fixture.close().await;
    }
}
