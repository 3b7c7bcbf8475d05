//! Tests of commands, keys and waits in panes of another host, over ssh.

use serde_json::{Value, json};
use testkit::{Mcp, Shell, wait_until, wait_until_equal};

use super::other_host::{OtherHost, assert_prints, ran};
use crate::support::{command_end, numbers, screen, shows, string};

#[tokio::test]
async fn commands_over_ssh_are_exact() {
    let host = OtherHost::new();
    let mcp = host.serve().await;
    let wide = "x".repeat(300);
    for (command, output, code) in [
        ("echo hi; (exit 7)", "hi", 7),
        ("cd /usr; export KEPT='a  b'", "", 0),
        ("pwd; echo \"$KEPT\"", "/usr\na  b", 0),
        (&format!("echo {wide}"), &wide, 0),
        ("[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && tty | cut -c1-9", "/dev/pts/", 0),
    ] {
        let done = ran(&mcp, json!({"command": command})).await;
        assert_eq!(done, (output.to_owned(), json!(code)), "{command}");
    }
    let many = mcp.call("run_command", json!({"command": "seq 1 100000", "max_lines": 4})).await;
    let many = many.ok();
    assert_eq!((&many["exit_code"], &many["total_lines"]), (&json!(0), &json!(100_000)), "{many}");
    let middle = json!({"command_id": many["command_id"], "from": 50_000, "max_chars": 100});
    let middle = mcp.call("command_result", middle).await.ok();
    assert!(string(&middle["output"]).contains("50000\n50001\n50002"), "{middle}");
    let here = json!({"command": "pwd", "cwd": "/usr/lib"});
    assert_eq!(ran(&mcp, here).await.0, "/usr/lib");
    let gone = json!({"command": "pwd", "cwd": "/no/such"});
    let error = mcp.call("run_command", gone).await.result();
    assert_eq!(error.is_error, Some(true), "{error:?}");
    mcp.close().await;
    host.assert_clean();
}

#[tokio::test]
async fn shells_of_a_person_run_commands() {
    let host = OtherHost::new();
    let mcp = host.serve().await;
    for shell in Shell::ALL {
        host.tmux.use_shell(shell);
        let pane = host.tmux.shell_pane(80, 24);
        let (target, name) = (pane.as_str(), shell.name());
        assert_prints(&mcp, target, "echo one; echo two", "one\ntwo").await;
        let failed = ran(&mcp, json!({"target": target, "command": "sh -c 'exit 3'"})).await;
        assert_eq!(failed, (String::new(), json!(3)), "{name}");
        let lines = numbers(1, 2000);
        let arguments = json!({"target": target, "command": "seq 2000", "max_lines": 0});
        assert_eq!(ran(&mcp, arguments).await.0, lines, "{name}");
        host.tmux.types(target, "echo half");
        let row = format!("{} echo half", shell.prompt());
        let last_row = || host.tmux.screen(target).lines().last().unwrap_or_default().to_owned();
        wait_until_equal(name, last_row, &row);
        let arguments = json!({"target": target, "command": "echo no"});
        let error = mcp.call("run_command", arguments).await.err("not_ready");
        assert!(error.contains("not entered"), "{name}: {error}");
        assert_eq!(last_row(), row, "{name}");
        host.tmux.presses(target, &["C-u"]);
        host.tmux.presses(target, &["Enter"]);
        wait_until("the prompt is empty", || (last_row() == shell.prompt()).then_some(()));
        let editor = format!("vi -c 'normal i{name}'");
        host.tmux.type_line(target, &editor);
        wait_until("the editor shows its text", || {
            host.tmux.screen(target).starts_with(name).then_some(())
        });
        let before = host.tmux.screen(target);
        let arguments = json!({"target": target, "command": "echo no"});
        mcp.call("run_command", arguments).await.err("busy");
        assert_eq!(host.tmux.screen(target), before);
        host.tmux.tmux(&["kill-session", "-t", target]);
    }
    mcp.close().await;
    host.assert_clean();
}

/// Types a line into the pane, and returns the event that ends the wait.
async fn typed(mcp: &Mcp, target: &str, text: &str, until: &str) -> Value {
    let arguments = json!({
        "target": target, "text": text, "enter": true, "until": [until], "timeout": 20
    });
    let answer = mcp.call("send_keys", arguments).await.ok();
    assert_eq!(answer["event"], until, "{text}: {answer}");
    answer
}

#[tokio::test]
async fn keys_and_waits_work_over_ssh() {
    let host = OtherHost::new();
    let mcp = host.serve().await;
    host.tmux.use_shell(Shell::Bash);
    let pane = host.tmux.shell_pane(80, 24);
    let target = pane.as_str();
    let state = async || mcp.call("pane_state", json!({"target": target})).await.ok();
    assert_eq!(state().await["at_prompt"], true);
    typed(&mcp, target, "read -s -p 'Code: ' x; echo; echo ${#x}", "password").await;
    let asking = state().await;
    assert_eq!(asking["input"], "password", "{asking}");
    typed(&mcp, target, "1234", "prompt").await;
    let shown = screen(&mcp, target).await;
    assert!(shown.contains("\n4\n"), "{shown}");
    typed(&mcp, target, "read -p 'Name? ' x", "input").await;
    assert_eq!(state().await["input"], "line");
    typed(&mcp, target, "Ann", "prompt").await;
    typed(&mcp, target, "seq 3; sleep 1000", "idle:0.3").await;
    let running = state().await;
    assert_eq!(running["foreground"], "sleep 1000", "{running}");
    let stopped = mcp.call("interrupt", json!({"target": target, "timeout": 20})).await.ok();
    assert_eq!(stopped["at_prompt"], true, "{stopped}");
    typed(&mcp, target, "echo a''b", "text:ab").await;
    let sleeping = json!({"target": target, "command": "sleep 1000", "timeout": 0.2});
    let sleeping = mcp.call("run_command", sleeping).await.ok();
    assert_eq!(sleeping["status"], "running", "{sleeping}");
    let stopped = mcp.call("interrupt", json!({"target": target, "timeout": 20})).await.ok();
    assert_eq!(stopped["exit_code"], 130, "{stopped}");
    assert_eq!(command_end(&mcp, &sleeping).await["exit_code"], 130);
    let begun = mcp.call("capture_since", json!({"target": target})).await.ok();
    let watch = json!({
        "target": target, "command": "for i in 1 2 3; do echo \"line $i\"; done; sleep 1000",
        "until": ["text:line 3"]
    });
    let seen = mcp.call("start_and_watch", watch).await.ok();
    assert_eq!((&seen["event"], &seen["match"]), (&json!("text:line 3"), &json!("line 3")));
    let new = mcp.call("capture_since", json!({"cursor": begun["cursor"]})).await.ok();
    let lines = new["lines"].as_array().unwrap();
    assert_eq!(lines[lines.len() - 3..], ["line 1", "line 2", "line 3"], "{new}");
    host.tmux.presses(target, &["C-c"]);
    assert_eq!(command_end(&mcp, &seen).await["exit_code"], 130);
    typed(&mcp, target, "exit", "exit").await;
    mcp.close().await;
    host.assert_clean();
}

#[tokio::test]
async fn interpreter_over_ssh_answers() {
    let host = OtherHost::new();
    let mcp = host.serve().await;
    let pane = host.tmux.open("python3 -q");
    shows(&mcp, &pane, ">>>").await;
    for (input, output) in [("6 * 7", "42"), ("for i in range(3):\n    print(i)\n", "0\n1\n2")] {
        let call = json!({"target": pane, "input": input});
        let answer = mcp.call("run_in_repl", call).await.ok();
        assert_eq!(answer["output"], output, "{answer}");
    }
    let hangs = json!({"target": pane, "input": "import time; time.sleep(1000)", "timeout": 0.3});
    mcp.call("run_in_repl", hangs).await.ok();
    let stopped = mcp.call("interrupt", json!({"target": pane, "timeout": 20})).await.ok();
    assert_eq!(stopped["at_prompt"], true, "{stopped}");
    mcp.close().await;
    host.assert_clean();
}
