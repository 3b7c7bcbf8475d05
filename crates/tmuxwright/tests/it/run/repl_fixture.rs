//! Interpreters in panes, for the tests of `run_in_repl`.

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer, wait_until};

/// Opens a pane of 80 columns that runs an interpreter, and waits for its prompt.
pub(crate) fn interpreter(tmux: &TmuxServer, command: &str, prompt: &str) -> String {
    let pane = tmux.open(&format!("exec {command}"));
    wait_until(&format!("{command} shows its prompt"), || {
        tmux.screen(&pane).ends_with(prompt.trim_end()).then_some(())
    });
    pane
}

pub(crate) async fn enter(mcp: &Mcp, target: &str, input: &str) -> Value {
    mcp.call("run_in_repl", json!({"target": target, "input": input, "timeout": 30})).await.ok()
}

/// Enters inputs, each given with its expected output, and lists all outputs that differ.
pub(crate) async fn assert_answers(mcp: &Mcp, target: &str, table: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (input, expected) in table {
        let answer = enter(mcp, target, input).await;
        let output = answer["output"].as_str().unwrap_or_default();
        if output != *expected || answer.get("timed_out").is_some() || answer["pane_id"] != target {
            wrong.push(format!("{input:?} should print {expected:?}: {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{target}:\n{}", wrong.join("\n"));
}
