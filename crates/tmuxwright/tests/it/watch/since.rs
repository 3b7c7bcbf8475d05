//! `since` of `wait_for`: text that was printed after a cursor counts too.

use serde_json::{Value, json};
use testkit::{Mcp, Shell, TmuxServer};

use crate::serve;
use crate::support::{numbers, ready_pane, shows, string};

/// Presses Enter and returns the answer, which has the cursor behind the text that follows.
async fn answer_until(mcp: &Mcp, target: &str, until: &str) -> Value {
    let call = json!({"target": target, "enter": true, "until": [until], "timeout": 20});
    let result = mcp.call("send_keys", call).await.ok();
    assert_eq!(result["event"], until, "{result}");
    result
}

/// Presses Enter and returns the cursor behind the text that follows.
async fn enter_until(mcp: &Mcp, target: &str, until: &str) -> Value {
    answer_until(mcp, target, until).await["cursor"].clone()
}

async fn wait_since(mcp: &Mcp, cursor: &Value, until: &[&str], timeout: f64) -> Value {
    let call = json!({"since": cursor, "until": until, "timeout": timeout});
    mcp.call("wait_for", call).await.ok()
}

#[tokio::test]
async fn text_after_the_cursor_counts() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let program = "stty -echo; echo begun; read x; echo ONE; read x; echo TWO; printf 'half FINI'; read x; \
                   printf 'SHED'; read x; exit 7";
    let target = ready_pane(&mcp, program, "begun").await;
    let first = enter_until(&mcp, &target, "text:ONE").await;
    tmux.presses(&target, &["Enter"]);
    shows(&mcp, &target, "FINI").await;
    // Text before the cursor does not count, text after it does.
    let result = wait_since(&mcp, &first, &["text:ONE", "text:TWO"], 20.0).await;
    assert_eq!((&result["event"], &result["match"]), (&json!("text:TWO"), &json!("TWO")));
    assert_eq!(result["output"], "TWO\nhalf FINI", "{result}");
    let result = wait_since(&mcp, &first, &["change"], 20.0).await;
    assert_eq!(result["event"], "change", "{result}");
    // A line that was open at the cursor counts from there on.
    let second = result["cursor"].clone();
    tmux.presses(&target, &["Enter"]);
    shows(&mcp, &target, "FINISHED").await;
    let result = wait_since(&mcp, &second, &["text:FINI", "text:FINISHED"], 20.0).await;
    assert_eq!(result["event"], "text:FINISHED", "{result}");
    assert_eq!(result["match"], "half FINISHED", "{result}");
    // Without the cursor only what is printed from now on counts.
    let call = json!({"target": target, "until": ["text:FINISHED"], "timeout": 0.3});
    assert_eq!(mcp.call("wait_for", call).await.ok()["event"], "timeout");
    // The program may have exited.
    tmux.presses(&target, &["Enter"]);
    let result = wait_since(&mcp, &first, &["text:TWO"], 20.0).await;
    assert_eq!(result["event"], "text:TWO", "{result}");
    let result = wait_since(&mcp, &first, &["text:NEVER"], 20.0).await;
    assert_eq!(result["event"], "exit", "{result}");
    assert_eq!(result["output"], "TWO\nhalf FINISHED", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn echo_after_the_cursor_does_not_match() {
    for shell in Shell::ALL {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let mcp = serve(&tmux).await;
        for columns in [20, 40, 80] {
            let target = tmux.shell_pane(columns, 10);
            let call = json!({"target": target, "text": "echo earlier", "enter": true, "until": ["text:earlier"]});
            let cursor = mcp.call("send_keys", call).await.ok()["cursor"].clone();
            let line = "true some words; echo FINISHED; sleep 1000";
            let typed =
                json!({"target": target, "text": line, "enter": true, "until": ["text:FINISHED"]});
            assert_eq!(mcp.call("send_keys", typed).await.ok()["match"], "FINISHED");
            let result = wait_since(&mcp, &cursor, &["text:FINISHED"], 20.0).await;
            assert_eq!(result["match"], "FINISHED", "{shell:?} {columns}: {result}");
            let result = wait_since(&mcp, &cursor, &["text:sleep 1000"], 0.3).await;
            assert_eq!(result["event"], "timeout", "{shell:?} {columns}: {result}");
        }
        mcp.close().await;
    }
}

/// Each line is either read from the screen or from the stream, whatever is printed meanwhile.
#[tokio::test]
async fn no_line_is_missed_or_doubled() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let count = "i=0; while :; do i=$((i+1)); echo $i; [ $((i % 20)) = 0 ] && sleep 0.01; done";
    let program = format!("stty -echo; echo begun; read x; echo go; {count}");
    for round in 1..=10 {
        let target = ready_pane(&mcp, &program, "begun").await;
        // Lines that are printed before the answer is given are before its cursor.
        let answer = answer_until(&mcp, &target, "text:go").await;
        let seen = string(&answer["output"]).lines().last().and_then(|line| line.parse().ok());
        let seen: u64 = seen.unwrap_or(0);
        let wanted = format!("regex:^{}$", seen + round * 100);
        let result = wait_since(&mcp, &answer["cursor"], &[&wanted], 60.0).await;
        assert_eq!(result["event"], wanted, "after {seen}: {result}");
        assert_eq!(result.get("note"), None, "{result}");
        let output = string(&result["output"]);
        let lines: Vec<u64> = output.lines().map(|line| line.parse().unwrap()).collect();
        let first = if result["truncated"] == true { lines[0] } else { seen + 1 };
        let expected: Vec<u64> = (first..).take(lines.len()).collect();
        assert_eq!(lines, expected, "{round}: {answer}");
        mcp.call("kill", json!({"target": target})).await.ok();
    }
    mcp.close().await;
}

#[tokio::test]
async fn long_output_after_the_cursor_is_found() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let program = "stty -echo; echo begun; read x; echo go; read x; seq 1 1500; exec cat";
    let target = ready_pane(&mcp, program, "begun").await;
    let cursor = enter_until(&mcp, &target, "text:go").await;
    tmux.presses(&target, &["Enter"]);
    shows(&mcp, &target, "1500").await;
    let result = wait_since(&mcp, &cursor, &["regex:^7$"], 20.0).await;
    assert_eq!(result["match"], "7", "{result}");
    assert_eq!(result["output"], numbers(1, 1500));
    // The place of a cursor whose lines are gone is said to be unknown.
    tmux.tmux(&["send-keys", "-t", &target, "-R"]);
    tmux.tmux(&["clear-history", "-t", &target]);
    tmux.type_line(&target, "after");
    shows(&mcp, &target, "after").await;
    let result = wait_since(&mcp, &cursor, &["text:after"], 20.0).await;
    assert_eq!(result["event"], "text:after", "{result}");
    assert!(string(&result["note"]).contains("may be missing"), "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn rows_drawn_after_the_cursor_count() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let draw = "stty -echo; echo begun; read x; printf '\\033[?1049h\\033[2;5Hmenu'; read x; \
                printf '\\033[7;9HREADY'; exec cat";
    let target = ready_pane(&mcp, draw, "begun").await;
    let cursor = enter_until(&mcp, &target, "text:menu").await;
    tmux.presses(&target, &["Enter"]);
    shows(&mcp, &target, "READY").await;
    let result = wait_since(&mcp, &cursor, &["text:menu", "text:READY"], 20.0).await;
    assert_eq!(result["event"], "text:READY", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn unusable_cursor_is_refused() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "echo begun; exec cat", "begun").await;
    let other = ready_pane(&mcp, "echo begun; exec cat", "begun").await;
    let cursor = enter_until(&mcp, &target, "stable:0.1").await;
    let wait = |extra: Value| {
        let mut call = json!({"since": cursor, "until": ["change"], "timeout": 0.1});
        for (name, value) in extra.as_object().unwrap() {
            call[name] = value.clone();
        }
        mcp.call("wait_for", call)
    };
    let error = wait(json!({"since": "nonsense"})).await.err("invalid_argument");
    assert!(error.contains("`nonsense` is not a cursor"), "{error}");
    let error = wait(json!({"target": other})).await.err("invalid_argument");
    assert!(error.contains(&format!("the cursor is of pane {target}")), "{error}");
    let error = wait(json!({"targets": [target, other]})).await.err("invalid_argument");
    assert!(error.contains("`since` does not go with `targets`"), "{error}");
    assert_eq!(wait(json!({"target": target})).await.ok()["event"], "timeout");
    tmux.tmux(&["respawn-pane", "-k", "-t", &target, "exec cat"]);
    let error = wait(json!({})).await.err("invalid_argument");
    assert!(error.contains("respawned"), "{error}");
    mcp.call("kill", json!({"target": target})).await.ok();
    wait(json!({})).await.err("not_found");
    mcp.close().await;
}
