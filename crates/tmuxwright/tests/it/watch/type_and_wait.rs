//! `until` of `send_keys` and `paste_text`: the wait begins before the first key.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Mcp, Shell, TmuxServer, until};

use crate::support::{keys, pane, ready_pane, screen, shows, string};
use crate::{launch, serve};

/// Types a line and waits until a condition holds.
async fn type_until(mcp: &Mcp, target: &str, line: &str, until: &[&str]) -> Value {
    let call =
        json!({"target": target, "text": line, "enter": true, "until": until, "timeout": 20});
    mcp.call("send_keys", call).await.ok()
}

#[tokio::test]
async fn typing_returns_the_output_it_caused() {
    for shell in Shell::ALL {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let mcp = serve(&tmux).await;
        for columns in [20, 40, 80] {
            let target = tmux.shell_pane(columns, 10);
            let line = "true a long line of words; echo FINISHED";
            let result = type_until(&mcp, &target, line, &["text:FINISHED"]).await;
            assert_eq!(result["match"], "FINISHED", "{shell:?} {columns}: {result}");
            assert_eq!(result["pane_id"], target, "{shell:?}: {result}");
            let result = type_until(&mcp, &target, "sleep 0.4", &["prompt"]).await;
            assert_eq!(result["event"], "prompt", "{shell:?} {columns}: {result}");
            assert_eq!(result["state"], "prompt", "{shell:?} {columns}: {result}");
            assert!(result["elapsed"].as_f64().unwrap() >= 0.3, "{shell:?} {columns}: {result}");
        }
        mcp.close().await;
    }
}

/// A shell at its prompt is awake now and then, to redraw or to run a trap.
#[tokio::test]
async fn a_shell_that_wakes_is_at_its_prompt() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    let target = tmux.shell_pane(80, 10);
    let trap = "trap 'for n in {1..800}; do :; done' USR1";
    let signals = format!("{trap}; while sleep 0.001 && kill -USR1 $$; do :; done 2>/dev/null &");
    type_until(&mcp, &target, &signals, &["prompt"]).await;
    for number in 0..50 {
        let result = type_until(&mcp, &target, "true", &["prompt"]).await;
        assert_eq!(result["event"], "prompt", "{number}: {result}");
        assert_eq!(result["state"], "prompt", "{number}: {result}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn output_printed_at_once_is_never_missed() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "echo begun; while read x; do echo got $x; done", "begun").await;
    for number in 0..50 {
        let wanted = format!("text:got {number}.");
        let result = type_until(&mcp, &target, &format!("{number}."), &[&wanted]).await;
        assert_eq!(result["match"], format!("got {number}."), "{result}");
    }
    let paste = json!({"target": target, "text": "one\ntwo\n", "until": ["text:got two"]});
    let result = mcp.call("paste_text", paste).await.ok();
    // The program may read the first line before the second one is echoed.
    let mut lines: Vec<String> = string(&result["output"]).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["got one", "got two", "one", "two"], "{result}");
    // The answer's cursor is behind the output.
    let since = mcp.call("capture_since", json!({"cursor": result["cursor"]})).await.ok();
    assert_eq!(since["lines"], json!([]), "{since}");
    mcp.close().await;
}

#[tokio::test]
async fn echo_of_typed_keys_does_not_match() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "echo begun; exec cat >/dev/null", "begun").await;
    let lines: Vec<String> = (0..100).map(|number| format!("line {number} of many")).collect();
    let pasted = json!({"target": target, "text": lines.join("\n"), "enter": true});
    let by_key = json!({"target": target, "keys": ["q", "u", "i", "t", "Enter"]});
    for (tool, mut call, until) in [
        ("paste_text", pasted, "text:line 7 of"),
        ("send_keys", by_key, "text:quit"),
        ("send_keys", json!({"target": target, "text": "typed text"}), "change"),
    ] {
        call["until"] = json!([until]);
        call["timeout"] = json!(0.5);
        let result = mcp.call(tool, call).await.ok();
        assert_eq!(result["event"], "timeout", "{until}: {result}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn state_from_before_the_keys_does_not_count() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    let target = tmux.shell_pane(80, 24);
    for (line, condition, matched) in [
        ("sleep 0.5", "prompt", ""),
        ("sleep 0.5", "exit", ""),
        ("sleep 0.5; read -p 'name? ' x", "input", "name? "),
        ("sleep 0.5; read -p 'next? ' x", "input", "next? "),
        ("sleep 0.5; read -sp 'secret? ' x", "password", "secret? "),
    ] {
        let result = type_until(&mcp, &target, line, &[condition]).await;
        assert_eq!(result["event"], condition, "{line}: {result}");
        assert!(result["elapsed"].as_f64().unwrap() >= 0.4, "{line}: {result}");
        if !matched.is_empty() {
            assert_eq!(result["match"], matched, "{line}: {result}");
            // The answered question is no longer open.
            let answered = type_until(&mcp, &target, "sleep 0", &["prompt"]).await;
            assert_eq!(answered["event"], "prompt", "{line}: {answered}");
        }
    }
    mcp.close().await;
}

/// A program that is too busy to read the keys when they come.
#[tokio::test]
async fn state_counts_once_the_keys_are_read() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let busy = "stty -echo; echo begun; sleep 2; read x; echo read; exec sleep 1000";
    for condition in ["idle:0.3", "stable:0.3", "gone:begun or not"] {
        let target = ready_pane(&mcp, busy, "begun").await;
        let result = type_until(&mcp, &target, "x", &[condition]).await;
        assert_eq!(result["event"], condition, "{result}");
        // `gone` holds as soon as the keys are read.
        assert!(condition.starts_with("gone") || result["output"] == "read", "{result}");
        assert!(result["elapsed"].as_f64().unwrap() >= 0.3, "{result}");
    }
    let target = ready_pane(&mcp, "echo begun; exec sleep 1000", "begun").await;
    let call =
        json!({"target": target, "text": "x", "enter": true, "until": ["idle:0.1"], "timeout": 1});
    let result = mcp.call("send_keys", call).await.ok();
    assert_eq!(result["event"], "timeout", "{result}");
    assert_eq!(result["note"], "the program has not read the keys yet", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn settled_screen_comes_with_the_answer() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("words");
    std::fs::write(&file, "first\nsecond\n").unwrap();
    let target = tmux.shell_pane(80, 24);
    let line = format!("vi {}", file.display());
    let opened = type_until(&mcp, &target, &line, &["stable:0.5"]).await;
    assert!(string(&opened["output"]).starts_with("first\nsecond\n~\n"), "{opened}");
    // Only one row changes, and the whole screen is in the answer.
    let call = json!({"target": target, "keys": ["d", "d"], "until": ["stable:0.5"]});
    let deleted = mcp.call("send_keys", call).await.ok();
    assert!(string(&deleted["output"]).starts_with("second\n~\n"), "{deleted}");
    let left = type_until(&mcp, &target, ":q!", &["prompt"]).await;
    assert_eq!(left["event"], "prompt", "{left}");
    assert!(!string(&left["output"]).contains('~'), "{left}");
    mcp.close().await;
}

#[tokio::test]
async fn nothing_is_typed_by_a_refused_call() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "echo begun; exec cat", "begun").await;
    let ended = pane(&mcp, "true").await;
    shows(&mcp, &ended, "").await;
    for (call, code, expected) in [
        (json!({"until": ["Listening"]}), "invalid_argument", "no condition `Listening`"),
        (json!({"until": []}), "invalid_argument", "`until` is empty"),
        (json!({"until": ["regex:("]}), "invalid_argument", "not a regular expression"),
        (json!({"until": ["exit"], "timeout": 601}), "invalid_argument", "601"),
        (json!({"until": ["exit"], "timeout": -1}), "invalid_argument", "-1"),
        (json!({"timeout": 5}), "invalid_argument", "`timeout` is given without `until`"),
        (json!({"until": ["exit"], "keys": ["NoKey"]}), "invalid_argument", "`keys[0]`"),
        (json!({"until": ["exit"], "target": "%999"}), "not_found", "%999"),
    ] {
        for tool in ["send_keys", "paste_text"] {
            let mut arguments = json!({"target": target, "text": "typed", "enter": true});
            for (name, value) in call.as_object().unwrap() {
                arguments[name] = value.clone();
            }
            if tool == "paste_text" && call.get("keys").is_some() {
                continue;
            }
            let error = mcp.call(tool, arguments).await.err(code);
            assert!(error.contains(expected), "{call}: {error}");
        }
    }
    let result = type_until(&mcp, &target, "seen", &["text:seen"]).await;
    assert_eq!(result["output"], "seen\nseen", "{result}");
    assert_eq!(screen(&mcp, &target).await, "begun\nseen\nseen");
    mcp.close().await;
}

#[tokio::test]
async fn typing_without_until_answers_at_once() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "echo begun; exec cat", "begun").await;
    let answer = mcp.call("send_keys", json!({"target": target, "text": "x"})).await;
    assert_eq!(answer.text(), format!("typed into {target}"));
    let answer = mcp.call("paste_text", json!({"target": target, "text": "y"})).await.ok();
    assert_eq!(answer, json!({"pane_id": target}));
    let call = json!({"target": target, "enter": true, "until": ["text:xy"]});
    let answer = mcp.call("send_keys", call).await.ok();
    let fields = ["cursor", "elapsed", "event", "match", "output", "pane_id", "state"];
    assert_eq!(keys(&answer), fields, "{answer}");
    mcp.close().await;
}

#[tokio::test]
async fn exit_is_reported_when_keys_end_the_program() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "echo begun; read x; echo bye; exit 7", "begun").await;
    let result = type_until(&mcp, &target, "", &["text:NEVER"]).await;
    assert_eq!((&result["event"], &result["match"]), (&json!("exit"), &json!("exit code 7")));
    assert_eq!(result["output"], "bye", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn batch_types_and_waits_in_order() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "echo begun; while read x; do echo got $x; done", "begun").await;
    let calls: Vec<Value> = (0..3)
        .map(|number| {
            let until = [format!("text:got {number}")];
            let arguments = json!({"target": target, "text": number.to_string(), "enter": true, "until": until});
            json!({"tool": "send_keys", "arguments": arguments})
        })
        .collect();
    let results = mcp.call("batch", json!({"calls": calls})).await.ok();
    for number in 0..3 {
        let text = results["results"][number].to_string();
        assert!(text.contains(&format!("text:got {number}")), "{results}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn cancelled_call_ends_its_wait() {
    let tmux = TmuxServer::new();
    let mut raw = launch(&tmux).args(&["--toolset", "all", "--structured"]).raw();
    raw.initialize("2025-11-25").await;
    let target = tmux.open("exec cat");
    let streams = || {
        let flags = tmux.tmux(&["list-clients", "-F", "#{client_flags}"]);
        flags.lines().filter(|flags| !flags.contains("no-output")).count()
    };
    let arguments =
        json!({"target": target, "text": "typed", "until": ["text:NEVER"], "timeout": 600});
    let params =
        json!({"name": "send_keys", "arguments": arguments, "_meta": {"progressToken": "p"}});
    let id = raw.start("tools/call", params).await;
    until("the keys are typed", async || tmux.screen(&target).contains("typed").then_some(()))
        .await;
    let note = raw.receive().await.unwrap();
    assert_eq!(note["method"], "notifications/progress", "{note}");
    assert!(string(&note["params"]["message"]).contains("nothing yet"), "{note}");
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": id, "reason": "enough"}});
    raw.send(&cancelled).await;
    until("the stream is released", async || (streams() == 0).then_some(())).await;
    let listed = raw.request("tools/call", json!({"name": "list_panes", "arguments": {}})).await;
    assert_ne!(listed["id"], id, "{listed}");
    raw.hang_up();
    raw.wait().await;
}

#[tokio::test]
async fn time_for_typing_is_not_waited() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "stty -echo; echo begun; exec cat >/dev/null", "begun").await;
    let begun = std::time::Instant::now();
    let call = json!({"target": target, "keys": ["x"], "repeat": 5, "delay_ms": 300,
        "until": ["text:NEVER"], "timeout": 0.5});
    let result = mcp.call("send_keys", call).await.ok();
    assert_eq!(result["event"], "timeout", "{result}");
    assert!(begun.elapsed() >= Duration::from_millis(1_700), "{:?}", begun.elapsed());
    assert!(result["elapsed"].as_f64().unwrap() >= 0.5, "{result}");
    mcp.close().await;
}
