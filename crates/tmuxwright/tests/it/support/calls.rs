//! Helpers for tools: panes with a given program, waits for screens and exits, fields of answers.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers fail like tests")]

use serde_json::{Value, json};
use testkit::{Mcp, Raw, TmuxServer, until, until_it_is};
use tmux_control::Version;

/// The version of tmux under test.
pub(crate) fn version(tmux: &TmuxServer) -> Version {
    Version::parse(&tmux.tmux(&["-V"]))
}

/// Whether the tmux under test is this version or a newer one.
pub(crate) fn at_least(tmux: &TmuxServer, oldest: &str) -> bool {
    version(tmux) >= Version::parse(oldest)
}

/// Creates a pane that runs `command`, and returns its id.
pub(crate) async fn pane(mcp: &Mcp, command: &str) -> String {
    string(&mcp.call("create_pane", json!({"command": command})).await.ok()["pane_id"])
}

/// The same; waits until the pane shows `ready`.
pub(crate) async fn ready_pane(mcp: &Mcp, command: &str, ready: &str) -> String {
    let pane = pane(mcp, command).await;
    shows(mcp, &pane, ready).await;
    pane
}

/// Creates a pane whose program copies `count` bytes from its raw terminal into a file. Returns once
/// the program reads.
pub(crate) async fn raw_reader(tmux: &TmuxServer, mcp: &Mcp, count: usize) -> (String, Received) {
    let file = tmux.home().join("received");
    // An earlier reader may have left its file.
    let _ = std::fs::remove_file(&file);
    let path = file.display();
    let command = format!("stty raw -echo; printf ready; head -c {count} > {path}; printf ' done'");
    let pane = ready_pane(mcp, &command, "ready").await;
    (pane, Received { file, count })
}

/// The bytes that a raw reader receives.
pub(crate) struct Received {
    file: std::path::PathBuf,
    count: usize,
}

impl Received {
    /// Waits for all bytes.
    pub(crate) async fn bytes(self) -> Vec<u8> {
        until("all bytes have arrived", async || {
            std::fs::read(&self.file).ok().filter(|bytes| bytes.len() >= self.count)
        })
        .await
    }
}

/// The text of a pane's screen.
pub(crate) async fn screen(mcp: &Mcp, target: &str) -> String {
    let captured = mcp.call("capture_pane", json!({"target": target})).await.ok();
    captured["text"].as_str().unwrap_or_default().to_owned()
}

/// Waits until a pane's screen contains `expected`, and returns the whole screen.
pub(crate) async fn shows(mcp: &Mcp, target: &str, expected: &str) -> String {
    let condition = format!("{target} shows {expected:?}");
    let poll = async || screen(mcp, target).await;
    until_it_is(&condition, poll, |text| text.contains(expected)).await
}

/// Waits until a pane's shell is at its prompt.
pub(crate) async fn at_prompt(mcp: &Mcp, target: &str) {
    let condition = format!("the shell of {target} is at its prompt");
    let poll = async || mcp.call("pane_state", json!({"target": target})).await.ok();
    until_it_is(&condition, poll, |state| state["at_prompt"] == true).await;
}

/// Waits until a pane's program has exited with a code, and returns the pane's entry in
/// `list_panes`.
pub(crate) async fn exited(mcp: &Mcp, pane: &str) -> Value {
    let filter = format!("pane_id={pane},status=exited,exit_code~.");
    until(&format!("{pane} has exited"), async || {
        let panes = list(mcp, "list_panes", json!({"filter": filter})).await;
        panes.into_iter().next()
    })
    .await
}

/// Calls a tool with a raw message, which must succeed, and returns the structured answer.
pub(crate) async fn raw_call(raw: &mut Raw, tool: &str, arguments: Value) -> Value {
    let reply = raw.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
    assert_ne!(reply["result"]["isError"], true, "{reply}");
    reply["result"]["structuredContent"].clone()
}

/// The entries in the answer of a `list_…` tool.
pub(crate) async fn list(mcp: &Mcp, tool: &'static str, arguments: Value) -> Vec<Value> {
    let key = tool.strip_prefix("list_").unwrap();
    mcp.call(tool, arguments).await.ok()[key].as_array().unwrap().clone()
}

/// One field of each of these entries, as text.
pub(crate) async fn field(
    mcp: &Mcp,
    tool: &'static str,
    arguments: Value,
    name: &str,
) -> Vec<String> {
    list(mcp, tool, arguments).await.iter().map(|entry| string(&entry[name])).collect()
}

/// A string's text; the JSON of any other value.
pub(crate) fn string(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The numbers from `first` to `last`, a line each.
pub(crate) fn numbers(first: u64, last: u64) -> String {
    let lines: Vec<String> = (first..=last).map(|number| number.to_string()).collect();
    lines.join("\n")
}

/// The names of an object's fields, sorted.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Waits until a command has ended, and returns its result. `started` is the answer of the tool that
/// started it.
pub(crate) async fn command_end(mcp: &Mcp, started: &Value) -> Value {
    let arguments = json!({"command_id": started["command_id"], "wait": 60});
    // The wait also ends early, when the command waits for input.
    until(&format!("{started} has ended"), async || {
        let result = mcp.call("command_result", arguments.clone()).await.ok();
        (result["status"] != "running").then_some(result)
    })
    .await
}
