//! Tests of redaction: secrets in the text of a terminal are replaced and counted.

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer};

use crate::support::{ready_pane, shows};
use crate::{serve, serve_configured};

/// Redacts known secrets and one pattern of the person.
const REDACT: &str = "[policy]\nredact = true\nredact_patterns = ['ACME-[0-9]+']\n";

/// A GitHub token, put together so that no secret scanner finds it in this file.
pub(crate) fn github_token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

/// A pane that shows three secrets.
async fn pane_with_secrets(mcp: &Mcp) -> String {
    let command = format!(
        "printf 'first\\n%s\\nDB_PASSWORD=hunter\\nACME-%s\\nlast' {} 77; exec cat",
        github_token()
    );
    ready_pane(mcp, &command, "last").await
}

/// The number of redacted secrets in the metadata of a result.
fn redacted(meta: Option<rmcp::model::MetaObject>) -> Option<Value> {
    meta?.0.get("tmuxwright/redacted").cloned()
}

#[tokio::test]
async fn secrets_are_redacted_in_all_content_and_counted() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, REDACT).await;
    let pane = pane_with_secrets(&mcp).await;
    let shown =
        "first\n[redacted:github_token]\nDB_PASSWORD=[redacted:password]\n[redacted:own]\nlast";
    for tool in ["capture_pane", "snapshot_pane", "capture_since"] {
        let result = mcp.call(tool, json!({"target": pane})).await.result();
        let text = result.content[0].as_text().unwrap().text.clone();
        assert!(text.contains(shown) && text.ends_with("\n[3 secrets redacted]"), "{tool}: {text}");
        let all = result.structured_content.unwrap().to_string();
        assert!(!all.contains("ghp_") && !all.contains("hunter") && !all.contains("ACME"), "{all}");
        assert_eq!(redacted(result.meta), Some(json!(3)), "{tool}");
    }
    let found = mcp.call("search_panes", json!({"pattern": "PASSWORD", "target": pane})).await;
    assert!(found.text().ends_with("DB_PASSWORD=[redacted:password]\n[1 secret redacted]"));
    mcp.close().await;
}

#[tokio::test]
async fn batch_counts_redactions_of_its_calls_once() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, REDACT).await;
    let pane = pane_with_secrets(&mcp).await;
    let read = json!({"tool": "capture_pane", "arguments": {"target": pane}});
    let clean = json!({"tool": "list_sessions"});
    let result = mcp.call("batch", json!({"calls": [read, clean, read]})).await.result();
    let text = result.content[0].as_text().unwrap().text.clone();
    assert_eq!(text.matches("[3 secrets redacted]").count(), 2, "{text}");
    assert_eq!(text.matches("secrets redacted").count(), 2, "{text}");
    assert!(!result.structured_content.unwrap().to_string().contains("hunter"));
    assert_eq!(redacted(result.meta), Some(json!(6)));
    mcp.close().await;
}

#[tokio::test]
async fn secrets_in_errors_are_redacted() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, REDACT).await;
    let error = mcp.call("capture_pane", json!({"target": github_token()})).await.err("not_found");
    assert!(!error.contains("ghp_"), "{error}");
    assert!(error.contains("`[redacted:github_token]`"), "{error}");
    assert!(error.contains("[1 secret redacted]\nNext: "), "{error}");
    mcp.close().await;
}

#[tokio::test]
async fn capture_cursor_continues_after_a_redacted_secret() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, REDACT).await;
    let pane = pane_with_secrets(&mcp).await;
    let first = mcp.call("capture_since", json!({"target": pane})).await.ok();
    mcp.call("send_keys", json!({"target": pane, "text": "more", "enter": true})).await.text();
    shows(&mcp, &pane, "more\nmore").await;
    let next = mcp.call("capture_since", json!({"cursor": first["cursor"]})).await.ok();
    assert_eq!(next["lines_missed"], Value::Null, "{next}");
    assert_eq!(next["lines"], json!(["lastmore", "more"]), "{next}");
    let run =
        mcp.call("run_command", json!({"command": format!("echo {}", github_token())})).await.ok();
    assert_eq!(run["output"], "[redacted:github_token]");
    let again = mcp.call("command_result", json!({"command_id": run["command_id"]})).await.ok();
    assert_eq!(again["output"], run["output"]);
    mcp.close().await;
}

#[tokio::test]
async fn nothing_is_redacted_by_default() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let pane =
        ready_pane(&mcp, &format!("echo {}; exec cat", github_token()), &github_token()).await;
    let result = mcp.call("capture_pane", json!({"target": pane})).await.result();
    assert_eq!(result.meta, None);
    mcp.close().await;
}
