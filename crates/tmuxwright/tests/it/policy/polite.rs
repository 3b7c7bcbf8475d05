//! Tests that a person's tmux server is unchanged when the program exits.

#![expect(clippy::indexing_slicing, reason = "helpers fail like tests")]

use serde_json::json;
use testkit::{Mcp, Person, TmuxServer, wait_until};

use crate::serve;
use crate::support::server_state::{customized_server, server_state};
use crate::support::{ready_pane, shows};

/// Sets a variable that tmux would overwrite with an attaching client's.
fn set_environment(tmux: &TmuxServer) {
    for session in ["=main:", "=other:"] {
        tmux.tmux(&["set-environment", "-t", session, "DISPLAY", ":7"]);
    }
}

/// Calls many tools, none of which may leave anything in a person's sessions.
async fn call_many_tools(mcp: &Mcp) {
    for tool in ["list_sessions", "list_windows", "list_panes", "server_info", "list_clients"] {
        mcp.call(tool, json!({})).await.text();
    }
    for tool in ["show_option", "show_environment", "show_hooks"] {
        mcp.call(tool, json!({"target": "main"})).await.text();
    }
    mcp.call("eval_format", json!({"target": "%0", "format": "#{pane_id} ##(x)"})).await.text();
    mcp.call("list_servers", json!({})).await.text();
    for target in ["main", "@0", "%1"] {
        mcp.call("get_info", json!({"target": target})).await.text();
        mcp.call("capture_pane", json!({"target": target, "lines": 50})).await.text();
    }
    let typed = json!({"target": "%0", "text": "true # typed 漢字", "keys": ["Left", "Right"]});
    mcp.call("send_keys", typed).await.text();
    shows(mcp, "%0", "typed").await;
    mcp.call("send_keys", json!({"target": "%0", "enter": true})).await.text();
    mcp.call("paste_text", json!({"target": "%1", "text": "true\n"})).await.text();
    shows(mcp, "%1", "true").await;
    let notes = json!({"name": "notes", "text": "not a person's"});
    mcp.call("set_buffer", notes).await.text();
    mcp.call("show_buffer", json!({"name": "notes"})).await.text();
    mcp.call("search_buffer", json!({"pattern": "person"})).await.text();
    let ours = ready_pane(mcp, "echo ours; exec cat", "ours").await;
    mcp.call("split_pane", json!({"target": ours})).await.text();
    mcp.call("rename", json!({"target": ours, "name": "x"})).await.text();
    mcp.call("resize_pane", json!({"target": ours, "zoom": true})).await.text();
    let made = mcp.call("create_window", json!({"target": "other"})).await.ok();
    mcp.call("kill", json!({"target": made["window_id"]})).await.text();
    mcp.call("create_session", json!({"name": "brief"})).await.text();
    mcp.call("kill", json!({"target": "brief", "kind": "session"})).await.text();
    mcp.call("kill", json!({"target": "%0"})).await.err("denied");
    mcp.call("send_keys", json!({"target": "%0", "keys": ["Nonsense"]}))
        .await
        .err("invalid_argument");
}

/// Expects an unchanged state once the program's clients are gone.
fn assert_unchanged(tmux: &TmuxServer, before: &[String]) {
    wait_until("the control clients are gone", || {
        let flags = tmux.tmux(&["list-clients", "-F", "#{client_flags}"]);
        (!flags.contains("ignore-size")).then_some(())
    });
    for (before, after) in before.iter().zip(server_state(tmux)) {
        assert_eq!(&after, before);
    }
}

#[tokio::test]
async fn detached_session_is_unchanged_after_exit() {
    let tmux = customized_server("other", "a title");
    set_environment(&tmux);
    let before = server_state(&tmux);
    let mcp = serve(&tmux).await;
    call_many_tools(&mcp).await;
    mcp.close().await;
    assert_unchanged(&tmux, &before);
}

#[tokio::test]
async fn attached_client_keeps_its_size_and_place() {
    let tmux = customized_server("other", "a title");
    let _person = Person::attach(&tmux, "main", 101, 37);
    set_environment(&tmux);
    let before = server_state(&tmux);
    let size = || tmux.tmux(&["list-windows", "-a", "-F", "#{window_width}x#{window_height}"]);
    let sizes = size();
    let mcp = serve(&tmux).await;
    mcp.call("list_panes", json!({})).await.text();
    assert_eq!(size(), sizes);
    call_many_tools(&mcp).await;
    mcp.close().await;
    assert_unchanged(&tmux, &before);
}

#[tokio::test]
async fn read_tools_do_not_create_the_own_session() {
    let tmux = customized_server("other", "a title");
    let mcp = serve(&tmux).await;
    mcp.call("list_panes", json!({})).await.text();
    mcp.call("capture_pane", json!({"target": "main"})).await.text();
    assert_eq!(tmux.tmux(&["list-sessions", "-F", "#{session_name}"]), "main\nother");
    mcp.close().await;
}
