//! Tests of rules for several servers: tiers, the list of allowed ones, audit records.

use serde_json::json;
use testkit::TmuxServer;

use super::ThreeServers;
use crate::audit::log::{audit_log, records};
use crate::support::string;

#[tokio::test]
async fn tier_of_a_server_limits_its_calls() {
    let servers = ThreeServers::new();
    let config = servers.config("", "tier = \"destructive\"", "tier = \"readonly\"");
    let mcp = servers.launch(&config).mcp().await;
    // Offered, since one server permits it.
    for (name, tier, way) in [
        ("default", "mutating", "--tier destructive"),
        ("two", "readonly", "under `[servers.two]`"),
    ] {
        let error = mcp.call("kill_server", json!({"server": name})).await.err("denied");
        for part in [&format!("server `{name}` has `{tier}`"), way] {
            assert!(error.contains(part), "{error}");
        }
    }
    mcp.call("list_panes", json!({"server": "two"})).await.ok();
    let create = json!({"command": "cat", "server": "two"});
    let error = mcp.call("create_pane", create).await.err("denied");
    assert!(error.contains("needs the tier `mutating`"), "{error}");
    let kill = |server: &str, session: &str| json!({"target": session, "kind": "session", "server": server});
    let error = mcp.call("kill", kill("default", "at-home")).await.err("denied");
    assert!(error.contains("did not make"), "{error}");
    mcp.call("kill", kill("one", "at-one")).await.ok();
    assert_eq!(servers.one.tmux(&["list-sessions"]).lines().count(), 1);
    mcp.call("create_pane", json!({"command": "cat"})).await.ok();
    mcp.close().await;
}

#[tokio::test]
async fn allowed_servers_limit_the_choice() {
    let servers = ThreeServers::new();
    let other = TmuxServer::new();
    other.new_session("at-other");
    let sockets = [servers.home.socket(), other.socket()].map(|path| path.display().to_string());
    let rule = |list: &str| format!("[policy]\nallowed_servers = [{list}]\n");
    let list = format!("\"one\", \"{}\", \"{}\"", sockets[0], sockets[1]);
    let mcp = servers.launch(&servers.config(&rule(&list), "", "")).mcp().await;
    let error = mcp.call("list_panes", json!({"server": "two"})).await.err("invalid_argument");
    assert!(error.contains("default, one") && !error.contains("default, one, two"), "{error}");
    let two = json!({"server": servers.two.socket()});
    mcp.call("list_panes", two).await.err("invalid_argument");
    mcp.call("list_panes", json!({"server": "one"})).await.ok();
    let found = mcp.call("list_sessions", json!({"server": sockets[1]})).await.ok();
    assert!(found.to_string().contains("at-other"), "{found}");
    let shown = mcp.call("list_servers", json!({})).await.ok().to_string();
    assert!(!shown.contains(&servers.two.socket().display().to_string()), "{shown}");
    mcp.close().await;
    // A single server that is left needs no choice.
    let list = format!("\"{}\"", sockets[0]);
    let mcp = servers.launch(&servers.config(&rule(&list), "", "")).mcp().await;
    let error = mcp.call("list_panes", json!({"server": "one"})).await.err("invalid_argument");
    assert!(error.contains("no argument `server`"), "{error}");
    mcp.close().await;
}

#[tokio::test]
async fn audit_record_names_the_server() {
    let servers = ThreeServers::new();
    let log = audit_log(&servers.home);
    let audit = format!("[audit]\nfile = \"{}\"\n", log.display());
    let mcp = servers.launch(&servers.config(&audit, "", "")).mcp().await;
    mcp.call("list_panes", json!({})).await.ok();
    mcp.call("list_panes", json!({"server": "two"})).await.ok();
    mcp.call("list_panes", json!({"server": "tow"})).await.err("invalid_argument");
    mcp.call("batch", json!({"calls": [{"tool": "list_panes", "arguments": {"server": "one"}}]}))
        .await
        .ok();
    mcp.read("tmux://sessions?server=two").await.unwrap();
    mcp.close().await;
    let found: Vec<(String, String)> = records(&log)
        .iter()
        .map(|record| (string(&record["tool"]), string(&record["server"])))
        .collect();
    let wanted = [
        ("list_panes", "default"),
        ("list_panes", "two"),
        ("list_panes", "tow"),
        ("list_panes", "one"),
        ("batch", "null"),
        ("list_sessions", "two"),
    ];
    assert_eq!(found, wanted.map(|(tool, server)| (tool.to_owned(), server.to_owned())));
    assert!(records(&log).iter().all(|record| record["arguments"].get("server").is_none()));
}
