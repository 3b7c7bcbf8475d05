//! Tests that calls of read tools start no process and change nothing, whatever their arguments.

use serde_json::{Map, Value, json};
use tmuxwright::context::ToolEntry;
use tmuxwright::contract::Tier;
use tmuxwright::tools;

use crate::serve_configured;
use crate::support::made_up::{Material, arguments, is_needed};
use crate::support::server_state::{customized_server, descendants, server_state_and_text};

/// A call with the required arguments and, if given, one more.
fn call(entry: &ToolEntry, material: &Material, given: Option<(&str, Value)>) -> Value {
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
    let tmux = customized_server("other;1", &material.hostile[0]);
    material.nothing_ran("tmux");
    let mcp = serve_configured(&tmux, "limits.block = 1\n").await;
    mcp.call("run_command", json!({"command": "echo one"})).await.text();
    let before = server_state_and_text(&tmux);
    let processes = descendants(tmux.pid());
    // Beside tmux clients the program starts only the process that outlives it.
    let not_tmux = |pid| {
        let all = descendants(pid).into_iter();
        all.filter(|(_, program)| !program.starts_with("tmux")).collect::<Vec<_>>()
    };
    let successor = not_tmux(mcp.pid());
    assert_eq!(successor.len(), 1, "{successor:?}");
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
        for (before, after) in before.iter().zip(server_state_and_text(&tmux)) {
            assert_eq!(&after, before, "{name}");
        }
        assert_eq!(descendants(tmux.pid()), processes, "{name}");
        assert_eq!(not_tmux(mcp.pid()), successor, "{name}");
    }
    assert!(tried > 300 && succeeded > 150, "{succeeded} of {tried} calls were not refused");
    mcp.close().await;
}
