//! The conditions of `wait_for` and `start_and_watch`, and the output that does not match them.

use serde_json::{Value, json};
use testkit::{Mcp, Shell, TmuxServer, until};

use crate::support::waits::has_begun;
use crate::support::{list, pane, ready_pane, shows, string};
use crate::{serve, serve_configured};

/// Waits until a condition holds in a pane.
async fn wait(mcp: &Mcp, target: &str, until: &[&str]) -> Value {
    mcp.call("wait_for", json!({"target": target, "until": until, "timeout": 20})).await.ok()
}

/// The same; calls `then` once the wait has begun.
async fn wait_while(
    (tmux, mcp): (&TmuxServer, &Mcp),
    target: &str,
    until: &[&str],
    then: impl AsyncFnOnce(),
) -> Value {
    let (result, ()) = tokio::join!(biased; wait(mcp, target, until), async {
        has_begun(tmux, mcp, target).await;
        then().await;
    });
    result
}

/// The same in a pane that runs `sh gate`, which `then` may type: that program exits only once the wait
/// has begun. The wait must not end before.
async fn wait_at_gate(
    (tmux, mcp): (&TmuxServer, &Mcp),
    target: &str,
    condition: &str,
    then: impl AsyncFnOnce(),
) -> Value {
    let (running, open) = (tmux.home().join("running"), tmux.home().join("open"));
    let waited = async {
        let result = wait(mcp, target, &[condition]).await;
        assert!(open.exists(), "{condition} held too early: {result}");
        result
    };
    let (result, ()) = tokio::join!(biased; waited, async {
        has_begun(tmux, mcp, target).await;
        then().await;
        until("the gate runs", async || running.exists().then_some(())).await;
        std::fs::write(&open, "").unwrap();
    });
    for file in [running, open] {
        std::fs::remove_file(file).unwrap();
    }
    result
}

/// Writes the program of [`wait_at_gate`] to the home.
fn write_gate(tmux: &TmuxServer) {
    let program = "touch running; until test -e open; do sleep 0.02; done\n";
    std::fs::write(tmux.home().join("gate"), program).unwrap();
}

async fn type_line(mcp: &Mcp, target: &str, line: &str) {
    let keys = json!({"target": target, "text": line, "enter": true});
    mcp.call("send_keys", keys).await.ok();
}

#[tokio::test]
async fn a_watch_does_not_match_the_command_line() {
    for shell in Shell::ALL {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let mcp = serve(&tmux).await;
        let persons = tmux.shell_pane(40, 10);
        for target in [None, Some(&persons)] {
            let mut call = json!({"command": "sleep 0.3; echo FINI'SHED'; sleep 1000",
                "until": ["text:FINISHED"]});
            if let Some(target) = target {
                call["target"] = json!(target);
            }
            let result = mcp.call("start_and_watch", call).await.ok();
            assert_eq!(result["event"], "text:FINISHED", "{shell:?}: {result}");
            assert_eq!(result["match"], "FINISHED", "{shell:?}: {result}");
            assert_eq!(result["output"], "FINISHED", "{shell:?}: {result}");
            assert!(result["elapsed"].as_f64().unwrap() >= 0.3, "{shell:?}: {result}");
            let id = json!({"command_id": result["command_id"]});
            let command = mcp.call("command_result", id).await.ok();
            assert_eq!(command["status"], "running", "{shell:?}: {command}");
        }
        mcp.close().await;
    }
}

#[tokio::test]
async fn typed_text_does_not_match_a_condition() {
    for shell in Shell::ALL {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        write_gate(&tmux);
        let mcp = serve(&tmux).await;
        let line = "sh gate; true a long line of words; echo FINISHED; sleep 1000";
        // Narrow, so that the typed line wraps. Behind a prompt that fills a row, fish draws each
        // word by itself.
        if shell == Shell::Fish {
            let prompt = "function fish_prompt; printf 'prompt as wide as> '; end\n";
            tmux.write_start_up(shell, prompt);
        }
        for columns in [30, 20] {
            let target = tmux.shell_pane(columns, 10);
            type_line(&mcp, &target, line).await;
            let gated = wait_at_gate((&tmux, &mcp), &target, "text:FINISHED", async || {});
            assert_eq!(gated.await["match"], "FINISHED", "{shell:?}, {columns} columns");
        }
        // The same when the wait begins first.
        let target = tmux.shell_pane(30, 10);
        let types = async || type_line(&mcp, &target, line).await;
        let result = wait_at_gate((&tmux, &mcp), &target, "text:FINISHED", types).await;
        assert_eq!(result["match"], "FINISHED", "{shell:?}: {result}");
        mcp.close().await;
    }
}

#[tokio::test]
async fn input_to_a_watched_command_does_not_match() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let call = json!({"command": "printf 'go? '; read x; echo it goes; sleep 1000",
        "until": ["text:yes please", "text:it goes"]});
    let (result, ()) = tokio::join!(biased; mcp.call("start_and_watch", call), async {
        let asks = async || {
            let panes = list(&mcp, "list_panes", json!({"filter": "own=true"})).await;
            let target = string(&panes.first()?["pane_id"]);
            tmux.screen(&target).ends_with("go?").then_some(target)
        };
        let target = until("the command asks", asks).await;
        type_line(&mcp, &target, "yes please").await;
    });
    let result = result.ok();
    assert_eq!(result["event"], "text:it goes", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn text_matches_across_chunks_and_rows() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let long = "x".repeat(495);
    for (command, line) in [
        ("printf FIN; sleep 0.1; printf ISHED", "FINISHED".to_owned()),
        (&format!("printf {long}FINI; sleep 0.1; echo SHED"), format!("{long}FINISHED")),
        ("printf 'FIN\\033[31mISH\\033[0mED'", "FINISHED".to_owned()),
        ("printf 'half'; sleep 0.1; printf '\\rFINISHED\\n'", "FINISHED".to_owned()),
        ("printf 'F\\303'; sleep 0.1; printf '\\251 FINISHED\\n'", "Fé FINISHED".to_owned()),
    ] {
        let call =
            json!({"command": format!("{command}; sleep 1000"), "until": ["regex:FIN.?SHED$"]});
        let result = mcp.call("start_and_watch", call).await.ok();
        assert_eq!(result["event"], "regex:FIN.?SHED$", "{command}: {result}");
        assert_eq!(result["match"], line, "{command}: {result}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn earlier_output_does_not_match() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "printf 'old FINISHED'; read x; echo new; cat", "FINI").await;
    let result = wait_while((&tmux, &mcp), &target, &["text:FINISHED", "text:new"], async || {
        mcp.call("send_keys", json!({"target": target, "enter": true})).await.ok();
    })
    .await;
    assert_eq!(result["event"], "text:new", "{result}");
    assert_eq!(result["output"], "new", "{result}");
    // A line that began before the call matches once it is completed.
    let draw = "stty -echo; printf 'half FINI'; head -n1 >/dev/null; printf SHED; cat";
    let target = ready_pane(&mcp, draw, "FINI").await;
    let conditions = ["regex:^half FINI", "text:FINISHED"];
    let result = wait_while((&tmux, &mcp), &target, &conditions, async || {
        tmux.tmux(&["send-keys", "-t", &target, "Enter"]);
    })
    .await;
    assert_eq!(result["event"], "text:FINISHED", "{result}");
    assert_eq!(result["match"], "half FINISHED", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn capture_since_continues_where_a_wait_ended() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target =
        ready_pane(&mcp, "echo begun; read x; echo ONE; read x; seq 1 500; cat", "begun").await;
    let enter = async || {
        tmux.presses(&target, &["Enter"]);
    };
    let first = wait_while((&tmux, &mcp), &target, &["text:ONE"], enter).await;
    let since = async || {
        let call = json!({"cursor": first["cursor"]});
        mcp.call("capture_since", call).await.ok()["lines"].clone()
    };
    assert_eq!(since().await, json!([]), "{first}");
    let second = wait_while((&tmux, &mcp), &target, &["text:500"], enter).await;
    let expected: Vec<String> = (1..=500).map(|number| number.to_string()).collect();
    assert_eq!(since().await, json!(expected));
    assert_eq!(second["output"], expected.join("\n"), "{second}");
    mcp.close().await;
}

#[tokio::test]
async fn the_first_listed_condition_wins() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for until in [["text:ONE", "text:TWO"], ["text:TWO", "text:ONE"]] {
        let call = json!({"command": "echo ONE TWO; sleep 1000", "until": until});
        let result = mcp.call("start_and_watch", call).await.ok();
        assert_eq!(result["event"], until[0], "{result}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn the_first_matching_pane_is_named() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let quiet = pane(&mcp, "cat").await;
    let other = ready_pane(&mcp, "printf ready; read x; echo ANSWER; cat", "ready").await;
    let call = json!({"targets": [quiet, other, other], "until": ["text:ANSWER", "exit"]});
    let (result, ()) = tokio::join!(biased; mcp.call("wait_for", call), async {
        has_begun(&tmux, &mcp, &other).await;
        mcp.call("send_keys", json!({"target": other, "enter": true})).await.ok();
    });
    let result = result.ok();
    assert_eq!((&result["event"], &result["pane_id"]), (&json!("text:ANSWER"), &json!(other)));
    mcp.close().await;
}

#[tokio::test]
async fn each_condition_holds_for_its_command() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    for (command, until, event, state, matched) in [
        ("sleep 0.1; (exit 3)", &["exit"][..], "exit", "prompt", "exit code 3"),
        ("sleep 0.1; true | sleep 0.1 | true", &["exit"], "exit", "prompt", "exit code 0"),
        ("read -p 'name? ' x", &["password", "input"], "input", "line", "name? "),
        ("read -sp 'secret? ' x", &["prompt", "password"], "password", "password", "secret? "),
        ("sleep 0.1", &["password", "prompt"], "prompt", "prompt", ""),
        ("python3 -qc 'input(\"> \")'", &["input"], "input", "line", "> "),
        ("printf 'x\\a'; sleep 1000", &["bell"], "bell", "running", ""),
        ("sleep 0.1; echo x; sleep 1000", &["change"], "change", "running", ""),
        ("echo x; sleep 1000", &["idle:0.3"], "idle:0.3", "running", ""),
        ("echo x; sleep 1000", &["stable:0.3"], "stable:0.3", "running", ""),
        (
            "sh nothere.sh; sleep 1000",
            &["error"],
            "error",
            "running",
            "sh: 0: cannot open nothere.sh: No such file",
        ),
        (
            "echo 0 errors; echo error.rs; echo error-free; (exit 2)",
            &["error"],
            "exit",
            "prompt",
            "exit code 2",
        ),
    ] {
        let call = json!({"command": command, "until": until, "timeout": 20});
        let result = mcp.call("start_and_watch", call).await.ok();
        assert_eq!(result["event"], event, "{command}: {result}");
        // A slow shell is not back at its prompt when the exit is reported.
        let is_slow = event == "exit" && result["state"] == "running";
        assert!(result["state"] == state || is_slow, "{command}: {result}");
        if !matched.is_empty() {
            assert_eq!(result["match"], matched, "{command}: {result}");
        }
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_wait_works_on_an_existing_pane() {
    for shell in Shell::ALL {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        write_gate(&tmux);
        let mcp = serve(&tmux).await;
        let target = tmux.shell_pane(80, 10);
        for until in ["prompt", "exit"] {
            type_line(&mcp, &target, "sh gate").await;
            let result = wait_at_gate((&tmux, &mcp), &target, until, async || {}).await;
            assert_eq!(result["event"], until, "{shell:?}: {result}");
        }
        for (line, until) in [("cat", "input"), ("", "idle:0.3")] {
            type_line(&mcp, &target, line).await;
            let result = wait(&mcp, &target, &[until]).await;
            assert_eq!(result["event"], until, "{shell:?} {line}: {result}");
            let elapsed = result["elapsed"].as_f64().unwrap();
            assert!(elapsed >= 0.2 || until == "input", "{shell:?} {line}: {result}");
        }
        mcp.close().await;
    }
}

#[tokio::test]
async fn gone_and_stable_follow_the_screen() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let draw = "printf 'Loading'; read x; printf '\\033[1A\\r\\033[K'; cat";
    let target = ready_pane(&mcp, draw, "Loading").await;
    let result = wait_while((&tmux, &mcp), &target, &["gone:Loading"], async || {
        mcp.call("send_keys", json!({"target": target, "enter": true})).await.ok();
    })
    .await;
    assert_eq!(result["event"], "gone:Loading", "{result}");
    let result = wait(&mcp, &target, &["gone:never there"]).await;
    assert_eq!(result["event"], "gone:never there", "{result}");
    // Drawing the same row again is not a change of the screen.
    let spin = "while :; do printf '\\rsame'; sleep 0.02; done";
    let target = ready_pane(&mcp, spin, "same").await;
    let result = wait(&mcp, &target, &["stable:0.3", "idle:10"]).await;
    assert_eq!(result["event"], "stable:0.3", "{result}");
    let count = "i=0; while :; do i=$((i+1)); printf \"\\r$i\"; sleep 0.02; done";
    let target = ready_pane(&mcp, count, "1").await;
    // Much longer than a busy machine keeps the program from counting.
    let call = json!({"target": target, "until": ["stable:2"], "timeout": 3});
    let result = mcp.call("wait_for", call).await.ok();
    assert_eq!(result["event"], "timeout", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn text_matches_in_full_screen_programs() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let draw = "printf '\\033[?1049h\\033[2;5Hmenu'; read x; printf '\\033[7;9HREADY'; cat";
    let target = ready_pane(&mcp, draw, "menu").await;
    let result = wait_while((&tmux, &mcp), &target, &["text:menu", "text:READY"], async || {
        mcp.call("send_keys", json!({"target": target, "enter": true})).await.ok();
    })
    .await;
    assert_eq!(result["event"], "text:READY", "{result}");
    assert_eq!(string(&result["match"]).trim(), "READY", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn a_wait_survives_a_resize() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let drawn = "printf '\\033[33;1Hbottom READY\\033[34;1Hbelow'";
    let draw =
        format!("printf '\\033[?1049hmenu'; trap \"{drawn}\" WINCH; while :; do sleep 0.05; done");
    let target = tmux.open(&draw);
    shows(&mcp, &target, "menu").await;
    let result = wait_while((&tmux, &mcp), &target, &["text:READY"], async || {
        tmux.tmux(&["resize-window", "-t", &target, "-x", "100", "-y", "40"]);
    })
    .await;
    assert_eq!(result["event"], "text:READY", "{result}");
    assert_eq!(result["match"], "bottom READY", "{result}");
    assert_eq!(result.get("note"), None, "{result}");
    // A line that began before the resize is still matched as one line.
    let draw = "stty -echo; printf 'half FINI'; head -n1 >/dev/null; printf SHED; cat";
    let target = ready_pane(&mcp, draw, "FINI").await;
    let result = wait_while((&tmux, &mcp), &target, &["text:FINISHED"], async || {
        tmux.tmux(&["resize-window", "-t", &target, "-x", "50", "-y", "10"]);
        tmux.presses(&target, &["Enter"]);
    })
    .await;
    assert_eq!(result["match"], "half FINISHED", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn a_watch_ends_with_its_last_process() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    let call = json!({"command": "echo no; (exit 4)", "until": ["text:NEVER"]});
    let result = mcp.call("start_and_watch", call).await.ok();
    assert_eq!((&result["event"], &result["exit_code"]), (&json!("exit"), &json!(4)), "{result}");
    assert_eq!(result["output"], "no", "{result}");
    let call = json!({"command": "(sleep 0.3; echo LA'TER') & true", "until": ["text:LATER"]});
    let result = mcp.call("start_and_watch", call).await.ok();
    assert_eq!(result["event"], "text:LATER", "{result}");
    // Without a match the watch ends with the background process, whose output is included.
    let call = json!({"command": "(sleep 1; echo LA'TER') & true", "until": ["text:NEVER"]});
    let result = mcp.call("start_and_watch", call).await.ok();
    assert_eq!(result["event"], "exit", "{result}");
    assert!(string(&result["output"]).contains("LATER"), "{result}");
    // A background process that is silent keeps it open for conditions on time.
    let call = json!({"command": "sleep 1000 & true", "until": ["text:NEVER", "idle:0.3"]});
    let result = mcp.call("start_and_watch", call).await.ok();
    assert_eq!(result["event"], "idle:0.3", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn invalid_conditions_and_targets_are_named() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = pane(&mcp, "cat").await;
    for (call, message) in [
        (json!({"target": target, "until": []}), "`until` is empty"),
        (json!({"target": target, "until": ["regex:(a"]}), "`(a` is not a regular expression"),
        (json!({"target": target, "until": ["listening"]}), "`text:listening`"),
        (json!({"target": target, "until": ["idle:x"]}), "`x` is not a number of seconds"),
        (json!({"until": ["exit"]}), "neither `target` nor `targets`"),
        (json!({"targets": [], "until": ["exit"]}), "neither `target` nor `targets`"),
        (json!({"target": target, "targets": [target], "until": ["exit"]}), "does not go with"),
        (json!({"target": target, "until": ["exit"], "timeout": 601}), "601"),
        (json!({"target": target, "until": "exit"}), "until"),
    ] {
        let error = mcp.call("wait_for", call.clone()).await.err("invalid_argument");
        assert!(error.contains(message) && error.contains("\nNext: "), "{call}: {error}");
    }
    let call = json!({"targets": [target, "%999"], "until": ["exit"]});
    mcp.call("wait_for", call).await.err("not_found");
    for (call, message) in [
        (json!({"command": "true", "until": ["soon"]}), "no condition `soon`"),
        (json!({"command": " ", "until": ["exit"]}), "`command` is empty"),
        (json!({"command": "true", "until": ["exit"], "target": target, "cwd": "/"}), "`cwd`"),
    ] {
        let error = mcp.call("start_and_watch", call).await.err("invalid_argument");
        assert!(error.contains(message), "{error}");
    }
    let call = json!({"command": "true", "until": ["exit"], "target": target});
    mcp.call("start_and_watch", call).await.err("busy");
    mcp.close().await;
}

#[tokio::test]
async fn error_patterns_are_configurable() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, "[watch]\nerrors = ['^oops', 'kaputt$']\n").await;
    let command = "echo error: known; echo it is kaputt; sleep 1000";
    let call = json!({"command": command, "until": ["error"]});
    let result = mcp.call("start_and_watch", call).await.ok();
    assert_eq!(result["match"], "it is kaputt", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn a_long_wait_keeps_the_newest_output() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let call =
        json!({"command": "seq 1 100000; echo; echo E'ND'; sleep 1000", "until": ["text:END"]});
    let result = mcp.call("start_and_watch", call).await.ok();
    let output = string(&result["output"]);
    assert!(output.ends_with("\n99999\n100000\n\nEND") && output.len() <= 17_000, "{result}");
    assert_eq!(result["truncated"], true, "{result}");
    let id = string(&result["command_id"]);
    let kept = until("all lines are kept", async || {
        let result = mcp.call("command_result", json!({"command_id": id, "tail": 1})).await.ok();
        (result["total_lines"] == 100_002).then_some(result)
    });
    kept.await;
    mcp.close().await;
}
