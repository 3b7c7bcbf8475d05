//! Tests that the policy covers files, buffers, options and clients, not only panes.

use serde_json::json;
use testkit::{Person, TmuxServer};

use crate::policy::command_filter::{DENY_RM, DeletableFile, shell};
use crate::support::{list, pane, shows, string};
use crate::{launch, serve, serve_configured};

#[tokio::test]
async fn files_are_accessed_only_in_allowed_paths() {
    let tmux = TmuxServer::new();
    let (open, closed) = (tmux.home().join("open"), tmux.home().join("closed"));
    for folder in [&open, &closed] {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("text"), "old").unwrap();
    }
    // A symbolic link leads from the open folder into the closed one, as does a path with `..`.
    std::os::unix::fs::symlink(closed.join("text"), open.join("link")).unwrap();
    let config = format!(
        "[policy]\nreadable_paths = [{0:?}]\nwritable_paths = [{0:?}]",
        open.display().to_string()
    );
    let mcp = serve_configured(&tmux, &config).await;
    mcp.call("set_buffer", json!({"name": "notes", "text": "new"})).await.ok();
    let target = pane(&mcp, "exec cat").await;
    for (path, allowed) in [
        (closed.join("text"), false),
        (open.join("link"), false),
        (open.join("../closed/text"), false),
        (open.join("text"), true),
        (open.join("fresh"), true),
    ] {
        let path = path.display().to_string();
        for (tool, arguments) in [
            ("save_buffer", json!({"name": "notes", "path": path})),
            ("set_buffer", json!({"name": "read", "path": path})),
            ("screenshot_pane", json!({"target": target, "path": path, "format": "svg"})),
            ("pipe_pane", json!({"target": target, "path": path})),
        ] {
            let outcome = mcp.call(tool, arguments).await;
            if allowed {
                outcome.ok();
            } else {
                let error = outcome.err("denied");
                assert!(error.contains("_paths"), "{tool} {path}: {error}");
            }
        }
    }
    assert_eq!(std::fs::read_to_string(closed.join("text")).unwrap(), "old");
    mcp.close().await;
}

#[tokio::test]
async fn readonly_tier_writes_no_file() {
    let tmux = TmuxServer::new();
    let mcp =
        launch(&tmux).args(&["--toolset", "all", "--structured", "--tier", "readonly"]).mcp().await;
    let path = tmux.home().join("shot.png");
    let shot = json!({"target": "main", "path": path.display().to_string()});
    let error = mcp.call("screenshot_pane", shot).await.err("denied");
    assert!(error.contains("readonly") && !path.exists(), "{error}");
    mcp.call("screenshot_pane", json!({"target": "main"})).await.ok();
    mcp.close().await;
}

#[tokio::test]
async fn filter_covers_buffers_respawns_and_options() {
    let tmux = TmuxServer::new();
    let file = DeletableFile::new(&tmux);
    let rm = file.rm_line();
    let mcp = serve_configured(&tmux, DENY_RM).await;
    let shell = shell(&mcp).await;
    mcp.call("set_buffer", json!({"name": "bad", "text": format!("true\n{rm}\n")})).await.ok();
    mcp.call("set_buffer", json!({"name": "good", "text": "echo fi''ne\n"})).await.ok();
    for (tool, arguments) in [
        ("paste_buffer", json!({"name": "bad", "target": shell, "bracketed": false})),
        ("respawn_pane", json!({"target": shell, "command": rm})),
        ("set_option", json!({"name": "default-command", "value": rm, "global": true})),
        ("set_environment", json!({"name": "BASH_ENV", "value": "/x", "global": true})),
    ] {
        let error = mcp.call(tool, arguments).await.err("denied");
        assert!(error.contains("policy."), "{tool}: {error}");
    }
    let good = json!({"name": "good", "target": shell, "bracketed": false});
    mcp.call("paste_buffer", good).await.ok();
    shows(&mcp, &shell, "fine").await;
    assert!(file.exists());
    mcp.close().await;
}

#[tokio::test]
async fn hidden_sessions_show_in_no_other_tool() {
    let tmux = TmuxServer::new();
    tmux.new_session("secret");
    let _person = Person::attach(&tmux, "secret", 80, 24);
    let config = "tier = \"destructive\"\n[policy]\nallowed_sessions = [\"main\"]";
    let mcp = serve_configured(&tmux, config).await;
    assert!(list(&mcp, "list_clients", json!({})).await.is_empty());
    let client = tmux.tmux(&["list-clients", "-F", "#{client_name} #{client_flags}"]);
    let client = client.lines().find(|line| !line.contains("control-mode")).unwrap();
    let client = client.split(' ').next().unwrap();
    let error = mcp.call("detach_client", json!({"client": client})).await.err("not_found");
    assert!(!error.contains("secret"), "{error}");
    for format in ["#{S:#{session_name}}", "#{?pane_id,#{P:#{pane_id}},}", "#{session_group_list}"]
    {
        mcp.call("eval_format", json!({"format": format, "target": "main"})).await.err("denied");
    }
    let name = json!({"format": "#{session_name}", "target": "main"});
    assert_eq!(mcp.call("eval_format", name).await.ok()["text"], "main");
    for (tool, arguments) in [
        ("set_option", json!({"name": "mouse", "value": "on", "global": true})),
        ("set_environment", json!({"name": "X", "value": "1", "global": true})),
        ("kill_server", json!({})),
        ("join_pane", json!({"source": "%1", "target": "%0"})),
        ("swap_pane", json!({"source": "%1", "target": "%0"})),
        ("move_window", json!({"target": "%0", "session": "secret"})),
        ("find_pane", json!({"target": "secret", "corner": "top-left"})),
        ("show_message", json!({"target": "secret", "text": "x"})),
        ("write_to_display", json!({"target": "secret", "text": "x"})),
    ] {
        mcp.call(tool, arguments).await.err("denied");
    }
    mcp.call("set_option", json!({"name": "@x", "value": "1", "target": "main"})).await.ok();
    let servers = list(&mcp, "list_servers", json!({})).await;
    assert!(!servers.is_empty());
    mcp.close().await;
}

#[tokio::test]
async fn destructive_options_are_set_only_on_own_objects() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let ours = mcp.call("create_session", json!({"name": "ours"})).await.ok();
    for name in ["destroy-unattached", "automatic-rename", "history-limit"] {
        let value = if name == "history-limit" { "10" } else { "on" };
        for place in [json!({"target": "main"}), json!({"global": true})] {
            let mut call = json!({"name": name, "value": value});
            call.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
            let error = mcp.call("set_option", call).await.err("denied");
            assert!(error.contains(name) && error.contains("--tier destructive"), "{error}");
        }
    }
    let own = json!({"name": "automatic-rename", "value": "off",
        "target": string(&ours["window_id"])});
    mcp.call("set_option", own).await.ok();
    mcp.call("set_option", json!({"name": "exit-empty", "value": "on"})).await.err("denied");
    mcp.close().await;
}
