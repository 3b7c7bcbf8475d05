//! Tests of panes, files, buffers and resources of another host, over ssh, and of a host behind another user.

use std::fs;

use serde_json::json;
use testkit::{TmuxServer, wait_until_equal};

use super::other_host::{OtherHost, ran};
use crate::audit::log::{audit_log, records};
use crate::protocol::LEGACY;
use crate::protocol::subscriptions::Subscriber;
use crate::support::{exited, list, shows, string};

#[tokio::test]
async fn panes_over_ssh_start_in_directories_there() {
    let host = OtherHost::new();
    let mcp = host.serve().await;
    let home = host.tmux.home().display().to_string();
    let there = host.tmux.home().join("a b'c");
    fs::create_dir(&there).unwrap();
    for (given, shown) in [(there.to_string_lossy().as_ref(), "a b'c"), ("~", home.as_str())] {
        let create = json!({"command": "pwd; exec cat", "cwd": given});
        let pane = string(&mcp.call("create_pane", create).await.ok()["pane_id"]);
        shows(&mcp, &pane, shown).await;
        let split = json!({"target": pane, "command": "pwd; exec cat", "cwd": given});
        let split = string(&mcp.call("split_pane", split).await.ok()["pane_id"]);
        shows(&mcp, &split, shown).await;
    }
    let missing = json!({"command": "pwd", "cwd": "/no/such"});
    let error = mcp.call("create_pane", missing).await.result();
    assert_eq!(error.is_error, Some(true), "{error:?}");
    let pane = mcp.call("create_pane", json!({"command": "exit 4"})).await.ok();
    let pane = string(&pane["pane_id"]);
    assert_eq!(exited(&mcp, &pane).await["exit_code"], 4);
    let again = json!({"target": pane, "command": "echo ag''ain; exec cat"});
    mcp.call("respawn_pane", again).await.ok();
    shows(&mcp, &pane, "again").await;
    let found = mcp.call("search_panes", json!({"pattern": "again"})).await.ok();
    assert!(found.to_string().contains(&pane), "{found}");
    let file = host.tmux.home().join("piped");
    mcp.call("pipe_pane", json!({"target": pane, "path": file})).await.ok();
    let typed = json!({"target": pane, "text": "to a file", "enter": true});
    mcp.call("send_keys", typed).await.ok();
    let piped = || fs::read_to_string(&file).unwrap_or_default().contains("to a file");
    wait_until_equal("the file is written", piped, &true);
    let variable = json!({"name": "THERE", "value": "a 'b' $c", "target": "main"});
    mcp.call("set_environment", variable).await.ok();
    let shown = host.tmux.tmux(&["show-environment", "-t", "main", "THERE"]);
    assert_eq!(shown, "THERE=a 'b' $c");
    let shot = mcp.call("screenshot_pane", json!({"target": pane})).await.result();
    assert_ne!(shot.is_error, Some(true), "{shot:?}");
    mcp.call("kill", json!({"target": pane})).await.ok();
    mcp.close().await;
    host.assert_clean();
}

#[tokio::test]
async fn buffers_over_ssh_hold_all_bytes() {
    let host = OtherHost::new();
    let mcp = host.serve().await;
    let text = format!("{}\u{e9}\t'\"$x`\n", "0123456789".repeat(30_000));
    mcp.call("set_buffer", json!({"name": "long", "text": text})).await.ok();
    let saved = host.tmux.home().join("saved");
    mcp.call("save_buffer", json!({"name": "long", "path": saved})).await.ok();
    assert!(fs::read_to_string(&saved).unwrap() == text);
    let pane = mcp.call("create_pane", json!({"command": "exec cat"})).await.ok();
    mcp.call("set_buffer", json!({"name": "short", "text": "pasted"})).await.ok();
    let paste = json!({"name": "short", "target": pane["pane_id"]});
    mcp.call("paste_buffer", paste).await.ok();
    shows(&mcp, &string(&pane["pane_id"]), "pasted").await;
    mcp.close().await;
    host.assert_clean();
}

#[tokio::test]
async fn resources_and_rules_know_the_host() {
    let (home, host) = (TmuxServer::new(), OtherHost::new());
    let (file, log) = (home.home().join("config.toml"), audit_log(&home));
    let audit = format!("[audit]\nfile = \"{}\"\n", log.display());
    fs::write(&file, format!("{audit}{}tier = \"readonly\"\n", host.table("far"))).unwrap();
    let launch = crate::launch(&home).args(&["--config", &file.to_string_lossy()]);
    let mut client = Subscriber::connect(launch, LEGACY).await;
    client.subscribe("tmux://sessions?server=far").await;
    home.new_session("unseen");
    host.tmux.new_session("seen");
    let updates = client.updates_until("tmux://sessions?server=far").await;
    assert!(updates.iter().all(|uri| uri.ends_with("?server=far")), "{updates:?}");
    let run = json!({"name": "run_command", "arguments": {"command": "true", "server": "far"}});
    let denied = client.request("tools/call", run).await["result"].clone();
    assert_eq!(denied["_meta"]["tmuxwright/code"], "denied", "{denied}");
    let listed = client.call("list_sessions", json!({"server": "far"})).await;
    assert!(listed.to_string().contains("seen"), "{listed}");
    client.raw.hang_up();
    client.raw.wait().await;
    let noted = records(&log);
    let of_far = noted.iter().filter(|record| record["server"] == "far");
    let tools: Vec<String> = of_far.map(|record| string(&record["tool"])).collect();
    for tool in ["run_command", "list_sessions"] {
        assert!(tools.iter().any(|it| it == tool), "{tools:?}");
    }
}

/// A tmux server of another user, whose processes only that user may inspect. Needs root.
#[tokio::test]
async fn other_user_is_reached_through_sudo() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let tmux = TmuxServer::not_started();
    fs::set_permissions(tmux.home(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let way = format!(
        "sudo -n -u nobody env SHELL=/bin/bash HOME={0} TMPDIR=/tmp",
        tmux.home().display()
    );
    let socket = tmux.socket().to_string_lossy();
    let mcp = crate::launch(&tmux)
        .env("TMUXWRIGHT_VIA", "")
        .args(&["--via", &way, "--socket", &socket, "--toolset", "all", "--structured"])
        .mcp()
        .await;
    let done = ran(&mcp, json!({"command": "id -un; (exit 3)"})).await;
    assert_eq!(done, ("nobody".to_owned(), json!(3)));
    let asks = json!({"command": "read -p 'Name? ' x; echo \"hi $x\"", "timeout": 20});
    let asks = mcp.call("run_command", asks).await.ok();
    assert!(asks["waiting"].is_string(), "{asks}");
    let panes = list(&mcp, "list_panes", json!({})).await;
    assert!(!panes.is_empty());
    mcp.close().await;
}
