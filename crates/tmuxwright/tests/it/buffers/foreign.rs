//! Tests of foreign paste buffers: they are hidden unless `policy.all_buffers` opens them.

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer};

use crate::support::{field, string};
use crate::{serve, serve_configured};

/// Name and sample of each buffer.
fn buffers(tmux: &TmuxServer) -> String {
    tmux.tmux(&["list-buffers", "-F", "#{buffer_name}=#{buffer_sample}"])
}

/// A call of every tool that reads or changes the buffer of this name.
fn calls_on(tmux: &TmuxServer, name: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("show_buffer", json!({"name": name})),
        ("search_buffer", json!({"pattern": "s", "buffers": [name]})),
        ("search_buffer", json!({"pattern": "s", "near": format!("{name}@0")})),
        ("save_buffer", json!({"name": name, "path": tmux.home().join("saved")})),
        ("paste_buffer", json!({"name": name, "target": "main"})),
        ("rename_buffer", json!({"name": name, "new_name": "mine"})),
        ("delete_buffer", json!({"name": name})),
    ]
}

/// Expects every call on a buffer to be denied, without a word of its text.
async fn assert_denied(tmux: &TmuxServer, mcp: &Mcp, name: &str) {
    for (tool, arguments) in calls_on(tmux, name) {
        let error = mcp.call(tool, arguments).await.err("denied");
        assert!(error.contains(&format!("`{name}`")), "{tool}: {error}");
        assert!(error.contains("all_buffers = true") && error.contains("[policy]"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn foreign_buffers_are_not_touched() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["set-buffer", "secret one"]);
    tmux.tmux(&["set-buffer", "-b", "notes", "secret two"]);
    let (mcp, other) = (serve(&tmux).await, serve(&tmux).await);
    let made = other.call("set_buffer", json!({"name": "o", "text": "secret three"})).await.ok();
    let before = buffers(&tmux);
    for name in ["buffer0", "notes", &string(&made["name"])] {
        assert_denied(&tmux, &mcp, name).await;
    }
    assert_eq!(mcp.call("list_buffers", json!({})).await.ok(), json!({"buffers": []}));
    let found = mcp.call("search_buffer", json!({"pattern": "secret"})).await.ok();
    assert_eq!(found["matches"], json!([]));
    // An own label may equal the name of a person's buffer.
    let own = json!({"name": "notes", "text": "ours", "append": true});
    mcp.call("set_buffer", own).await.text();
    assert_eq!(mcp.call("show_buffer", json!({"name": "notes"})).await.ok()["text"], "ours");
    mcp.call("delete_buffer", json!({"name": "notes"})).await.text();
    assert_eq!(buffers(&tmux), before);
    assert!(!tmux.home().join("saved").exists());
    other.close().await;
    mcp.close().await;
}

#[tokio::test]
async fn all_buffers_setting_opens_foreign_buffers() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["set-buffer", "-b", "theirs", "some secret"]);
    tmux.tmux(&["set-buffer", "-b", "other", "x"]);
    let mcp = serve_configured(&tmux, "[policy]\nall_buffers = true\n").await;
    let names = field(&mcp, "list_buffers", json!({}), "name").await;
    assert_eq!(names, ["other", "theirs"]);
    let found = mcp.call("search_buffer", json!({"pattern": "secret"})).await.ok();
    assert_eq!(found["matches"][0]["id"], "theirs@5");
    for (tool, arguments) in calls_on(&tmux, "theirs") {
        if tool == "rename_buffer" {
            // Renaming never replaces another buffer.
            let taken = json!({"name": "theirs", "new_name": "other"});
            mcp.call(tool, taken).await.err("exists");
            mcp.call(tool, arguments).await.text();
            let back = json!({"name": "mine", "new_name": "theirs"});
            assert_eq!(mcp.call(tool, back).await.ok()["name"], "theirs");
            continue;
        }
        mcp.call(tool, arguments).await.text();
    }
    assert_eq!(std::fs::read_to_string(tmux.home().join("saved")).unwrap(), "some secret");
    assert_eq!(buffers(&tmux), "other=x");
    // The full name of an existing buffer means that buffer; any other name is a label of an own one.
    let more = json!({"name": "other", "text": "y", "append": true});
    assert_eq!(mcp.call("set_buffer", more).await.ok()["name"], "other");
    let made = mcp.call("set_buffer", json!({"name": "theirs", "text": "z"})).await.ok();
    assert!(string(&made["name"]).ends_with("_theirs"), "{made}");
    assert_eq!(tmux.tmux(&["show-buffer", "-b", "other"]), "xy");
    mcp.close().await;
    assert_eq!(buffers(&tmux), "other=xy");
}

#[tokio::test]
async fn temporary_paste_buffers_are_never_listed() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, "[policy]\nall_buffers = true\n").await;
    let own = mcp.call("set_buffer", json!({"name": "a", "text": "x"})).await.ok();
    let temporary = string(&own["name"]).replace("_a", "_");
    tmux.tmux(&["set-buffer", "-b", &temporary, "on its way"]);
    assert_eq!(field(&mcp, "list_buffers", json!({}), "name").await.len(), 1);
    mcp.call("show_buffer", json!({"name": temporary})).await.err("not_found");
    mcp.close().await;
    assert_eq!(buffers(&tmux), "");
}
