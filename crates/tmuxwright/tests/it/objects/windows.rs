//! Tests of windows: `list_windows`, `create_window`, `select_window`.

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer};

use crate::serve;
use crate::support::{field, keys, list, pane, shows, string};

#[tokio::test]
async fn a_window_shows_every_field_of_the_contract() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["rename-window", "-t", "=main:", "shell"]);
    let mcp = serve(&tmux).await;
    let windows = list(&mcp, "list_windows", json!({})).await;
    assert_eq!(windows.len(), 1);
    let window = &windows[0];
    assert_eq!(
        keys(window),
        [
            "active",
            "height",
            "index",
            "layout",
            "name",
            "panes",
            "session",
            "session_id",
            "width",
            "window_id"
        ]
    );
    assert_eq!(window["window_id"], "@0");
    assert_eq!((&window["session_id"], &window["session"]), (&json!("$0"), &json!("main")));
    assert_eq!((&window["index"], &window["name"]), (&json!(0), &json!("shell")));
    assert_eq!((&window["panes"], &window["active"]), (&json!(1), &json!(true)));
    assert_eq!((&window["width"], &window["height"]), (&json!(80), &json!(24)));
    assert!(string(&window["layout"]).contains("80x24"), "{window}");
    let text = mcp.call("list_windows", json!({})).await.text();
    let layout = format!("layout {}", string(&window["layout"]));
    assert_eq!(text, format!("@0 $0 main:0 shell · 1 pane · 80x24 · {layout} · active"));
    mcp.close().await;
}

#[tokio::test]
async fn windows_are_listed_by_session_and_by_filter() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev");
    tmux.tmux(&["new-window", "-d", "-t", "=dev:", "-n", "logs"]);
    let mcp = serve(&tmux).await;
    let ids = async |arguments: Value| field(&mcp, "list_windows", arguments, "window_id").await;
    assert_eq!(ids(json!({})).await, ["@1", "@2", "@0"]);
    assert_eq!(ids(json!({"target": "dev"})).await, ["@1", "@2"]);
    assert_eq!(ids(json!({"target": "%0"})).await, ["@0"]);
    assert_eq!(ids(json!({"filter": "name=logs"})).await, ["@2"]);
    assert_eq!(ids(json!({"filter": "active=true,session~^d"})).await, ["@1"]);
    let error = mcp.call("list_windows", json!({"filter": "path=x"})).await;
    assert!(error.err("invalid_argument").contains("window_id"));
    mcp.close().await;
}

/// The names of a session's windows, in order.
async fn window_names(mcp: &Mcp, session: &str) -> Vec<String> {
    field(mcp, "list_windows", json!({"target": session}), "name").await
}

async fn create(mcp: &Mcp, arguments: Value) -> Value {
    mcp.call("create_window", arguments).await.ok()
}

#[tokio::test]
async fn create_window_honours_place_and_select() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["rename-window", "-t", "=main:", "shell"]);
    let mcp = serve(&tmux).await;
    let last = create(&mcp, json!({"target": "main", "name": "last"})).await;
    assert_eq!(last["index"], 1);
    create(&mcp, json!({"target": "main:shell", "name": "second", "place": "after"})).await;
    create(&mcp, json!({"target": "main:shell", "name": "first", "place": "before"})).await;
    create(&mcp, json!({"target": "main:shell", "name": "end", "place": "end"})).await;
    assert_eq!(window_names(&mcp, "main").await, ["first", "shell", "second", "last", "end"]);
    let active = field(&mcp, "list_windows", json!({"filter": "active=true"}), "name").await;
    assert_eq!(active, ["shell"], "the new window was selected unasked");
    create(&mcp, json!({"target": "main", "name": "front", "select": true})).await;
    let active = field(&mcp, "list_windows", json!({"filter": "active=true"}), "name").await;
    assert_eq!(active, ["front"]);
    mcp.close().await;
}

#[tokio::test]
async fn create_window_applies_name_cwd_env_and_command() {
    let tmux = TmuxServer::new();
    let dir = tmux.home().join("#{pane_id}");
    std::fs::create_dir(&dir).unwrap();
    let mcp = serve(&tmux).await;
    let made = create(
        &mcp,
        json!({
            "target": "main", "name": "#(touch f) it's", "cwd": dir, "env": {"WORD": "a  b"},
            "command": "echo \"$WORD\"; pwd; exec cat",
        }),
    );
    let made = made.await;
    let text = shows(&mcp, &string(&made["pane_id"]), "#{pane_id}").await;
    assert_eq!(text, format!("a  b\n{}", dir.display()));
    assert_eq!(window_names(&mcp, "main").await[1], "#(touch f) it's");
    let own = field(&mcp, "list_windows", json!({"filter": "own=true"}), "window_id").await;
    assert_eq!(own, [string(&made["window_id"])]);
    mcp.close().await;
}

#[tokio::test]
async fn create_window_without_target_uses_own_session() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let made = create(&mcp, json!({"name": "one", "command": "echo out; exit 3"})).await;
    assert_eq!(made["session"], format!("mcp-{}", mcp.pid()));
    let target = string(&made["pane_id"]);
    assert_eq!(crate::support::exited(&mcp, &target).await["exit_code"], 3);
    let session = string(&made["session_id"]);
    create(&mcp, json!({"name": "two", "command": "exec cat"})).await;
    let active = async || {
        field(&mcp, "list_windows", json!({"target": session, "filter": "active=true"}), "name")
            .await
    };
    assert_eq!(active().await, ["one"]);
    create(&mcp, json!({"name": "three", "command": "exec cat", "select": true})).await;
    assert_eq!(active().await, ["three"]);
    assert_eq!(window_names(&mcp, &session).await, ["one", "two", "three"]);
    let beside = mcp.call("create_window", json!({"place": "before"})).await;
    let error = beside.err("invalid_argument");
    assert!(error.contains("`place`") && error.contains("target"), "{error}");
    mcp.close().await;
}

#[tokio::test]
async fn invalid_create_window_arguments_are_named() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (arguments, words) in [
        (json!({"target": "main", "place": "top"}), "end, before, after"),
        (json!({"target": "main", "cwd": "relative/none"}), "relative/none"),
        (json!({"target": "main", "env": {"=": ""}}), "`=`"),
        (json!({"session": "main"}), "there is no argument `session`"),
    ] {
        let error = mcp.call("create_window", arguments.clone()).await.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
    let error = mcp.call("create_window", json!({"target": "mian"})).await.err("not_found");
    assert!(error.contains("main"), "{error}");
    assert_eq!(window_names(&mcp, "main").await.len(), 1);
    mcp.close().await;
}

#[tokio::test]
async fn windows_are_selected_by_name_and_direction() {
    let tmux = TmuxServer::new();
    // The link is attached to the own session, so the default target of tmux is never `dev`.
    tmux.new_session("dev");
    for name in ["one", "two"] {
        tmux.tmux(&["new-window", "-d", "-t", "=dev:", "-n", name]);
    }
    let mcp = serve(&tmux).await;
    pane(&mcp, "exec cat").await;
    let select = async |arguments: Value| {
        string(&mcp.call("select_window", arguments).await.ok()["window_id"])
    };
    assert_eq!(select(json!({"target": "dev:one"})).await, "@2");
    assert_eq!(select(json!({"target": "dev", "direction": "next"})).await, "@3");
    assert_eq!(select(json!({"target": "dev", "direction": "next"})).await, "@1");
    assert_eq!(select(json!({"target": "dev", "direction": "previous"})).await, "@3");
    assert_eq!(select(json!({"target": "dev", "direction": "last"})).await, "@1");
    assert_eq!(select(json!({"target": "@3"})).await, "@3");
    // A pane stands for its window.
    assert_eq!(select(json!({"target": "%2"})).await, "@2");
    let now = tmux.tmux(&["display-message", "-p", "-t", "=dev:", "#{window_id}"]);
    assert_eq!(now, "@2");
    let whole = mcp.call("select_window", json!({"target": "@1"})).await.ok();
    assert_eq!(whole, json!({"session_id": "$1", "window_id": "@1", "pane_id": "%1"}));
    mcp.close().await;
}

#[tokio::test]
async fn select_window_without_target_uses_own_session() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    create(&mcp, json!({"command": "exec cat"})).await;
    let second = create(&mcp, json!({"command": "exec cat"})).await;
    let now = mcp.call("select_window", json!({"direction": "next"})).await.ok();
    assert_eq!(now["window_id"], second["window_id"]);
    mcp.close().await;
}

#[tokio::test]
async fn invalid_select_window_arguments_are_named() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev");
    let mcp = serve(&tmux).await;
    for (arguments, words) in [
        (json!({}), "neither"),
        (json!({"target": "dev"}), "is a session"),
        (json!({"direction": "next"}), "`target` is missing"),
        (json!({"target": "dev", "direction": "up"}), "next, previous, last"),
    ] {
        let error = mcp.call("select_window", arguments.clone()).await.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
    let none = mcp.call("select_window", json!({"target": "dev", "direction": "last"})).await;
    assert!(none.err("tmux_refused").contains("no last window"));
    mcp.call("select_window", json!({"target": "dev:9"})).await.err("not_found");
    mcp.close().await;
}
