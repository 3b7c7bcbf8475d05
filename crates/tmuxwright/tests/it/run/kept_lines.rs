//! Lines of a person in rows that pass for an empty prompt: they are neither entered nor changed.

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::{Mcp, Shell, TmuxServer, until, wait_until};

use crate::run::fixture::{ShellFixture, assert_usable, wait_for_foreground};
use crate::run::gate::{
    BASH, DASH, FISH, ZSH, assert_refused, cursor, wait_for_text, wait_until_still,
};
use crate::support::string;
use crate::{launch, serve};

/// A shell that has run this line and shows its prompt again.
fn prepared(tmux: &TmuxServer, shell: &str, line: &str) -> String {
    let target = tmux.open_shell(shell);
    let before = cursor(tmux, &target);
    tmux.type_line(&target, line);
    wait_until_still(tmux, &target, &before);
    target
}

/// Types a line and waits until it is shown.
fn types(tmux: &TmuxServer, target: &str, line: &str) {
    tmux.types(target, line);
    wait_for_text(tmux, target, line.trim());
}

/// Interrupts, and returns whether the shell is reported to be at its prompt.
async fn interrupt(mcp: &Mcp, target: &str) -> Value {
    mcp.call("interrupt", json!({"target": target})).await.ok()["at_prompt"].clone()
}

/// A key that a shell traps or binds otherwise leaves the line as it is, or draws it again below.
#[tokio::test]
async fn text_that_survives_an_interrupt_is_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (shell, line) in [
        (BASH, "trap '' INT"),
        (BASH, "stty intr undef"),
        (ZSH, "stty intr undef"),
        (FISH, "bind \\cc true"),
        (BASH, r#"stty intr undef; bind -x '"\C-c": echo caught'"#),
        (ZSH, "TRAPINT() { zle -I; print caught; return 0 }"),
        (FISH, "bind \\cc 'echo caught; commandline -f repaint'"),
    ] {
        for used in [false, true] {
            let target = prepared(&tmux, shell, line);
            if used {
                let before = cursor(&tmux, &target);
                assert_usable(&mcp, &target, shell).await;
                // The terminal itself drops text that it gets before the shell reads.
                wait_until_still(&tmux, &target, &before);
            }
            types(&tmux, &target, "touch entered");
            assert_eq!(interrupt(&mcp, &target).await, true, "{line}");
            let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
            assert!(error.contains("typed at the prompt"), "{line}, {used}: {error}");
            assert!(!tmux.home().join("entered").exists(), "{line}, {used}");
            tmux.tmux(&["kill-pane", "-t", &target]);
        }
    }
    mcp.close().await;
}

/// The key does not end the command, and the shell takes the text when the command has ended.
#[tokio::test]
async fn text_typed_ahead_survives_an_interrupt() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let gate = tmux.home().join("closed");
    let command = format!("sh -c 'while test -e {}; do sleep 0.01; done'", gate.display());
    for (shell, line) in [
        (BASH, "stty intr undef"),
        (ZSH, "stty intr undef"),
        (FISH, "stty intr undef; bind \\cc true"),
    ] {
        let target = prepared(&tmux, shell, line);
        assert_usable(&mcp, &target, shell).await;
        std::fs::write(&gate, "").unwrap();
        let call = json!({"target": target, "command": command, "timeout": 0});
        mcp.call("run_command", call).await.ok();
        wait_for_foreground(&tmux, &target, "sh");
        types(&tmux, &target, "touch entered");
        let (at_prompt, ()) = tokio::join!(interrupt(&mcp, &target), async {
            until("the key is echoed", async || tmux.screen(&target).contains("^C").then_some(()))
                .await;
            std::fs::remove_file(&gate).unwrap();
        });
        assert_eq!(at_prompt, true, "{shell}");
        let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
        assert!(error.contains("typed at the prompt"), "{shell}: {error}");
        assert!(!tmux.home().join("entered").exists(), "{shell}");
        tmux.tmux(&["kill-pane", "-t", &target]);
    }
    mcp.close().await;
}

/// The key leaves the continuation prompt as it is, and draws it again.
#[tokio::test]
async fn an_open_quote_survives_a_trapped_interrupt() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = prepared(&tmux, ZSH, "TRAPINT() { zle -I; print caught; return 0 }");
    assert_usable(&mcp, &target, ZSH).await;
    tmux.type_line(&target, "echo 'open");
    wait_for_text(&tmux, &target, "\nquote>");
    interrupt(&mcp, &target).await;
    wait_for_text(&tmux, &target, "caught\nquote>");
    let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
    assert!(error.contains("continuation prompt"), "{error}");
    mcp.close().await;
}

/// The interrupt leaves the question, and not the line behind it.
#[tokio::test]
async fn a_line_behind_a_completion_question_is_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for number in 100..300 {
        std::fs::write(tmux.home().join(format!("file{number}")), "").unwrap();
    }
    let home = tmux.home().display();
    let target = prepared(&tmux, ZSH, &format!("cd {home}"));
    types(&tmux, &target, "touch entered file");
    tmux.presses(&target, &["Tab"]);
    wait_for_text(&tmux, &target, "possibilities");
    let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
    assert!(error.contains("interrupt"), "{error}");
    assert_eq!(interrupt(&mcp, &target).await, true);
    assert_refused(&tmux, &mcp, &target, "not_ready").await;
    assert!(!tmux.home().join("entered").exists());
    assert_eq!(interrupt(&mcp, &target).await, true);
    assert_usable(&mcp, &target, "after the second interrupt").await;
    mcp.close().await;
}

/// A right prompt ends at the margin, as the row does here.
#[tokio::test]
async fn a_line_before_a_right_prompt_is_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let full = format!(" touch {:0>width$}", "entered", width = 80 - 7 - "$ ".len());
    for (shell, prompt, line) in [
        (ZSH, "RPROMPT=right", " touch entered"),
        (FISH, "function fish_right_prompt; echo right; end", " touch entered"),
        (BASH, "PS1='$ '", &full),
        (ZSH, "PS1='$ '", &full),
    ] {
        for used in [false, true] {
            let target = prepared(&tmux, shell, prompt);
            if used {
                assert_usable(&mcp, &target, prompt).await;
            }
            tmux.types(&target, line);
            wait_for_text(&tmux, &target, "entered");
            let before = cursor(&tmux, &target);
            tmux.presses(&target, &["C-a"]);
            wait_until("the cursor is at the start", || {
                (cursor(&tmux, &target) != before).then_some(())
            });
            let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
            assert!(error.contains("typed at the prompt"), "{prompt}, {used}: {error}");
            tmux.presses(&target, &["C-c"]);
            assert_usable(&mcp, &target, prompt).await;
            tmux.tmux(&["kill-pane", "-t", &target]);
        }
    }
    mcp.close().await;
}

/// The line wraps so that its last row is the same as the prompt.
#[tokio::test]
async fn a_wrapped_row_like_the_prompt_is_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (shell, prompt) in
        [(BASH, "PS1='$ '"), (ZSH, "PS1='$ '"), (FISH, "function fish_prompt; echo -n '$ '; end")]
    {
        let target = prepared(&tmux, shell, prompt);
        tmux.tmux(&["resize-window", "-t", &target, "-x", "40", "-y", "24"]);
        assert_usable(&mcp, &target, shell).await;
        // Two columns are those of the prompt.
        let line = format!("echo {}$ ", "a".repeat(40 - 2 - "echo ".len()));
        tmux.types(&target, &line);
        wait_until("the line is shown", || {
            let at_prompt_column = cursor(&tmux, &target).ends_with(" 2");
            (at_prompt_column && tmux.screen(&target).trim_end().ends_with("a\n$")).then_some(())
        });
        let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
        assert!(error.contains("typed at the prompt"), "{shell}: {error}");
        tmux.presses(&target, &["C-c"]);
        assert_usable(&mcp, &target, shell).await;
        tmux.tmux(&["kill-pane", "-t", &target]);
    }
    mcp.close().await;
}

/// The shell has dropped the command, and its status is asked for by a line of ours.
#[tokio::test]
async fn no_status_is_asked_in_vi_normal_mode() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (shell, mode) in [(BASH, "set -o vi"), (ZSH, "bindkey -v")] {
        let target = prepared(&tmux, shell, mode);
        assert_usable(&mcp, &target, shell).await;
        let call = json!({"target": target, "command": "sleep 1000; true", "timeout": 0});
        let begun = mcp.call("run_command", call).await.ok();
        wait_for_foreground(&tmux, &target, "sleep");
        tmux.presses(&target, &["C-c", "Escape"]);
        let call = json!({"command_id": begun["command_id"], "wait": 60});
        let ended = mcp.call("command_result", call).await.ok();
        let screen = tmux.screen(&target);
        // The shell may have acted on the key before it had a line editor.
        let is_refused = string(&ended["note"]).contains("vi normal mode");
        assert!(is_refused || ended["exit_code"] == 130, "{shell}: {ended}\n{screen}");
        assert!(!screen.contains("tmuxwright"), "{shell}: {ended}\n{screen}");
        tmux.presses(&target, &["i"]);
        assert_usable(&mcp, &target, shell).await;
    }
    mcp.close().await;
}

/// The blank with which a line editor is tried must go if nothing else is typed.
#[tokio::test]
async fn a_command_without_a_file_leaves_no_blank() {
    let tmux = TmuxServer::new();
    let args = ["--toolset", "all", "--structured"];
    let mcp = launch(&tmux).args(&args).env("TMPDIR", "/nonexistent").mcp().await;
    for shell in [BASH, ZSH, FISH] {
        let target = tmux.open_shell(shell);
        let before = cursor(&tmux, &target);
        for _ in 0..2 {
            let call = json!({"target": target, "command": "echo 'x'"});
            let error = mcp.call("run_command", call).await.err("internal");
            assert!(error.contains("/nonexistent"), "{shell}: {error}");
            wait_until(&format!("the blank is gone, {shell}"), || {
                (cursor(&tmux, &target) == before).then_some(())
            });
        }
    }
    mcp.close().await;
}

/// A signal must not come between the first key of a line and its end.
#[tokio::test]
async fn a_signal_leaves_no_line_half_typed() {
    let tmux = TmuxServer::new();
    for round in 0..12 {
        let shell = [BASH, ZSH, FISH][round % 3];
        let target = tmux.open_shell(shell);
        let prompt = tmux.screen(&target).trim_end().to_owned();
        let args = ["--toolset", "all", "--structured"];
        let mut raw = launch(&tmux).args(&args).raw();
        raw.initialize("2025-06-18").await;
        let call =
            json!({"name": "run_command", "arguments": {"target": target, "command": "echo 'x'"}});
        raw.start("tools/call", call).await;
        // The moments of this process are as good as any.
        for _ in 0..round {
            tmux.tmux(&["list-panes"]);
        }
        raw.signal(Signal::TERM);
        raw.wait().await;
        let left = || tmux.screen(&target).trim_end().lines().last().map(str::to_owned);
        wait_until(&format!("round {round}, {shell}: nothing is left at the prompt"), || {
            let shown =
                left().filter(|row| row.trim_end() == prompt.lines().last().unwrap_or_default());
            let column = tmux.tmux(&["display-message", "-p", "-t", &target, "#{cursor_x}"]);
            shown.filter(|row| column == (row.trim_end().chars().count() + 1).to_string())
        });
        tmux.tmux(&["kill-pane", "-t", &target]);
    }
}

/// The terminal holds the keys that a program has not read, and the shell takes them.
#[tokio::test]
async fn unread_keys_do_not_join_the_next_command() {
    for shell in Shell::ALL {
        let fixture = ShellFixture::own(shell).await;
        for round in 0..3 {
            let go = fixture.tmux.home().join(format!("go-{round}"));
            let command = format!(
                "sh -c 'echo begun; while ! test -e {}; do sleep 0.01; done; echo; echo done'",
                go.display()
            );
            let begun = fixture.start(&command, "begun").await;
            let keys = json!({"target": begun["pane_id"], "text": "x"});
            fixture.mcp.call("send_keys", keys).await.ok();
            std::fs::write(&go, "").unwrap();
            fixture.end(&begun).await;
            let next = fixture.answer("echo next").await;
            assert_eq!(next["output"], "next", "{fixture}, {round}: {next}");
            assert_ne!(next["pane_id"], begun["pane_id"], "{fixture}, {round}: {next}");
            // The keys are gone, and the shell is used again.
            let interrupt = json!({"target": begun["pane_id"], "timeout": 60});
            fixture.mcp.call("interrupt", interrupt).await.ok();
        }
        fixture.close().await;
    }
}

/// In a shell without a line editor the terminal holds text that was typed ahead, and does not show it at
/// the prompt. Keys that another program has read are gone.
#[tokio::test]
async fn text_held_by_the_terminal_is_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let gate = tmux.home().join("closed");
    let send = async |target: &str, keys: Value| {
        let mut call = json!({"target": target});
        call.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        mcp.call("send_keys", call).await.ok();
    };
    for (used, typed) in [
        (false, json!({"text": "left"})),
        (true, json!({"text": "left"})),
        (true, json!({"text": "left", "keys": ["C-d"]})),
        (true, json!({"keys": ["C-u", "l", "e", "f", "t"]})),
    ] {
        let target = tmux.open_shell(DASH);
        if used {
            assert_usable(&mcp, &target, DASH).await;
        }
        std::fs::write(&gate, "").unwrap();
        let wait = format!("while test -e {}; do sleep 0.01; done; echo over", gate.display());
        send(&target, json!({"text": wait, "enter": true})).await;
        wait_for_foreground(&tmux, &target, "sleep");
        send(&target, typed.clone()).await;
        std::fs::remove_file(&gate).unwrap();
        wait_until("dash shows its prompt", || {
            let screen = tmux.screen(&target);
            screen.rsplit_once("leftover\n").is_some_and(|(_, row)| !row.is_empty()).then_some(())
        });
        let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
        assert!(error.contains("typed at the prompt"), "{used}, {typed}: {error}");
        assert_eq!(interrupt(&mcp, &target).await, true);
        assert_usable(&mcp, &target, "after the text was dropped").await;
        let raw = "stty raw -echo; printf 'a key? '; dd bs=1 count=1 2>&1 >/dev/null; stty sane";
        send(&target, json!({"text": raw, "enter": true})).await;
        wait_for_text(&tmux, &target, "\na key?");
        send(&target, json!({"text": "q", "until": ["prompt"]})).await;
        assert_usable(&mcp, &target, "after a program has read the key").await;
    }
    mcp.close().await;
}

/// A client that answers a question may not wait for the end of the command.
#[tokio::test]
async fn the_home_shell_stays_after_an_answer() {
    let fixture = ShellFixture::own(Shell::Bash).await;
    let mut stays = 0;
    for round in 0..10 {
        let asks = fixture.answer_within("read -p 'name? ' NAME; sleep 0.1", 60.0).await;
        assert_eq!(asks["waiting"], "line", "{round}: {asks}");
        let answer = json!({"target": asks["pane_id"], "text": "Ada", "enter": true});
        fixture.mcp.call("send_keys", answer).await.ok();
        let next = fixture.answer("echo \"$NAME\"").await;
        let moved = string(&next["note"]).contains("still runs");
        assert!(next["output"] == "Ada" || moved, "{round}: {next}");
        stays += usize::from(!moved);
        until("the command has ended", async || {
            (fixture.result(&asks).await["status"] == "exited").then_some(())
        })
        .await;
    }
    // On a very busy machine a command may take longer than its successor waits.
    assert!(stays > 5, "the home shell stayed in {stays} of 10 rounds");
    fixture.close().await;
}

/// Runs a command, types a line ahead while it runs, and asserts that the next command leaves the line.
async fn assert_kept_behind_prompt(tmux: &TmuxServer, mcp: &Mcp, target: &str, line: &str) {
    let gate = tmux.home().join("gate");
    std::fs::write(&gate, "").unwrap();
    let wait = format!("while test -e {}; do sleep 0.01; done; echo over", gate.display());
    let command = format!("cd {}; sh -c '{wait}'", tmux.home().join("below").display());
    let call = json!({"target": target, "command": command, "timeout": 0});
    let begun = mcp.call("run_command", call).await.ok();
    wait_for_foreground(tmux, target, "sh");
    // However the line wraps, its letters follow each other.
    let letters = |text: &str| text.split_whitespace().collect::<String>();
    let shown = |times| {
        let count = letters(&tmux.screen(target)).matches(&letters(line)).count();
        (count >= times).then_some(())
    };
    tmux.types(target, line);
    wait_until("the terminal echoes the line", || shown(1));
    std::fs::remove_file(&gate).unwrap();
    let call = json!({"command_id": begun["command_id"], "wait": 60});
    let ended = mcp.call("command_result", call).await.ok();
    assert_eq!(ended["exit_code"], 0, "{target}, {line}: {ended}");
    wait_until("the shell shows it behind its prompt", || shown(2));
    let error = assert_refused(tmux, mcp, target, "not_ready").await;
    assert!(error.contains("typed at the prompt"), "{target}, {line}: {error}");
    assert!(!tmux.home().join("below/entered").exists(), "{target}: {line}");
}

/// The new prompt cannot be told from the line by a comparison with the old one.
#[tokio::test]
async fn text_typed_ahead_of_a_changed_prompt_stays() {
    let tmux = TmuxServer::new();
    std::fs::create_dir(tmux.home().join("below")).unwrap();
    let mcp = serve(&tmux).await;
    for (shell, prompt) in [
        (BASH, "PS1='\\w $ '"),
        (ZSH, "PS1='%~ %# '"),
        (FISH, "function fish_prompt; echo (pwd)' > '; end"),
    ] {
        for used in [false, true] {
            let target = prepared(&tmux, shell, prompt);
            if used {
                assert_usable(&mcp, &target, shell).await;
            }
            assert_kept_behind_prompt(&tmux, &mcp, &target, "touch entered").await;
        }
    }
    mcp.close().await;
}

/// bash ends a row with a line end of its own if a blank comes first in the next one.
#[tokio::test]
async fn line_typed_ahead_stays_wherever_it_wraps() {
    let tmux = TmuxServer::new();
    std::fs::create_dir(tmux.home().join("below")).unwrap();
    let mcp = serve(&tmux).await;
    for length in 62..=70 {
        let target = prepared(&tmux, BASH, "PS1='bash# '");
        let line = format!("echo {} \"a b\"; touch entered; ", "x".repeat(length));
        assert_kept_behind_prompt(&tmux, &mcp, &target, &line).await;
        tmux.tmux(&["kill-pane", "-t", &target]);
    }
    mcp.close().await;
}
