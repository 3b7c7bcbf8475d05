//! Tests of `completion/complete`: suggestions come from existing objects, within the policy.

#![expect(clippy::panic, reason = "helpers fail like tests")]

use serde_json::{Value, json};
use testkit::{Raw, TmuxServer};

use crate::protocol::{INVALID_PARAMS, configured, initialized};
use crate::support::string;

/// A reference to a prompt.
fn prompt(name: &str) -> Value {
    json!({"type": "ref/prompt", "name": name})
}

/// A reference to a resource template.
fn template(uri: &str) -> Value {
    json!({"type": "ref/resource", "uri": uri})
}

/// Completes one argument; `chosen` are the others.
async fn complete(raw: &mut Raw, of: Value, name: &str, typed: &str, chosen: Value) -> Value {
    let params = json!({"ref": of, "argument": {"name": name, "value": typed},
        "context": {"arguments": chosen}});
    raw.request("completion/complete", params).await
}

/// All suggestions for an argument.
async fn values(raw: &mut Raw, of: Value, name: &str, typed: &str) -> Vec<String> {
    let reply = complete(raw, of, name, typed, json!({})).await;
    let completion = &reply["result"]["completion"];
    let values = completion["values"].as_array().unwrap_or_else(|| panic!("{reply}"));
    assert_eq!(completion["total"], values.len(), "{reply}");
    assert_eq!(completion["hasMore"], false, "{reply}");
    values.iter().map(string).collect()
}

/// `main` with `%0`; `Build` with the windows `logs` (`@1`, `%1`) and `shell` (`@2`: `%2`, `%3`).
fn two_sessions() -> TmuxServer {
    let tmux = TmuxServer::new();
    tmux.tmux(&["set-option", "-gw", "automatic-rename", "off"]);
    tmux.tmux(&["new-session", "-d", "-s", "Build", "-n", "logs", "exec sleep 5000"]);
    tmux.tmux(&["new-window", "-d", "-t", "=Build:", "-n", "shell", "exec cat"]);
    tmux.tmux(&["split-window", "-d", "-t", "%2", "exec cat"]);
    testkit::wait_until("the programs run", || {
        let names =
            tmux.tmux(&["list-panes", "-s", "-t", "=Build:", "-F", "#{pane_current_command}"]);
        (names == "sleep\ncat\ncat").then_some(())
    });
    tmux
}

/// Runs a command in `%0`, whose id is `c1`.
async fn run_in_main(raw: &mut Raw) {
    let run = json!({"name": "run_command", "arguments": {"command": "true", "target": "%0"}});
    let run = raw.request("tools/call", run).await;
    assert!(run.to_string().contains("command c1 in %0"), "{run}");
}

#[tokio::test]
async fn arguments_are_completed_from_existing_objects() {
    let tmux = two_sessions();
    let mut raw = initialized(configured(&tmux, "")).await;
    run_in_main(&mut raw).await;
    let wait = || prompt("run_and_wait");
    for (of, name, typed, expected) in [
        (wait(), "pane", "", &["%1", "%2", "%3", "%0"][..]),
        (wait(), "pane", "%3", &["%3"]),
        (wait(), "pane", "build:", &["%1", "%2", "%3"]),
        (wait(), "pane", "build:1.", &["%2", "%3"]),
        (wait(), "pane", "Build:shell", &["%2", "%3"]),
        (wait(), "pane", "cat", &["%2", "%3"]),
        (wait(), "pane", "zzz", &[]),
        (wait(), "timeout", "6", &["60", "600"]),
        (wait(), "command", "", &[]),
        (prompt("diagnose_failing_pane"), "pane", "%0", &["%0"]),
        (prompt("interrupt_gracefully"), "pane", "sle", &["%1"]),
        (prompt("build_dev_workspace"), "session", "", &[]),
        (prompt("debug_service"), "cwd", "/", &[]),
        (template("tmux://sessions/{session}"), "session", "", &["Build", "main"]),
        (template("tmux://sessions/{session}/tree"), "session", "bU", &["Build"]),
        (template("tmux://windows/{window}"), "window", "@", &["@1", "@2", "@0"]),
        (template("tmux://windows/{window}"), "window", "build:s", &["Build:shell"]),
        (template("tmux://windows/{window}"), "window", "logs", &["@1", "Build:logs"]),
        (template("tmux://panes/{pane}"), "pane", "%", &["%1", "%2", "%3", "%0"]),
        (template("tmux://panes/{pane}/content"), "pane", "main", &["%0"]),
        (template("tmux://panes/{pane}/tail/{lines}"), "lines", "", &["50", "200", "1000", "5000"]),
        (template("tmux://panes/{pane}/tail/{lines}/ansi"), "lines", "2", &["200"]),
        (template("tmux://commands/{command}"), "command", "", &["c1"]),
        (template("tmux://commands/{command}"), "command", "c2", &[]),
    ] {
        assert_eq!(
            values(&mut raw, of.clone(), name, typed).await,
            expected,
            "{of} {name} {typed}"
        );
    }
}

#[tokio::test]
async fn chosen_arguments_narrow_the_completion() {
    let tmux = two_sessions();
    let mut raw = initialized(configured(&tmux, "")).await;
    for (chosen, expected) in [
        (json!({}), json!(["%1", "%2", "%3", "%0"])),
        (json!({"session": "Build"}), json!(["%1", "%2", "%3"])),
        (json!({"session": "$0"}), json!(["%0"])),
        (json!({"session": "Build", "window": "@2"}), json!(["%2", "%3"])),
        (json!({"window": "Build:logs"}), json!(["%1"])),
        (json!({"session": "gone"}), json!([])),
        // The argument that is being completed does not count.
        (json!({"pane": "%1"}), json!(["%1", "%2", "%3", "%0"])),
    ] {
        let reply =
            complete(&mut raw, template("tmux://panes/{pane}"), "pane", "", chosen.clone()).await;
        assert_eq!(reply["result"]["completion"]["values"], expected, "{chosen}: {reply}");
    }
}

#[tokio::test]
async fn hidden_objects_are_not_suggested() {
    let tmux = two_sessions();
    let mut raw = initialized(configured(&tmux, "[policy]\nallowed_sessions = [\"main\"]\n")).await;
    for (uri, variable, expected) in [
        ("tmux://sessions/{session}", "session", &["main"][..]),
        ("tmux://windows/{window}", "window", &["@0", "main:"]),
        ("tmux://panes/{pane}", "pane", &["%0"]),
    ] {
        let found = values(&mut raw, template(uri), variable, "").await;
        assert_eq!(found.len(), expected.len(), "{found:?}");
        let fits = found.iter().zip(expected).all(|(found, wanted)| found.starts_with(wanted));
        assert!(fits, "{found:?}");
    }
    assert!(values(&mut raw, prompt("run_and_wait"), "pane", "Build").await.is_empty());
    let chosen = json!({"session": "Build"});
    let reply = complete(&mut raw, template("tmux://panes/{pane}"), "pane", "", chosen).await;
    assert_eq!(reply["result"]["completion"]["values"], json!([]), "{reply}");
    // A command is hidden with its pane.
    run_in_main(&mut raw).await;
    assert_eq!(
        values(&mut raw, template("tmux://commands/{command}"), "command", "").await,
        ["c1"]
    );
    tmux.tmux(&["new-window", "-d", "-t", "=main:"]);
    tmux.tmux(&["join-pane", "-d", "-s", "%0", "-t", "%1"]);
    assert!(
        values(&mut raw, template("tmux://commands/{command}"), "command", "").await.is_empty()
    );
    // Nor are objects suggested that no allowed tool lists.
    let mut raw = initialized(configured(&tmux, "tools = \"deny:list_panes\"\n")).await;
    assert!(values(&mut raw, prompt("run_and_wait"), "pane", "").await.is_empty());
}

#[tokio::test]
async fn names_changed_by_cleaning_are_left_out() {
    let tmux = TmuxServer::new();
    tmux.new_session("tricky\u{202e}name");
    tmux.new_session("token=ghp_0123456789abcdefghij0123456789abcdef");
    tmux.new_session("café \"q\" 'x'");
    let mut raw = initialized(configured(&tmux, "[policy]\nredact = true\n")).await;
    let found = values(&mut raw, template("tmux://sessions/{session}"), "session", "").await;
    assert_eq!(found, ["café \"q\" 'x'", "main"]);
}

#[tokio::test]
async fn completion_returns_a_hundred_and_the_total() {
    let tmux = TmuxServer::new();
    let mut make: Vec<String> = Vec::new();
    for number in 0..104 {
        if number > 0 {
            make.push(";".to_owned());
        }
        let name = format!("s{number:03}");
        make.extend(["new-session", "-d", "-s", &name, "exec cat"].map(str::to_owned));
    }
    tmux.tmux(&make.iter().map(String::as_str).collect::<Vec<_>>());
    let mut raw = initialized(configured(&tmux, "")).await;
    let reply =
        complete(&mut raw, template("tmux://sessions/{session}"), "session", "S", json!({})).await;
    let completion = &reply["result"]["completion"];
    assert_eq!(completion["values"].as_array().unwrap().len(), 100, "{reply}");
    assert_eq!(completion["values"][0], "s000");
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(104), &json!(true)));
}

#[tokio::test]
async fn nothing_is_suggested_without_a_tmux_server() {
    let tmux = TmuxServer::not_started();
    let mut raw = initialized(configured(&tmux, "")).await;
    for (uri, variable) in [
        ("tmux://sessions/{session}", "session"),
        ("tmux://windows/{window}", "window"),
        ("tmux://panes/{pane}", "pane"),
        ("tmux://commands/{command}", "command"),
    ] {
        assert!(values(&mut raw, template(uri), variable, "").await.is_empty(), "{uri}");
    }
    assert!(!tmux.socket().exists(), "completing started a tmux server");
}

#[tokio::test]
async fn unknown_references_name_the_nearest_match() {
    let tmux = TmuxServer::new();
    let mut raw = initialized(configured(&tmux, "")).await;
    for (of, name, words) in [
        (prompt("run_and_wate"), "pane", "`run_and_wait`"),
        (prompt("run_and_wait"), "pain", "did you mean `pane`?"),
        (template("tmux://panes/{pain}"), "pane", "`tmux://panes/{pane}`"),
        (template("tmux://sessions"), "session", "there is no resource template `tmux://sessions`"),
        (template("tmux://panes/{pane}/tail/{lines}"), "line", "it has: pane, lines"),
    ] {
        let reply = complete(&mut raw, of, name, "", json!({})).await;
        assert_eq!(reply["error"]["code"], INVALID_PARAMS, "{reply}");
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
    for params in [json!({}), json!({"ref": {"type": "ref/tool", "name": "x"}, "argument": {}})] {
        let reply = raw.request("completion/complete", params).await;
        assert_eq!(reply["error"]["code"], INVALID_PARAMS, "{reply}");
    }
}
