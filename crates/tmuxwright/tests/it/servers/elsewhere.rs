//! Tests of a configured server on another system. `env` stands for the way there: it runs what it is given.

use serde_json::json;
use testkit::TmuxServer;

use super::ThreeServers;
use crate::support::{list, string};

/// The keys of a server behind `env`, with the tmux under test.
fn behind_env() -> String {
    let tmux = TmuxServer::program();
    format!("via = [\"env\"]\ntmux = \"{}\"", tmux.to_string_lossy())
}

#[tokio::test]
async fn remote_server_is_used_by_its_name() {
    let servers = ThreeServers::new();
    let mcp = servers.launch(&servers.config("", &behind_env(), "")).mcp().await;
    let panes = mcp.call("list_panes", json!({"server": "one"})).await.ok();
    assert_eq!((&panes["server"], panes["panes"].as_array().unwrap().len()), (&json!("one"), 2));
    let run = json!({"command": "echo $((6*7)); false", "server": "one"});
    let ran = mcp.call("run_command", run).await.ok();
    assert_eq!((&ran["output"], &ran["exit_code"]), (&json!("42"), &json!(1)), "{ran}");
    let listed = list(&mcp, "list_servers", json!({})).await;
    let one = listed.iter().find(|it| it["server"] == "one").unwrap();
    assert_eq!((&one["host"], &one["alive"]), (&json!("env"), &json!(true)), "{one}");
    assert_eq!(one["sessions"], 3, "{one}");
    mcp.close().await;
    let left = servers.one.tmux(&["list-sessions"]);
    assert_eq!(left.lines().count(), 2, "{left}");
}

#[tokio::test]
async fn remote_pipe_is_judged_by_its_text() {
    let servers = ThreeServers::new();
    let (link, file) = (servers.home.home().join("link"), servers.home.home().join("out"));
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let rule = format!("[policy]\nwritable_paths = [\"{}\"]\n", servers.home.home().display());
    let mcp = servers.launch(&servers.config(&rule, &behind_env(), "")).mcp().await;
    let pipe = |path: &str| json!({"target": "%0", "path": path, "server": "one"});
    for wrong in ["/etc/x", &format!("{}/../x", servers.home.home().display())] {
        mcp.call("pipe_pane", pipe(wrong)).await.err("denied");
    }
    let piped = mcp.call("pipe_pane", pipe(&link.to_string_lossy())).await.ok();
    assert_eq!(string(&piped["path"]), link.to_string_lossy(), "links are not resolved here");
    mcp.close().await;
}

#[tokio::test]
async fn unreachable_system_delays_no_other() {
    let servers = ThreeServers::new();
    let mcp = servers.launch(&servers.config("", "via = [\"false\"]", "")).mcp().await;
    let failed = mcp.call("list_sessions", json!({"server": "one"})).await.result();
    let text = format!("{failed:?}");
    assert_eq!(failed.is_error, Some(true), "{text}");
    assert!(text.contains("server `one`") && !text.contains("at-one"), "{text}");
    mcp.call("list_panes", json!({"server": "two"})).await.ok();
    let listed = list(&mcp, "list_servers", json!({})).await;
    let one = listed.iter().find(|it| it["server"] == "one").unwrap();
    assert!(one["problem"].is_string() && one.get("alive").is_none(), "{one}");
    mcp.close().await;
}
