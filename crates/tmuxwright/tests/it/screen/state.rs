//! `pane_state`: the foreground program of a pane and the input it waits for.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Mcp, Shell, TmuxServer, until};

use crate::support::{exited, keys, pane, ready_pane, string};
use crate::{launch, serve};

/// Input, whether a shell is at its prompt, its name, and whether the alternate screen is on.
type InputState = (String, bool, String, bool);

async fn state(mcp: &Mcp, target: &str) -> Value {
    mcp.call("pane_state", json!({"target": target})).await.ok()
}

/// `input`, `at_prompt`, `shell` and `alternate_screen` of a state.
fn input_state(state: &Value) -> InputState {
    let text = |name: &str| state.get(name).map(string).unwrap_or_default();
    let flag = |name: &str| state.get(name).is_some_and(|value| value == true);
    (text("input"), flag("at_prompt"), text("shell"), flag("alternate_screen"))
}

fn expected(input: &str, shell: &str, prompt: bool, alternate: bool) -> InputState {
    (input.to_owned(), prompt, shell.to_owned(), alternate)
}

/// Programs with their expected state.
fn programs(file: &str) -> Vec<(String, InputState)> {
    let python = |code: &str| format!("exec python3 -c '{code}'");
    let accept =
        "import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen(); s.accept()";
    vec![
        ("exec bash --norc --noprofile".to_owned(), expected("raw", "bash", true, false)),
        ("exec zsh".to_owned(), expected("raw", "zsh", true, false)),
        ("exec fish".to_owned(), expected("raw", "fish", true, false)),
        ("exec python3 -q".to_owned(), expected("raw", "", false, false)),
        (format!("exec vi {file}"), expected("raw", "", false, true)),
        ("exec node -i".to_owned(), expected("raw", "", false, false)),
        ("exec cat".to_owned(), expected("line", "", false, false)),
        ("exec bash -c 'read x'".to_owned(), expected("line", "", false, false)),
        (python("input()"), expected("line", "", false, false)),
        ("exec bash -c 'read -s x'".to_owned(), expected("password", "", false, false)),
        (python("import getpass; getpass.getpass()"), expected("password", "", false, false)),
        (format!("exec less {file}"), expected("raw", "", false, true)),
        ("exec sleep 1000".to_owned(), expected("none", "", false, false)),
        (format!("exec tail -f {file}"), expected("none", "", false, false)),
        (python(accept), expected("none", "", false, false)),
        ("exec bash -c 'while :; do :; done'".to_owned(), expected("none", "", false, false)),
    ]
}

#[tokio::test]
async fn the_state_of_an_idle_program_is_stable() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("file");
    std::fs::write(&file, "page\n".repeat(500)).unwrap();
    let programs: Vec<_> = programs(&file.to_string_lossy())
        .into_iter()
        .map(|(command, wanted)| (tmux.open(&command), command, wanted))
        .collect();
    for (pane, command, wanted) in &programs {
        until(&format!("{command} is {wanted:?}"), async || {
            (input_state(&state(&mcp, pane).await) == *wanted).then_some(())
        })
        .await;
    }
    let begun = Instant::now();
    let mut awake = HashSet::new();
    until("two seconds have passed and each program waits", async || {
        for (pane, command, wanted) in &programs {
            let now = state(&mcp, pane).await;
            // A program that redraws is at work for a moment. It never waits for other input.
            if input_state(&now) == *wanted {
                awake.remove(pane);
            } else {
                assert_eq!(now["input"], "none", "{command} after {:?}: {now}", begun.elapsed());
                awake.insert(pane.clone());
            }
        }
        (begun.elapsed() >= Duration::from_secs(2) && awake.is_empty()).then_some(())
    })
    .await;
    mcp.close().await;
}

#[tokio::test]
async fn the_foreground_has_process_id_and_directory() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let dir = tmux.home().join("dir with\nline");
    std::fs::create_dir(&dir).unwrap();
    let command = format!("cd '{}' && exec sh -c 'cd /; exec sleep 1000'", dir.display());
    let target = pane(&mcp, &command).await;
    let now = until("sleep is in the foreground", async || {
        let now = state(&mcp, &target).await;
        (now["foreground"] == "sleep 1000").then_some(now)
    })
    .await;
    let fields = ["alive", "cwd", "foreground", "foreground_pid", "input", "pane_id", "pid"];
    assert_eq!(keys(&now), fields);
    assert_eq!((&now["pane_id"], &now["alive"]), (&json!(target), &json!(true)));
    assert_eq!(now["cwd"], "/");
    let pid = tmux.tmux(&["display-message", "-p", "-t", &target, "#{pane_pid}"]);
    assert_eq!(now["pid"].to_string(), pid);
    let name = format!("/proc/{}/comm", now["foreground_pid"]);
    assert_eq!(std::fs::read_to_string(name).unwrap_or("sleep\n".into()), "sleep\n");
    let target =
        ready_pane(&mcp, &format!("cd '{}'; echo in; exec cat", dir.display()), "in").await;
    // The shell prints before it becomes cat, and cat starts before it reads.
    let now = until("cat reads a line", async || {
        let now = state(&mcp, &target).await;
        (now["foreground"] == "cat" && now["input"] == "line").then_some(now)
    })
    .await;
    assert_eq!(now["cwd"], dir.to_string_lossy().as_ref());
    let text = mcp.call("pane_state", json!({"target": target})).await.text();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(
        text.starts_with(&format!("{target} · waits for a line · foreground cat (pid ")),
        "{text}"
    );
    mcp.close().await;
}

#[tokio::test]
async fn a_shell_running_read_is_not_at_prompt() {
    for shell in Shell::ALL {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let mcp = serve(&tmux).await;
        let target = tmux.shell_pane(80, 24);
        let name = if shell == Shell::Dash { "sh" } else { shell.name() };
        until(&format!("{name} is at its prompt"), async || {
            let now = state(&mcp, &target).await;
            (now.get("at_prompt") == Some(&json!(true)) && now["shell"] == name).then_some(())
        })
        .await;
        tmux.type_line(&target, "clear; read x");
        until(&format!("{name} reads for a command"), async || {
            let now = state(&mcp, &target).await;
            let reads = now["input"] != "none" && !tmux.screen(&target).contains("clear");
            // fish runs `read` with its line editor, which looks the same as its prompt.
            let away = shell == Shell::Fish || now.get("at_prompt").is_none();
            (reads && away).then_some(())
        })
        .await;
        mcp.close().await;
    }
}

#[tokio::test]
async fn at_prompt_is_unset_while_a_command_runs() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    // `read -e` uses readline, as the prompt does.
    let command = "read -e x; echo got $x";
    let arguments = json!({"command": command, "timeout": 0});
    let begun = mcp.call("run_command", arguments).await.ok();
    let target = string(&begun["pane_id"]);
    until("bash reads keys", async || {
        let now = state(&mcp, &target).await;
        assert_eq!(now.get("at_prompt"), None, "{now}");
        (now["input"] == "raw").then_some(())
    })
    .await;
    let typed = json!({"target": target, "text": "it", "enter": true});
    mcp.call("send_keys", typed).await.text();
    let wait = json!({"command_id": begun["command_id"], "wait": 20});
    assert_eq!(mcp.call("command_result", wait).await.ok()["status"], "exited");
    until("bash is back at its prompt", async || {
        let now = state(&mcp, &target).await;
        (now.get("at_prompt") == Some(&json!(true))).then_some(())
    })
    .await;
    mcp.close().await;
}

#[tokio::test]
async fn an_exited_pane_reports_its_exit_code() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = pane(&mcp, "exit 7").await;
    exited(&mcp, &target).await;
    let now = state(&mcp, &target).await;
    assert_eq!(keys(&now), ["exit_code", "input", "pane_id", "pid"], "{now}");
    assert_eq!((&now["exit_code"], &now["input"]), (&json!(7), &json!("none")));
    let text = mcp.call("pane_state", json!({"target": target})).await.text();
    assert!(text.starts_with(&format!("{target} · exited 7")), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn pane_state_answers_in_text_by_default() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).mcp().await;
    assert!(mcp.instructions().contains("pane_state"), "{}", mcp.instructions());
    let result = mcp.call("pane_state", json!({"target": "main"})).await.result();
    assert_eq!(result.structured_content, None);
    let text = mcp.call("pane_state", json!({"target": "main"})).await.text();
    assert!(text.starts_with("%0 · at its prompt · "), "{text}");
    mcp.call("pane_state", json!({"target": "%77"})).await.err("not_found");
    mcp.call("pane_state", json!({"target": "; kill-server"})).await.err("not_found");
    mcp.call("pane_state", json!({})).await.err("invalid_argument");
    tmux.kill();
    mcp.call("pane_state", json!({"target": "main"})).await.err("no_server");
    mcp.close().await;
}
