//! `snapshot_pane`: a pane's text with its cursor, title, mode and status.

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer};

use crate::run::fixture::wait_for_foreground;
use crate::support::{exited, keys, numbers, pane, ready_pane, string};
use crate::{launch, serve, serve_configured};

async fn snapshot(mcp: &Mcp, arguments: Value) -> Value {
    mcp.call("snapshot_pane", arguments).await.ok()
}

#[tokio::test]
async fn a_snapshot_has_text_and_pane_facts() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let command = "printf '\\033]2;a title\\007'; cd /; seq 1 100; printf 'here> '; exec cat";
    let target = ready_pane(&mcp, command, "here>").await;
    // The shell prints before it becomes cat.
    wait_for_foreground(&tmux, &target, "cat");
    let now = snapshot(&mcp, json!({"target": target})).await;
    let fields = [
        "command",
        "cursor_x",
        "cursor_y",
        "height",
        "history",
        "lines_cut",
        "pane_id",
        "path",
        "scroll_position",
        "status",
        "text",
        "title",
        "width",
    ];
    assert_eq!(keys(&now), fields);
    assert_eq!(string(&now["text"]), format!("{}\nhere>", numbers(52, 100)));
    for (field, value) in [
        ("cursor_x", json!(6)),
        ("cursor_y", json!(49)),
        ("width", json!(200)),
        ("height", json!(50)),
        ("history", json!(51)),
        ("title", json!("a title")),
        ("command", json!("cat")),
        ("path", json!("/")),
        ("status", json!("running")),
        ("scroll_position", json!(0)),
    ] {
        assert_eq!(now[field], value, "{field}");
    }
    let more = snapshot(&mcp, json!({"target": target, "lines": 60})).await;
    assert_eq!(string(&more["text"]), format!("{}\nhere>", numbers(42, 100)));
    mcp.close().await;
    let mcp = launch(&tmux).args(&["--toolset", "all"]).mcp().await;
    let result = mcp.call("snapshot_pane", json!({"target": "main"})).await.result();
    assert_eq!(result.structured_content, None);
    let text = result.content[0].as_text().unwrap().text.clone();
    assert!(text.starts_with("%0 · sh · 80x24 · cursor 2,0 · 0 lines of history"), "{text}");
    assert!(text.ends_with("\n$"), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn copy_mode_and_alternate_screen_are_reported() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "seq 1 100; exec cat", "100").await;
    tmux.tmux(&["copy-mode", "-t", &target]);
    tmux.tmux(&["send-keys", "-t", &target, "-X", "-N", "5", "scroll-up"]);
    let now = snapshot(&mcp, json!({"target": target})).await;
    assert_eq!((&now["mode"], &now["scroll_position"]), (&json!("copy-mode"), &json!(5)));
    // The text is that of the program, not of the scroll position.
    assert_eq!(string(&now["text"]), numbers(52, 100));
    let text = mcp.call("snapshot_pane", json!({"target": target})).await.text();
    assert!(text.lines().next().unwrap().contains("copy-mode, 5 lines up"), "{text}");
    let full = ready_pane(&mcp, "printf '\\033[?1049hfull'; exec cat", "full").await;
    let now = snapshot(&mcp, json!({"target": full})).await;
    assert_eq!((&now["alternate_screen"], &now["text"]), (&json!(true), &json!("full")));
    mcp.close().await;
}

#[tokio::test]
async fn an_exited_pane_keeps_text_and_exit_code() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = pane(&mcp, "seq 1 3; exit 4").await;
    exited(&mcp, &target).await;
    let now = snapshot(&mcp, json!({"target": target})).await;
    assert!(string(&now["text"]).starts_with("1\n2\n3"), "{now}");
    assert_eq!((&now["status"], &now["exit_code"]), (&json!("exited"), &json!(4)));
    mcp.close().await;
}

#[tokio::test]
async fn long_text_is_cut_and_errors_are_named() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, "[limits]\ntext = 200").await;
    let target = ready_pane(&mcp, "seq -w 1 500; exec cat", "500").await;
    let now = snapshot(&mcp, json!({"target": target, "lines": 500})).await;
    assert_eq!((&now["truncated"], &now["lines_cut"]), (&json!(true), &json!(450)));
    assert_eq!(string(&now["text"]), numbers(451, 500));
    for (arguments, code) in [
        (json!({"target": target, "lines": 0}), "invalid_argument"),
        (json!({"target": target, "lines": -1}), "invalid_argument"),
        (json!({"target": target, "colors": true}), "invalid_argument"),
        (json!({}), "invalid_argument"),
        (json!({"target": "%99"}), "not_found"),
    ] {
        let error = mcp.call("snapshot_pane", arguments).await.err(code);
        assert!(error.contains("Next: "), "{error}");
    }
    tmux.kill();
    mcp.call("snapshot_pane", json!({"target": target})).await.err("no_server");
    mcp.close().await;
}
