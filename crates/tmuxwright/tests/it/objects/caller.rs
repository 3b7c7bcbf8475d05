//! Tests of the caller's pane: the pane in which the server runs is recognized, and neither typed into
//! nor killed.

use serde_json::{Value, json};
use testkit::{Launch, Mcp, TmuxServer, until};

use crate::objects::{DESTRUCTIVE, in_pane};
use crate::support::{field, list};
use crate::{PROGRAM, launch};

/// The panes that are listed with `is_caller`.
async fn caller_panes(mcp: &Mcp) -> Vec<String> {
    field(mcp, "list_panes", json!({"filter": "is_caller=true"}), "pane_id").await
}

/// Expects every harmful call on the caller's pane, its window and its session to be denied.
async fn assert_protected(mcp: &Mcp, pane: &str, window: &str, session: &str) {
    for (tool, arguments) in [
        ("send_keys", json!({"target": pane, "text": "x"})),
        ("send_keys", json!({"target": session, "keys": ["C-c"]})),
        ("paste_text", json!({"target": window, "text": "x"})),
        ("paste_buffer", json!({"target": pane, "name": "notes"})),
        ("run_command", json!({"target": pane, "command": "true"})),
        ("start_and_watch", json!({"target": pane, "command": "true", "until": ["exit"]})),
        ("run_in_repl", json!({"target": pane, "input": "x"})),
        ("interrupt", json!({"target": pane})),
        ("send_signal", json!({"target": pane, "signal": "INT"})),
        ("kill", json!({"target": pane})),
        ("clear_pane", json!({"target": pane})),
        ("respawn_pane", json!({"target": pane})),
        ("kill", json!({"target": window})),
        ("kill", json!({"target": session, "kind": "session"})),
    ] {
        let error = mcp.call(tool, arguments).await.err("denied");
        assert!(error.contains("where this server itself runs"), "{error}");
        assert!(error.contains("is_caller"), "{error}");
    }
    mcp.call("capture_pane", json!({"target": pane})).await.text();
    mcp.call("get_info", json!({"target": pane})).await.text();
}

#[tokio::test]
async fn environment_identifies_the_callers_pane() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["split-window", "-d", "-t", "%0"]);
    tmux.new_session("other");
    let mcp = in_pane(launch(&tmux), &tmux, "%1").args(DESTRUCTIVE).mcp().await;
    assert_eq!(caller_panes(&mcp).await, ["%1"]);
    // A session stands for its active pane, so the caller's pane has to be active.
    tmux.tmux(&["select-pane", "-t", "%1"]);
    assert_protected(&mcp, "%1", "@0", "main").await;
    // Synchronized input from the pane beside it is denied, too.
    tmux.tmux(&["set-option", "-w", "-t", "@0", "synchronize-panes", "on"]);
    let error = mcp.call("send_keys", json!({"target": "%0", "text": "x"})).await.err("denied");
    assert!(error.contains("where this server itself runs"), "{error}");
    tmux.tmux(&["set-option", "-w", "-t", "@0", "-u", "synchronize-panes"]);
    // Other panes and sessions are not protected.
    mcp.call("send_keys", json!({"target": "%0", "text": "#"})).await.text();
    mcp.call("kill", json!({"target": "%0"})).await.text();
    mcp.call("kill", json!({"target": "other", "kind": "session"})).await.text();
    assert_eq!(list(&mcp, "list_panes", json!({})).await.len(), 1);
    mcp.close().await;
}

#[tokio::test]
async fn delayed_keys_stop_when_panes_are_synchronized() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["split-window", "-d", "-t", "%0"]);
    let mcp = in_pane(launch(&tmux), &tmux, "%1").args(DESTRUCTIVE).mcp().await;
    let keys = json!({"target": "%0", "text": "x", "repeat": 1000, "delay_ms": 20});
    let (typed, ()) = tokio::join!(mcp.call("send_keys", keys), async {
        until("keys arrive", async || tmux.screen("%0").contains("xx").then_some(())).await;
        tmux.tmux(&["set-option", "-w", "-t", "@0", "synchronize-panes", "on"]);
    });
    let error = typed.err("not_ready");
    assert!(error.contains("synchronized") && error.contains("Next: "), "{error}");
    assert!(!tmux.screen("%1").contains('x'), "{}", tmux.screen("%1"));
    // A pane that may be typed into receives the keys too, and one that joins later does not.
    let pane = tmux.open("exec cat");
    tmux.tmux(&["split-window", "-d", "-t", &pane, "exec cat"]);
    let window = tmux.tmux(&["display-message", "-p", "-t", &pane, "#{window_id}"]);
    tmux.tmux(&["set-option", "-w", "-t", &window, "synchronize-panes", "on"]);
    let keys = json!({"target": pane, "text": "y", "repeat": 1000, "delay_ms": 20});
    let (typed, ()) = tokio::join!(mcp.call("send_keys", keys), async {
        until("keys arrive", async || tmux.screen("%3").contains("yy").then_some(())).await;
        tmux.tmux(&["join-pane", "-d", "-s", "%1", "-t", &pane]);
    });
    typed.err("not_ready");
    assert!(!tmux.screen("%1").contains('y'), "{}", tmux.screen("%1"));
    mcp.close().await;
}

#[tokio::test]
async fn environment_of_another_tmux_server_is_ignored() {
    let (tmux, elsewhere) = (TmuxServer::new(), TmuxServer::new());
    let variable = format!("{},{},0", elsewhere.socket().display(), elsewhere.pid());
    let mcp = launch(&tmux).args(DESTRUCTIVE).env("TMUX", &variable).env("TMUX_PANE", "%0");
    let mcp = mcp.mcp().await;
    assert!(caller_panes(&mcp).await.is_empty());
    mcp.call("send_keys", json!({"target": "%0", "text": "#"})).await.text();
    mcp.close().await;
}

#[tokio::test]
async fn socket_is_recognized_through_a_symlink() {
    let tmux = TmuxServer::new();
    let link = tmux.home().join("link");
    std::os::unix::fs::symlink(tmux.socket(), &link).unwrap();
    let variable = format!("{},{},0", link.display(), tmux.pid());
    let mcp = launch(&tmux).args(DESTRUCTIVE).env("TMUX", &variable).env("TMUX_PANE", "%0");
    let mcp = mcp.mcp().await;
    assert_eq!(caller_panes(&mcp).await, ["%0"]);
    mcp.close().await;
}

#[tokio::test]
async fn processes_identify_the_callers_pane_without_environment() {
    let tmux = TmuxServer::new();
    let home = tmux.home().display();
    tmux.tmux(&["run-shell", &format!("mkfifo {home}/in {home}/out")]);
    // An MCP client that clears the environment, several processes below the pane's own.
    let clean = format!("env -i PATH=\"$PATH\" HOME={home} {PROGRAM}");
    let options = format!(
        "--socket {} --tmux {} {}",
        tmux.socket().display(),
        TmuxServer::program().to_string_lossy(),
        DESTRUCTIVE.join(" ")
    );
    let command = format!("sh -c '{clean} {options} < {home}/in > {home}/out; :'; :");
    let ids = tmux.tmux(&[
        "new-session",
        "-d",
        "-s",
        "agent",
        "-P",
        "-F",
        "#{pane_id} #{window_id}",
        &command,
    ]);
    let (pane, window) = ids.split_once(' ').unwrap();
    let relay = format!("cat {home}/out & exec cat > {home}/in");
    let mcp = Launch::without_tmux("/bin/sh", tmux.home()).args(&["-c", &relay]).mcp().await;
    assert_eq!(caller_panes(&mcp).await, [pane]);
    assert_protected(&mcp, pane, window, "agent").await;
    let all: Vec<Value> = list(&mcp, "list_panes", json!({})).await;
    assert_eq!(all.len(), 2);
    mcp.call("send_keys", json!({"target": "main", "text": "#"})).await.text();
    mcp.close().await;
}
