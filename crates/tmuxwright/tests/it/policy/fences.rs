//! Tests of reach: sessions and panes that the policy hides are neither listed nor found.

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer};

use crate::support::{field, pane, shows, string};
use crate::{launch, serve_configured};

/// The session names and pane ids that are listed.
async fn listed_objects(mcp: &Mcp) -> (Vec<String>, Vec<String>) {
    let sessions = field(mcp, "list_sessions", json!({}), "name").await;
    let panes = field(mcp, "list_panes", json!({}), "pane_id").await;
    let windows = field(mcp, "list_windows", json!({}), "session").await;
    assert!(windows.iter().all(|session| sessions.contains(session)), "{windows:?}");
    assert_eq!(mcp.call("server_info", json!({})).await.ok()["sessions"], sessions.len());
    (sessions, panes)
}

/// Expects calls of many tools on a target to be denied by a rule.
async fn assert_out_of_reach(mcp: &Mcp, target: &str, rule: &str) {
    let kill = match target.strip_prefix(['$', '@', '%']) {
        Some(_) => json!({"target": target}),
        None if target.contains('.') => json!({"target": target, "kind": "pane"}),
        None => json!({"target": target, "kind": "session"}),
    };
    for (tool, arguments) in [
        ("list_windows", json!({"target": target})),
        ("list_panes", json!({"target": target})),
        ("get_info", json!({"target": target})),
        ("capture_pane", json!({"target": target})),
        ("capture_since", json!({"target": target})),
        ("snapshot_pane", json!({"target": target})),
        ("search_panes", json!({"target": target, "pattern": "x"})),
        ("pane_state", json!({"target": target})),
        ("wait_for", json!({"target": target, "until": ["exit"]})),
        ("send_keys", json!({"target": target, "text": "x"})),
        ("paste_text", json!({"target": target, "text": "x"})),
        ("run_command", json!({"target": target, "command": "true"})),
        ("create_window", json!({"target": target})),
        ("split_pane", json!({"target": target})),
        ("select_window", json!({"target": target, "direction": "next"})),
        ("kill", kill),
    ] {
        let error = mcp.call(tool, arguments).await.err("denied");
        assert!(error.contains(&format!("`{rule}`")), "{tool}: {error}");
        assert!(error.contains("a person can"), "{tool}: {error}");
    }
}

#[tokio::test]
async fn only_the_allowed_session_is_seen_and_reached() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev");
    tmux.new_session("dev-long");
    tmux.types("%2", "needle in dev-long");
    for names in ["\"dev\"", "\"$1\""] {
        let config = format!("tier = \"destructive\"\n[policy]\nallowed_sessions = [{names}]");
        let mcp = serve_configured(&tmux, &config).await;
        assert_eq!(listed_objects(&mcp).await, (vec!["dev".to_owned()], vec!["%1".to_owned()]));
        for target in ["main", "$0", "@0", "%0", "main:0.0", "dev-long", "%2"] {
            assert_out_of_reach(&mcp, target, "policy.allowed_sessions").await;
        }
        let found = mcp.call("search_panes", json!({"pattern": "needle"})).await.ok();
        assert_eq!(found["total"], 0);
        // Errors do not name hidden objects either.
        for (target, code) in [("nope", "not_found"), ("%99", "not_found"), ("dev:9", "not_found")]
        {
            let error = mcp.call("capture_pane", json!({"target": target})).await.err(code);
            assert!(!error.contains("main") && !error.contains("dev-long"), "{error}");
            assert!(!error.contains("%0") && !error.contains("%2"), "{error}");
        }
        for target in ["dev", "$1", "@1", "%1", "dev:0.0", " %1 "] {
            mcp.call("capture_pane", json!({"target": target})).await.text();
        }
        mcp.close().await;
    }
}

#[tokio::test]
async fn new_objects_must_be_within_reach() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev");
    let mcp = serve_configured(&tmux, "[policy]\nallowed_sessions = [\"dev\", \"new\"]").await;
    for (tool, arguments) in [
        ("create_pane", json!({"command": "true"})),
        ("create_window", json!({})),
        ("create_session", json!({})),
        ("create_session", json!({"name": "other"})),
        ("run_command", json!({"command": "true"})),
        ("start_and_watch", json!({"command": "true", "until": ["exit"]})),
        ("create_window", json!({"target": "main"})),
    ] {
        let error = mcp.call(tool, arguments).await.err("denied");
        assert!(error.contains("policy.allowed_sessions"), "{tool}: {error}");
    }
    assert_eq!(tmux.tmux(&["list-sessions"]).lines().count(), 2, "a session was made");
    mcp.call("create_session", json!({"name": "new"})).await.ok();
    let made = mcp.call("create_window", json!({"target": "dev"})).await.ok();
    mcp.call("split_pane", json!({"target": made["pane_id"]})).await.ok();
    mcp.close().await;
    let mcp = serve_configured(&tmux, "[policy]\nallowed_panes = [\"%1\"]").await;
    let error = mcp.call("split_pane", json!({"target": "%1"})).await.err("denied");
    assert!(error.contains("policy.allowed_panes"), "{error}");
    mcp.close().await;
}

#[tokio::test]
async fn own_rule_covers_only_own_panes() {
    let tmux = TmuxServer::new();
    for rule in ["policy.allowed_sessions", "policy.allowed_panes"] {
        let mcp = serve_configured(&tmux, &format!("{rule} = [\"own\"]")).await;
        assert_eq!(listed_objects(&mcp).await, (vec![], vec![]));
        assert_out_of_reach(&mcp, "main", rule).await;
        let ours = pane(&mcp, "exec sleep 600").await;
        let ran = mcp.call("run_command", json!({"command": "echo hi"})).await.ok();
        assert_eq!(ran["output"], "hi");
        let made = mcp.call("create_session", json!({"name": "made"})).await.ok();
        assert_eq!(listed_objects(&mcp).await.1.len(), 3);
        // A window with a person's pane is not wholly within reach.
        tmux.tmux(&["split-window", "-d", "-t", &ours]);
        assert_eq!(listed_objects(&mcp).await.1.len(), 3);
        let window = tmux.tmux(&["display-message", "-p", "-t", &ours, "#{window_id}"]);
        mcp.call("kill", json!({"target": window})).await.err("denied");
        mcp.call("kill", json!({"target": made["session_id"]})).await.text();
        mcp.close().await;
    }
}

#[tokio::test]
async fn an_empty_list_allows_nothing() {
    let tmux = TmuxServer::new();
    for rule in ["policy.allowed_sessions", "policy.allowed_panes"] {
        let mcp = serve_configured(&tmux, &format!("{rule} = []")).await;
        assert_eq!(listed_objects(&mcp).await, (vec![], vec![]));
        assert_out_of_reach(&mcp, "%0", rule).await;
        mcp.call("create_session", json!({"name": "x"})).await.err("denied");
        mcp.close().await;
    }
}

#[tokio::test]
async fn pane_moved_out_of_reach_is_refused() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev");
    tmux.tmux(&["split-window", "-d", "-t", "%1"]);
    let mcp = serve_configured(&tmux, "[policy]\nallowed_sessions = [\"dev\"]").await;
    let ran = mcp.call("run_command", json!({"target": "%2", "command": "echo one"})).await.ok();
    let cursor = mcp.call("capture_since", json!({"target": "%2"})).await.ok()["cursor"].clone();
    tmux.tmux(&["join-pane", "-d", "-s", "%2", "-t", "=main:"]);
    assert_out_of_reach(&mcp, "%2", "policy.allowed_sessions").await;
    let id = &ran["command_id"];
    mcp.call("command_result", json!({"command_id": id})).await.err("denied");
    mcp.call("capture_since", json!({"cursor": cursor})).await.err("denied");
    tmux.tmux(&["join-pane", "-d", "-s", "%2", "-t", "=dev:"]);
    mcp.call("capture_pane", json!({"target": "%2"})).await.text();
    assert_eq!(mcp.call("command_result", json!({"command_id": id})).await.ok()["output"], "one");
    mcp.close().await;
}

/// A window that is linked into two sessions is within reach if one of them is.
#[tokio::test]
async fn linked_window_is_found_in_the_allowed_session() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev");
    tmux.tmux(&["link-window", "-s", "=main:0", "-t", "=dev:5"]);
    for name in ["main", "dev"] {
        let mcp = serve_configured(&tmux, &format!("policy.allowed_sessions = [\"{name}\"]")).await;
        let info = mcp.call("get_info", json!({"target": "%0"})).await.ok();
        assert_eq!(info["session"]["name"], name);
        let sessions = field(&mcp, "list_panes", json!({}), "session").await;
        assert!(sessions.iter().all(|session| session == name), "{sessions:?}");
        mcp.close().await;
    }
}

/// Changing a window or a session needs access to all its panes; typing reaches synchronized panes.
#[tokio::test]
async fn allowed_pane_gives_no_access_to_neighbours() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["split-window", "-d", "-t", "%0"]);
    let config = "tier = \"destructive\"\n[policy]\nallowed_panes = [\"%0\"]";
    let mcp = serve_configured(&tmux, config).await;
    for (tool, arguments) in [
        ("kill", json!({"target": "main", "kind": "session"})),
        ("kill", json!({"target": "@0"})),
        ("rename", json!({"target": "@0", "name": "x"})),
        ("select_pane", json!({"target": "%0", "direction": "next"})),
    ] {
        let error = mcp.call(tool, arguments).await.err("denied");
        assert!(error.contains("policy.allowed_panes"), "{tool}: {error}");
    }
    mcp.call("send_keys", json!({"target": "%0", "text": "#"})).await.text();
    tmux.tmux(&["set-option", "-w", "-t", "@0", "synchronize-panes", "on"]);
    mcp.call("send_keys", json!({"target": "%0", "text": "#"})).await.err("denied");
    tmux.tmux(&["set-option", "-w", "-t", "@0", "-u", "synchronize-panes"]);
    // The session stands for its active pane, which is `%1` now.
    tmux.tmux(&["select-pane", "-t", "%1"]);
    mcp.call("capture_pane", json!({"target": "main"})).await.err("denied");
    mcp.call("capture_pane", json!({"target": "%0"})).await.text();
    mcp.close().await;
}

#[tokio::test]
async fn disallowed_tmux_server_stops_the_start() {
    let tmux = TmuxServer::new();
    let file = tmux.home().join("policy.toml");
    std::fs::write(&file, "[policy]\nallowed_servers = [\"work\"]").unwrap();
    let run = launch(&tmux).args(&["--config", &file.to_string_lossy()]).output().await;
    let error = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{error}");
    assert!(error.contains("policy.allowed_servers"), "{error}");
    let socket = tmux.socket().display().to_string();
    let mcp = serve_configured(&tmux, &format!("[policy]\nallowed_servers = [\"{socket}\"]")).await;
    mcp.call("list_panes", json!({})).await.ok();
    mcp.close().await;
}

#[tokio::test]
async fn only_listed_environment_variables_are_set() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, "[policy]\nenv = [\"PORT\", \"LC_*\"]").await;
    let with = |env: Value| json!({"command": "echo :$PORT:", "env": env});
    for tool in ["create_pane", "create_window", "create_session"] {
        let error = mcp.call(tool, with(json!({"PORT": "1", "LD_PRELOAD": "x"}))).await;
        let error = error.err("denied");
        assert!(error.contains("`LD_PRELOAD`") && error.contains("`policy.env`"), "{error}");
    }
    let split = json!({"target": "main", "env": {"A": "b"}});
    mcp.call("split_pane", split).await.err("denied");
    assert_eq!(tmux.tmux(&["list-panes", "-a"]).lines().count(), 1);
    let made = mcp.call("create_pane", with(json!({"PORT": "81", "LC_X": "y"}))).await.ok();
    shows(&mcp, &string(&made["pane_id"]), ":81:").await;
    mcp.close().await;
}
