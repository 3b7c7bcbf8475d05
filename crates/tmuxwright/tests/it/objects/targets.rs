//! Tests of targets: sessions, windows and panes are matched exactly, in every locale.

use serde_json::{Value, json};
use testkit::{Launch, TmuxServer, wait_until};

use crate::objects::serve_destructive;
use crate::support::{field, list, string};
use crate::{PROGRAM, launch, serve};

/// A call of every tool that takes a target, with this target.
fn calls(target: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("list_windows", json!({"target": target})),
        ("list_panes", json!({"target": target})),
        ("get_info", json!({"target": target})),
        ("capture_pane", json!({"target": target})),
        ("capture_since", json!({"target": target})),
        ("snapshot_pane", json!({"target": target})),
        ("screenshot_pane", json!({"target": target})),
        ("search_panes", json!({"target": target, "pattern": "x"})),
        ("pane_state", json!({"target": target})),
        ("run_command", json!({"target": target, "command": "true"})),
        ("run_in_repl", json!({"target": target, "input": "true"})),
        ("interrupt", json!({"target": target})),
        ("wait_for", json!({"target": target, "until": ["exit"]})),
        ("start_and_watch", json!({"target": target, "command": "true", "until": ["exit"]})),
        ("send_signal", json!({"target": target, "signal": "CONT"})),
        ("send_keys", json!({"target": target, "text": "#"})),
        ("paste_text", json!({"target": target, "text": "#"})),
        ("paste_buffer", json!({"target": target, "name": "notes"})),
        ("create_window", json!({"target": target})),
        ("split_pane", json!({"target": target})),
        ("swap_pane", json!({"source": target, "target": format!("{target}:0.1")})),
        ("join_pane", json!({"source": target, "target": format!("{target}:0.0")})),
        ("break_pane", json!({"target": target})),
        ("select_window", json!({"target": target, "direction": "next"})),
        ("select_pane", json!({"target": target, "direction": "next"})),
        ("resize_pane", json!({"target": target, "zoom": false})),
        ("find_pane", json!({"target": target, "corner": "top-left"})),
        ("resize_window", json!({"target": target, "width": 80})),
        ("select_layout", json!({"target": target, "layout": "tiled"})),
        ("synchronize_panes", json!({"target": target, "on": false})),
        ("copy_mode", json!({"target": target, "action": "exit"})),
        ("pipe_pane", json!({"target": target})),
        ("clear_pane", json!({"target": target})),
        ("move_window", json!({"target": target, "index": 9})),
        ("respawn_pane", json!({"target": target})),
        ("rename", json!({"target": target, "name": "dev"})),
        ("show_option", json!({"target": target})),
        ("set_option", json!({"target": target, "name": "@x", "value": "x"})),
        ("show_environment", json!({"target": target})),
        ("set_environment", json!({"target": target, "name": "X", "value": "x"})),
        ("show_hooks", json!({"target": target})),
        ("eval_format", json!({"target": target, "format": "#{pane_id}"})),
        ("show_message", json!({"target": target, "text": "x"})),
        ("write_to_display", json!({"target": target, "text": "x"})),
        ("kill", json!({"target": target, "kind": "session"})),
    ]
}

/// The state of a session once tmux has named its window after the program.
fn settled_state(tmux: &TmuxServer, session: &str) -> String {
    wait_until("the window has its name", || {
        Some(state(tmux, session)).filter(|state| state.contains(" sh "))
    })
}

/// Everything about a session that a call could change.
fn state(tmux: &TmuxServer, session: &str) -> String {
    let session = format!("={session}:");
    let format = "#{session_id} #{window_id} #{window_active} #{pane_id} #{pane_active} \
                  #{window_name} #{cursor_x}";
    tmux.tmux(&["list-panes", "-s", "-t", &session, "-F", format])
}

#[tokio::test]
async fn name_never_matches_a_longer_name() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev-long");
    let before = settled_state(&tmux, "dev-long");
    let mcp = serve_destructive(&tmux).await;
    let tools = mcp.tools().await;
    for (tool, arguments) in calls("dev") {
        let error = mcp.call(tool, arguments).await.err("not_found");
        assert!(error.contains("`dev`") && error.contains("dev-long, main"), "{tool}: {error}");
    }
    let with_target = tools.iter().filter(|tool| {
        tool.input_schema["properties"].as_object().is_some_and(|p| p.contains_key("target"))
    });
    assert_eq!(with_target.count(), calls("dev").len(), "`calls` lacks a tool with a target");
    assert_eq!(state(&tmux, "dev-long"), before);
    mcp.close().await;
}

#[tokio::test]
async fn name_matches_exactly_beside_a_longer_name() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev-long");
    tmux.new_session("dev");
    let before = settled_state(&tmux, "dev-long");
    let mcp = serve_destructive(&tmux).await;
    mcp.call("set_buffer", json!({"name": "notes", "text": "#"})).await.text();
    for (tool, arguments) in calls("dev") {
        mcp.call(tool, arguments).await.text();
        assert_eq!(state(&tmux, "dev-long"), before, "{tool}");
    }
    let left = field(&mcp, "list_sessions", json!({}), "name").await;
    assert_eq!(left, ["dev-long", "main"]);
    mcp.close().await;
}

#[tokio::test]
async fn tmux_patterns_prefixes_and_tokens_match_nothing() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["rename-window", "-t", "=main:", "logs"]);
    let mcp = serve_destructive(&tmux).await;
    for target in [
        "mai",
        "m*",
        "main:lo",
        "main:l*",
        "main:^",
        "main:$",
        "main:+",
        "main:!",
        "{last}",
        "~",
        ":",
        "",
        ".",
        "main:0.+",
        "main:0.9",
        "main:9",
        "%1",
        "@1",
        "$1",
        "%",
        "@x",
        "main:0:0",
        "-t",
        "main ",
        "=",
        "=main:logs.",
    ] {
        for tool in ["get_info", "capture_pane"] {
            let error = mcp.call(tool, json!({"target": target})).await.err("not_found");
            assert!(error.contains("Next: "), "{target:?}: {error}");
        }
    }
    mcp.close().await;
}

#[tokio::test]
async fn every_form_of_a_target_finds_its_object() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev");
    tmux.tmux(&["new-window", "-d", "-t", "=dev:2", "-n", "logs"]);
    tmux.tmux(&["split-window", "-d", "-t", "=dev:2"]);
    let mcp = serve(&tmux).await;
    for (target, kind, pane) in [
        ("%3", "pane", "%3"),
        ("@2", "window", "%2"),
        ("$1", "session", "%1"),
        ("dev", "session", "%1"),
        ("=dev", "session", "%1"),
        ("dev:2", "window", "%2"),
        ("dev:logs", "window", "%2"),
        ("dev:2.0", "pane", "%2"),
        ("dev:logs.1", "pane", "%3"),
        ("dev:@2.%3", "pane", "%3"),
        ("$1:2", "window", "%2"),
    ] {
        let info = mcp.call("get_info", json!({"target": target})).await.ok();
        assert_eq!(info["kind"], kind, "{target}");
        let read = mcp.call("capture_pane", json!({"target": target})).await.ok();
        assert_eq!(read["pane_id"], pane, "{target}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn not_found_error_lists_existing_objects() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev");
    tmux.tmux(&["rename-window", "-t", "=dev:", "logs"]);
    let mcp = serve(&tmux).await;
    for (target, words) in [
        ("nope", "use one of these sessions: dev, main"),
        ("dev:nope", "use one of these windows: dev:0 (logs)"),
        ("%77", "use one of these panes: %0, %1"),
        ("$9", "use one of these sessions: dev, main"),
    ] {
        let error = mcp.call("capture_pane", json!({"target": target})).await.err("not_found");
        assert!(error.contains(words), "{target}: {error}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn ambiguous_window_name_is_refused_with_ids() {
    let tmux = TmuxServer::new();
    for _ in 0..2 {
        tmux.tmux(&["new-window", "-d", "-t", "=main:", "-n", "twin"]);
    }
    let mcp = serve(&tmux).await;
    let error = mcp.call("capture_pane", json!({"target": "main:twin"})).await.err("ambiguous");
    assert!(error.contains("@1 (main:1), @2 (main:2)"), "{error}");
    mcp.call("capture_pane", json!({"target": "main:2"})).await.text();
    mcp.close().await;
}

#[tokio::test]
async fn the_locale_changes_nothing() {
    let tmux = TmuxServer::new();
    tmux.new_session("café→漢字");
    tmux.tmux(&["rename-window", "-t", "=café→漢字:", "日誌\u{a0}🙂"]);
    tmux.tmux(&["select-pane", "-t", "=café→漢字:", "-T", "títle"]);
    let empty = empty_environment(&tmux).args(&["--toolset", "all", "--structured"]);
    let posix = launch(&tmux).env("LC_ALL", "C").args(&["--toolset", "all", "--structured"]);
    for launch in [posix, empty] {
        let mcp = launch.mcp().await;
        let panes = list(&mcp, "list_panes", json!({"target": "café→漢字:日誌\u{a0}🙂"})).await;
        assert_eq!(panes[0]["session"], "café→漢字");
        assert_eq!(panes[0]["window"], "日誌\u{a0}🙂");
        assert_eq!(panes[0]["title"], "títle");
        let typed = json!({"target": "café→漢字", "text": "# ü漢🙂"});
        mcp.call("send_keys", typed).await.text();
        crate::support::shows(&mcp, "café→漢字", "ü漢🙂").await;
        mcp.call("send_keys", json!({"target": "café→漢字", "keys": ["C-u"]})).await.text();
        mcp.close().await;
    }
}

/// The program with an empty environment.
fn empty_environment(tmux: &TmuxServer) -> Launch {
    let name = TmuxServer::program();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = std::env::split_paths(&path).map(|dir| dir.join(&name)).find(|p| p.exists());
    let program = program.unwrap_or_else(|| name.into());
    let arguments = ["-i", PROGRAM, "--socket", &tmux.socket().to_string_lossy(), "--tmux"];
    Launch::without_tmux("/usr/bin/env", tmux.home())
        .args(&arguments)
        .args(&[&program.to_string_lossy()])
}

#[tokio::test]
async fn rows_survive_hostile_names_titles_and_paths() {
    let tmux = TmuxServer::new();
    let dir = tmux.home().join("line\nend\ttab;'\"#{pane_id}$x");
    std::fs::create_dir(&dir).unwrap();
    let window = "a;b|c,d e";
    let title = "t;i|tle $HOME %0 @0 漢🙂";
    tmux.tmux(&["new-window", "-d", "-t", "=main:", "-n", window, "exec cat"]);
    let mcp = serve(&tmux).await;
    let made = mcp.call(
        "create_window",
        json!({
            "target": "main", "cwd": dir, "name": "plain",
            "command": format!("printf '\\033]2;%s\\007ready' '{title}'; exec cat"),
        }),
    );
    let made = made.await.ok();
    crate::support::shows(&mcp, &string(&made["pane_id"]), "ready").await;
    let panes = list(&mcp, "list_panes", json!({})).await;
    assert_eq!(panes.len(), 3);
    assert_eq!(panes[1]["window"], window);
    assert_eq!(panes[2]["title"], title);
    assert_eq!(panes[2]["path"], dir.to_string_lossy().as_ref());
    assert_eq!(panes[2]["pane_id"], made["pane_id"]);
    let text = mcp.call("list_panes", json!({})).await.text();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.contains("line\\nend\\ttab"), "{text}");
    let windows = mcp.call("list_windows", json!({})).await.text();
    assert_eq!(windows.lines().count(), 3, "{windows}");
    mcp.close().await;
}
