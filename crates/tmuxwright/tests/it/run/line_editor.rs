//! The line editor of a person's shell while `run_command` inspects it: nothing that is typed, searched
//! or chosen there is changed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use testkit::{Mcp, Person, Shell, TmuxServer, until, wait_until};

use crate::run::fixture::{assert_usable, wait_for_foreground};
use crate::run::gate::{
    BASH, FISH, SHELLS, ZSH, assert_refused, cursor, wait_for_text, wait_until_still,
};
use crate::serve;
use crate::support::{command_end, string};

#[tokio::test]
async fn a_line_survives_probes_between_its_keys() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut person = Person::attach(&tmux, "main", 80, 24);
    let line = "echo 'a  b' >> lines";
    for shell in [BASH, ZSH, FISH] {
        for used in [false, true] {
            let target = tmux.open_shell(shell);
            tmux.tmux(&["select-window", "-t", &target]);
            if used {
                assert_usable(&mcp, &target, shell).await;
            }
            for (index, key) in line.char_indices() {
                // A probe waits for a person who has just pressed a key, so not every key has one.
                if index % 6 != 0 {
                    person.types(&key.to_string());
                    continue;
                }
                if index > 0 {
                    wait_for_text(&tmux, &target, line[..index].trim_end());
                }
                let arguments = json!({"target": target, "command": "echo 'mine'"});
                let (outcome, ()) = tokio::join!(mcp.call("run_command", arguments), async {
                    person.types(&key.to_string());
                });
                // At the empty prompt the command may come before the first key.
                if index == 0 && !outcome.failed_with("not_ready") {
                    assert_eq!(outcome.ok()["output"], "mine", "{shell}, {used}");
                } else {
                    outcome.err("not_ready");
                }
            }
            wait_for_text(&tmux, &target, ">> lines");
            person.types("\r");
            let lines = wait_until("the line has run", || {
                // The shell creates the file before it writes the line.
                let lines = std::fs::read_to_string(tmux.home().join("lines")).ok();
                lines.filter(|lines| !lines.is_empty())
            });
            assert_eq!(lines, "a  b\n", "{shell}, {used}: {}", tmux.screen(&target));
            std::fs::remove_file(tmux.home().join("lines")).unwrap();
            assert_usable(&mcp, &target, shell).await;
        }
    }
    mcp.close().await;
}

#[tokio::test]
async fn vi_normal_mode_is_reported_and_left_alone() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (shell, mode) in [(BASH, "set -o vi"), (ZSH, "bindkey -v"), (FISH, "fish_vi_key_bindings")]
    {
        for used in [false, true] {
            let target = tmux.open_shell(shell);
            let before = cursor(&tmux, &target);
            tmux.type_line(&target, mode);
            wait_until_still(&tmux, &target, &before);
            if used {
                assert_usable(&mcp, &target, shell).await;
            }
            tmux.presses(&target, &["Escape"]);
            if shell == FISH {
                wait_for_text(&tmux, &target, "[N]");
            }
            let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
            assert!(error.contains("vi normal mode") && error.contains("`i`"), "{error}");
            mcp.call("send_keys", json!({"target": target, "text": "i"})).await.text();
            assert_usable(&mcp, &target, shell).await;
        }
    }
    mcp.close().await;
}

#[tokio::test]
async fn an_open_search_is_reported_and_left_alone() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let ran = tmux.home().join("ran");
    for shell in [BASH, ZSH, FISH] {
        for used in [false, true] {
            let target = tmux.open_shell(shell);
            if shell == ZSH {
                tmux.type_line(&target, "HISTSIZE=100");
            }
            tmux.type_line(&target, &format!("touch {}", ran.display()));
            wait_until("the line has run", || std::fs::remove_file(&ran).ok());
            if used {
                assert_usable(&mcp, &target, shell).await;
            }
            // Before its prompt the terminal would take the key.
            mcp.call("wait_for", json!({"target": target, "until": ["prompt"]})).await.ok();
            tmux.presses(&target, &["C-r"]);
            wait_for_text(&tmux, &target, "search");
            let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
            assert!(error.contains("interrupt") && !ran.exists(), "{shell}: {error}");
            mcp.call("interrupt", json!({"target": target})).await.text();
            assert_usable(&mcp, &target, shell).await;
        }
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_completion_dialog_is_reported_and_left_alone() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let home = tmux.home().display();
    std::fs::create_dir(tmux.home().join("many")).unwrap();
    for number in 100..300 {
        std::fs::write(tmux.home().join(format!("many/file{number}")), "").unwrap();
    }
    for (shell, keys, shows) in [
        (BASH, &["Tab", "Tab"][..], "possibilities? (y or n)"),
        (ZSH, &["Tab"], "possibilities"),
        // The second key chooses from the list.
        (FISH, &["Tab", "Tab"], "cat file1"),
    ] {
        let target = tmux.open_shell(shell);
        tmux.type_line(&target, &format!("cd {home}/many"));
        tmux.types(&target, "cat file");
        wait_for_text(&tmux, &target, "cat file");
        tmux.presses(&target, keys);
        wait_for_text(&tmux, &target, shows);
        let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
        assert!(error.contains("interrupt"), "{shell}: {error}");
        mcp.call("interrupt", json!({"target": target})).await.text();
        mcp.call("interrupt", json!({"target": target})).await.text();
        assert_usable(&mcp, &target, shell).await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn text_that_looks_like_a_prompt_is_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for shell in SHELLS {
        for used in [false, true] {
            let target = tmux.open_shell(shell);
            if used {
                assert_usable(&mcp, &target, shell).await;
            }
            tmux.types(&target, "echo a > ");
            wait_for_text(&tmux, &target, "echo a >");
            let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
            assert!(error.contains("typed at the prompt"), "{shell}, {used}: {error}");
            let file = tmux.home().join("kept");
            tmux.type_line(&target, &format!("{}", file.display()));
            wait_until("the line has run", || file.exists().then_some(()));
            std::fs::remove_file(file).unwrap();
            assert_usable(&mcp, &target, shell).await;
        }
    }
    mcp.close().await;
}

#[tokio::test]
async fn an_unknown_prompt_may_have_any_form() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for columns in [80, 40, 20] {
        for (shell, prompt) in [
            (BASH, "➜  ~ ".to_owned()),
            (ZSH, "➜  ~ ".to_owned()),
            (BASH, "me@a-host-with-a-long-name:~/some/where$ ".to_owned()),
            (ZSH, "me@a-host-with-a-long-name:~/some/where$ ".to_owned()),
            // A blank behind it is in the last column, or wraps.
            (BASH, format!("{}$ ", "x".repeat(columns - 3))),
            (ZSH, format!("{}$ ", "x".repeat(columns - 3))),
            (BASH, format!("{}$ ", "x".repeat(columns - 2))),
            (ZSH, format!("{}$ ", "x".repeat(columns - 2))),
        ] {
            let target = tmux.open(shell);
            let size = columns.to_string();
            tmux.tmux(&["resize-window", "-t", &target, "-x", &size, "-y", "24"]);
            wait_for_text(&tmux, &target, shell_prompt(shell));
            let before = cursor(&tmux, &target);
            tmux.type_line(&target, &format!("clear; PS1='{prompt}'"));
            wait_until_still(&tmux, &target, &before);
            let context = format!("{shell}, {prompt:?}, {columns} columns");
            assert_usable(&mcp, &target, &context).await;
            assert_usable(&mcp, &target, &context).await;
        }
    }
    mcp.close().await;
}

/// The end of the prompt that the tests give a shell.
fn shell_prompt(shell: &str) -> &'static str {
    if shell == ZSH { "%" } else { "$" }
}

/// Waits until a command has printed this text.
async fn until_printed(mcp: &Mcp, started: &Value, text: &str) {
    until(&format!("the command prints {text:?}"), async || {
        let call = json!({"command_id": started["command_id"]});
        let result = mcp.call("command_result", call).await.ok();
        (result["output"] == text).then_some(())
    })
    .await;
}

/// The shell drops the rest of a command that a person interrupts, and is asked for its status. The
/// query must not be typed behind the person's own line.
#[tokio::test]
async fn a_line_typed_after_an_interrupt_is_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut person = Person::attach(&tmux, "main", 80, 24);
    let file = tmux.home().join("typed");
    for shell in SHELLS {
        let target = tmux.open_shell(shell);
        tmux.tmux(&["select-window", "-t", &target]);
        for used in [false, true] {
            let command = "echo 'begun'; sleep 1000; echo 'never'";
            let call = json!({"target": target, "command": command, "timeout": 0});
            let begun = mcp.call("run_command", call).await.ok();
            // A command file sleeps too.
            until_printed(&mcp, &begun, "begun").await;
            wait_for_foreground(&tmux, &target, "sleep");
            person.types("\x03echo 'a  b' >> typed");
            wait_for_text(&tmux, &target, "'a  b' >> typed");
            let call = json!({"command_id": begun["command_id"], "wait": 2});
            let waited = mcp.call("command_result", call).await.ok();
            person.types("\r");
            let shown = tmux.screen(&target);
            let context = format!("the line has run ({shell} {used}): {waited}\n{shown}");
            let typed = wait_until(&context, || {
                std::fs::read_to_string(&file).ok().filter(|text| !text.is_empty())
            });
            let screen = tmux.screen(&target);
            assert_eq!(typed, "a  b\n", "{shell} {used}: {waited}\n{screen}");
            std::fs::remove_file(&file).unwrap();
            let call = json!({"command_id": begun["command_id"], "wait": 30});
            let ended = mcp.call("command_result", call).await.ok();
            assert_ne!(ended["status"], "running", "{shell} {used}: {ended}\n{screen}");
            assert_usable(&mcp, &target, shell).await;
        }
        tmux.tmux(&["kill-pane", "-t", &target]);
    }
    mcp.close().await;
}

/// A line that begins with a blank is often one that a person keeps out of the history.
#[tokio::test]
async fn a_line_behind_the_cursor_is_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for shell in [BASH, ZSH, FISH] {
        for (used, line) in [(false, " touch ran"), (true, " touch ran"), (true, "   touch ran")] {
            let target = tmux.open_shell(shell);
            if used {
                assert_usable(&mcp, &target, shell).await;
            }
            tmux.types(&target, line);
            wait_for_text(&tmux, &target, line);
            let before = cursor(&tmux, &target);
            tmux.presses(&target, &["C-a"]);
            wait_until("the cursor is at the start", || {
                (cursor(&tmux, &target) != before).then_some(())
            });
            let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
            assert!(error.contains("typed at the prompt"), "{shell}, {used}: {error}");
            tmux.tmux(&["kill-pane", "-t", &target]);
        }
    }
    mcp.close().await;
}

/// The line editor does not notice, and its line is in the middle of the output.
#[tokio::test]
async fn a_line_under_other_output_is_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for shell in [BASH, ZSH] {
        for used in [false, true] {
            let target = tmux.open_shell(shell);
            if used {
                assert_usable(&mcp, &target, shell).await;
            }
            tmux.types(&target, "touch x;y");
            wait_for_text(&tmux, &target, "touch x;y");
            let tty = tmux.tmux(&["display-message", "-p", "-t", &target, "#{pane_tty}"]);
            std::fs::write(tty, "\r\nnotice\r\n").unwrap();
            wait_for_text(&tmux, &target, "\nnotice");
            let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
            assert!(error.contains("does not show its prompt"), "{shell}, {used}: {error}");
            tmux.tmux(&["kill-pane", "-t", &target]);
        }
    }
    mcp.close().await;
}

/// Keys would be an answer, or a part of the unfinished command.
#[tokio::test]
async fn rows_of_reading_commands_are_left_alone() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (shell, line, row) in [
        (BASH, "read -e -p 'Name: ' x", "\nName:"),
        (BASH, "read -n1 -p 'press a key to deploy ' x", "\npress a key to deploy"),
        (BASH, "for i in 1 2; do", "\n..."),
        (ZSH, "read -k1 '?press a key '", "\npress a key"),
    ] {
        for used in [false, true] {
            let target = tmux.open_shell(shell);
            if used {
                assert_usable(&mcp, &target, shell).await;
            }
            tmux.type_line(&target, "PS2='... '");
            tmux.type_line(&target, line);
            wait_for_text(&tmux, &target, row);
            let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
            assert!(error.contains("a command may be reading keys"), "{line}, {used}: {error}");
            tmux.tmux(&["kill-pane", "-t", &target]);
        }
    }
    mcp.close().await;
}

/// The status of the person's line is not that of the command.
#[tokio::test]
async fn a_line_entered_after_an_interrupt_counts_apart() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut person = Person::attach(&tmux, "main", 80, 24);
    for shell in SHELLS {
        let target = tmux.open_shell(shell);
        tmux.tmux(&["select-window", "-t", &target]);
        assert_usable(&mcp, &target, shell).await;
        let command = "echo 'begun'; sleep 1000";
        let call = json!({"target": target, "command": command, "timeout": 0});
        let begun = mcp.call("run_command", call).await.ok();
        until_printed(&mcp, &begun, "begun").await;
        wait_for_foreground(&tmux, &target, "sleep");
        person.types("\x03");
        wait_until("the prompt is shown", || {
            tmux.screen(&target).ends_with(['$', '#', '%', '>']).then_some(())
        });
        person.types("sh -c 'echo person; exit 7'\r");
        wait_for_text(&tmux, &target, "\nperson");
        let ended = command_end(&mcp, &begun).await;
        let code = &ended["exit_code"];
        assert!(ended["status"] == "lost" || code == 130, "{shell}: {ended}");
        tmux.tmux(&["kill-pane", "-t", &target]);
    }
    mcp.close().await;
}

/// A command that follows another at once is typed without a look at the row of the prompt.
#[tokio::test]
async fn a_line_typed_ahead_is_kept() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    mcp.call("run_command", json!({"command": "true"})).await.text();
    let go = tmux.home().join("go");
    let command = format!("until [ -e {} ]; do sleep 0.05; done; echo over", go.display());
    let begun = mcp.call("run_command", json!({"command": command, "timeout": 0})).await.ok();
    let pane = string(&begun["pane_id"]);
    let session = tmux.tmux(&["display-message", "-p", "-t", &pane, "#{session_name}"]);
    let mut person = Person::attach(&tmux, &session, 80, 24);
    person.types("echo half");
    wait_for_text(&tmux, &pane, "echo half");
    wait_until("the last key is three seconds old", || {
        let activity = tmux.tmux(&["display-message", "-p", "-t", &pane, "#{session_activity}"]);
        let last_key = UNIX_EPOCH + Duration::from_secs(activity.parse().unwrap());
        (SystemTime::now() > last_key + Duration::from_secs(3)).then_some(())
    });
    std::fs::write(go, "").unwrap();
    let ended = command_end(&mcp, &begun).await;
    let other = mcp.call("run_command", json!({"command": "echo other"})).await.ok();
    assert_eq!(other["output"], "other", "{ended}, {other}");
    assert_ne!(other["pane_id"], begun["pane_id"], "{ended}, {other}");
    person.types("\r");
    wait_for_text(&tmux, &pane, "\nhalf\n");
    mcp.close().await;
}
