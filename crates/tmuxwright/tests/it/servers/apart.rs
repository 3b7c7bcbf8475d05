//! Tests that servers stay apart: ids and cursors of one are refused on another, and one that does not answer delays
//! no other.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::TmuxServer;

use super::{Stopped, ThreeServers};
use crate::protocol::initialized;
use crate::support::{list, string};

/// Limit for calls that must not wait for another server; alone they take milliseconds.
const PROMPT_ANSWER: Duration = Duration::from_secs(4);

#[tokio::test]
async fn command_is_refused_on_another_server() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    let mut ids = Vec::new();
    for name in ["one", "two", "default", "one"] {
        let run = json!({"command": format!("echo {name}"), "server": name});
        ids.push(string(&mcp.call("run_command", run).await.ok()["command_id"]));
    }
    assert_eq!(ids, ["c1", "c2", "c3", "c4"], "ids name one command of the process");
    for (id, name) in ids.iter().zip(["one", "two", "default", "one"]) {
        let result = json!({"command_id": id, "server": name});
        assert_eq!(mcp.call("command_result", result).await.ok()["output"], name);
        for other in ["one", "two", "default"].iter().filter(|other| **other != name) {
            let result = json!({"command_id": id, "server": other});
            let error = mcp.call("command_result", result).await.err("invalid_argument");
            assert!(error.contains(&format!("is of server `{name}`")), "{error}");
            assert!(error.contains(&format!("`server`: `{name}`")), "{error}");
        }
    }
    let unknown = json!({"command_id": "c9", "server": "one"});
    mcp.call("command_result", unknown).await.err("not_found");
    mcp.close().await;
}

#[tokio::test]
async fn cursor_is_refused_on_another_server() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    let read = json!({"target": "%0", "server": "one"});
    let cursor = string(&mcp.call("capture_since", read).await.ok()["cursor"]);
    assert!(cursor.starts_with("one:"), "{cursor}");
    let again = json!({"cursor": cursor, "server": "one"});
    mcp.call("capture_since", again).await.ok();
    let wait = json!({"since": cursor, "until": ["change"], "timeout": 0.1, "server": "one"});
    let waited = mcp.call("wait_for", wait).await.ok();
    assert!(string(&waited["cursor"]).starts_with("one:"), "{waited}");
    for server in [Value::Null, json!("two")] {
        for (tool, call) in [
            ("capture_since", json!({"cursor": cursor, "server": server})),
            ("wait_for", json!({"since": cursor, "until": ["change"], "server": server})),
        ] {
            let error = mcp.call(tool, call).await.err("invalid_argument");
            assert!(error.contains("the cursor is of server `one`"), "{error}");
        }
    }
    let home = string(&mcp.call("capture_since", json!({"target": "%0"})).await.ok()["cursor"]);
    assert!(home.starts_with("default:"), "{home}");
    let error = mcp.call("capture_since", json!({"cursor": home, "server": "two"})).await;
    assert!(error.err("invalid_argument").contains("`default`"));
    mcp.close().await;
}

#[tokio::test]
async fn buffer_exists_on_its_server_only() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    mcp.call("set_buffer", json!({"name": "notes", "text": "x", "server": "one"})).await.ok();
    let shown = mcp.call("show_buffer", json!({"name": "notes", "server": "one"})).await.ok();
    assert_eq!((&shown["text"], &shown["server"]), (&json!("x"), &json!("one")));
    for server in ["default", "two"] {
        let show = json!({"name": "notes", "server": server});
        let error = mcp.call("show_buffer", show).await.err("not_found");
        assert!(error.contains(&format!("`{server}` was searched")), "{error}");
        assert!(error.contains("one"), "{error}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn stopped_server_delays_no_other() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    mcp.call("create_pane", json!({"command": "cat", "server": "one"})).await.ok();
    let stopped = Stopped::new(&servers.one);
    let begun = Instant::now();
    let calls = async {
        for name in ["two", "default", "two"] {
            mcp.call("list_panes", json!({"server": name})).await.ok();
            let run = json!({"command": "echo ran", "server": name});
            assert_eq!(mcp.call("run_command", run).await.ok()["output"], "ran");
        }
        begun.elapsed()
    };
    let hanging = mcp.call("list_panes", json!({"server": "one"}));
    let (hung, took) = tokio::join!(hanging, calls);
    assert!(took < PROMPT_ANSWER, "{took:?}");
    let error = hung.err("timeout");
    assert!(error.contains("server `one`"), "{error}");
    let begun = Instant::now();
    let listed = list(&mcp, "list_servers", json!({})).await;
    assert!(begun.elapsed() < PROMPT_ANSWER, "{:?}", begun.elapsed());
    let one = listed.iter().find(|it| it["server"] == "one").unwrap();
    assert!(one["problem"].is_string() && one["sessions"].is_null(), "{one}");
    assert!(listed.iter().any(|it| it["server"] == "two" && it["sessions"].is_number()));
    drop(stopped);
    mcp.close().await;
}

#[tokio::test]
async fn hanging_subscription_delays_no_other() {
    let servers = ThreeServers::new();
    let mut raw = initialized(servers.launch(&servers.config("", "", ""))).await;
    let stopped = Stopped::new(&servers.one);
    let subscribe = |uri: &str| json!({"uri": uri});
    let hanging = raw.start("resources/subscribe", subscribe("tmux://sessions?server=one")).await;
    let other = raw.start("resources/subscribe", subscribe("tmux://sessions?server=two")).await;
    let reply = raw.receive().await.unwrap();
    assert_eq!((&reply["id"], &reply["result"]), (&json!(other), &json!({})), "{reply}");
    drop(stopped);
    let reply = raw.receive().await.unwrap();
    assert_eq!(reply["id"], hanging, "{reply}");
    raw.hang_up();
    raw.wait().await;
}

#[tokio::test]
async fn own_sessions_are_removed_on_all_servers() {
    let servers = ThreeServers::new();
    let all = [&servers.home, &servers.one, &servers.two];
    let mut raw = initialized(servers.launch(&servers.config("", "", ""))).await;
    for name in ["default", "one", "two"] {
        let create = json!({"command": "cat", "server": name});
        let call = json!({"name": "create_pane", "arguments": create});
        let reply = raw.request("tools/call", call).await;
        assert_ne!(reply["result"]["isError"], true, "{reply}");
    }
    assert!(all.iter().all(|tmux| session_count(tmux) == 3));
    // The server that does not answer keeps its session; the others are cleaned up in time.
    let stopped = Stopped::new(&servers.one);
    raw.hang_up();
    raw.wait().await;
    assert_eq!([&servers.home, &servers.two].map(session_count), [2, 2]);
    drop(stopped);
    testkit::wait_until("the clean-up has removed the session", || {
        (session_count(&servers.one) == 2).then_some(())
    });
}

fn session_count(tmux: &TmuxServer) -> usize {
    tmux.tmux(&["list-sessions"]).lines().count()
}
