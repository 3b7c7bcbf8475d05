//! Tests of `pipe_pane` and `copy_mode`.

use std::path::Path;

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer, until};

use crate::objects::serve_destructive;
use crate::serve;
use crate::support::{exited, pane, ready_pane, shows};

async fn pipe(mcp: &Mcp, arguments: Value) -> Value {
    mcp.call("pipe_pane", arguments).await.ok()
}

/// Types a line into a pane and waits until a file holds it.
async fn type_until_logged(mcp: &Mcp, pane: &str, line: &str, file: &Path) -> String {
    mcp.call("send_keys", json!({"target": pane, "text": line, "enter": true})).await.ok();
    until(&format!("{} holds {line}", file.display()), async || {
        let text = std::fs::read_to_string(file).ok()?;
        text.contains(line).then_some(text)
    })
    .await
}

#[tokio::test]
async fn piped_output_goes_to_the_exact_path() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let pane = ready_pane(&mcp, "echo ready; exec cat", "ready").await;
    let dir = tmux.home().join("logs");
    std::fs::create_dir(&dir).unwrap();
    let long = "n".repeat(250);
    for name in [
        "plain.log",
        "a #S %d.log",
        "#(touch made) #{pane_id} ##x #[y] ##[z] #",
        "it's \"q\" `x` $HOME \\ ; & | <>",
        "two\nlines\tand é漢🙂",
        "-n",
        "%% %Y %",
        &long,
    ] {
        let file = dir.join(name);
        let now = pipe(&mcp, json!({"target": pane, "path": file})).await;
        assert_eq!(now["path"], file.to_string_lossy().as_ref());
        assert_eq!((&now["pane_id"], &now["piping"]), (&json!(pane), &json!(true)));
        type_until_logged(&mcp, &pane, "a line", &file).await;
        let files: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|f| f.unwrap().path()).collect();
        assert_eq!(files, std::slice::from_ref(&file));
        std::fs::remove_file(&file).unwrap();
    }
    assert!(!tmux.home().join("made").exists());
    mcp.close().await;
}

#[tokio::test]
async fn pipe_appends_or_truncates_and_never_toggles() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("log");
    std::fs::write(&file, "before\n").unwrap();
    // A person's shell, of which only the pipe is changed.
    let on = json!({"target": "main", "path": file});
    for _ in 0..2 {
        assert_eq!(pipe(&mcp, on.clone()).await["piping"], true);
    }
    let text = type_until_logged(&mcp, "main", "# one", &file).await;
    assert!(text.starts_with("before\n"), "{text}");
    for _ in 0..2 {
        assert_eq!(pipe(&mcp, json!({"target": "main"})).await, json!({"pane_id": "%0"}));
    }
    let state = "#{pane_pipe}[#{@mcp_pipe}]";
    assert_eq!(tmux.tmux(&["display-message", "-p", "-t", "%0", state]), "0[]");
    assert_eq!(tmux.tmux(&["show-options", "-p", "-t", "%0"]), "");
    pipe(&mcp, json!({"target": "main", "path": file, "append": false})).await;
    let text = type_until_logged(&mcp, "main", "# two", &file).await;
    assert!(!text.contains("before") && !text.contains("one"), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn unwritable_pipe_path_is_reported_at_once() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let home = tmux.home().to_string_lossy();
    for path in
        [home.to_string(), format!("{home}/none/log"), format!("{home}/{}", "n".repeat(300))]
    {
        let error = mcp.call("pipe_pane", json!({"target": "main", "path": path})).await;
        let error = error.err("file_failed");
        assert!(error.contains(&path) && error.contains("Next: "), "{error}");
    }
    for (arguments, words) in [
        (json!({"target": "main", "path": "log"}), "`log` is not absolute"),
        (json!({"target": "main", "path": ""}), "not absolute"),
        (json!({"target": "main", "append": true}), "`append` needs `path`"),
    ] {
        let error = mcp.call("pipe_pane", arguments).await.err("invalid_argument");
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(tmux.tmux(&["display-message", "-p", "-t", "%0", "#{pane_pipe}"]), "0");
    let dead = pane(&mcp, "exit 3").await;
    exited(&mcp, &dead).await;
    let dead = json!({"target": dead, "path": format!("{home}/log")});
    assert!(mcp.call("pipe_pane", dead).await.err("not_ready").contains("exited"));
    assert!(!tmux.home().join("log").exists());
    mcp.close().await;
}

#[tokio::test]
async fn foreign_pipe_is_neither_replaced_nor_stopped() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let made = mcp.call("create_window", json!({})).await.ok();
    let ours = tmux.home().join("ours");
    // A person's pipe in a person's pane, and one in a pane of this server.
    for (number, target) in ["%0", made["pane_id"].as_str().unwrap()].into_iter().enumerate() {
        let theirs = tmux.home().join(format!("theirs{number}"));
        tmux.tmux(&["pipe-pane", "-t", target, &format!("cat >>{}", theirs.display())]);
        let error =
            mcp.call("pipe_pane", json!({"target": target, "path": ours})).await.err("busy");
        assert!(error.contains("did not open") && error.contains("Next: "), "{error}");
        assert!(!ours.exists());
        let error = mcp.call("pipe_pane", json!({"target": target})).await.err("denied");
        assert!(error.contains("did not open") && error.contains("--tier destructive"), "{error}");
        type_until_logged(&mcp, target, "# one", &theirs).await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn foreign_pipe_is_stopped_at_tier_destructive() {
    let tmux = TmuxServer::new();
    let mcp = serve_destructive(&tmux).await;
    let (theirs, ours) = (tmux.home().join("theirs"), tmux.home().join("ours"));
    tmux.tmux(&["pipe-pane", "-t", "%0", &format!("cat >>{}", theirs.display())]);
    type_until_logged(&mcp, "main", "# one", &theirs).await;
    pipe(&mcp, json!({"target": "main"})).await;
    pipe(&mcp, json!({"target": "main", "path": ours})).await;
    type_until_logged(&mcp, "main", "# two", &ours).await;
    assert!(!std::fs::read_to_string(&theirs).unwrap().contains("two"));
    mcp.close().await;
}

#[tokio::test]
async fn copy_mode_is_entered_scrolled_and_left() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let pane = ready_pane(&mcp, "seq 300; echo ready; exec cat", "ready").await;
    let mode = async |arguments: Value| {
        let mut arguments = arguments;
        arguments["target"] = json!(pane);
        let now = mcp.call("copy_mode", arguments).await.ok();
        assert_eq!(now["pane_id"], pane);
        (now["in_mode"] == true, now["scroll_position"].as_u64())
    };
    assert_eq!(mode(json!({"action": "exit"})).await, (false, None));
    for _ in 0..2 {
        assert_eq!(mode(json!({"action": "enter"})).await, (true, Some(0)));
    }
    assert_eq!(mode(json!({"action": "enter", "scroll_up": 30})).await, (true, Some(30)));
    assert_eq!(mode(json!({"action": "enter", "scroll_up": 20})).await, (true, Some(50)));
    assert_eq!(mode(json!({"action": "enter"})).await, (true, Some(50)));
    let history = tmux.tmux(&["display-message", "-p", "-t", &pane, "#{history_size}"]);
    let all = mode(json!({"action": "enter", "scroll_up": u32::MAX})).await;
    assert_eq!(all, (true, history.parse().ok()));
    for _ in 0..2 {
        assert_eq!(mode(json!({"action": "exit"})).await, (false, None));
    }
    mcp.call("send_keys", json!({"target": pane, "text": "typed"})).await.ok();
    shows(&mcp, &pane, "typed").await;
    tmux.tmux(&["clock-mode", "-t", &pane]);
    assert_eq!(mode(json!({"action": "enter", "scroll_up": 5})).await, (true, Some(5)));
    assert_eq!(mode(json!({"action": "exit"})).await, (false, None));
    for (arguments, words) in [
        (json!({"target": pane, "action": "exit", "scroll_up": 1}), "needs the action `enter`"),
        (json!({"target": pane, "action": "enter", "scroll_up": 0}), "0 is too few"),
        (json!({"target": pane, "action": "toggle"}), "`enter` or `exit`"),
    ] {
        let error = mcp.call("copy_mode", arguments).await.err("invalid_argument");
        assert!(error.contains(words), "{error}");
    }
    let text = mcp.call("copy_mode", json!({"target": pane, "action": "exit"})).await.text();
    assert_eq!(text, format!("{pane} · not in copy mode · {history} history lines"));
    mcp.close().await;
}
