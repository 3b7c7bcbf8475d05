//! Tests of arranging windows and panes: `move_window`, `resize_window`, `select_layout`,
//! `synchronize_panes`, `find_pane`, `swap_pane`, `join_pane`, `break_pane`.

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer};

use crate::objects::{in_pane, serve_destructive};
use crate::support::{at_least, exited, field, pane, ready_pane, string};
use crate::{launch, serve};

/// Creates the session `dev` with two windows: `@1` with `%1 %2 %3`, `@2` with `%4 %5`.
fn dev(tmux: &TmuxServer) {
    tmux.tmux(&["new-session", "-d", "-s", "dev", "-x", "100", "-y", "40", "exec cat"]);
    tmux.tmux(&["split-window", "-d", "-v", "-t", "%1", "exec cat"]);
    tmux.tmux(&["split-window", "-d", "-h", "-t", "%1", "exec cat"]);
    tmux.tmux(&["new-window", "-d", "-t", "=dev:", "-n", "logs", "exec cat"]);
    tmux.tmux(&["split-window", "-d", "-t", "%4", "exec cat"]);
}

/// The panes of `dev` by window, top and left. `*` marks the current window, `Z` a zoomed one, `+` an
/// active pane.
fn places(tmux: &TmuxServer) -> String {
    let format = "#{window_index} #{pane_top} #{pane_left} #{window_index}#{?window_active,*,}\
                  #{?window_zoomed_flag,Z,}:#{pane_id}#{?pane_active,+,}";
    let rows = tmux.tmux(&["list-panes", "-s", "-t", "=dev:", "-F", format]);
    let mut rows: Vec<(Vec<u32>, &str)> = rows
        .lines()
        .map(|row| {
            let (place, name) = row.rsplit_once(' ').unwrap();
            (place.split(' ').map(|number| number.parse().unwrap()).collect(), name)
        })
        .collect();
    rows.sort();
    rows.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(" ")
}

/// Calls a tool with invalid arguments, and expects the given words in each error.
async fn assert_refused(mcp: &Mcp, tool: &'static str, table: &[(Value, &str)]) {
    for (arguments, words) in table {
        let error = mcp.call(tool, arguments.clone()).await.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
}

#[tokio::test]
async fn find_pane_returns_the_pane_in_each_corner() {
    let tmux = TmuxServer::new();
    dev(&tmux);
    let mcp = serve(&tmux).await;
    for (corner, found) in
        [("top-left", "%1"), ("top-right", "%3"), ("bottom-left", "%2"), ("bottom-right", "%2")]
    {
        let arguments = json!({"target": "dev", "corner": corner});
        let found_pane = mcp.call("find_pane", arguments).await.ok();
        assert_eq!(found_pane["pane_id"], found, "{corner}");
        let rows = mcp.call("list_panes", json!({"filter": format!("pane_id={found}")})).await.ok();
        assert_eq!(found_pane, rows["panes"][0], "list_panes shows it differently");
    }
    // Of a zoomed window only the zoomed pane is visible.
    tmux.tmux(&["resize-pane", "-Z", "-t", "%1"]);
    let zoomed = json!({"target": "dev:0", "corner": "bottom-right"});
    assert_eq!(mcp.call("find_pane", zoomed).await.ok()["pane_id"], "%1");
    assert_refused(
        &mcp,
        "find_pane",
        &[
            (json!({"corner": "left"}), "`top-left`, `top-right`"),
            (json!({"corner": "top-left"}), "`target` is missing"),
        ],
    )
    .await;
    let own = pane(&mcp, "exec cat").await;
    let found = mcp.call("find_pane", json!({"corner": "top-left"})).await.ok();
    assert_eq!((&found["pane_id"], &found["own"]), (&json!(own), &json!(true)));
    mcp.close().await;
}

#[tokio::test]
async fn resized_window_keeps_its_size_after_attach() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let resize = async |arguments: Value| {
        let window = mcp.call("resize_window", arguments).await.ok();
        assert_eq!((&window["window_id"], &window["session_id"]), (&json!("@0"), &json!("$0")));
        (window["width"].as_u64().unwrap(), window["height"].as_u64().unwrap())
    };
    assert_eq!(resize(json!({"target": "main", "width": 120, "height": 50})).await, (120, 50));
    assert_eq!(resize(json!({"target": "%0", "width": 90})).await, (90, 50));
    assert_eq!(resize(json!({"target": "@0", "height": 20})).await, (90, 20));
    assert_eq!(tmux.tmux(&["show-options", "-wv", "-t", "@0", "window-size"]), "manual");
    let _person = testkit::Person::attach(&tmux, "main", 70, 30);
    assert_eq!(resize(json!({"target": "main", "width": 90})).await, (90, 20));
    assert_refused(
        &mcp,
        "resize_window",
        &[
            (json!({"target": "main"}), "neither"),
            (json!({"target": "main", "width": 0}), "`width`: 0"),
            (json!({"target": "main", "height": 10_001}), "`height`: 10001"),
            (json!({"target": "main", "width": -1}), "width"),
        ],
    )
    .await;
    mcp.close().await;
}

#[tokio::test]
async fn layouts_are_applied_by_name_and_by_string() {
    let tmux = TmuxServer::new();
    dev(&tmux);
    let mcp = serve(&tmux).await;
    let select = async |layout: &str| {
        let arguments = json!({"target": "dev:0", "layout": layout});
        string(&mcp.call("select_layout", arguments).await.ok()["layout"])
    };
    let before = tmux.tmux(&["display-message", "-p", "-t", "@1", "#{window_layout}"]);
    let mut seen = vec![before.clone()];
    for name in ["even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled"] {
        seen.push(select(name).await);
    }
    let mirrored = json!({"target": "dev:0", "layout": "main-vertical-mirrored"});
    if at_least(&tmux, "3.5") {
        seen.push(string(&mcp.call("select_layout", mirrored).await.ok()["layout"]));
    } else {
        assert_refused(&mcp, "select_layout", &[(mirrored, "needs tmux 3.5")]).await;
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count, "two layouts are equal");
    assert_eq!(select(&before).await, before);
    // Selecting a layout unzooms the window.
    tmux.tmux(&["resize-pane", "-Z", "-t", "%2"]);
    select("even-vertical").await;
    assert_eq!(places(&tmux), "0*:%1 0*:%3 0*:%2+ 1:%4+ 1:%5");
    mcp.close().await;
}

#[tokio::test]
async fn invalid_layout_is_named_and_never_reaches_tmux() {
    let tmux = TmuxServer::new();
    dev(&tmux);
    let mcp = serve(&tmux).await;
    let before = tmux.tmux(&["display-message", "-p", "-t", "@1", "#{window_layout}"]);
    // Each of these crashes some version of tmux.
    for layout in [
        "",
        "main",
        "nope",
        "even-h",
        "-x",
        "#(touch x)",
        "54ea,100x40,0,0{",
        "00b7,zz",
        "0000,100x40,0,0,0",
    ] {
        let arguments = json!({"target": "dev", "layout": layout});
        let error = mcp.call("select_layout", arguments).await.err("invalid_argument");
        assert!(
            error.contains("main-vertical, tiled") && error.contains("list_windows"),
            "{error}"
        );
    }
    let other = json!({"target": "dev", "layout": "aa7d,100x40,0,0,0"});
    assert_refused(&mcp, "select_layout", &[(other, "is for one pane")]).await;
    assert_eq!(tmux.tmux(&["display-message", "-p", "-t", "@1", "#{window_layout}"]), before);
    mcp.close().await;
}

#[tokio::test]
async fn moving_a_window_keeps_the_current_one_current() {
    let tmux = TmuxServer::new();
    dev(&tmux);
    tmux.tmux(&["set-option", "-g", "renumber-windows", "on"]);
    let mcp = serve(&tmux).await;
    let go = async |arguments: Value| {
        let window = mcp.call("move_window", arguments).await.ok();
        (string(&window["session"]), window["index"].as_u64().unwrap())
    };
    // The current window stays current, and the other keeps its index.
    assert_eq!(go(json!({"target": "@1", "index": 7})).await, ("dev".into(), 7));
    assert_eq!(places(&tmux), "1:%4+ 1:%5 7*:%1+ 7*:%3 7*:%2");
    assert_eq!(go(json!({"target": "dev:7", "index": 7})).await, ("dev".into(), 7));
    assert_eq!(go(json!({"target": "@1", "session": "dev"})).await, ("dev".into(), 7));
    assert_eq!(go(json!({"target": "dev:logs", "session": "main"})).await, ("main".into(), 1));
    assert_eq!(tmux.tmux(&["display-message", "-p", "-t", "=main:", "#{window_id}"]), "@0");
    assert_eq!(go(json!({"target": "@2", "session": "$1", "index": 3})).await, ("dev".into(), 3));
    assert_eq!(places(&tmux), "3:%4+ 3:%5 7*:%1+ 7*:%3 7*:%2");
    let taken = mcp.call("move_window", json!({"target": "@2", "index": 7})).await.err("exists");
    assert!(taken.contains("@1") && taken.contains("`dev`"), "{taken}");
    let taken = json!({"target": "@2", "session": "main", "index": 0});
    assert!(mcp.call("move_window", taken).await.err("exists").contains("@0"));
    assert_refused(
        &mcp,
        "move_window",
        &[
            (json!({"target": "@2"}), "neither"),
            (json!({"target": "@2", "index": 4_000_000_000_u32}), "4000000000"),
            (json!({"target": "@2", "session": "dev:7"}), "is a window, not a session"),
        ],
    )
    .await;
    let nowhere = json!({"target": "@2", "session": "de"});
    assert!(mcp.call("move_window", nowhere).await.err("not_found").contains("dev, main"));
    assert_eq!(places(&tmux), "3:%4+ 3:%5 7*:%1+ 7*:%3 7*:%2");
    mcp.close().await;
}

#[tokio::test]
async fn emptying_foreign_objects_needs_the_destructive_tier() {
    let tmux = TmuxServer::new();
    dev(&tmux);
    let mcp = serve(&tmux).await;
    let ours = mcp.call("split_pane", json!({"target": "%0"})).await.ok();
    for (tool, arguments, denied) in [
        ("move_window", json!({"target": "@0", "session": "dev"}), "session $0"),
        ("join_pane", json!({"source": "%0", "target": "%4"}), "session $0"),
        // Only the own pane would stay, and the window would count as own.
        ("break_pane", json!({"target": "%0"}), "window @0"),
        ("swap_pane", json!({"source": ours["pane_id"], "target": "%4"}), "nothing"),
    ] {
        let outcome = mcp.call(tool, arguments).await;
        if denied == "nothing" {
            outcome.ok();
        } else {
            let error = outcome.err("denied");
            assert!(error.contains(denied) && error.contains("--tier destructive"), "{error}");
        }
    }
    mcp.close().await;
    let mcp = serve_destructive(&tmux).await;
    mcp.call("join_pane", json!({"source": "%0", "target": "%5"})).await.ok();
    mcp.close().await;
}

#[tokio::test]
async fn own_session_returns_after_its_last_pane_moves() {
    for tool in ["move_window", "join_pane"] {
        let tmux = TmuxServer::new();
        dev(&tmux);
        let mcp = serve(&tmux).await;
        // The link is attached to the own session.
        let own = pane(&mcp, "exec cat").await;
        let arguments = match tool {
            "move_window" => json!({"target": own, "session": "dev"}),
            _ => json!({"source": own, "target": "%4"}),
        };
        let moved = mcp.call(tool, arguments).await.ok();
        assert_eq!(moved["session"], "dev", "{tool}");
        let sessions = field(&mcp, "list_sessions", json!({}), "name").await;
        assert_eq!(sessions, ["dev", "main"], "{tool}");
        let again = mcp.call("create_pane", json!({"command": "exec cat"})).await.ok();
        assert_eq!(again["session"], format!("mcp-{}", mcp.pid()), "{tool}");
        mcp.close().await;
    }
}

#[tokio::test]
async fn zoomed_window_can_leave_its_session_last() {
    let tmux = TmuxServer::new();
    dev(&tmux);
    let mcp = serve(&tmux).await;
    let own = pane(&mcp, "exec cat").await;
    let beside = json!({"target": own, "command": "exec cat"});
    mcp.call("split_pane", beside).await.ok();
    mcp.call("resize_pane", json!({"target": own, "zoom": true})).await.ok();
    let moved = mcp.call("move_window", json!({"target": own, "session": "dev"})).await.ok();
    assert_eq!((&moved["session"], &moved["panes"]), (&json!("dev"), &json!(2)));
    mcp.call("kill", json!({"target": moved["window_id"]})).await.ok();
    assert_eq!(places(&tmux), "0*:%1+ 0*:%3 0*:%2 1:%4+ 1:%5");
    mcp.close().await;
}

#[tokio::test]
async fn panes_are_swapped_and_the_focus_stays() {
    let tmux = TmuxServer::new();
    dev(&tmux);
    let mcp = serve(&tmux).await;
    let swap = async |source: &str, target: &str| {
        let arguments = json!({"source": source, "target": target});
        let swapped = mcp.call("swap_pane", arguments).await.ok();
        let place = |side: &str| {
            format!("{}.{}", string(&swapped[side]["window_id"]), swapped[side]["index"])
        };
        (place("source"), place("target"))
    };
    assert_eq!(swap("%1", "%2").await, ("@1.2".into(), "@1.0".into()));
    assert_eq!(places(&tmux), "0*:%2 0*:%3 0*:%1+ 1:%4+ 1:%5");
    // With source and target exchanged.
    assert_eq!(swap("%2", "%1").await, ("@1.2".into(), "@1.0".into()));
    assert_eq!(places(&tmux), "0*:%1+ 0*:%3 0*:%2 1:%4+ 1:%5");
    assert_eq!(swap("dev:logs.1", "%3").await, ("@1.1".into(), "@2.1".into()));
    assert_eq!(places(&tmux), "0*:%1+ 0*:%5 0*:%2 1:%4+ 1:%3");
    tmux.tmux(&["resize-pane", "-Z", "-t", "%1"]);
    swap("%2", "%4").await;
    assert_eq!(places(&tmux), "0*Z:%1+ 0*Z:%5 0*Z:%4 1:%2+ 1:%3");
    swap("%1", "%2").await;
    assert_eq!(places(&tmux), "0*Z:%2+ 0*Z:%5 0*Z:%4 1:%1+ 1:%3");
    let same = json!({"source": "%1", "target": "dev:logs"});
    assert_refused(&mcp, "swap_pane", &[(same, "are both %1")]).await;
    mcp.call("swap_pane", json!({"source": "%9", "target": "%1"})).await.err("not_found");
    mcp.close().await;
}

#[tokio::test]
async fn pane_joins_any_side_and_the_focus_stays() {
    let tmux = TmuxServer::new();
    dev(&tmux);
    tmux.tmux(&["resize-window", "-t", "@2", "-x", "100", "-y", "41"]);
    let mcp = serve_destructive(&tmux).await;
    let join = async |arguments: Value| mcp.call("join_pane", arguments).await.ok();
    let joined = join(json!({"source": "%3", "target": "%4", "size": "7"})).await;
    assert_eq!((&joined["window_id"], &joined["height"]), (&json!("@2"), &json!(7)));
    assert_eq!((&joined["pane_id"], &joined["index"]), (&json!("%3"), &json!(1)));
    assert_eq!(places(&tmux), "0*:%1+ 0*:%2 1:%4+ 1:%3 1:%5");
    let joined = join(json!({"source": "%2", "target": "%4", "direction": "left", "size": "25%"}));
    let joined = joined.await;
    assert!((24..=25).contains(&joined["width"].as_u64().unwrap()), "{joined}");
    assert_eq!(places(&tmux), "0*:%1+ 1:%2 1:%4+ 1:%3 1:%5");
    // The active pane moves within its window.
    join(json!({"source": "%4", "target": "%5", "direction": "above"})).await;
    assert_eq!(places(&tmux), "0*:%1+ 1:%2 1:%3 1:%4+ 1:%5");
    tmux.tmux(&["resize-pane", "-Z", "-t", "%5"]);
    // A window ends when its last pane leaves.
    join(json!({"source": "dev:0", "target": "%2", "direction": "right"})).await;
    assert_eq!(places(&tmux), "1*:%2 1*:%1 1*:%3 1*:%4 1*:%5+");
    assert_refused(
        &mcp,
        "join_pane",
        &[
            (json!({"source": "%1", "target": "%1"}), "are both %1"),
            (json!({"source": "%1", "target": "%2", "size": "0"}), "`0` is not a size"),
            (
                json!({"source": "%1", "target": "%2", "direction": "up"}),
                "right, left, below, above",
            ),
        ],
    )
    .await;
    tmux.tmux(&["resize-window", "-t", "@2", "-x", "10", "-y", "5"]);
    let small = json!({"source": "%0", "target": "%1"});
    tmux.tmux(&["new-window", "-d", "-t", "=main:", "exec cat"]);
    mcp.call("join_pane", small).await.err("tmux_refused");
    mcp.close().await;
}

#[tokio::test]
async fn break_pane_gives_a_pane_its_own_window() {
    let tmux = TmuxServer::new();
    dev(&tmux);
    let mcp = serve(&tmux).await;
    // The link is attached to the own session, so the default target of tmux is never `dev`.
    pane(&mcp, "exec cat").await;
    let name = "#(touch x) #S %d it's";
    let broken = mcp.call("break_pane", json!({"target": "%3", "name": name})).await.ok();
    assert_eq!((&broken["pane_id"], &broken["index"]), (&json!("%3"), &json!(2)));
    assert_eq!((&broken["session_id"], &broken["session"]), (&json!("$1"), &json!("dev")));
    assert_eq!(tmux.tmux(&["display-message", "-p", "-t", "%3", "#{window_name}"]), name);
    assert_eq!(places(&tmux), "0*:%1+ 0*:%2 1:%4+ 1:%5 2:%3+");
    tmux.tmux(&["resize-pane", "-Z", "-t", "%4"]);
    mcp.call("break_pane", json!({"target": "%4"})).await.ok();
    assert_eq!(places(&tmux), "0*:%1+ 0*:%2 1:%5+ 2:%3+ 3:%4+");
    assert_refused(
        &mcp,
        "break_pane",
        &[
            (json!({"target": "%4"}), "%4 is already the only pane of"),
            (json!({"target": "%2", "name": ""}), "`name` is empty"),
            (json!({"target": "%2", "name": "a\nb"}), "control character"),
        ],
    )
    .await;
    mcp.close().await;
}

#[tokio::test]
async fn moved_own_pane_stays_after_its_exit() {
    let tmux = TmuxServer::new();
    dev(&tmux);
    let mcp = serve(&tmux).await;
    pane(&mcp, "exec cat").await;
    for tool in ["join_pane", "swap_pane", "break_pane"] {
        let own = ready_pane(&mcp, "echo ready; read line; exit 3", "ready").await;
        mcp.call("split_pane", json!({"target": own, "command": "exec cat"})).await.ok();
        let arguments = match tool {
            "break_pane" => json!({"target": own}),
            _ => json!({"source": own, "target": "%2"}),
        };
        mcp.call(tool, arguments).await.ok();
        mcp.call("send_keys", json!({"target": own, "keys": ["Enter"]})).await.ok();
        assert_eq!(exited(&mcp, &own).await["exit_code"], 3, "{tool}");
    }
    // A foreign pane that was moved is not marked as own.
    let other = tmux.tmux(&["show-options", "-p", "-t", "%2"]);
    assert_eq!(other, "", "a person's pane got options");
    mcp.close().await;
}

#[tokio::test]
async fn synchronize_panes_turns_shared_input_on_and_off() {
    let tmux = TmuxServer::new();
    dev(&tmux);
    let mcp = serve(&tmux).await;
    let set = async |on: bool| {
        mcp.call("synchronize_panes", json!({"target": "dev:0", "on": on})).await.ok()
    };
    let option = || tmux.tmux(&["show-options", "-w", "-t", "@1", "synchronize-panes"]);
    for _ in 0..2 {
        let now = set(true).await;
        assert_eq!(now["panes"], json!(["%1", "%3", "%2"]));
        assert_eq!((&now["on"], &now["window_id"]), (&json!(true), &json!("@1")));
    }
    mcp.call("send_keys", json!({"target": "%2", "text": "to all"})).await.ok();
    for pane in ["%1", "%2", "%3"] {
        crate::support::shows(&mcp, pane, "to all").await;
    }
    for _ in 0..2 {
        let now = set(false).await;
        assert_eq!((now["panes"].as_array().unwrap().len(), now.get("on")), (0, None));
        assert_eq!(option(), "", "the option is still set");
    }
    // The window overrides a global value; a pane with its own value `off` stays excluded.
    tmux.tmux(&["set-option", "-wg", "synchronize-panes", "on"]);
    assert_eq!(set(false).await.get("on"), None);
    assert_eq!(option(), "synchronize-panes off");
    tmux.tmux(&["set-option", "-wg", "synchronize-panes", "off"]);
    tmux.tmux(&["set-option", "-p", "-t", "%1", "synchronize-panes", "off"]);
    assert_eq!(set(true).await["panes"], json!(["%3", "%2"]));
    tmux.tmux(&["set-option", "-p", "-t", "%1", "synchronize-panes", "on"]);
    assert_eq!(set(false).await.get("on"), None);
    assert_refused(&mcp, "synchronize_panes", &[(json!({"target": "dev"}), "`on`")]).await;
    mcp.close().await;
}

#[tokio::test]
async fn synchronized_input_never_reaches_the_callers_pane() {
    let tmux = TmuxServer::new();
    dev(&tmux);
    let launch = launch(&tmux).args(&["--toolset", "all", "--structured"]);
    let mcp = in_pane(launch, &tmux, "%1").mcp().await;
    let error = mcp.call("synchronize_panes", json!({"target": "%2", "on": true})).await;
    assert!(error.err("denied").contains("where this server itself runs"));
    mcp.call("synchronize_panes", json!({"target": "%2", "on": false})).await.ok();
    mcp.call("synchronize_panes", json!({"target": "%4", "on": true})).await.ok();
    mcp.close().await;
}
