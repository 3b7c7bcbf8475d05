//! Tests of panes: `list_panes`, `create_pane`, `split_pane`, `select_pane`, `resize_pane`.

#![expect(clippy::indexing_slicing, reason = "helpers fail like tests")]

use futures::future::join_all;
use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer, until};

use crate::serve;
use crate::support::{exited, field, keys, list, pane, screen, shows, string};

#[tokio::test]
async fn a_pane_shows_every_field_of_the_contract() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["rename-window", "-t", "=main:", "shell"]);
    tmux.tmux(&["select-pane", "-t", "=main:", "-T", "my title"]);
    let mcp = serve(&tmux).await;
    let panes = list(&mcp, "list_panes", json!({})).await;
    assert_eq!(panes.len(), 1);
    let pane = &panes[0];
    assert_eq!(
        keys(pane),
        [
            "active",
            "command",
            "height",
            "index",
            "pane_id",
            "path",
            "pid",
            "session",
            "session_id",
            "status",
            "title",
            "width",
            "window",
            "window_id"
        ]
    );
    for (name, value) in [
        ("pane_id", json!("%0")),
        ("window_id", json!("@0")),
        ("session_id", json!("$0")),
        ("session", json!("main")),
        ("window", json!("shell")),
        ("index", json!(0)),
        ("title", json!("my title")),
        ("command", json!("sh")),
        ("width", json!(80)),
        ("height", json!(24)),
        ("active", json!(true)),
        ("status", json!("running")),
    ] {
        assert_eq!(pane[name], value, "{name}");
    }
    assert_eq!(pane["pid"].to_string(), tmux.tmux(&["display-message", "-p", "#{pane_pid}"]));
    let path = tmux.home();
    assert_eq!(pane["path"], path.to_string_lossy().as_ref());
    let text = mcp.call("list_panes", json!({})).await.text();
    let title = "title \"my title\"";
    let facts = format!("sh · {} · {title} · 80x24 · active", path.display());
    assert_eq!(text, format!("%0 @0 $0 main:0.0 shell · {facts}"));
    mcp.close().await;
}

#[tokio::test]
async fn panes_are_listed_by_target_and_by_filter() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev");
    tmux.tmux(&["split-window", "-d", "-t", "=dev:"]);
    tmux.tmux(&["new-window", "-d", "-t", "=dev:", "-n", "logs"]);
    let mcp = serve(&tmux).await;
    let ids = async |arguments: Value| field(&mcp, "list_panes", arguments, "pane_id").await;
    assert_eq!(ids(json!({})).await, ["%1", "%2", "%3", "%0"]);
    assert_eq!(ids(json!({"target": "dev"})).await, ["%1", "%2", "%3"]);
    assert_eq!(ids(json!({"target": "dev:0"})).await, ["%1", "%2"]);
    assert_eq!(ids(json!({"target": "%2"})).await, ["%2"]);
    assert_eq!(ids(json!({"filter": "window=logs"})).await, ["%3"]);
    assert_eq!(ids(json!({"target": "dev", "filter": "active=false"})).await, ["%2"]);
    let error = mcp.call("list_panes", json!({"filter": "name=x"})).await.err("invalid_argument");
    assert!(error.contains("the fields are: pane_id, window_id"), "{error}");
    mcp.call("list_panes", json!({"target": "nope"})).await.err("not_found");
    mcp.close().await;
}

#[tokio::test]
async fn exited_pane_reports_its_exit_code() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let (seven, zero, killed) =
        (pane(&mcp, "exit 7").await, pane(&mcp, "true").await, pane(&mcp, "kill -9 $$").await);
    assert_eq!(exited(&mcp, &seven).await["exit_code"], 7);
    assert_eq!(exited(&mcp, &zero).await["exit_code"], 0);
    assert_eq!(exited(&mcp, &killed).await["exit_code"], 137);
    let text = mcp.call("list_panes", json!({"target": seven})).await.text();
    assert!(text.contains("exited 7"), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn own_pane_has_large_size_and_history() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let made = mcp.call(
        "create_pane",
        json!({
            "command": "echo $PAGER $GIT_PAGER $EDITOR $WORD; pwd; exec cat", "name": "worker",
            "cwd": "/usr", "env": {"WORD": "extra"},
        }),
    );
    let made = made.await.ok();
    assert_eq!(keys(&made), ["index", "pane_id", "session", "session_id", "window_id"]);
    assert_eq!(made["session"], format!("mcp-{}", mcp.pid()));
    let id = string(&made["pane_id"]);
    assert_eq!(shows(&mcp, &id, "/usr").await, "cat cat true extra\n/usr");
    let info = mcp.call("get_info", json!({"target": id})).await.ok();
    let pane = &info["pane"];
    assert_eq!((&pane["width"], &pane["height"]), (&json!(200), &json!(50)));
    assert_eq!(pane["history_limit"], 50_000);
    assert_eq!(pane["own"], true);
    assert_eq!(info["window"]["name"], "worker");
    assert_eq!(info["session"]["own"], true);
    // The placeholder pane of the own session is gone.
    assert_eq!(list(&mcp, "list_panes", json!({"filter": "own=true"})).await.len(), 1);
    assert_eq!(info["session"]["windows"], 1);
    mcp.close().await;
}

#[tokio::test]
async fn twenty_short_programs_keep_output_and_exit_codes() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let made = join_all((0..20).map(|n| {
        let command = format!("echo says {n}; exit {n}");
        let mcp = &mcp;
        async move { mcp.call("create_pane", json!({"command": command})).await.ok() }
    }));
    let made = made.await;
    for (n, ids) in made.iter().enumerate() {
        assert_eq!(ids["session_id"], made[0]["session_id"]);
        let id = string(&ids["pane_id"]);
        assert_eq!(exited(&mcp, &id).await["exit_code"], n);
        let text = screen(&mcp, &id).await;
        // tmux 3.2a always adds its own notice below.
        assert_eq!(text.lines().next(), Some(format!("says {n}").as_str()), "{text}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn exit_code_is_reported_without_other_activity() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    // One after the other: before 3.7 tmux may notice an exit only when another follows.
    for code in 1..=12 {
        let pane = pane(&mcp, &format!("exit {code}")).await;
        assert_eq!(exited(&mcp, &pane).await["exit_code"], code);
    }
    mcp.close().await;
}

#[tokio::test]
async fn create_pane_starts_the_tmux_server() {
    let tmux = TmuxServer::not_started();
    let mcp = serve(&tmux).await;
    let made = mcp.call("create_pane", json!({"command": "echo first; exec cat"})).await.ok();
    shows(&mcp, &string(&made["pane_id"]), "first").await;
    let names = field(&mcp, "list_sessions", json!({}), "name").await;
    assert_eq!(names, [format!("mcp-{}", mcp.pid())]);
    mcp.close().await;
    until("the server ends with its last session", async || {
        tmux.try_tmux(&["list-sessions"]).is_err().then_some(())
    })
    .await;
}

#[tokio::test]
async fn own_session_is_recreated_after_kill_session() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    pane(&mcp, "exec cat").await;
    let session = format!("mcp-{}", mcp.pid());
    tmux.tmux(&["kill-session", "-t", &format!("={session}")]);
    let again = mcp.call("create_pane", json!({"command": "exec cat"})).await.ok();
    assert_eq!(again["session"], session);
    assert_eq!(list(&mcp, "list_panes", json!({"filter": "own=true"})).await.len(), 1);
    mcp.close().await;
}

#[tokio::test]
async fn own_session_is_recreated_after_kill_server() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    pane(&mcp, "exec cat").await;
    tmux.kill();
    let again = pane(&mcp, "echo again; exec cat").await;
    shows(&mcp, &again, "again").await;
    mcp.close().await;
}

#[tokio::test]
async fn own_session_avoids_a_taken_name() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let taken = format!("mcp-{}", mcp.pid());
    tmux.tmux(&["new-session", "-d", "-s", &taken]);
    let made = mcp.call("create_pane", json!({"command": "exec cat"})).await.ok();
    assert!(string(&made["session"]).starts_with(&taken), "{made}");
    assert_ne!(made["session"], taken);
    let theirs = tmux.tmux(&["list-windows", "-t", &format!("={taken}:")]);
    assert_eq!(theirs.lines().count(), 1);
    mcp.close().await;
}

#[tokio::test]
async fn invalid_create_pane_arguments_are_named() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (arguments, words) in [
        (json!({}), "`command` is missing"),
        (json!({"command": " "}), "`command` is empty"),
        (json!({"command": "true", "cwd": "/etc/passwd"}), "/etc/passwd"),
        (json!({"command": "true", "env": {"A=": "b"}}), "`A=`"),
        (json!({"command": "true", "target": "main"}), "no argument `target`"),
    ] {
        let error = mcp.call("create_pane", arguments.clone()).await.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
    assert_eq!(tmux.tmux(&["list-sessions"]).lines().count(), 1);
    mcp.close().await;
}

/// A pane's left, top, width and height in its window.
async fn geometry(mcp: &Mcp, pane: &str) -> [u64; 4] {
    let info = mcp.call("get_info", json!({"target": pane})).await.ok();
    ["left", "top", "width", "height"].map(|name| info["pane"][name].as_u64().unwrap_or(u64::MAX))
}

async fn split(mcp: &Mcp, arguments: Value) -> String {
    string(&mcp.call("split_pane", arguments).await.ok()["pane_id"])
}

#[tokio::test]
async fn a_pane_is_split_to_every_side() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (direction, expected) in [
        (None, [41, 0, 39, 24]),
        (Some("right"), [41, 0, 39, 24]),
        (Some("left"), [0, 0, 40, 24]),
        (Some("below"), [0, 13, 80, 11]),
        (Some("above"), [0, 0, 80, 12]),
    ] {
        let new = split(&mcp, json!({"target": "%0", "direction": direction})).await;
        assert_eq!(geometry(&mcp, &new).await, expected, "{direction:?}");
        let active = field(&mcp, "list_panes", json!({"filter": "active=true"}), "pane_id").await;
        assert_eq!(active, ["%0"], "splitting changed the active pane");
        mcp.call("kill", json!({"target": new})).await.text();
    }
    mcp.close().await;
}

#[tokio::test]
async fn split_pane_applies_size_command_cwd_and_env() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let quarter = split(&mcp, json!({"target": "main", "size": "25%", "direction": "right"})).await;
    assert_eq!(geometry(&mcp, &quarter).await[2], 20);
    let lower = split(&mcp, json!({"target": "%0", "size": "7", "direction": "below"})).await;
    assert_eq!(geometry(&mcp, &lower).await[3], 7);
    let upper = split(
        &mcp,
        json!({
            "target": quarter, "size": "5", "direction": "above", "cwd": "/usr", "env": {"A": "b c"},
            "command": "echo \"$A\"; pwd; exec cat"
        }),
    );
    let upper = upper.await;
    assert_eq!(shows(&mcp, &upper, "/usr").await, "b c\n/usr");
    assert_eq!(geometry(&mcp, &upper).await[3], 5);
    let own = field(&mcp, "list_panes", json!({"filter": "own=true"}), "pane_id").await;
    assert_eq!(own.len(), 3);
    mcp.close().await;
}

#[tokio::test]
async fn invalid_split_pane_arguments_are_named() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (arguments, words) in [
        (json!({}), "`target` is missing"),
        (json!({"target": "main", "size": "0"}), "`0`"),
        (json!({"target": "main", "size": "100%"}), "`100%`"),
        (json!({"target": "main", "size": "half"}), "`half`"),
        (json!({"target": "main", "size": "-5"}), "`-5`"),
        (json!({"target": "main", "direction": "up"}), "right, left, below, above"),
        (json!({"target": "main", "cwd": "/none"}), "/none"),
    ] {
        let error = mcp.call("split_pane", arguments.clone()).await.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
    mcp.call("split_pane", json!({"target": "%9"})).await.err("not_found");
    // The error says that the pane is too small to be split.
    tmux.tmux(&["resize-window", "-t", "=main:", "-x", "2", "-y", "2"]);
    let small = mcp.call("split_pane", json!({"target": "main"})).await;
    let error = small.err("tmux_refused");
    assert!(error.contains("no space"), "{error}");
    assert_eq!(list(&mcp, "list_panes", json!({})).await.len(), 1);
    mcp.close().await;
}

/// Creates the session `dev` with panes %1 and %3 side by side above %2, and attaches the link to the
/// own session.
async fn three_panes(tmux: &TmuxServer, mcp: &Mcp) {
    tmux.new_session("dev");
    tmux.tmux(&["split-window", "-d", "-v", "-t", "%1"]);
    tmux.tmux(&["split-window", "-d", "-h", "-t", "%1"]);
    pane(mcp, "exec cat").await;
}

#[tokio::test]
async fn panes_are_selected_by_id_and_direction() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    three_panes(&tmux, &mcp).await;
    let select =
        async |arguments: Value| string(&mcp.call("select_pane", arguments).await.ok()["pane_id"]);
    let go = async |way: &str| select(json!({"target": "dev", "direction": way})).await;
    assert_eq!(select(json!({"target": "%3"})).await, "%3");
    assert_eq!(go("left").await, "%1");
    assert_eq!(go("right").await, "%3");
    assert_eq!(go("down").await, "%2");
    assert_eq!(go("up").await, "%3", "up selects the pane that was active last");
    assert_eq!(go("last").await, "%2");
    // In the order of the window: %1, %3, %2, then %1 again.
    assert_eq!(go("next").await, "%1");
    assert_eq!(go("next").await, "%3");
    assert_eq!(go("previous").await, "%1");
    assert_eq!(go("previous").await, "%2");
    // From a pane that is not the active one.
    assert_eq!(select(json!({"target": "%3", "direction": "left"})).await, "%1");
    let now = mcp.call("select_pane", json!({"target": "dev:0.2"})).await.ok();
    assert_eq!(now, json!({"session_id": "$1", "window_id": "@1", "pane_id": "%2"}));
    assert_eq!(tmux.tmux(&["display-message", "-p", "-t", "=dev:", "#{pane_id}"]), "%2");
    mcp.close().await;
}

#[tokio::test]
async fn invalid_select_pane_arguments_are_named() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev");
    let mcp = serve(&tmux).await;
    for (arguments, words) in [
        (json!({}), "neither"),
        (json!({"target": "dev"}), "is a session"),
        (json!({"target": "dev:0"}), "is a window"),
        (json!({"target": "%0", "direction": "north"}), "up, down, left, right"),
        (json!({"direction": "up"}), "`target` is missing"),
    ] {
        let error = mcp.call("select_pane", arguments.clone()).await.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
    let none = mcp.call("select_pane", json!({"target": "dev", "direction": "last"})).await;
    assert!(none.err("tmux_refused").contains("no last pane"));
    mcp.close().await;
}

#[tokio::test]
async fn resize_pane_sets_the_given_size() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    three_panes(&tmux, &mcp).await;
    let resize = async |arguments: Value| mcp.call("resize_pane", arguments).await.ok();
    let now = resize(json!({"target": "%1", "width": 30, "height": 10})).await;
    assert_eq!(now, json!({"pane_id": "%1", "width": 30, "height": 10}));
    assert_eq!(resize(json!({"target": "%1", "width": 50})).await["width"], 50);
    assert_eq!(resize(json!({"target": "%1", "direction": "left"})).await["width"], 45);
    let now = resize(json!({"target": "%1", "direction": "right", "amount": 2})).await;
    assert_eq!((&now["width"], &now["height"]), (&json!(47), &json!(10)));
    let now = resize(json!({"target": "%1", "direction": "down", "amount": 3})).await;
    assert_eq!(now["height"], 13);
    assert_eq!(resize(json!({"target": "%1", "direction": "up", "amount": 1})).await["height"], 12);
    assert_eq!(geometry(&mcp, "%1").await, [0, 0, 47, 12]);
    mcp.close().await;
}

#[tokio::test]
async fn zoom_is_set_and_not_toggled() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    three_panes(&tmux, &mcp).await;
    let zoom = async |target: &str, zoom: bool| {
        mcp.call("resize_pane", json!({"target": target, "zoom": zoom})).await.ok()
    };
    for _ in 0..2 {
        let now = zoom("%2", true).await;
        assert_eq!(now, json!({"pane_id": "%2", "width": 80, "height": 24, "zoomed": true}));
    }
    // Zooming another pane takes over; unzooming the first then changes nothing.
    assert_eq!(zoom("%3", true).await["zoomed"], true);
    assert_eq!(zoom("%2", false).await["zoomed"], Value::Null);
    let info = mcp.call("get_info", json!({"target": "%3"})).await.ok();
    assert_eq!(info["pane"]["zoomed"], true);
    for _ in 0..2 {
        assert_eq!(zoom("%3", false).await["zoomed"], Value::Null);
    }
    assert_eq!(tmux.tmux(&["display-message", "-p", "-t", "%3", "#{window_zoomed_flag}"]), "0");
    mcp.close().await;
}

#[tokio::test]
async fn contradictory_resize_pane_arguments_are_refused() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for arguments in [
        json!({"target": "main"}),
        json!({"target": "main", "zoom": true, "width": 3}),
        json!({"target": "main", "direction": "up", "height": 3}),
        json!({"target": "main", "zoom": true, "direction": "up"}),
        json!({"target": "main", "width": 5, "amount": 3}),
        json!({"target": "main", "direction": "out"}),
        json!({"target": "main", "width": -1}),
    ] {
        let error = mcp.call("resize_pane", arguments.clone()).await.err("invalid_argument");
        assert!(error.contains("Next: "), "{arguments}: {error}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn pane_is_created_after_the_last_was_killed() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    // The own session ends with its last pane, and the link with it, while the next call is on its way.
    for _ in 0..20 {
        let own = pane(&mcp, "exec sleep 1000").await;
        let _ = mcp.call("kill", json!({"target": own})).await.ok();
    }
    mcp.close().await;
}
