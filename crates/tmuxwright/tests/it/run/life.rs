//! The life of commands: timeouts, own panes, interrupts, lost panes and servers, finished results
//! and private files.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use futures::future::join_all;
use serde_json::json;
use testkit::{Shell, TmuxServer, until};

use crate::run::fixture::{ShellFixture, assert_usable, wait_for_foreground};
use crate::support::killing::kill_with_successor;
use crate::support::{shows, string};
use crate::{launch, serve, serve_configured};

/// A command for any shell that prints `begun`, waits for a file, and exits with 9.
fn wait_for_file(file: &Path) -> String {
    let wait = format!("while ! test -e {}; do sleep 0.05; done", file.display());
    format!("sh -c 'echo begun; {wait}; echo done; exit 9'")
}

#[tokio::test]
async fn a_command_continues_after_its_timeout() {
    for shell in Shell::ALL {
        for fixture in ShellFixture::own_and_existing(shell).await {
            let file = fixture.tmux.home().join("go");
            let begun = fixture.answer_within(&wait_for_file(&file), 0.5).await;
            assert_eq!(begun["status"], "running", "{fixture}: {begun}");
            assert_eq!(begun.get("exit_code"), None, "{fixture}: {begun}");
            shows(&fixture.mcp, begun["pane_id"].as_str().unwrap(), "\nbegun").await;
            let later = fixture.result(&begun).await;
            assert_eq!(later["status"], "running", "{fixture}: {later}");
            assert_eq!(later["output"], "begun", "{fixture}: {later}");
            std::fs::write(&file, "").unwrap();
            let end = fixture.end(&begun).await;
            assert_eq!(end["status"], "exited", "{fixture}: {end}");
            assert_eq!(end["exit_code"], 9, "{fixture}: {end}");
            assert_eq!(end["output"], "begun\ndone", "{fixture}: {end}");
            fixture.assert_usable().await;
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn eight_commands_without_a_target_run_concurrently() {
    for shell in [Shell::Bash, Shell::Dash] {
        let fixture = ShellFixture::own(shell).await;
        let home = fixture.tmux.home().display();
        let calls = (0..8).map(|number| {
            let others = format!("test $(ls {home} | grep -c met-) -lt 8");
            let wait = format!("while {others}; do sleep 0.05; done");
            let command = format!("touch {home}/met-{number}; {wait}; echo {number} met all");
            let fixture = &fixture;
            async move { (number, fixture.answer_within(&command, 60.0).await) }
        });
        let mut panes = Vec::new();
        for (number, result) in join_all(calls).await {
            assert_eq!(result["output"], format!("{number} met all"), "{result}");
            assert_eq!(result["exit_code"], 0, "{result}");
            panes.push(string(&result["pane_id"]));
        }
        panes.sort();
        panes.dedup();
        assert_eq!(panes.len(), 8, "{panes:?}");
        // All panes are idle now, so the next command reuses one.
        let next = fixture.answer("true").await;
        assert!(panes.contains(&string(&next["pane_id"])), "{next}");
        fixture.close().await;
    }
}

#[tokio::test]
async fn consecutive_commands_share_a_shell() {
    for shell in Shell::ALL {
        let fixture = ShellFixture::own(shell).await;
        let first = fixture.answer("cd /usr; export COLOUR='dark blue'").await;
        assert_eq!(first["exit_code"], 0, "{fixture}: {first}");
        let second = fixture.answer("pwd; echo $COLOUR").await;
        assert_eq!(second["output"], "/usr\ndark blue", "{fixture}: {second}");
        assert_eq!(first["pane_id"], second["pane_id"], "{fixture}");
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_command_runs_in_the_given_directory() {
    for shell in Shell::ALL {
        let fixture = ShellFixture::own(shell).await;
        let home = fixture.tmux.home().to_path_buf();
        std::fs::create_dir(home.join("a b'c")).unwrap();
        let odd = home.join("a b'c").display().to_string();
        for (cwd, expected) in
            [("/usr", "/usr"), (&odd, &odd), ("/usr", "/usr"), ("~", home.to_str().unwrap())]
        {
            let arguments = json!({"command": "pwd", "cwd": cwd});
            let result = fixture.mcp.call("run_command", arguments).await.ok();
            assert_eq!(result["output"], expected, "{fixture}: {result}");
        }
        fixture.close().await;
    }
}

#[tokio::test]
async fn an_interrupted_command_exits_with_130() {
    for shell in Shell::ALL {
        for fixture in ShellFixture::own_and_existing(shell).await {
            for (command, program) in [
                ("echo begun; sleep 1000", "sleep"),
                ("sh -c 'echo begun; exec sleep 1000'", "sleep"),
            ] {
                let begun = fixture.start(command, "begun").await;
                // A key that is pressed while a shell starts a program is lost in some shells.
                wait_for_foreground(&fixture.tmux, begun["pane_id"].as_str().unwrap(), program);
                let stopped =
                    fixture.mcp.call("interrupt", json!({"target": begun["pane_id"]})).await.ok();
                assert_eq!(stopped["at_prompt"], true, "{fixture}: {stopped}");
                assert_eq!(stopped["command_id"], begun["command_id"], "{fixture}: {stopped}");
                assert_eq!(stopped["exit_code"], 130, "{fixture}: {stopped}");
                let end = fixture.result(&begun).await;
                assert_eq!(end["exit_code"], 130, "{fixture}: {end}");
                assert_eq!(end["output"], "begun", "{fixture}: {end}");
                fixture.assert_usable().await;
            }
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn text_below_the_prompt_hides_no_status() {
    for shell in Shell::ALL {
        let fixture = ShellFixture::existing(shell).await;
        let command = r"printf 'a\nb\nc\nd\ne\033[4A'; sleep 1000";
        let begun = fixture.start(command, "\ne").await;
        wait_for_foreground(&fixture.tmux, begun["pane_id"].as_str().unwrap(), "sleep");
        fixture.mcp.call("interrupt", json!({"target": begun["pane_id"]})).await.text();
        let end = fixture.end(&begun).await;
        assert_eq!(end["exit_code"], 130, "{fixture}: {end}");
        fixture.close().await;
    }
}

#[tokio::test]
async fn late_zsh_hooks_add_nothing_to_interrupted_output() {
    let set_up =
        ["", "PROMPT_EOL_MARK='<none>'", "setopt prompt_subst no_unset warn_create_global"];
    for options in set_up {
        let fixture = ShellFixture::own(Shell::Zsh).await;
        let start_up = format!("{options}; precmd() {{ echo hook; sleep 0.2; }}\n");
        fixture.tmux.write_start_up(Shell::Zsh, &start_up);
        for (before, command, output) in [
            ("true", "echo begun; sleep 1000", "begun"),
            ("true", "echo a; printf begun; sleep 1000", "a\nbegun"),
            ("PROMPT_EOL_MARK=", "echo begun; sleep 1000", "begun"),
            ("unset PROMPT_EOL_MARK", "echo begun; sleep 1000", "begun"),
        ] {
            assert_eq!(fixture.answer(before).await["exit_code"], 0, "{options}: {before}");
            let begun = fixture.start(command, "begun").await;
            wait_for_foreground(&fixture.tmux, begun["pane_id"].as_str().unwrap(), "sleep");
            fixture.mcp.call("interrupt", json!({"target": begun["pane_id"]})).await.ok();
            let end = fixture.end(&begun).await;
            let facts = (&end["exit_code"], &end["output"]);
            assert_eq!(facts, (&json!(130), &json!(output)), "{options}: {before}; {command}");
            fixture.assert_usable().await;
        }
        fixture.close().await;
    }
}

#[tokio::test]
async fn an_ignored_interrupt_names_the_running_program() {
    let fixture = ShellFixture::own(Shell::Bash).await;
    let command = "sh -c 'trap \"\" INT; echo deaf; exec sleep 1000'";
    let begun = fixture.start(command, "deaf").await;
    let arguments = json!({"target": begun["pane_id"], "timeout": 0.5});
    let stopped = fixture.mcp.call("interrupt", arguments.clone()).await.ok();
    assert_eq!(stopped.get("at_prompt"), None, "{stopped}");
    assert_eq!(stopped["foreground"], "sleep 1000", "{stopped}");
    assert_eq!(stopped["command_id"], begun["command_id"], "{stopped}");
    assert_eq!(stopped.get("exit_code"), None, "{stopped}");
    let text = fixture.mcp.call("interrupt", arguments).await.text();
    assert!(text.contains("foreground \"sleep 1000\"") && text.contains("Next: "), "{text}");
    fixture.close().await;
}

#[tokio::test]
async fn an_interrupt_at_the_prompt_is_harmless() {
    for shell in Shell::ALL {
        let fixture = ShellFixture::existing(shell).await;
        for _ in 0..2 {
            let stopped =
                fixture.mcp.call("interrupt", json!({"target": fixture.target})).await.ok();
            assert_eq!(stopped["at_prompt"], true, "{fixture}: {stopped}");
            assert_eq!(stopped.get("command_id"), None, "{fixture}: {stopped}");
            fixture.assert_usable().await;
        }
        fixture.close().await;
    }
}

#[tokio::test]
async fn an_own_shell_reports_its_exit_code() {
    for shell in Shell::ALL {
        let fixture = ShellFixture::own(shell).await;
        let first = fixture.answer("echo before").await;
        let result = fixture.answer("echo leaving; exit 7").await;
        assert_eq!(result["status"], "exited", "{fixture}: {result}");
        assert_eq!(result["exit_code"], 7, "{fixture}: {result}");
        assert_eq!(result["output"], "leaving", "{fixture}: {result}");
        assert_eq!(result["pane_id"], first["pane_id"], "{fixture}");
        fixture.assert_usable().await;
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_command_is_lost_when_its_shell_exits() {
    // The output just before the exit is not checked: tmux itself can lose it.
    for shell in Shell::ALL {
        let fixture = ShellFixture::existing(shell).await;
        let result = fixture.answer("exit 7").await;
        assert_eq!(result["status"], "lost", "{fixture}: {result}");
        assert_eq!(result.get("exit_code"), None, "{fixture}: {result}");
        let note = string(&result["note"]);
        assert!(note.contains("its pane is gone; its last output may be missing"), "{note}");
        // A pane that stays open holds the exit code of its shell.
        fixture.tmux.tmux(&["set-option", "-g", "remain-on-exit", "on"]);
        let stays = fixture.tmux.shell_pane(80, 24);
        let fixture = ShellFixture { target: Some(stays), ..fixture };
        let result = fixture.answer("exit 7").await;
        assert_eq!(result["exit_code"], 7, "{fixture}: {result}");
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_command_is_lost_when_its_pane_closes() {
    for shell in [Shell::Bash, Shell::Dash] {
        for (kill, words) in [
            ("kill-pane", "its pane is gone"),
            ("kill-session", "its pane is gone"),
            ("kill-server", "the tmux server went away"),
        ] {
            for fixture in ShellFixture::own_and_existing(shell).await {
                let begun = fixture.start("echo begun; sleep 1000", "begun").await;
                if kill == "kill-server" {
                    fixture.tmux.kill();
                } else {
                    fixture.tmux.tmux(&[kill, "-t", begun["pane_id"].as_str().unwrap()]);
                }
                let end = fixture.end(&begun).await;
                assert_eq!(end["status"], "lost", "{fixture}, {kill}: {end}");
                assert_eq!(end["output"], "begun", "{fixture}, {kill}: {end}");
                assert!(string(&end["note"]).contains(words), "{fixture}, {kill}: {end}");
                let fixture = ShellFixture { target: None, ..fixture };
                fixture.assert_usable().await;
                fixture.assert_usable().await;
                fixture.close().await;
            }
        }
    }
}

#[tokio::test]
async fn a_command_is_lost_when_its_pane_respawns() {
    let fixture = ShellFixture::existing(Shell::Bash).await;
    let begun = fixture.start("echo begun; sleep 1000", "begun").await;
    let target = fixture.target.as_deref().unwrap();
    fixture.tmux.tmux(&["respawn-pane", "-k", "-t", target, "exec bash --norc --noprofile -i"]);
    let end = fixture.end(&begun).await;
    assert_eq!(end["status"], "lost", "{end}");
    assert_usable(&fixture.mcp, target, "the new shell").await;
    fixture.close().await;
}

#[tokio::test]
async fn only_the_newest_finished_commands_are_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, "[limits]\nresults = 3\n").await;
    let call = async |command: &str, timeout: u32| {
        let arguments = json!({"command": command, "timeout": timeout});
        string(&mcp.call("run_command", arguments).await.ok()["command_id"])
    };
    let error = mcp.call("command_result", json!({"command_id": "c1"})).await.err("not_found");
    assert!(error.contains("no command was started"), "{error}");
    let running = call("sleep 1000", 0).await;
    let mut finished = Vec::new();
    for number in 0..6 {
        finished.push(call(&format!("echo {number}"), 30).await);
    }
    let (gone, kept) = finished.split_at(3);
    for id in gone {
        let error = mcp.call("command_result", json!({"command_id": id})).await.err("not_found");
        assert!(error.contains(&format!("`{id}`")) && error.contains(&finished[5]), "{error}");
    }
    for (number, id) in kept.iter().enumerate() {
        let result = mcp.call("command_result", json!({"command_id": id})).await.ok();
        assert_eq!(result["output"], (number + 3).to_string(), "{result}");
    }
    let result = mcp.call("command_result", json!({"command_id": running})).await.ok();
    assert_eq!(result["status"], "running", "{result}");
    mcp.close().await;
}

#[tokio::test]
async fn an_unknown_shell_is_treated_as_declared() {
    let tmux = TmuxServer::new();
    let shell = tmux.home().join("mine");
    std::fs::copy(Shell::Bash.path(), &shell).unwrap();
    let target = tmux.open_shell(&format!("exec {} --norc --noprofile -i", shell.display()));
    let mcp = serve(&tmux).await;
    let arguments = json!({"command": "true", "target": target});
    let error = mcp.call("run_command", arguments).await.err("busy");
    assert!(error.contains("/mine --norc"), "{error}");
    mcp.close().await;
    let args = ["--toolset", "all", "--structured", "--shell-type", "bash"];
    let mcp = launch(&tmux).args(&args).mcp().await;
    assert_usable(&mcp, &target, "declared to be bash").await;
    mcp.close().await;
}

#[tokio::test]
async fn only_known_shell_types_can_be_declared() {
    let tmux = TmuxServer::new();
    for name in tmuxwright::run::ShellKind::NAMES {
        // The declared type is not applied to a shell that is recognised.
        let args = ["--toolset", "all", "--structured", "--shell-type", name];
        let mcp = launch(&tmux).args(&args).mcp().await;
        assert_usable(&mcp, "%0", name).await;
        mcp.close().await;
    }
    for name in ["tcsh", "", "Bash"] {
        let output = launch(&tmux).args(&["--shell-type", name]).output().await;
        assert!(!output.status.success(), "{name}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("bash, zsh, fish, sh, dash, ash, ksh"), "{message}");
    }
}

/// The directories for private files in `parent`.
fn private_dirs(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_string_lossy().contains("tmuxwright-")).collect()
}

#[tokio::test]
async fn private_files_are_removed_when_the_server_exits() {
    for shell in Shell::ALL {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let parent = tmux.home().join("temporary");
        std::fs::create_dir(&parent).unwrap();
        let args = ["--toolset", "all", "--structured"];
        let mcp = launch(&tmux).args(&args).env("TMPDIR", parent.to_str().unwrap()).mcp().await;
        assert!(private_dirs(&parent).is_empty(), "{shell:?}");
        let command = "sh -c 'umask 0; echo secret; exec sleep 1000'";
        let begun = mcp.call("run_command", json!({"command": command, "timeout": 0})).await.ok();
        shows(&mcp, begun["pane_id"].as_str().unwrap(), "\nsecret").await;
        let [dir] = private_dirs(&parent).try_into().unwrap();
        // The server removes its files one by one, so a listed one can be gone.
        let mode = |path: &Path| match std::fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            found => Some(found.unwrap().permissions().mode() & 0o777),
        };
        assert_eq!(mode(&dir), Some(0o700), "{shell:?}");
        let files = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<PathBuf> = files.collect();
        for file in &files {
            let found = mode(file).unwrap_or(0o600);
            assert_eq!(found, 0o600, "{shell:?}: {}", file.display());
        }
        // The command file empties itself before the command begins, and is then removed.
        let file = dir.join(string(&begun["command_id"]));
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(text, "", "{shell:?}");
        until("the command file is removed", async || (!file.exists()).then_some(())).await;
        mcp.close().await;
        assert!(private_dirs(&parent).is_empty(), "{shell:?}");
    }
}

#[tokio::test]
async fn the_next_server_removes_a_killed_ones_files() {
    let tmux = TmuxServer::new();
    let parent = tmux.home().join("temporary");
    std::fs::create_dir(&parent).unwrap();
    let start = || launch(&tmux).env("TMPDIR", parent.to_str().unwrap());
    let mut raw = start().raw();
    raw.initialize("2025-11-25").await;
    let params = json!({"name": "run_command", "arguments": {"command": "echo 'quoted'"}});
    raw.request("tools/call", params).await;
    let [left] = private_dirs(&parent).try_into().unwrap();
    kill_with_successor(&tmux, &mut raw).await;
    assert!(left.exists());
    let mcp = start().mcp().await;
    mcp.call("list_panes", json!({})).await.text();
    // The directory is renamed before it is removed, so its old name proves nothing.
    let is_left = || private_dirs(&parent).iter().any(|dir| dir.file_stem() == left.file_stem());
    until("the directory is removed", async || (!is_left()).then_some(())).await;
    mcp.close().await;
}
