//! Tests that calls of read tools start no process and change nothing, whatever their arguments.

use serde_json::{Map, Value, json};
use testkit::{TmuxServer, wait_until};
use tmuxwright::context::Entry;
use tmuxwright::contract::Tier;
use tmuxwright::tools;

use crate::serve_configured;
use crate::support::made_up::{Material, arguments, is_needed};
use crate::support::world::{below, everything};

/// A tmux server whose names, titles, buffers, options and variables hold `trap`, a format that starts a
/// program.
fn server_with_traps(trap: &str) -> TmuxServer {
    let tmux = TmuxServer::new();
    // Otherwise tmux renames windows some time after their programs start.
    tmux.tmux(&["set-option", "-gw", "automatic-rename", "off"]);
    tmux.new_session("other;1");
    tmux.tmux(&["split-window", "-d", "-h", "-l", "30", "-t", "%0"]);
    // tmux expands names and titles as formats.
    let literal = trap.replace('#', "##");
    tmux.tmux(&["rename-window", "-t", "=main:", &literal]);
    tmux.tmux(&["rename-window", "-t", "=other;1:", "mine"]);
    tmux.tmux(&["select-pane", "-t", "%0", "-T", &literal]);
    tmux.tmux(&["set-buffer", "-b", "notes", trap]);
    tmux.tmux(&["set-option", "-t", "=main:", "@evil", trap]);
    tmux.tmux(&["set-option", "-t", "=main:", "@mine", "hello"]);
    tmux.tmux(&["set-environment", "-t", "=main:", "MINE", trap]);
    let named = tmux.tmux(&["display-message", "-p", "-t", "%0", "#{window_name} #{pane_title}"]);
    assert_eq!(named, format!("{trap} {trap}"));
    wait_until("all shells have started", || {
        let names = tmux.tmux(&["list-panes", "-a", "-F", "#{pane_current_command}"]);
        (names == "sh\nsh\nsh").then_some(())
    });
    tmux
}

/// A call with the required arguments and, if given, one more.
fn call(entry: &Entry, material: &Material, given: Option<(&str, Value)>) -> Value {
    let mut call = Map::new();
    for (name, schema) in arguments(entry) {
        if is_needed(entry, &name) {
            let ordinary = material.values(&name, &schema).into_iter().next();
            call.insert(name, ordinary.unwrap_or_default());
        }
    }
    call.extend(given.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(call)
}

#[tokio::test]
async fn read_tools_start_nothing_and_change_nothing() {
    let home = tempfile::tempdir().unwrap();
    let targets = ["%0", "@0", "$0", "main", "main:0.1", "%1", "%99"];
    let material = Material::new(home.path(), &targets);
    let tmux = server_with_traps(&material.hostile[0]);
    material.nothing_ran("tmux");
    let mcp = serve_configured(&tmux, "limits.block = 1\n").await;
    mcp.call("run_command", json!({"command": "echo one"})).await.text();
    let before = everything(&tmux);
    let processes = below(tmux.pid());
    let (mut tried, mut succeeded) = (0, 0);
    for entry in tools::all().iter().filter(|entry| entry.meta.tier == Tier::Read) {
        let name = entry.meta.name;
        let _ = mcp.call(name, call(entry, &material, None)).await;
        for (argument, schema) in arguments(entry) {
            for value in material.values(&argument, &schema) {
                let given = Some((argument.as_str(), value));
                let result = mcp.call(name, call(entry, &material, given)).await.result();
                tried += 1;
                succeeded += usize::from(result.is_error != Some(true));
            }
        }
        material.nothing_ran(name);
        for (before, after) in before.iter().zip(everything(&tmux)) {
            assert_eq!(&after, before, "{name}");
        }
        assert_eq!(below(tmux.pid()), processes, "{name}");
        // The program itself starts only tmux clients.
        let ours = below(mcp.pid());
        assert!(ours.iter().all(|(_, program)| program.starts_with("tmux")), "{name}: {ours:?}");
    }
    assert!(tried > 300 && succeeded > 150, "{succeeded} of {tried} calls were not refused");
    mcp.close().await;
}
