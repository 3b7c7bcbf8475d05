//! Commands that wait for input, progress of running commands, cancelled calls, and signals.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Mcp, Raw, Shell, TmuxServer, until, wait_until};

use crate::run::fixture::assert_usable;
use crate::run::gate::wait_for_text;
use crate::support::{command_end, exited, pane, raw_call, ready_pane, shows, string};
use crate::{launch, serve};

/// Runs a command that must be reported as waiting for this kind of input, long before its timeout.
async fn run_until_it_waits(mcp: &Mcp, command: &str, kind: &str) -> Value {
    let arguments = json!({"command": command, "timeout": 600});
    let call = mcp.call("run_command", arguments);
    let result = tokio::time::timeout(Duration::from_secs(60), call).await.unwrap().ok();
    assert_eq!(result["status"], "running", "{command}: {result}");
    assert_eq!(result["waiting"], kind, "{command}: {result}");
    result
}

/// Types a line into the pane of a started command.
async fn type_line(mcp: &Mcp, started: &Value, text: &str) {
    let arguments = json!({"target": started["pane_id"], "text": text, "enter": true});
    mcp.call("send_keys", arguments).await.text();
}

/// A tmux server whose default shell is this one.
fn server_with(shell: Shell) -> TmuxServer {
    let tmux = TmuxServer::new();
    tmux.use_shell(shell);
    tmux
}

#[tokio::test]
async fn a_reading_command_is_reported_and_continues() {
    let secret = "sh -c 'stty -echo; echo Password:; read x; stty echo; echo got $x'";
    for (shell, command, waiting, typed, output) in [
        (Shell::Bash, "read x; echo got $x", "line", "a b", "a b\ngot a b"),
        (Shell::Zsh, "read x; echo got $x", "line", "a b", "a b\ngot a b"),
        (Shell::Dash, "read x; echo got $x", "line", "a b", "a b\ngot a b"),
        (Shell::Bash, "head -n 1; sh -c 'exit 3'", "line", "one", "one\none"),
        (Shell::Zsh, "head -n 1", "line", "one", "one\none"),
        (Shell::Fish, "head -n 1", "line", "one", "one\none"),
        (Shell::Dash, "head -n 1", "line", "one", "one\none"),
        (Shell::Bash, "read -s x; echo got $x", "password", "hush", "got hush"),
        (Shell::Bash, secret, "password", "hush", "Password:\ngot hush"),
        (Shell::Zsh, secret, "password", "hush", "Password:\ngot hush"),
        (Shell::Fish, secret, "password", "hush", "Password:\ngot hush"),
        (Shell::Dash, secret, "password", "hush", "Password:\ngot hush"),
    ] {
        let tmux = server_with(shell);
        let mcp = serve(&tmux).await;
        let begun = run_until_it_waits(&mcp, command, waiting).await;
        type_line(&mcp, &begun, typed).await;
        let result = command_end(&mcp, &begun).await;
        let code = if command.contains("exit 3") { 3 } else { 0 };
        assert_eq!(result["exit_code"], code, "{shell:?}, {command}: {result}");
        assert_eq!(result["output"], output, "{shell:?}, {command}: {result}");
        assert_eq!(result.get("waiting"), None, "{shell:?}, {command}: {result}");
        mcp.close().await;
    }
}

#[tokio::test]
async fn the_first_line_names_the_awaited_input() {
    let tmux = server_with(Shell::Bash);
    let mcp = launch(&tmux).mcp().await;
    for (command, words) in [
        ("read x", "running · waits for a line of input: send_keys"),
        ("read -s x", "running · waits for a password: send_keys"),
        ("python3 -q", "running · waits for keys: send_keys"),
    ] {
        let text = mcp.call("run_command", json!({"command": command})).await.text();
        assert!(text.lines().next().unwrap().starts_with(words), "{text}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn an_interpreter_waits_for_keys() {
    for shell in [Shell::Bash, Shell::Fish] {
        let tmux = server_with(shell);
        let mcp = serve(&tmux).await;
        let begun = run_until_it_waits(&mcp, "python3 -q", "keys").await;
        assert_eq!(begun["output"], ">>> ", "{begun}");
        type_line(&mcp, &begun, "print(6 * 7)").await;
        shows(&mcp, begun["pane_id"].as_str().unwrap(), "\n42").await;
        type_line(&mcp, &begun, "raise SystemExit(4)").await;
        let result = command_end(&mcp, &begun).await;
        assert_eq!(result["exit_code"], 4, "{result}");
        assert!(string(&result["output"]).contains("\n42\n"), "{result}");
        mcp.close().await;
    }
}

#[tokio::test]
async fn a_pager_reports_the_alternate_screen() {
    let tmux = server_with(Shell::Bash);
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("file");
    std::fs::write(&file, "page\n".repeat(500)).unwrap();
    let command = format!("echo before; less {}; echo after", file.display());
    let begun = run_until_it_waits(&mcp, &command, "keys").await;
    assert_eq!(begun["alternate_screen"], true, "{begun}");
    assert_eq!(begun["output"], "before", "{begun}");
    assert!(string(&begun["note"]).contains("capture_pane"), "{begun}");
    shows(&mcp, begun["pane_id"].as_str().unwrap(), "page").await;
    mcp.call("send_keys", json!({"target": begun["pane_id"], "keys": ["q"]})).await.text();
    let result = command_end(&mcp, &begun).await;
    assert_eq!(result["exit_code"], 0, "{result}");
    assert_eq!(result["output"], "before\nafter", "{result}");
    assert!(string(&result["note"]).contains("used the alternate screen"), "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn a_working_command_is_not_reported_as_waiting() {
    let tmux = server_with(Shell::Bash);
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("go");
    let wait = format!("until test -e {}; do sleep 0.05; done", file.display());
    for command in [
        format!("echo busy; {wait}"),
        format!("sh -c 'echo busy; {wait}'"),
        format!("echo busy; cat | sh -c '{wait}' < /dev/null"),
        format!("echo busy; (echo a; {wait}) | cat"),
    ] {
        let arguments = json!({"command": command, "timeout": 2});
        let result = mcp.call("run_command", arguments).await.ok();
        assert_eq!(result["status"], "running", "{command}: {result}");
        if !command.contains("cat | sh") {
            assert_eq!(result.get("waiting"), None, "{command}: {result}");
        }
        std::fs::write(&file, "").unwrap();
        if command.contains("cat | sh") {
            type_line(&mcp, &result, "").await;
        }
        assert_eq!(command_end(&mcp, &result).await["exit_code"], 0, "{command}");
        std::fs::remove_file(&file).unwrap();
    }
    mcp.close().await;
}

#[tokio::test]
async fn progress_is_notified_while_a_command_runs() {
    let tmux = server_with(Shell::Bash);
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("go");
    let command = format!("seq 3; until test -e {}; do sleep 0.05; done", file.display());
    let call = mcp.call("run_command", json!({"command": command, "timeout": 60}));
    let notified = async {
        let step = until("progress is notified", async || mcp.progress().into_iter().next()).await;
        std::fs::write(&file, "").unwrap();
        step
    };
    let (result, step) = tokio::join!(call, notified);
    assert_eq!(result.ok()["exit_code"], 0);
    assert!(step.progress > 0.0 && step.total == Some(60.0), "{step:?}");
    let message = step.message.unwrap();
    assert!(message.contains("3 lines so far"), "{message}");
    mcp.close().await;
}

/// Starts the program with this config file, for raw messages.
async fn raw(tmux: &TmuxServer, config: &str) -> Raw {
    let file = tmux.home().join("config.toml");
    std::fs::write(&file, config).unwrap();
    let args = ["--toolset", "all", "--structured", "--config", &file.to_string_lossy()];
    let mut raw = launch(tmux).args(&args).raw();
    raw.initialize("2025-11-25").await;
    raw
}

#[tokio::test]
async fn a_cancelled_call_leaves_its_command_running() {
    let tmux = server_with(Shell::Bash);
    let mut raw = raw(&tmux, "").await;
    let (begun, go) = (tmux.home().join("begun"), tmux.home().join("go"));
    let wait = format!("until test -e {}; do sleep 0.05; done", go.display());
    let command = format!("touch {}; {wait}; echo went on", begun.display());
    let arguments = json!({"command": command, "timeout": 600});
    let params =
        json!({"name": "run_command", "arguments": arguments, "_meta": {"progressToken": 1}});
    let id = raw.start("tools/call", params).await;
    until("the command has begun", async || begun.exists().then_some(())).await;
    let params = json!({"requestId": id, "reason": "no longer needed"});
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
        .await;
    let result = raw_call(&mut raw, "command_result", json!({"command_id": "c1"})).await;
    assert_eq!(result["status"], "running", "{result}");
    std::fs::write(&go, "").unwrap();
    let result =
        raw_call(&mut raw, "command_result", json!({"command_id": "c1", "wait": 15})).await;
    assert_eq!(result["exit_code"], 0, "{result}");
    assert_eq!(result["output"], "went on", "{result}");
    let next = raw_call(&mut raw, "run_command", json!({"command": "echo next"})).await;
    assert_eq!(next["output"], "next", "{next}");
    assert_eq!(next["pane_id"], result["pane_id"], "{next}");
}

#[tokio::test]
async fn calls_without_progress_token_end_at_block_limit() {
    let tmux = server_with(Shell::Bash);
    let mut raw = raw(&tmux, "[limits]\nblock = 1\n").await;
    // Both calls would take longer than the client of this test waits.
    let arguments = json!({"command": "echo begun; sleep 1000", "timeout": 300});
    let result = raw_call(&mut raw, "run_command", arguments).await;
    assert_eq!(result["status"], "running", "{result}");
    let arguments = json!({"command_id": result["command_id"], "wait": 300});
    // A slow machine prints `begun` only after the limit.
    until("a call at its limit has the output", async || {
        let result = raw_call(&mut raw, "command_result", arguments.clone()).await;
        assert_eq!(result["status"], "running", "{result}");
        (result["output"] == "begun").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_signal_reaches_the_foreground_program() {
    for shell in Shell::ALL {
        let tmux = server_with(shell);
        let mcp = serve(&tmux).await;
        for (signal, code) in [("TERM", 143), ("SIGKILL", 137), ("1", 129)] {
            let command = "sh -c 'echo begun; exec sleep 1000'";
            let begun = mcp.call("run_command", json!({"command": command, "timeout": 0})).await;
            let begun = begun.ok();
            shows(&mcp, begun["pane_id"].as_str().unwrap(), "\nbegun").await;
            let program = until("sleep runs", async || {
                let arguments = json!({"target": begun["pane_id"], "signal": "CONT"});
                let sent = mcp.call("send_signal", arguments).await;
                // A program of our command file has exited.
                let sent = (!sent.failed_with("not_ready")).then(|| sent.ok())?;
                (sent["foreground"] == "sleep 1000").then_some(sent)
            });
            assert_eq!(program.await["pane_id"], begun["pane_id"]);
            let arguments = json!({"target": begun["pane_id"], "signal": signal});
            mcp.call("send_signal", arguments).await.text();
            let result = command_end(&mcp, &begun).await;
            assert_eq!(result["exit_code"], code, "{shell:?}, {signal}: {result}");
            mcp.call("kill", json!({"target": begun["pane_id"]})).await.text();
        }
        mcp.close().await;
    }
}

/// Opens a shell that is stopped, and whose last program has exited: no process has the terminal. Returns
/// the pane and the shell's process id.
fn open_stopped_shell(tmux: &TmuxServer, shell: &str) -> (String, String) {
    // Not as the pane's own process, which tmux continues at once.
    let target = tmux.open_shell(&format!("{shell}; true"));
    let pids = tmux.home().join("pids");
    let stopped = "case $(ps -o stat= -p $PPID) in T*) ;; *) false;; esac";
    let stop = format!("kill -STOP $PPID; until {stopped}; do :; done; echo gone");
    let program = format!("echo $PPID $$ > {}; {stop}", pids.display());
    tmux.type_line(&target, &format!("sh -c '{program}'"));
    wait_for_text(tmux, &target, "\ngone");
    let pids = std::fs::read_to_string(&pids).unwrap();
    let (shell, program) = pids.trim().split_once(' ').unwrap();
    wait_until("the program has exited", || {
        process_state(tmux, program).starts_with('Z').then_some(())
    });
    (target, shell.to_owned())
}

/// The state of a process, in the letters of `ps`; empty if there is no such process.
pub(crate) fn process_state(tmux: &TmuxServer, pid: &str) -> String {
    let file = tmux.home().join("state");
    tmux.tmux(&["run-shell", &format!("ps -o stat= -p {pid} > {} || true", file.display())]);
    std::fs::read_to_string(file).unwrap()
}

/// The signal was meant for the program, and would end its shell.
#[tokio::test]
async fn a_program_that_has_exited_is_not_signalled() {
    let tmux = TmuxServer::new();
    let args = ["--toolset", "all", "--structured", "--tier", "destructive"];
    let mcp = launch(&tmux).args(&args).mcp().await;
    let (target, shell) = open_stopped_shell(&tmux, "bash --norc");
    let call = json!({"target": target, "signal": "KILL"});
    let error = mcp.call("send_signal", call).await.err("not_ready");
    assert!(error.contains("has just exited") && error.contains("pane_state"), "{error}");
    tmux.tmux(&["run-shell", &format!("kill -CONT {shell}")]);
    assert_usable(&mcp, &target, "bash").await;
    mcp.close().await;
}

#[tokio::test]
async fn an_impossible_signal_is_refused_with_a_reason() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let own = ready_pane(&mcp, "echo ready; exec cat", "ready").await;
    for signal in ["NOPE", "", "0", "99", "SIG"] {
        let error = mcp.call("send_signal", json!({"target": own, "signal": signal})).await;
        let error = error.err("invalid_argument");
        assert!(error.contains(&format!("`{signal}`")), "{error}");
        assert!(error.contains("HUP, INT, QUIT") && error.contains("TERM"), "{error}");
    }
    let dead = pane(&mcp, "exit 1").await;
    exited(&mcp, &dead).await;
    for (target, code, words) in
        [(dead.as_str(), "not_ready", "has exited"), ("%99", "not_found", "%99")]
    {
        let error = mcp.call("send_signal", json!({"target": target, "signal": "TERM"})).await;
        let error = error.err(code);
        assert!(error.contains(words) && error.contains("Next: "), "{error}");
    }
    // Signals to a person's program need a higher tier.
    let error = mcp.call("send_signal", json!({"target": "%0", "signal": "TERM"})).await;
    error.err("denied");
    assert_eq!(tmux.screen("%0"), "$");
    mcp.close().await;
    let args = ["--toolset", "all", "--structured", "--tier", "destructive"];
    let mcp = launch(&tmux).args(&args).mcp().await;
    tmux.type_line("%0", "clear; exec sleep 1000");
    until("sleep runs", async || {
        let sent = mcp.call("send_signal", json!({"target": "%0", "signal": "CONT"})).await.ok();
        (sent["foreground"] == "sleep 1000").then_some(())
    })
    .await;
    mcp.call("send_signal", json!({"target": "%0", "signal": "TERM"})).await.text();
    until("the pane is closed", async || {
        let panes = tmux.try_tmux(&["list-panes", "-a", "-F", "#{pane_id}"]).unwrap_or_default();
        (!panes.lines().any(|pane| pane == "%0")).then_some(())
    })
    .await;
    mcp.close().await;
}
