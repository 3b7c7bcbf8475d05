//! What many tests need: panes that are ready, and looking at what is there.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers fail like tests")]

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer, until};
use tmux_control::Version;

/// The tmux under test.
pub(crate) fn version(tmux: &TmuxServer) -> Version {
    Version::parse(&tmux.tmux(&["-V"]))
}

/// Whether the tmux under test is this one or newer.
pub(crate) fn at_least(tmux: &TmuxServer, oldest: &str) -> bool {
    version(tmux) >= Version::parse(oldest)
}

/// A pane of our own that runs `command`.
pub(crate) async fn pane(mcp: &Mcp, command: &str) -> String {
    string(&mcp.call("create_pane", json!({"command": command})).await.ok()["pane_id"])
}

/// The same, once it has shown `ready`.
pub(crate) async fn ready_pane(mcp: &Mcp, command: &str, ready: &str) -> String {
    let pane = pane(mcp, command).await;
    shows(mcp, &pane, ready).await;
    pane
}

/// A pane whose program copies `count` bytes from its raw terminal into a file. It waits for them.
pub(crate) async fn raw_reader(tmux: &TmuxServer, mcp: &Mcp, count: usize) -> (String, Received) {
    let file = tmux.home().join("received");
    // What the last one got must not be taken for what this one gets.
    let _ = std::fs::remove_file(&file);
    let path = file.display();
    let command = format!("stty raw -echo; printf ready; head -c {count} > {path}; printf ' done'");
    let pane = ready_pane(mcp, &command, "ready").await;
    (pane, Received { file, count })
}

/// What a raw reader gets.
pub(crate) struct Received {
    file: std::path::PathBuf,
    count: usize,
}

impl Received {
    /// All of it, once it has come.
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

/// Waits until a pane's screen holds `what`, and returns all of it.
pub(crate) async fn shows(mcp: &Mcp, target: &str, what: &str) -> String {
    until(&format!("{target} shows {what:?}"), async || {
        let text = screen(mcp, target).await;
        text.contains(what).then_some(text)
    })
    .await
}

/// Waits until the program in a pane has exited with a code, and returns the pane as `list_panes`
/// shows it.
pub(crate) async fn exited(mcp: &Mcp, pane: &str) -> Value {
    let filter = format!("pane_id={pane},status=exited,exit_code~.");
    until(&format!("{pane} has exited"), async || {
        let panes = list(mcp, "list_panes", json!({"filter": filter})).await;
        panes.into_iter().next()
    })
    .await
}

/// The entries of a list.
pub(crate) async fn list(mcp: &Mcp, tool: &'static str, arguments: Value) -> Vec<Value> {
    let key = tool.strip_prefix("list_").unwrap();
    mcp.call(tool, arguments).await.ok()[key].as_array().unwrap().clone()
}

/// One field of each entry of a list, as text.
pub(crate) async fn field(
    mcp: &Mcp,
    tool: &'static str,
    arguments: Value,
    name: &str,
) -> Vec<String> {
    list(mcp, tool, arguments).await.iter().map(|entry| string(&entry[name])).collect()
}

/// A value's text; of anything but text, its JSON.
pub(crate) fn string(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The names of an object's fields, sorted.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}
