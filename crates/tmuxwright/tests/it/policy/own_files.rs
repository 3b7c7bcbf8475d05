//! Tests that no tool writes the server's own files, nor any file past a command filter.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::json;
use testkit::{Mcp, TmuxServer};

use crate::policy::command_filter::DENY_RM;
use crate::support::pane;
use crate::{launch, serve_configured};

/// Calls every tool that writes files with this path. Each call must be denied for this reason.
async fn assert_denied(mcp: &Mcp, target: &str, path: &Path, reason: &str) {
    for (tool, arguments) in [
        ("save_buffer", json!({"name": "notes", "path": path})),
        ("screenshot_pane", json!({"target": target, "path": path, "format": "svg"})),
        ("pipe_pane", json!({"target": target, "path": path, "append": false})),
    ] {
        let error = mcp.call(tool, arguments).await.err("denied");
        assert!(error.contains(reason), "{tool} {}: {error}", path.display());
        assert!(error.contains("Next: "), "{tool} {}: {error}", path.display());
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[tokio::test]
async fn own_files_are_never_written() {
    let tmux = TmuxServer::new();
    let at = |name: &str| tmux.home().join(name);
    let (config, log, full) = (at("my.toml"), at("logs/audit.jsonl"), at("full"));
    let token = at("secret/token");
    write(&config, &format!("[http]\ntoken_file = {token:?}"));
    for (path, text) in [(&token, "token"), (&at("logs/audit.jsonl.1"), "")] {
        write(path, text);
    }
    fs::create_dir_all(at(".config/tmuxwright")).unwrap();
    symlink(at("my.toml"), at("link")).unwrap();
    symlink(at("logs"), at("way")).unwrap();
    fs::hard_link(&config, at("second-name")).unwrap();
    let args = ["--toolset", "all", "--tier", "destructive", "--structured", "--config", "my.toml"];
    let mcp = launch(&tmux)
        .args(&args)
        .args(&["--audit", log.to_str().unwrap(), "--audit-full", full.to_str().unwrap()])
        .env("TMPDIR", tmux.home().to_str().unwrap())
        .mcp()
        .await;
    mcp.call("set_buffer", json!({"name": "notes", "text": "tier = \"destructive\""})).await.ok();
    mcp.call("run_command", json!({"command": "true"})).await.ok();
    fs::hard_link(&log, at("second-log")).unwrap();
    let target = pane(&mcp, "exec cat").await;
    let scripts = private_dir(tmux.home());
    for (path, what) in [
        ("my.toml", "the config file"),
        ("link", "the config file"),
        ("second-name", "the config file"),
        ("full/../my.toml", "the config file"),
        (".config/tmuxwright/config.toml", "the config directory"),
        (".local/state", "the state directory"),
        ("secret/token", "the token file"),
        ("logs/audit.jsonl", "the audit log"),
        ("way/audit.jsonl", "the audit log"),
        ("logs/audit.jsonl.1", "the audit log"),
        ("logs/audit.jsonl.17", "the audit log"),
        ("second-log", "the audit log"),
        ("full/new.txt", "the full answers"),
        ("full/%0-capture-001.txt", "the full answers"),
        (scripts.join("bash.sh").to_str().unwrap(), "the server's scripts"),
        (scripts.join("new").to_str().unwrap(), "the server's scripts"),
    ] {
        assert_denied(&mcp, &target, &at(path), what).await;
    }
    // Names that only look alike, and files beside them, are free.
    for path in ["logs/audit.jsonl.bak", "logs/other", "my.toml.1", "tmuxwright-shot.png"] {
        mcp.call("save_buffer", json!({"name": "notes", "path": at(path)})).await.ok();
    }
    assert!(fs::read_to_string(&config).unwrap().starts_with("[http]"));
    assert_eq!(fs::read_to_string(&token).unwrap(), "token");
    fs::remove_file(at("second-log")).unwrap();
    mcp.close().await;
}

/// The private directory of the server, below its directory for temporary files.
fn private_dir(temporary: &Path) -> PathBuf {
    let entries = fs::read_dir(temporary).unwrap().map(|entry| entry.unwrap().path());
    let mut found = entries.filter(|path| path.join("owner").exists());
    found.next().unwrap()
}

#[tokio::test]
async fn filter_without_writable_paths_allows_no_file() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, DENY_RM).await;
    mcp.call("set_buffer", json!({"name": "notes", "text": "touch pwned"})).await.ok();
    let target = pane(&mcp, "exec cat").await;
    let before = fs::read_to_string(tmux.home().join(".bashrc")).unwrap();
    for name in [".bashrc", ".config/fish/config.fish", ".tmux.conf", "notes.txt"] {
        let path = tmux.home().join(name);
        assert_denied(&mcp, &target, &path, "`policy.writable_paths`").await;
    }
    assert_eq!(fs::read_to_string(tmux.home().join(".bashrc")).unwrap(), before);
    assert!(!tmux.home().join("notes.txt").exists());
    mcp.close().await;
    let out = tmux.home().join("out");
    fs::create_dir(&out).unwrap();
    let config = format!("{DENY_RM}\n[policy]\nwritable_paths = [{out:?}]");
    let mcp = serve_configured(&tmux, &config).await;
    mcp.call("set_buffer", json!({"name": "notes", "text": "fine"})).await.ok();
    mcp.call("save_buffer", json!({"name": "notes", "path": out.join("x")})).await.ok();
    let elsewhere = json!({"name": "notes", "path": tmux.home().join(".bashrc")});
    mcp.call("save_buffer", elsewhere).await.err("denied");
    mcp.close().await;
}
