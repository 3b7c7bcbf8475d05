//! Tests of clearing and restarting panes: `clear_pane`, `respawn_pane`.

use serde_json::{Value, json};
use testkit::{Mcp, Shell, TmuxServer, until};

use crate::objects::serve_destructive;
use crate::serve;
use crate::support::{at_least, at_prompt, exited, pane, ready_pane, screen, shows, string};

/// A shell of the pool that has run a command and is at its prompt.
async fn shell(mcp: &Mcp) -> String {
    let done = mcp.call("run_command", json!({"command": "seq 200"})).await.ok();
    assert_eq!(done["exit_code"], 0);
    let pane = string(&done["pane_id"]);
    at_prompt(mcp, &pane).await;
    pane
}

async fn clear(mcp: &Mcp, pane: &str) -> Value {
    mcp.call("clear_pane", json!({"target": pane})).await.ok()
}

/// A pane's history and screen.
fn full_text(tmux: &TmuxServer, pane: &str) -> String {
    tmux.tmux(&["capture-pane", "-p", "-S", "-", "-t", pane]).trim_end().to_owned()
}

#[tokio::test]
async fn cleared_shell_keeps_prompt_and_typed_text() {
    for kind in Shell::ALL {
        let tmux = TmuxServer::new();
        tmux.use_shell(kind);
        let mcp = serve(&tmux).await;
        let pane = shell(&mcp).await;
        let prompt = screen(&mcp, &pane).await.lines().last().unwrap().to_owned();
        assert_eq!(clear(&mcp, &pane).await, json!({"pane_id": pane, "history": 0}), "{kind:?}");
        assert_eq!(full_text(&tmux, &pane), prompt.trim_end(), "{kind:?}");
        // A second time, with a half-typed command.
        mcp.call("send_keys", json!({"target": pane, "text": "echo ha"})).await.ok();
        shows(&mcp, &pane, "echo ha").await;
        clear(&mcp, &pane).await;
        mcp.call("send_keys", json!({"target": pane, "text": "lf", "enter": true})).await.ok();
        until("the command has run", async || {
            let text = screen(&mcp, &pane).await;
            (text.contains("echo half\nhalf") && text.lines().count() == 3).then_some(())
        })
        .await;
        let done = json!({"target": pane, "command": "echo after; false"});
        let done = mcp.call("run_command", done).await.ok();
        assert_eq!((&done["output"], &done["exit_code"]), (&json!("after"), &json!(1)), "{kind:?}");
        mcp.close().await;
    }
}

#[tokio::test]
async fn clear_pane_keeps_multirow_prompt_and_input() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    tmux.write_start_up(Shell::Bash, "PS1='first row\\nsecond $ '\n");
    let mcp = serve(&tmux).await;
    // The prompt may not be printed yet.
    let done = mcp.call("run_command", json!({"command": "seq 200"})).await.ok();
    let pane = string(&done["pane_id"]);
    clear(&mcp, &pane).await;
    assert_eq!(full_text(&tmux, &pane), "first row\nsecond $");
    let long = format!("echo {}", "x".repeat(300));
    mcp.call("send_keys", json!({"target": pane, "text": long})).await.ok();
    let typed = format!("second $ {long}");
    until("the whole line is shown", async || {
        screen(&mcp, &pane).await.contains(&typed).then_some(())
    })
    .await;
    clear(&mcp, &pane).await;
    assert_eq!(screen(&mcp, &pane).await, format!("first row\n{typed}"));
    mcp.close().await;
}

#[tokio::test]
async fn clear_pane_sends_programs_no_input() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let program = "seq 300; printf 'name? '; read name; echo \"got <$name>\"; exec cat";
    let asks = ready_pane(&mcp, program, "name?").await;
    assert_eq!(clear(&mcp, &asks).await["history"], 0);
    assert_eq!(full_text(&tmux, &asks), "name?");
    mcp.call("send_keys", json!({"target": asks, "text": "me", "enter": true})).await.ok();
    shows(&mcp, &asks, "got <me>").await;
    let full = "seq 300; printf '\\033[?1049h\\033[Hfull screen'; exec cat";
    let full = ready_pane(&mcp, full, "full screen").await;
    let kept = clear(&mcp, &full).await;
    assert_eq!((&kept["screen_kept"], &kept["history"]), (&json!(true), &json!(0)));
    assert_eq!(screen(&mcp, &full).await, "full screen");
    let dead = pane(&mcp, "seq 300; exit 4").await;
    exited(&mcp, &dead).await;
    assert_eq!(clear(&mcp, &dead).await["history"], 0);
    assert_eq!(screen(&mcp, &dead).await, "");
    mcp.close().await;
}

#[tokio::test]
async fn clear_pane_keeps_a_running_commands_output() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    let pane = shell(&mcp).await;
    let command = json!({"target": pane, "command": "seq 100; read x; seq 3", "timeout": 0});
    let id = string(&mcp.call("run_command", command).await.ok()["command_id"]);
    shows(&mcp, &pane, "\n100").await;
    clear(&mcp, &pane).await;
    assert_eq!(full_text(&tmux, &pane), "");
    mcp.call("send_keys", json!({"target": pane, "enter": true})).await.ok();
    let done = mcp.call("command_result", json!({"command_id": id, "wait": 20})).await.ok();
    assert_eq!((&done["exit_code"], &done["total_lines"]), (&json!(0), &json!(104)), "{done}");
    mcp.close().await;
}

#[tokio::test]
async fn capture_since_reports_missed_lines_after_clear() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    let pane = shell(&mcp).await;
    let since = mcp.call("capture_since", json!({"target": pane})).await.ok();
    mcp.call("run_command", json!({"target": pane, "command": "seq 500 600"})).await.ok();
    clear(&mcp, &pane).await;
    mcp.call("run_command", json!({"target": pane, "command": "echo new"})).await.ok();
    let next = mcp.call("capture_since", json!({"cursor": since["cursor"]})).await.ok();
    assert_eq!(next["lines_missed"], true, "{next}");
    assert!(next["lines"].to_string().contains("new"), "{next}");
    mcp.close().await;
}

#[tokio::test]
async fn foreign_panes_are_neither_cleared_nor_respawned() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for tool in ["clear_pane", "respawn_pane"] {
        let error = mcp.call(tool, json!({"target": "main"})).await.err("denied");
        assert!(error.contains("did not make") && error.contains("--tier destructive"), "{error}");
    }
    assert_eq!(tmux.screen("%0"), "$");
    mcp.close().await;
    let mcp = serve_destructive(&tmux).await;
    tmux.type_line("%0", "seq 100");
    shows(&mcp, "%0", "100\n$").await;
    clear(&mcp, "%0").await;
    assert_eq!(full_text(&tmux, "%0"), "$");
    let pid = tmux.tmux(&["display-message", "-p", "-t", "%0", "#{pane_pid}"]);
    let now = mcp.call("respawn_pane", json!({"target": "main"})).await.ok();
    assert_ne!(now["pid"].to_string(), pid);
    assert_eq!((&now["pane_id"], now.get("own")), (&json!("%0"), None));
    mcp.close().await;
}

#[tokio::test]
async fn respawn_pane_restarts_or_replaces_the_program() {
    let tmux = TmuxServer::new();
    let dir = tmux.home().join("#{pane_id} dir");
    std::fs::create_dir(&dir).unwrap();
    let mcp = serve(&tmux).await;
    let pane = pane(&mcp, "echo one; exit 3").await;
    let first = exited(&mcp, &pane).await;
    let again = mcp.call("respawn_pane", json!({"target": pane, "kill": false})).await.ok();
    assert_eq!((&again["pane_id"], &again["own"]), (&json!(pane), &json!(true)));
    assert_ne!(again["pid"], first["pid"]);
    assert_eq!(exited(&mcp, &pane).await["exit_code"], 3);
    let other = json!({
        "target": pane, "cwd": dir, "env": {"WORD": "a  b;"},
        "command": "echo \"$WORD\"; pwd; echo ready; exec cat",
    });
    mcp.call("respawn_pane", other).await.ok();
    let text = shows(&mcp, &pane, "ready").await;
    assert_eq!(text, format!("a  b;\n{}\nready", dir.display()), "the old screen is still there");
    let busy = mcp.call("respawn_pane", json!({"target": pane, "kill": false})).await.err("busy");
    assert!(busy.contains("still runs") && busy.contains("wait_for"), "{busy}");
    for (arguments, words) in [
        (json!({"target": pane, "command": " "}), "`command` is empty"),
        (json!({"target": pane, "cwd": "/nonexistent"}), "/nonexistent"),
        (json!({"target": pane, "env": {"": "x"}}), "`env`"),
    ] {
        let error = mcp.call("respawn_pane", arguments).await.err("invalid_argument");
        assert!(error.contains(words), "{error}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn respawned_programs_final_output_is_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let made = mcp.call("create_window", json!({})).await.ok();
    let pane = string(&made["pane_id"]);
    mcp.call("respawn_pane", json!({"target": pane, "command": "exec cat"})).await.ok();
    for round in 0..10 {
        let command = format!("echo last words {round}");
        mcp.call("respawn_pane", json!({"target": pane, "command": command})).await.ok();
        exited(&mcp, &pane).await;
        // tmux 3.2a adds its own notice below.
        let text = screen(&mcp, &pane).await;
        assert_eq!(text.lines().next(), Some(format!("last words {round}").as_str()));
    }
    mcp.close().await;
}

#[tokio::test]
async fn respawned_own_shell_runs_commands_again() {
    for kind in Shell::ALL {
        let tmux = TmuxServer::new();
        tmux.use_shell(kind);
        tmux.write_start_up(kind, if kind == Shell::Fish { "set -x W hi" } else { "export W=hi" });
        let mcp = serve(&tmux).await;
        let pane = shell(&mcp).await;
        let command = json!({"target": pane, "command": "sleep 100", "timeout": 0});
        let id = string(&mcp.call("run_command", command).await.ok()["command_id"]);
        let now = mcp.call("respawn_pane", json!({"target": pane, "cwd": "/"})).await.ok();
        assert_eq!(now["pane_id"], pane, "{kind:?}");
        let lost = mcp.call("command_result", json!({"command_id": id, "wait": 20})).await.ok();
        assert_eq!(lost["status"], "lost", "{kind:?}: {lost}");
        let command = json!({"target": pane, "command": "echo $W; pwd; false"});
        let done = mcp.call("run_command", command).await.ok();
        assert_eq!(done["output"], "hi\n/", "{kind:?}");
        assert_eq!(done["exit_code"], 1, "{kind:?}");
        // The pool uses it for a command without a target, and it still prints marks.
        let done = mcp.call("run_command", json!({"command": "echo two"})).await.ok();
        assert_eq!((&done["pane_id"], &done["output"]), (&json!(pane), &json!("two")), "{kind:?}");
        mcp.close().await;
    }
}

#[tokio::test]
async fn wait_ends_when_the_program_is_replaced() {
    let tmux = TmuxServer::new();
    // tmux 3.2a may crash when a program ends while a stream follows its pane.
    if !at_least(&tmux, "3.3") {
        return;
    }
    let mcp = serve(&tmux).await;
    let pane = ready_pane(&mcp, "echo ready; exec cat", "ready").await;
    let wait = json!({"target": pane, "until": ["text:never"], "timeout": 20});
    let respawn = async {
        // The wait reports progress once it has read the screen.
        until("the wait has begun", async || (!mcp.progress().is_empty()).then_some(())).await;
        mcp.call("respawn_pane", json!({"target": pane})).await.ok()
    };
    let (waited, _) = tokio::join!(mcp.call("wait_for", wait), respawn);
    let error = waited.err("lost");
    assert!(error.contains("was given to another program"), "{error}");
    mcp.close().await;
}
