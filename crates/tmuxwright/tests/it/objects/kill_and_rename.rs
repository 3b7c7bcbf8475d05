//! Tests of the tools common to sessions, windows and panes: `get_info`, `rename`, `kill`.

use futures::future::join_all;
use serde_json::{Value, json};
use testkit::TmuxServer;

use crate::objects::serve_destructive;
use crate::serve;
use crate::support::{field, keys, list, pane, string};

#[tokio::test]
async fn get_info_reports_kind_and_all_fields() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["split-window", "-d", "-h", "-l", "30", "-t", "%0"]);
    let mcp = serve(&tmux).await;
    let info = async |target: &str| mcp.call("get_info", json!({"target": target})).await.ok();
    let session = info("main").await;
    assert_eq!(keys(&session), ["kind", "session"]);
    assert_eq!(
        (&session["kind"], &session["session"]["name"]),
        (&json!("session"), &json!("main"))
    );
    let window = info("main:0").await;
    assert_eq!(keys(&window), ["kind", "session", "window"]);
    assert_eq!((&window["kind"], &window["window"]["panes"]), (&json!("window"), &json!(2)));
    let whole = info("%1").await;
    assert_eq!(keys(&whole), ["kind", "pane", "session", "window"]);
    assert_eq!(whole["kind"], "pane");
    let pane = &whole["pane"];
    for (name, value) in [
        ("pane_id", json!("%1")),
        ("left", json!(50)),
        ("right", json!(79)),
        ("top", json!(0)),
        ("bottom", json!(23)),
        ("width", json!(30)),
        ("at_left", Value::Null),
        ("at_right", json!(true)),
        ("at_top", json!(true)),
        ("at_bottom", json!(true)),
        ("cursor_y", json!(0)),
        ("history", json!(0)),
        ("history_limit", json!(2000)),
        ("status", json!("running")),
        ("alternate_screen", Value::Null),
    ] {
        assert_eq!(pane[name], value, "{name}");
    }
    assert!(string(&pane["tty"]).starts_with("/dev/"), "{pane}");
    let text = mcp.call("get_info", json!({"target": "%1"})).await.text();
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.contains("columns 50-79, rows 0-23"), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn get_info_reports_modes_and_alternate_screen() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = pane(&mcp, "printf '\\033[?1049hfull screen'; exec cat").await;
    crate::support::shows(&mcp, &target, "full screen").await;
    tmux.tmux(&["copy-mode", "-t", &target]);
    tmux.tmux(&["select-pane", "-d", "-t", &target]);
    tmux.tmux(&["set-option", "-w", "-t", &target, "synchronize-panes", "on"]);
    let info = mcp.call("get_info", json!({"target": target})).await.ok();
    assert_eq!(info["pane"]["alternate_screen"], true);
    assert_eq!(info["pane"]["mode"], "copy-mode");
    assert_eq!(info["pane"]["input_off"], true);
    assert_eq!(info["pane"]["synchronized"], true);
    let mistake = mcp.call("get_info", json!({})).await.err("invalid_argument");
    assert!(mistake.contains("`target` is missing"), "{mistake}");
    mcp.close().await;
}

/// Names with characters that are special to tmux, a shell or a terminal. Every version of tmux keeps
/// them unchanged.
const SPECIAL_NAMES: &[&str] = &[
    "#(touch f)",
    "#{pane_id} ##{x} #S #",
    "#[bold] ##[x]",
    "it's \"quoted\" `back`",
    "$ ~ ; & | * ? {a,b} %1 @2 !",
    "-t",
    "漢字 café→🙂 ñ",
    "  spaces  ",
    "semicolon;",
];

#[tokio::test]
async fn names_are_kept_exactly_and_run_nothing() {
    let tmux = TmuxServer::new();
    let mcp = serve_destructive(&tmux).await;
    for (target, list, key) in [
        ("$0", "list_sessions", "name"),
        ("@0", "list_windows", "name"),
        ("%0", "list_panes", "title"),
    ] {
        for name in SPECIAL_NAMES {
            let answer = mcp.call("rename", json!({"target": target, "name": name})).await.ok();
            assert_eq!(answer["name"], *name, "{target}");
            assert_eq!(field(&mcp, list, json!({}), key).await, [*name], "{target}");
        }
    }
    assert!(!tmux.home().join("f").exists() && !std::path::Path::new("f").exists());
    mcp.close().await;
}

#[tokio::test]
async fn rename_returns_ids_and_changes_nothing_else() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["split-window", "-d", "-t", "%0"]);
    let mcp = serve_destructive(&tmux).await;
    let rename = async |target: &str| {
        mcp.call("rename", json!({"target": target, "name": "new"})).await.ok()
    };
    let title = rename("%1").await;
    assert_eq!(
        title,
        json!({"session_id": "$0", "window_id": "@0", "pane_id": "%1", "name": "new"})
    );
    assert_eq!(tmux.tmux(&["display-message", "-p", "-t", "@0", "#{pane_id}"]), "%0");
    let window = rename("main:0").await;
    assert_eq!(window, json!({"session_id": "$0", "window_id": "@0", "name": "new"}));
    assert_eq!(rename("main").await, json!({"session_id": "$0", "name": "new"}));
    let titles = field(&mcp, "list_panes", json!({}), "title").await;
    assert_eq!(titles[1], "new");
    assert_ne!(titles[0], "new");
    mcp.close().await;
}

#[tokio::test]
async fn default_tier_renames_only_own_objects() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let ours = pane(&mcp, "exec sleep 600").await;
    let made = mcp.call("split_pane", json!({"target": "%0"})).await.ok();
    for (target, shared) in [("main", true), ("@0", true), ("%0", false)] {
        let error = mcp.call("rename", json!({"target": target, "name": "x"})).await.err("denied");
        assert!(error.contains("--tier destructive"), "{error}");
        assert_eq!(error.contains("its pane %0"), shared, "{error}");
    }
    for target in [&ours, &string(&made["pane_id"])] {
        mcp.call("rename", json!({"target": target, "name": "x"})).await.text();
    }
    let window = tmux.tmux(&["display-message", "-p", "-t", &ours, "#{window_id}"]);
    mcp.call("rename", json!({"target": window, "name": "mine"})).await.text();
    // A window with a person's pane no longer counts as own.
    tmux.tmux(&["split-window", "-d", "-t", &ours]);
    mcp.call("rename", json!({"target": window, "name": "y"})).await.err("denied");
    mcp.close().await;
}

#[tokio::test]
async fn invalid_renames_are_named() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev");
    let mcp = serve_destructive(&tmux).await;
    let rename = async |target: &str, name: &str| {
        mcp.call("rename", json!({"target": target, "name": name})).await
    };
    assert!(rename("dev", "main").await.err("exists").contains("`main`"));
    assert!(rename("dev", "").await.err("invalid_argument").contains("empty"));
    assert!(rename("dev:0", "").await.err("invalid_argument").contains("empty"));
    assert!(rename("nope", "x").await.err("not_found").contains("dev"));
    // tmux would ignore such a title, and change or refuse such a name.
    for target in ["%1", "@1", "$1"] {
        let error = rename(target, "a\tb\u{1b}").await.err("invalid_argument");
        assert!(error.contains("control character"), "{error}");
    }
    assert_eq!(rename("%1", "").await.ok()["name"], Value::Null, "the title is still set");
    mcp.close().await;
}

#[tokio::test]
async fn own_objects_are_killed_by_id_and_name() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let kill = async |arguments: Value| string(&mcp.call("kill", arguments).await.ok()["killed"]);
    let made = mcp.call("create_session", json!({"name": "ours", "window_name": "w"})).await.ok();
    let window = mcp.call("create_window", json!({"target": "ours", "name": "logs"})).await.ok();
    let split = mcp.call("split_pane", json!({"target": made["pane_id"]})).await.ok();
    assert_eq!(kill(json!({"target": split["pane_id"]})).await, string(&split["pane_id"]));
    let killed = kill(json!({"target": "ours:logs", "kind": "window"})).await;
    assert_eq!(killed, string(&window["window_id"]));
    assert_eq!(list(&mcp, "list_panes", json!({"filter": "own=true"})).await.len(), 1);
    let killed = kill(json!({"target": "ours", "kind": "session"})).await;
    assert_eq!(killed, string(&made["session_id"]));
    assert_eq!(field(&mcp, "list_sessions", json!({}), "name").await, ["main"]);
    mcp.close().await;
}

#[tokio::test]
async fn killing_a_zoomed_session_spares_the_others() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let made = mcp.call("create_session", json!({"name": "ours"})).await.ok();
    mcp.call("split_pane", json!({"target": "ours"})).await.text();
    mcp.call("resize_pane", json!({"target": made["pane_id"], "zoom": true})).await.text();
    mcp.call("kill", json!({"target": "ours", "kind": "session"})).await.text();
    assert_eq!(tmux.tmux(&["list-sessions", "-F", "#{session_name}"]), "main");
    mcp.close().await;
}

#[tokio::test]
async fn last_pane_of_a_server_can_be_killed() {
    let tmux = TmuxServer::not_started();
    let mcp = serve(&tmux).await;
    let made = mcp.call("create_session", json!({"command": "exec cat"})).await.ok();
    mcp.call("kill", json!({"target": made["pane_id"]})).await.text();
    assert!(list(&mcp, "list_panes", json!({})).await.is_empty());
    mcp.close().await;
}

#[tokio::test]
async fn foreign_objects_are_not_killed() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for target in ["$0", "@0", "%0"] {
        let error = mcp.call("kill", json!({"target": target})).await.err("denied");
        assert!(error.contains("did not make") && error.contains("--tier destructive"), "{error}");
    }
    // A person has split a pane of the own window.
    let made = mcp.call("create_session", json!({"name": "ours"})).await.ok();
    let (ours, window) = (string(&made["pane_id"]), string(&made["window_id"]));
    let theirs = tmux.tmux(&["split-window", "-d", "-P", "-F", "#{pane_id}", "-t", &ours]);
    let error = mcp.call("kill", json!({"target": window})).await.err("denied");
    assert!(error.contains(&theirs), "{error}");
    let error = mcp.call("kill", json!({"target": "ours", "kind": "session"})).await.err("denied");
    assert!(error.contains(&theirs), "{error}");
    mcp.call("kill", json!({"target": theirs})).await.err("denied");
    mcp.call("kill", json!({"target": ours})).await.text();
    assert_eq!(field(&mcp, "list_panes", json!({}), "pane_id").await, ["%0".to_owned(), theirs]);
    mcp.close().await;
}

#[tokio::test]
async fn destructive_tier_kills_anything() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev");
    tmux.tmux(&["split-window", "-d", "-t", "%0"]);
    let mcp = serve_destructive(&tmux).await;
    mcp.call("kill", json!({"target": "%2"})).await.text();
    mcp.call("kill", json!({"target": "dev", "kind": "session"})).await.text();
    assert_eq!(field(&mcp, "list_panes", json!({}), "pane_id").await, ["%0"]);
    mcp.close().await;
}

#[tokio::test]
async fn kill_refuses_a_missing_or_wrong_kind() {
    let tmux = TmuxServer::new();
    let mcp = serve_destructive(&tmux).await;
    for (arguments, words) in [
        (json!({"target": "main"}), "`kind` is needed"),
        (json!({"target": "main:0.0"}), "`kind` is needed"),
        (json!({"target": "%0", "kind": "session"}), "is a pane, not a session"),
        (json!({"target": "$0", "kind": "pane"}), "is a session, not a pane"),
        (json!({"target": "main:0.0", "kind": "session"}), "is a pane, not a session"),
        (json!({"target": "main:0", "kind": "session"}), "is a window, not a session"),
        (json!({"target": "main", "kind": "server"}), "session, window, pane"),
        (json!({}), "`target` is missing"),
    ] {
        let error = mcp.call("kill", arguments.clone()).await.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
    mcp.call("kill", json!({"target": "%7"})).await.err("not_found");
    mcp.call("kill", json!({"target": "mai", "kind": "session"})).await.err("not_found");
    assert_eq!(list(&mcp, "list_panes", json!({})).await.len(), 1);
    mcp.close().await;
}

#[tokio::test]
async fn panes_of_another_tmuxwright_are_not_own() {
    let tmux = TmuxServer::new();
    let (one, two) = (serve(&tmux).await, serve(&tmux).await);
    let theirs = pane(&one, "exec cat").await;
    let ours = pane(&two, "exec cat").await;
    assert_eq!(field(&two, "list_panes", json!({"filter": "own=true"}), "pane_id").await, [ours]);
    two.call("kill", json!({"target": theirs})).await.err("denied");
    one.close().await;
    two.close().await;
}

#[tokio::test]
async fn kill_of_the_only_pane_is_answered() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for round in 0..30 {
        // The connection to tmux is attached to the own session, which ends with its only pane.
        let target = pane(&mcp, "exec cat").await;
        let calls = (0..4).map(|_| mcp.call("list_panes", json!({})));
        let (killed, others) =
            tokio::join!(mcp.call("kill", json!({"target": target})), join_all(calls));
        assert_eq!(killed.ok()["killed"], target.as_str(), "{round}");
        others.into_iter().for_each(|listed| drop(listed.ok()));
    }
    mcp.close().await;
}
