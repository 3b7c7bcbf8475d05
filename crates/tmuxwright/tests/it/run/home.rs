//! The home shell of commands without a target: which shell and directory a command gets, and that the
//! answer says so when it is another shell.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::{Person, Shell, TmuxServer, until};

use crate::launch;
use crate::protocol::http::{TOKEN, serve_http};
use crate::run::fixture::{ShellFixture, wait_for_foreground};
use crate::support::string;

/// A home shell in `/usr` with a variable, and its pane.
async fn home(shell: Shell) -> (ShellFixture, String) {
    let fixture = ShellFixture::own(shell).await;
    let answer = fixture.answer("cd /usr; export COLOUR=blue").await;
    let pane = string(&answer["pane_id"]);
    (fixture, pane)
}

/// Asserts that a command runs in the home shell of [`home`], without a remark.
async fn assert_home(fixture: &ShellFixture, pane: &str) {
    let answer = fixture.answer("pwd; echo $COLOUR").await;
    assert_eq!(answer["output"], "/usr\nblue", "{fixture}: {answer}");
    assert_eq!(answer["pane_id"], pane, "{fixture}: {answer}");
    assert_eq!(answer.get("note"), None, "{fixture}: {answer}");
}

/// Asserts that `pwd` runs in a new shell in `directory`, and that the remark gives this reason.
async fn assert_new_shell(fixture: &ShellFixture, directory: &str, why: &str) -> Value {
    let answer = fixture.answer("pwd; echo \"$COLOUR.\"").await;
    assert_eq!(answer["output"], format!("{directory}\n."), "{fixture}: {answer}");
    let pane = string(&answer["pane_id"]);
    assert_eq!(
        answer["note"],
        format!("in a new shell {pane}, {directory}: {why}"),
        "{fixture}: {answer}"
    );
    answer
}

/// A command for any shell that creates `begun` and then waits for `go`.
fn wait_for_go(dir: &Path) -> String {
    let dir = dir.display();
    format!("touch {dir}/begun; sh -c 'while ! test -e {dir}/go; do sleep 0.02; done'")
}

async fn has_begun(dir: &Path) {
    until("the command begins", async || dir.join("begun").exists().then_some(())).await;
}

#[tokio::test]
async fn a_parallel_command_leaves_the_home_shell_alone() {
    for shell in Shell::ALL {
        let (fixture, pane) = home(shell).await;
        let dir = fixture.tmux.home().to_path_buf();
        // The running command has moved; a parallel one must not depend on how far it got.
        let waiting = format!("cd /var; {}", wait_for_go(&dir));
        let first = fixture.answer_within(&waiting, 60.0);
        let beside = async {
            has_begun(&dir).await;
            let new = assert_new_shell(&fixture, "/usr", &format!("{pane} is busy with c2")).await;
            let again = fixture.answer("pwd").await;
            let other = string(&new["pane_id"]);
            let note = format!("in another shell {other}, /usr: {pane} is busy with c2");
            assert_eq!(again["note"], note, "{fixture}: {again}");
            std::fs::write(dir.join("go"), "").unwrap();
        };
        let (first, ()) = tokio::join!(first, beside);
        assert_eq!(first["pane_id"], pane, "{fixture}: {first}");
        fixture.assert_prints("pwd; cd /usr", "/var").await;
        assert_home(&fixture, &pane).await;
        fixture.close().await;
    }
}

#[tokio::test]
async fn concurrent_commands_all_start_in_one_directory() {
    let (fixture, pane) = home(Shell::Bash).await;
    for _ in 0..20 {
        let calls = (0..4).map(|_| fixture.answer("pwd; cd /var"));
        for answer in futures::future::join_all(calls).await {
            assert_eq!(answer["output"], "/usr", "{answer}");
            let is_home = answer["pane_id"] == *pane;
            assert_eq!(answer.get("note").is_none(), is_home, "{answer}");
        }
        fixture.assert_prints("pwd; cd /usr", "/var").await;
    }
    assert_home(&fixture, &pane).await;
    fixture.close().await;
}

#[tokio::test]
async fn home_moves_when_a_command_still_runs() {
    for shell in Shell::ALL {
        let (fixture, pane) = home(shell).await;
        let dir = fixture.tmux.home().to_path_buf();
        let waiting = format!("cd /var; {}", wait_for_go(&dir));
        let running = fixture.answer_within(&waiting, 0.0).await;
        has_begun(&dir).await;
        let id = string(&running["command_id"]);
        let why = format!("{pane} still runs {id}; its variables are gone, later calls run here");
        let moved = string(&assert_new_shell(&fixture, "/var", &why).await["pane_id"]);
        fixture.assert_prints("cd /usr; export COLOUR=blue", "").await;
        assert_home(&fixture, &moved).await;
        std::fs::write(dir.join("go"), "").unwrap();
        fixture.end(&running).await;
        assert_home(&fixture, &moved).await;
        fixture.close().await;
    }
}

#[tokio::test]
async fn home_stays_when_a_timed_out_command_ends() {
    let (fixture, pane) = home(Shell::Bash).await;
    let dir = fixture.tmux.home().to_path_buf();
    let running = fixture.answer_within(&wait_for_go(&dir), 0.0).await;
    // A directory of its own does not move the home shell either.
    let aside = json!({"command": "pwd", "cwd": "/var"});
    let aside = fixture.mcp.call("run_command", aside).await.ok();
    assert_eq!(aside["output"], "/var", "{aside}");
    std::fs::write(dir.join("go"), "").unwrap();
    fixture.end(&running).await;
    assert_home(&fixture, &pane).await;
    fixture.close().await;
}

#[tokio::test]
async fn next_home_starts_where_the_last_one_ended() {
    let gone = "its variables are gone, later calls run here";
    for shell in Shell::ALL {
        for (end, directory, why) in [
            // dash has no hook that could report its last directory.
            ("cd /var; exit 3", if shell == Shell::Dash { "/usr" } else { "/var" }, "has exited"),
            ("exec true", "/usr", "has exited"),
            ("exec sleep 1000", "/usr", "still runs c2"),
            ("sh -c 'kill -9 $PPID'", "/usr", "has exited"),
        ] {
            let (fixture, pane) = home(shell).await;
            let timeout = if end.contains("1000") { 0.0 } else { 30.0 };
            fixture.answer_within(end, timeout).await;
            let why = format!("{pane} {why}; {gone}");
            let next = assert_new_shell(&fixture, directory, &why).await;
            fixture.assert_prints("cd /usr; export COLOUR=blue", "").await;
            assert_home(&fixture, next["pane_id"].as_str().unwrap()).await;
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn next_home_starts_where_a_closed_pane_was() {
    for kill in ["kill-pane", "kill-server"] {
        let (fixture, pane) = home(Shell::Bash).await;
        match kill {
            "kill-server" => fixture.tmux.kill(),
            _ => drop(fixture.tmux.tmux(&[kill, "-t", &pane])),
        }
        let answer = fixture.answer("pwd").await;
        assert_eq!(answer["output"], "/usr", "{kill}: {answer}");
        let note = string(&answer["note"]);
        assert!(note.contains(&format!(", /usr: {pane} is gone; its variables")), "{kill}: {note}");
        fixture.close().await;
    }
}

#[tokio::test]
async fn next_home_starts_elsewhere_without_its_directory() {
    let (fixture, pane) = home(Shell::Bash).await;
    let dir = fixture.tmux.home().join("short-lived");
    std::fs::create_dir(&dir).unwrap();
    fixture.assert_prints(&format!("cd {}", dir.display()), "").await;
    fixture.answer("exit").await;
    std::fs::remove_dir(&dir).unwrap();
    let answer = fixture.answer("pwd").await;
    let directory = string(&answer["output"]);
    let note = string(&answer["note"]);
    assert!(note.contains(&format!(", {directory}: {pane} has exited")), "{answer}");
    fixture.close().await;
}

#[tokio::test]
async fn a_given_directory_does_not_move_home() {
    for shell in Shell::ALL {
        let (fixture, pane) = home(shell).await;
        let run = async |cwd: &str| {
            let arguments = json!({"command": "pwd; cd /", "cwd": cwd});
            fixture.mcp.call("run_command", arguments).await.ok()
        };
        for _ in 0..2 {
            let answer = run("/var").await;
            assert_eq!(answer["output"], "/var", "{fixture}: {answer}");
            let other = string(&answer["pane_id"]);
            assert_eq!(answer["note"], format!("in a new shell {other}, /var"), "{fixture}");
            assert_home(&fixture, &pane).await;
        }
        let answer = run("/").await;
        assert_eq!(answer["output"], "/", "{fixture}: {answer}");
        let other = string(&answer["pane_id"]);
        assert_eq!(answer["note"], format!("in another shell {other}, /"), "{fixture}: {answer}");
        // The home shell is there already.
        let answer = run("/usr").await;
        assert_eq!((&answer["pane_id"], answer.get("note")), (&json!(pane), None), "{answer}");
        fixture.close().await;
    }
}

#[tokio::test]
async fn first_home_ignores_the_directory_of_a_call() {
    let fixture = ShellFixture::own(Shell::Bash).await;
    let arguments = json!({"command": "pwd", "cwd": "/var"});
    fixture.mcp.call("run_command", arguments).await.ok();
    let next = fixture.answer("pwd").await;
    assert_ne!(next["output"], "/var", "{next}");
    assert_eq!(next.get("note"), None, "{next}");
    fixture.close().await;
}

#[tokio::test]
async fn text_of_a_person_in_home_is_kept() {
    for shell in [Shell::Bash, Shell::Zsh] {
        let (fixture, pane) = home(shell).await;
        let session = fixture.tmux.tmux(&["display-message", "-p", "-t", &pane, "#{session_name}"]);
        let mut person = Person::attach(&fixture.tmux, session.trim(), 120, 40);
        person.types("echo mine");
        until("the text is typed", async || {
            fixture.tmux.screen(&pane).trim_end().ends_with("echo mine").then_some(())
        })
        .await;
        let why = format!("{pane} has text at its prompt");
        assert_new_shell(&fixture, "/usr", &why).await;
        assert!(fixture.tmux.screen(&pane).trim_end().ends_with("echo mine"), "{fixture}");
        person.types("\r");
        until("the line is entered", async || {
            fixture.tmux.screen(&pane).contains("\nmine\n").then_some(())
        })
        .await;
        assert_home(&fixture, &pane).await;
        fixture.tmux.tmux(&["copy-mode", "-t", &pane]);
        let answer = fixture.answer("pwd").await;
        let note = string(&answer["note"]);
        assert!(note.ends_with(&format!(", /usr: {pane} is in copy mode")), "{fixture}: {note}");
        fixture.tmux.tmux(&["send-keys", "-X", "-t", &pane, "cancel"]);
        assert_home(&fixture, &pane).await;
        fixture.close().await;
    }
}

#[tokio::test]
async fn home_moves_when_another_program_runs() {
    let (fixture, pane) = home(Shell::Bash).await;
    fixture.tmux.type_line(&pane, "sleep 1000");
    wait_for_foreground(&fixture.tmux, &pane, "sleep");
    let why = format!("{pane} runs sleep; its variables are gone, later calls run here");
    assert_new_shell(&fixture, "/usr", &why).await;
    fixture.close().await;
}

#[tokio::test]
async fn calls_of_a_batch_share_home() {
    let (fixture, pane) = home(Shell::Bash).await;
    let run = |command: &str| json!({"tool": "run_command", "arguments": {"command": command}});
    let calls = json!({"calls": [run("cd /var"), run("pwd; cd /usr"), run("pwd")]});
    let answer = fixture.mcp.call("batch", calls).await.ok().to_string();
    assert!(answer.contains("/var") && answer.contains("/usr"), "{answer}");
    assert!(!answer.contains("shell %"), "{answer}");
    assert_home(&fixture, &pane).await;
    fixture.close().await;
}

#[tokio::test]
async fn each_client_has_a_home() {
    let tmux = TmuxServer::new();
    let server = serve_http(&tmux).await;
    let mut clients = Vec::new();
    for directory in ["/usr", "/var", "/tmp"] {
        let mut client = server.client(TOKEN, "2025-11-25").await;
        client.call("run_command", json!({"command": format!("cd {directory}")})).await;
        clients.push((client, directory));
    }
    for (client, directory) in &mut clients {
        let answer = client.call("run_command", json!({"command": "pwd"})).await;
        let text = answer.to_string();
        assert!(text.contains(*directory) && !text.contains("shell %"), "{text}");
    }
}

#[tokio::test]
async fn first_line_names_another_shell() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).mcp().await;
    mcp.call("run_command", json!({"command": "cd /usr"})).await.text();
    mcp.call("run_command", json!({"command": "exit"})).await.text();
    let arguments = json!({"command": "echo over", "until": ["text:over"]});
    let text = mcp.call("start_and_watch", arguments).await.text();
    let first = text.lines().next().unwrap_or_default();
    assert!(first.contains(" · in a new shell %"), "{text}");
    let arguments = json!({"command": "pwd", "cwd": "/var"});
    let text = mcp.call("run_command", arguments).await.text();
    let first = text.lines().next().unwrap_or_default();
    assert!(first.contains(" · in a new shell %") && first.ends_with(", /var"), "{text}");
    mcp.close().await;
}

/// The shell is asked for again after the wait for the command.
#[tokio::test]
async fn home_moves_when_an_answer_ends_its_shell() {
    let fixture = ShellFixture::own(Shell::Bash).await;
    for round in 0..5 {
        let asks = fixture.answer_within("cd /usr; read -p 'end? ' X; exit", 60.0).await;
        assert_eq!(asks["waiting"], "line", "{round}: {asks}");
        let answer = json!({"target": asks["pane_id"], "enter": true});
        fixture.mcp.call("send_keys", answer).await.ok();
        let next = fixture.answer("pwd").await;
        assert_eq!(next["output"], "/usr", "{round}: {next}");
        assert!(string(&next["note"]).contains("has exited"), "{round}: {next}");
    }
    fixture.close().await;
}

/// The shell takes the text when it has started.
#[tokio::test]
async fn text_typed_into_a_respawned_home_stays() {
    for shell in Shell::ALL {
        let (fixture, pane) = home(shell).await;
        fixture.mcp.call("respawn_pane", json!({"target": pane})).await.ok();
        let keys = json!({"target": pane, "text": "touch entered "});
        fixture.mcp.call("send_keys", keys).await.ok();
        let next = fixture.answer("echo next").await;
        assert_eq!(next["output"], "next", "{fixture}: {next}");
        assert!(!fixture.tmux.home().join("entered").exists(), "{fixture}: {next}");
        fixture.close().await;
    }
}

/// A tmux that does not answer may have the pane.
#[tokio::test]
async fn home_stays_while_tmux_does_not_answer() {
    let (fixture, pane) = home(Shell::Bash).await;
    let server = Pid::from_raw(fixture.tmux.pid().try_into().unwrap()).unwrap();
    kill_process(server, Signal::STOP).unwrap();
    // Under load the server is continued by others, and the command runs.
    let outcome = fixture.mcp.call("run_command", json!({"command": "true"})).await;
    kill_process(server, Signal::CONT).unwrap();
    assert!(outcome.failed_with("timeout") || outcome.ok()["exit_code"] == 0);
    assert_home(&fixture, &pane).await;
    fixture.close().await;
}

#[tokio::test]
async fn home_moves_when_its_shell_takes_no_commands() {
    let fixture = ShellFixture::own(Shell::Bash).await;
    fixture.run("set -o vi").await;
    let first = fixture.answer("cd /usr").await;
    // The agent leaves vi normal mode behind.
    let keys = json!({"target": first["pane_id"], "keys": ["Escape"]});
    fixture.mcp.call("send_keys", keys).await.ok();
    let second = fixture.answer("cd bin; V='kept'").await;
    assert_ne!(second["pane_id"], first["pane_id"], "{second}");
    assert!(string(&second["note"]).contains("takes no commands any more"), "{second}");
    let third = fixture.answer("pwd; echo \"$V\"").await;
    assert_eq!(third["output"], "/usr/bin\nkept", "{third}");
    assert_eq!(third["pane_id"], second["pane_id"], "{third}");
    fixture.close().await;
}
