//! Tests of the configurations in `docs/security.md`: each is run as printed and keeps its promises.

#![expect(clippy::expect_used, reason = "helpers fail like tests")]

use std::collections::BTreeSet;

use serde_json::json;
use testkit::{Mcp, TmuxServer};
use tmuxwright::contract::{Group, Tier};
use tmuxwright::tools;

use crate::audit::log::records;
use crate::launch;
use crate::laws::claims::root;
use crate::policy::listed_tools;
use crate::support::{field, string};

fn page() -> String {
    std::fs::read_to_string(root().join("docs/security.md")).expect("the page can be read")
}

/// The configuration of this name on the page.
fn configuration(name: &str) -> String {
    let page = page();
    let start = format!("```toml {name}\n");
    let (_, block) = page.split_once(&start).expect("the configuration is on the page");
    block.split_once("```").expect("the code block ends").0.to_owned()
}

/// The program with a configuration of the page, and structured content for the test to read.
async fn serve_documented(tmux: &TmuxServer, name: &str) -> Mcp {
    let file = tmux.home().join(format!("{name}.toml"));
    std::fs::write(&file, configuration(name)).unwrap();
    launch(tmux).args(&["--structured", "--config", &file.to_string_lossy()]).mcp().await
}

#[test]
fn page_has_exactly_the_tested_configurations() {
    let page = page();
    let names: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("```toml ")).collect();
    assert_eq!(names, ["watch-only", "own-panes", "one-project"]);
}

#[tokio::test]
async fn watch_only_changes_nothing_and_redacts_secrets() {
    let tmux = TmuxServer::new();
    tmux.type_line("%0", "API_TOKEN=abc123; echo ready");
    let mcp = serve_documented(&tmux, "watch-only").await;
    let reads = |tier| matches!(tier, Tier::Read | Tier::AsCalled);
    let mut all = tools::all();
    // The prompt tools depend on a setting of their own.
    all.retain(|entry| entry.meta.group != Group::Prompt);
    let reading = all.iter().filter(|entry| reads(entry.meta.tier));
    let reading: BTreeSet<String> = reading.map(|entry| entry.meta.name.to_owned()).collect();
    assert_eq!(listed_tools(&mcp).await, reading);
    for entry in all.iter().filter(|entry| !reading.contains(entry.meta.name)) {
        let error = mcp.call(entry.meta.name, json!({"target": "%0"})).await.err("denied");
        assert!(error.contains("`readonly`") && error.contains("a person can"), "{error}");
    }
    let inner = json!({"calls": [{"tool": "kill", "arguments": {"target": "%0"}}]});
    let text = mcp.call("batch", inner).await.text();
    assert!(text.contains("[1] kill failed\n  denied: "), "{text}");

    let until = json!({"target": "%0", "until": ["text:never"], "timeout": 0});
    assert!(mcp.call("wait_for", until).await.text().starts_with("timeout"));
    testkit::until("the line has run", async || {
        let text = mcp.call("capture_pane", json!({"target": "%0"})).await.text();
        text.contains("\nready").then_some(())
    })
    .await;
    let text = mcp.call("capture_pane", json!({"target": "%0"})).await.text();
    assert!(text.contains("API_TOKEN=[redacted:token]"), "{text}");
    assert!(!text.contains("abc123") && text.ends_with("\n[1 secret redacted]"), "{text}");
    assert_eq!(tmux.tmux(&["list-sessions", "-F", "#{session_name}"]), "main");
    mcp.close().await;
}

#[tokio::test]
async fn own_panes_hides_everything_of_a_person() {
    let tmux = TmuxServer::new();
    tmux.types("%0", "# private");
    let mcp = serve_documented(&tmux, "own-panes").await;
    assert!(field(&mcp, "list_panes", json!({}), "pane_id").await.is_empty());
    let ran = mcp.call("run_command", json!({"command": "echo $((6*7))"})).await.text();
    assert!(ran.contains("\n42"), "{ran}");
    let ours = mcp.call("create_session", json!({"name": "agent"})).await.ok();
    let ours = string(&ours["pane_id"]);
    mcp.call("send_keys", json!({"target": ours, "text": "echo a-$((1+1))", "enter": true}))
        .await
        .text();
    testkit::until("the command has run", async || {
        let text = mcp.call("capture_pane", json!({"target": ours})).await.text();
        text.contains("a-2").then_some(())
    })
    .await;
    let panes = field(&mcp, "list_panes", json!({}), "pane_id").await;
    assert!(panes.contains(&ours) && !panes.contains(&"%0".to_owned()), "{panes:?}");

    for (tool, arguments) in [
        ("capture_pane", json!({"target": "%0"})),
        ("send_keys", json!({"target": "main", "text": "x"})),
        ("run_command", json!({"target": "main", "command": "true"})),
        ("split_pane", json!({"target": "main"})),
        ("create_window", json!({"target": "main"})),
        ("wait_for", json!({"target": "%0", "until": ["exit"], "timeout": 0})),
        ("kill", json!({"target": "main", "kind": "session"})),
    ] {
        let error = mcp.call(tool, arguments).await.err("denied");
        assert!(error.contains("policy.allowed_sessions"), "{tool}: {error}");
    }
    let found = mcp.call("search_panes", json!({"pattern": "private"})).await.text();
    assert!(found.starts_with("0 matching lines"), "{found}");
    assert_eq!(tmux.screen("%0"), "$ # private");
    mcp.call("kill", json!({"target": ours})).await.text();
    mcp.close().await;
}

#[tokio::test]
async fn one_project_filters_and_logs_commands() {
    let tmux = TmuxServer::new();
    let pane_id = tmux.new_session("project");
    std::fs::write(tmux.home().join("keep"), "").unwrap();
    let mcp = serve_documented(&tmux, "one-project").await;
    assert_eq!(field(&mcp, "list_sessions", json!({}), "name").await, ["project"]);
    assert_eq!(field(&mcp, "list_panes", json!({}), "pane_id").await, [pane_id]);
    let run = |command: &str| json!({"target": "project", "command": command});
    let text = mcp.call("run_command", run("cd; echo here; ls keep")).await.text();
    assert!(text.ends_with("\nhere\nkeep"), "{text}");

    for command in ["sudo true", "cd / && rm -rf x", "git push", "echo a\ntmux kill-server"] {
        let error = mcp.call("run_command", run(command)).await.err("denied");
        assert!(error.contains("policy.command_filter"), "{command}: {error}");
    }
    mcp.call("send_keys", json!({"target": "project", "text": "rm -f ke"})).await.text();
    let rest = json!({"target": "project", "text": "ep", "enter": true});
    mcp.call("send_keys", rest).await.err("denied");
    for (tool, arguments) in [
        ("capture_pane", json!({"target": "main"})),
        ("run_command", json!({"command": "true"})),
        ("create_session", json!({"name": "mine"})),
        ("split_pane", json!({"target": "project", "env": {"LD_PRELOAD": "x"}})),
        ("kill", json!({"target": "project", "kind": "session"})),
    ] {
        mcp.call(tool, arguments).await.err("denied");
    }
    assert!(tmux.home().join("keep").exists());
    assert_eq!(tmux.tmux(&["list-sessions"]).lines().count(), 2);
    mcp.close().await;
    let log = tmux.home().join("tmuxwright-audit.jsonl");
    let records = records(&log);
    let log = std::fs::read_to_string(log).unwrap();
    let denied = records.iter().filter(|record| record["outcome"] == "denied").count();
    assert_eq!((records.len(), denied), (14, 10), "{log}");
    assert!(!log.contains("git push"), "{log}");
}
