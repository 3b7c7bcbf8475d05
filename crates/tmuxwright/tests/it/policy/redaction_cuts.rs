//! Tests of redaction where a text is cut or painted: no part of a secret is shown without its beginning.

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer, wait_until};

use super::redaction::github_token;
use crate::serve_configured;
use crate::support::{ready_pane, shows, string};

/// Redacts secrets, and cuts answers to a few characters.
const SHORT: &str = "[policy]\nredact = true\n[limits]\ntext = 100\n";
const REDACT: &str = "[policy]\nredact = true\n";

/// Asserts that an answer has no eight characters of the token, and says that one was redacted.
#[track_caller]
fn assert_redacted(answer: &str) {
    let token = github_token();
    let windows = token.as_bytes().windows(8).map(|part| str::from_utf8(part).unwrap());
    for part in windows {
        assert!(!answer.contains(part), "{part} is in {answer}");
    }
    assert!(answer.contains(" redacted]"), "{answer}");
}

/// The text of an answer and its structured content.
async fn answer(mcp: &Mcp, tool: &'static str, arguments: Value) -> String {
    let result = mcp.call(tool, arguments).await.result();
    let text: Vec<&str> = result
        .content
        .iter()
        .filter_map(|block| block.as_text())
        .map(|it| it.text.as_str())
        .collect();
    format!("{}\n{}", text.join("\n"), result.structured_content.unwrap_or_default())
}

#[tokio::test]
async fn token_wrapped_over_rows_is_redacted_in_parts() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, REDACT).await;
    // The token begins in the last columns of the first row.
    let command = format!("printf '%180s %s tail\\nlast' x {}; exec cat", github_token());
    let pane = ready_pane(&mcp, &command, "last").await;
    for part in
        [json!({"start": 1}), json!({"end": 0}), json!({"start": 1, "end": 1, "colors": true})]
    {
        let mut arguments = part;
        arguments["target"] = json!(pane);
        let text = mcp.call("capture_pane", arguments.clone()).await.text();
        assert_redacted(&text);
        arguments["join"] = json!(false);
        let text = mcp.call("capture_pane", arguments).await.text();
        assert!(!text.contains("e5F6a1B2"), "{text}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn key_above_the_lines_read_is_redacted() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, REDACT).await;
    let file = tmux.home().join("key");
    let line = "a1B2c3D4e5F6".repeat(5);
    let lines = format!("{line}\n").repeat(30);
    std::fs::write(&file, format!("-----BEGIN PRIVATE KEY-----\n{lines}")).unwrap();
    let pane = ready_pane(&mcp, &format!("cat {}; exec cat", file.display()), "redacted").await;
    let first = mcp.call("capture_since", json!({"target": pane})).await.ok();
    for (tool, arguments) in [
        ("capture_pane", json!({"target": pane, "start": 10, "end": 12})),
        ("capture_pane", json!({"target": pane, "lines": 3})),
        ("snapshot_pane", json!({"target": pane, "lines": 3})),
        ("search_panes", json!({"target": pane, "pattern": "c3D4"})),
        ("capture_since", json!({"target": pane})),
    ] {
        let text = answer(&mcp, tool, arguments).await;
        assert!(!text.contains("c3D4e5"), "{tool}: {text}");
    }
    // The rest of the key comes after the cursor.
    for text in [line.as_str(), "stop"] {
        let arguments = json!({"target": pane, "text": text, "enter": true});
        mcp.call("send_keys", arguments).await.text();
        // The echo and the copy, before anything else is typed.
        wait_until("cat has copied the line", || {
            tmux.screen(&pane).ends_with(&format!("{text}\n{text}")).then_some(())
        });
    }
    let text = answer(&mcp, "capture_since", json!({"cursor": first["cursor"]})).await;
    assert!(!text.contains("c3D4e5"), "{text}");
    let wait = json!({"since": first["cursor"], "until": ["text:stop"], "timeout": 20});
    let text = answer(&mcp, "wait_for", wait).await;
    assert!(text.starts_with("text:stop") && !text.contains("c3D4e5"), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn long_line_is_redacted_before_cutting() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, SHORT).await;
    // The limit of 100 characters is in the middle of the token.
    let line = format!("printf '%s %080d' {} 7", github_token());
    let pane = ready_pane(&mcp, &format!("{line}; exec cat"), "0007").await;
    for (tool, arguments) in [
        ("capture_pane", json!({"target": pane})),
        ("capture_pane", json!({"target": pane, "colors": true})),
        ("snapshot_pane", json!({"target": pane})),
        ("capture_since", json!({"target": pane})),
    ] {
        let text = answer(&mcp, tool, arguments).await;
        assert!(!text.contains("D4e5F6a1"), "{tool}: {text}");
    }
    let run = mcp.call("run_command", json!({"command": line})).await.ok();
    let id = string(&run["command_id"]);
    for arguments in [
        json!({}),
        json!({"tail": 1}),
        json!({"head": 1}),
        json!({"from": 1, "max_chars": 20}),
        json!({"tail": 1, "max_chars": 230}),
        json!({"grep": "0007"}),
        json!({"grep": "0007", "max_chars": 120}),
    ] {
        let mut arguments = arguments;
        arguments["command_id"] = json!(id);
        let text = answer(&mcp, "command_result", arguments.clone()).await;
        assert!(!text.contains("D4e5F6a1"), "{arguments}: {text}");
    }
    // A pattern cannot be used to guess a secret.
    let guess = json!({"command_id": id, "grep": "ghp_a1B2"});
    assert!(!answer(&mcp, "command_result", guess).await.contains("1:"));
    mcp.close().await;
}

#[tokio::test]
async fn search_does_not_match_or_cut_secrets() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, REDACT).await;
    let command =
        format!("printf '%s %0450d needle %0450d\\nlast' {} 7 8; exec cat", github_token());
    let pane = ready_pane(&mcp, &command, "last").await;
    let found = answer(&mcp, "search_panes", json!({"target": pane, "pattern": "7 needle"})).await;
    assert!(found.contains("needle") && !found.contains("D4e5"), "{found}");
    for pattern in ["ghp_", "a1B2c3"] {
        let found = mcp.call("search_panes", json!({"target": pane, "pattern": pattern})).await;
        assert_eq!(found.ok()["total"], 0, "{pattern}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn ranges_of_a_buffer_are_redacted() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, REDACT).await;
    let text = format!("first {} end\nPASSWORD=hunter\n{}", github_token(), "z".repeat(300));
    let made = mcp.call("set_buffer", json!({"name": "notes", "text": text})).await.ok();
    let whole = mcp.call("show_buffer", json!({"name": "notes"})).await.text();
    let shown = "first [redacted:github_token] end\nPASSWORD=[redacted:secret]\nzz";
    assert!(whole.contains(shown) && whole.ends_with("\n[2 secrets redacted]"), "{whole}");
    assert_eq!(made["bytes"], text.len());
    for arguments in [
        json!({"offset": 20}),
        json!({"offset": 12, "max_bytes": 20}),
        json!({"offset": 0, "max_bytes": 30}),
        json!({"offset": 65, "max_bytes": 5}),
    ] {
        let mut arguments = arguments;
        arguments["name"] = json!("notes");
        let text = answer(&mcp, "show_buffer", arguments.clone()).await;
        assert!(!text.contains("4e5F6") && !text.contains("unter"), "{arguments}: {text}");
    }
    for (pattern, matches) in [("ghp_", 0), ("D4e5", 0), ("hunter", 0), ("end", 1)] {
        let arguments = json!({"pattern": pattern, "context": 20});
        let found = mcp.call("search_buffer", arguments).await.ok();
        assert_eq!(found["matches"].as_array().unwrap().len(), matches, "{pattern}");
        assert!(!found.to_string().contains("4e5F6"), "{found}");
    }
    let near_end = format!("{} {}", "y".repeat(185), github_token());
    mcp.call("set_buffer", json!({"name": "cut", "text": near_end})).await.ok();
    let listed = mcp.call("list_buffers", json!({})).await.text();
    assert!(listed.contains("yyy") && !listed.contains("ghp_"), "{listed}");
    mcp.close().await;
}

#[tokio::test]
async fn waited_output_is_redacted_before_cutting() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, SHORT).await;
    let command = format!("sleep 0.1; printf '%s %080d' {} 7", github_token());
    let arguments = json!({"command": command, "until": ["exit"]});
    let text = answer(&mcp, "start_and_watch", arguments).await;
    assert!(text.contains("0007") && !text.contains("D4e5F6a1"), "{text}");
    mcp.close().await;
}

/// A pane that shows a token, partly bold, or asterisks in its place.
async fn bold_pane(mcp: &Mcp, token: &str) -> String {
    let (head, tail) = token.split_at(14);
    let print =
        format!("printf '\\033[31mred\\033[0m %s\\033[1m%s\\033[0m last' '{head}' '{tail}'");
    ready_pane(mcp, &format!("{print}; exec cat"), "last").await
}

#[tokio::test]
async fn secrets_are_covered_in_screenshots() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, REDACT).await;
    let token = github_token();
    let secret = bold_pane(&mcp, &token).await;
    let covered = bold_pane(&mcp, &"*".repeat(token.len())).await;
    let picture = async |pane: &str| {
        let result = mcp.call("screenshot_pane", json!({"target": pane})).await.result();
        let image = result.content.iter().find_map(|block| block.as_image()).unwrap();
        let text = result.content[0].as_text().unwrap().text.clone();
        (BASE64_STANDARD.decode(&image.data).unwrap(), text)
    };
    let ((secret_png, text), (covered_png, _)) = (picture(&secret).await, picture(&covered).await);
    assert!(secret_png == covered_png, "the token is in the picture");
    assert!(text.ends_with("\n[1 secret redacted]"), "{text}");
    for format in ["svg", "html"] {
        let text =
            answer(&mcp, "screenshot_pane", json!({"target": secret, "format": format})).await;
        assert!(text.contains("red") && text.contains("last"), "{text}");
        assert_redacted(&text);
    }
    let file = tmux.home().join("shot.html");
    let arguments = json!({"target": secret, "path": file});
    mcp.call("screenshot_pane", arguments).await.text();
    assert!(!std::fs::read_to_string(file).unwrap().contains("4e5F6a"));
    mcp.close().await;
}

#[tokio::test]
async fn token_begun_above_is_covered_in_screenshots() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, REDACT).await;
    // The token begins in the history and ends in the first row of the screen.
    let command =
        format!("printf '%180s %s tail\\n' x {}; seq 1 48; printf end; exec cat", github_token());
    let pane = ready_pane(&mcp, &command, "end").await;
    shows(&mcp, &pane, "tail").await;
    let text = answer(&mcp, "screenshot_pane", json!({"target": pane, "format": "svg"})).await;
    assert!(text.contains("tail"), "{text}");
    assert_redacted(&text);
    mcp.close().await;
}

#[tokio::test]
async fn colours_around_a_secret_stay() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, REDACT).await;
    let pane = bold_pane(&mcp, &github_token()).await;
    let text = mcp.call("capture_pane", json!({"target": pane, "colors": true})).await.text();
    assert!(text.contains("\u{1b}[31mred"), "{text:?}");
    assert!(text.contains("[redacted:github_token]"), "{text:?}");
    assert_redacted(&text);
    mcp.close().await;
}
