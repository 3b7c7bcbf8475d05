//! The gate of `run_command`: it types only into a shell at an empty prompt, and leaves every other
//! pane unchanged.

use serde_json::{Value, json};
use testkit::{Mcp, Person, Shell, TmuxServer, until, wait_until};

use crate::run::fixture::{assert_usable, wait_for_foreground};
use crate::serve;
use crate::support::{at_prompt, exited, pane, shows, string};

/// Commands that start each shell. zsh and fish read the start-up files of the test's home, which
/// override those of the machine: `zsh -f` would still read `/etc/zshenv`.
pub(super) const SHELLS: [&str; 4] = [BASH, ZSH, FISH, DASH];
pub(super) const BASH: &str = "exec bash --norc --noprofile -i";
pub(super) const ZSH: &str = "exec zsh -i";
pub(super) const FISH: &str = "exec fish -i";
pub(super) const DASH: &str = "exec dash -i";

pub(super) async fn run(mcp: &Mcp, target: &str, command: &str) -> Value {
    let arguments = json!({"target": target, "command": command, "timeout": 60});
    mcp.call("run_command", arguments).await.ok()
}

/// Runs a command that must be refused and must leave the pane unchanged, and returns the error.
pub(super) async fn assert_refused(
    tmux: &TmuxServer,
    mcp: &Mcp,
    target: &str,
    code: &str,
) -> String {
    let forbidden = tmux.home().join("forbidden");
    let command = format!("touch {}", forbidden.display());
    let before = tmux.screen(target);
    let error = mcp.call("run_command", json!({"target": target, "command": command})).await;
    let error = error.err(code);
    assert!(error.contains("Next: "), "{error}");
    assert_eq!(tmux.screen(target), before, "{error}");
    assert!(!forbidden.exists(), "{error}");
    error
}

pub(super) fn wait_for_text(tmux: &TmuxServer, pane: &str, text: &str) -> String {
    wait_until(&format!("{pane} shows {text:?}"), || {
        Some(tmux.screen(pane)).filter(|screen| screen.contains(text))
    })
}

/// Waits until a pane's cursor has left `before` and the screen has stopped changing.
pub(super) fn wait_until_still(tmux: &TmuxServer, pane: &str, before: &str) {
    wait_until(&format!("the cursor of {pane} moves"), || {
        (cursor(tmux, pane) != before).then_some(())
    });
    let (mut last, mut same) = (String::new(), 0);
    wait_until(&format!("{pane} stops changing"), || {
        let now = format!("{} {}", cursor(tmux, pane), tmux.screen(pane));
        same = if now == last { same + 1 } else { 0 };
        last = now;
        (same > 20).then_some(())
    });
}

/// The cursor's position, with the length of history.
pub(super) fn cursor(tmux: &TmuxServer, pane: &str) -> String {
    let format = "#{history_size} #{cursor_y} #{cursor_x}";
    tmux.tmux(&["display-message", "-p", "-t", pane, format])
}

/// The line of the cursor, counted from the top of history.
fn cursor_line(tmux: &TmuxServer, pane: &str) -> usize {
    let cursor = cursor(tmux, pane);
    cursor.split(' ').take(2).map(|number| number.parse::<usize>().unwrap()).sum()
}

/// Waits until the cursor is behind a prompt, in this line or below. Returns the line.
pub(super) fn wait_for_prompt(tmux: &TmuxServer, pane: &str, first: usize) -> usize {
    wait_until(&format!("{pane} shows a prompt from line {first} on"), || {
        let format = "#{cursor_y} #{cursor_x}";
        let at = tmux.tmux(&["display-message", "-p", "-t", pane, format]);
        let (y, x) = at.split_once(' ').unwrap();
        let screen = tmux.screen(pane);
        let row = screen.lines().nth(y.parse().unwrap()).unwrap_or_default();
        let before: String = row.chars().take(x.parse().unwrap()).collect();
        let line = cursor_line(tmux, pane);
        let is_prompt = before.trim_end().ends_with(['$', '#', '%', '>', '❯']);
        (is_prompt && line >= first).then_some(line)
    })
}

#[tokio::test]
async fn a_foreground_program_is_named_and_left_alone() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (command, program, shows) in [
        ("python3 -q", "python", ">>>"),
        // Drawn last: the prompt of less, the ruler of vi.
        ("less FILE", "less", "(END)"),
        ("vi FILE", "vi", "All"),
        ("sleep 1000", "sleep", ""),
        ("cat", "cat", ""),
        ("ssh -F none -o ProxyCommand='sleep 1000' nowhere", "ssh", ""),
    ] {
        // Started in a shell, or as the pane's own program. Editors must not share a file.
        for is_typed in [true, false] {
            let file = tmux.home().join(format!("file-{is_typed}"));
            std::fs::write(&file, "some text\n").unwrap();
            let command = command.replace("FILE", &file.to_string_lossy());
            let target = if is_typed {
                let target = tmux.open_shell(BASH);
                tmux.type_line(&target, &format!("clear; {command}"));
                target
            } else {
                tmux.open(&format!("exec {command}"))
            };
            wait_for_foreground(&tmux, &target, program);
            wait_until(&format!("{target} shows {shows:?}"), || {
                let screen = tmux.screen(&target);
                // tmux may read the output of `clear` after the program has started.
                let has_drawn =
                    if shows.is_empty() { screen.is_empty() } else { screen.contains(shows) };
                has_drawn.then_some(())
            });
            let error = assert_refused(&tmux, &mcp, &target, "busy").await;
            assert!(error.contains(&format!("{command}` (pid ").replace('\'', "")), "{error}");
        }
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_shell_running_a_builtin_is_busy() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (shell, command, words) in [
        (BASH, "read x", "reads a line"),
        (ZSH, "read x", "reads a line"),
        (FISH, "while true; end", "is at work"),
        (DASH, "read x", "reads a line"),
        (BASH, "while :; do :; done", "is at work"),
    ] {
        let target = tmux.open_shell(shell);
        tmux.type_line(&target, &format!("clear; {command}"));
        until("the screen is clear", async || tmux.screen(&target).is_empty().then_some(())).await;
        let error = assert_refused(&tmux, &mcp, &target, "busy").await;
        assert!(error.contains(words), "{shell}, {command}: {error}");
        let stopped = mcp.call("interrupt", json!({"target": target})).await.ok();
        assert_eq!(stopped["at_prompt"], true, "{shell}, {command}: {stopped}");
        assert_usable(&mcp, &target, shell).await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_running_command_is_named_by_its_id() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for target in [tmux.open_shell(BASH), tmux.open_shell(DASH)] {
        let arguments = json!({"target": target, "command": "sleep 1000", "timeout": 0});
        let first = mcp.call("run_command", arguments).await.ok();
        let id = string(&first["command_id"]);
        wait_for_foreground(&tmux, &target, "sleep");
        let error = assert_refused(&tmux, &mcp, &target, "busy").await;
        assert!(error.contains(&format!("busy with command {id}; ")), "{error}");
        assert!(error.contains("command_result") && error.contains("interrupt"), "{error}");
        mcp.call("interrupt", json!({"target": target})).await.text();
        assert_usable(&mcp, &target, &error).await;
    }
    mcp.close().await;
}

/// Lets a person type a line and press `keys`, which move the cursor to this column of the line; a
/// negative one counts from its end. A refused command must keep the line, which then runs
/// when the person presses Enter.
async fn assert_typed_line_survives(
    at: (&TmuxServer, &Mcp, &mut Person),
    target: &str,
    rest: &str,
    keys: Option<(&str, isize)>,
) {
    let (tmux, mcp, person) = at;
    let file = tmux.home().join("entered");
    let line = format!("echo 'a  b' > {}{rest}", file.display());
    tmux.tmux(&["select-window", "-t", target]);
    let shows_last = |ends: &[&str]| {
        wait_until(&format!("{target} ends with one of {ends:?}"), || {
            let screen = tmux.screen(target);
            ends.iter().any(|end| screen.ends_with(end)).then_some(())
        });
    };
    shows_last(&["$", "#", "%", ">"]);
    person.types(&line);
    shows_last(&[&line[line.len() - 10..]]);
    if let Some((keys, column)) = keys {
        person.types(keys);
        let start = tmux.screen(target).lines().last().unwrap().find(&line).unwrap();
        let from = if column < 0 { start + line.len() } else { start };
        let column = from.checked_add_signed(column).unwrap().to_string();
        wait_until(&format!("the cursor of {target} is in column {column}"), || {
            (cursor(tmux, target).rsplit(' ').next() == Some(&column)).then_some(())
        });
    }
    let error = assert_refused(tmux, mcp, target, "not_ready").await;
    // The typed text may be a secret.
    assert!(error.contains("typed at the prompt") && !error.contains("echo"), "{error}");
    assert_refused(tmux, mcp, target, "not_ready").await;
    person.types("\r");
    let entered =
        wait_until(&format!("the line of {target} has run: {}", tmux.screen(target)), || {
            std::fs::read_to_string(&file).ok().filter(|text| !text.is_empty())
        });
    assert_eq!(entered, "a  b\n");
    std::fs::remove_file(&file).unwrap();
    assert_usable(mcp, target, &error).await;
}

#[tokio::test]
async fn a_half_typed_line_is_reported_and_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut person = Person::attach(&tmux, "main", 80, 24);
    for shell in SHELLS {
        let target = tmux.open_shell(shell);
        assert_typed_line_survives((&tmux, &mcp, &mut person), &target, "", None).await;
        // Again, now that the gate knows the prompt.
        assert_typed_line_survives((&tmux, &mcp, &mut person), &target, "", None).await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_half_typed_wrapped_line_is_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut person = Person::attach(&tmux, "main", 80, 24);
    let rest = format!("; : {} $HOME the end", "x".repeat(70));
    for shell in SHELLS {
        let target = tmux.open_shell(shell);
        assert_typed_line_survives((&tmux, &mcp, &mut person), &target, &rest, None).await;
        assert_typed_line_survives((&tmux, &mcp, &mut person), &target, &rest, None).await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_half_typed_line_survives_in_vi_mode() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut person = Person::attach(&tmux, "main", 80, 24);
    for (shell, mode) in [(BASH, "set -o vi"), (ZSH, "bindkey -v"), (FISH, "fish_vi_key_bindings")]
    {
        let target = tmux.open_shell(shell);
        run(&mcp, &target, mode).await;
        assert_typed_line_survives((&tmux, &mcp, &mut person), &target, "", None).await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn typed_lines_are_seen_at_any_cursor_position() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut person = Person::attach(&tmux, "main", 80, 24);
    for shell in [BASH, ZSH, FISH] {
        // To the start of the line, behind the second letter, before the last two letters.
        for keys in [("\x01", 0), ("\x01\x1b[C\x1b[C", 2), ("\x1b[D\x1b[D", -2)].map(Some) {
            let target = tmux.open_shell(shell);
            assert_typed_line_survives((&tmux, &mcp, &mut person), &target, "", keys).await;
            assert_typed_line_survives((&tmux, &mcp, &mut person), &target, "", keys).await;
        }
    }
    mcp.close().await;
}

#[tokio::test]
async fn typeahead_is_kept_while_a_command_runs() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut person = Person::attach(&tmux, "main", 80, 24);
    // Not in dash, which shows nothing of it: the line stays in the terminal's buffer.
    let shells = [BASH, ZSH, FISH].into_iter().flat_map(|shell| [(shell, true), (shell, false)]);
    // A line that wraps leaves the prompt in another row than the cursor.
    let wrapped = format!("; : {}", "x".repeat(70));
    let cases = shells.flat_map(|(shell, used)| [(shell, used, ""), (shell, used, &wrapped)]);
    for (shell, used, rest) in cases {
        let target = tmux.open_shell(shell);
        tmux.tmux(&["select-window", "-t", &target]);
        if used {
            assert_usable(&mcp, &target, shell).await;
        }
        let (go, file) = (tmux.home().join("go"), tmux.home().join("ahead"));
        let wait = format!("while ! test -e {}; do sleep 0.05; done", go.display());
        let wait = format!("sh -c 'echo begun; {wait}'");
        let arguments = json!({"target": target, "command": wait, "timeout": 0});
        let begun = mcp.call("run_command", arguments).await.ok();
        wait_for_text(&tmux, &target, "\nbegun");
        person.types(&format!("echo ahead > {}{rest}", file.display()));
        wait_for_text(&tmux, &target, "echo ahead");
        // The line is there even if the person looks elsewhere.
        if used && !rest.is_empty() {
            tmux.tmux(&["select-window", "-t", "=main:0"]);
        }
        std::fs::write(&go, "").unwrap();
        let arguments = json!({"command_id": begun["command_id"], "wait": 30});
        let end = mcp.call("command_result", arguments).await.ok();
        assert_eq!(end["exit_code"], 0, "{shell}: {end}");
        // In the other round the next command follows at once.
        if used {
            wait_until(&format!("{shell} shows the line at its prompt"), || {
                (tmux.screen(&target).matches("echo ahead").count() == 2).then_some(())
            });
        }
        let arguments = json!({"target": target, "command": "echo mine"});
        let error = mcp.call("run_command", arguments).await.err("not_ready");
        assert!(error.contains("typed at the prompt"), "{shell}: {error}");
        tmux.tmux(&["select-window", "-t", &target]);
        person.types("\r");
        wait_until(&format!("the line has run ({shell})"), || file.exists().then_some(()));
        assert_usable(&mcp, &target, shell).await;
        std::fs::remove_file(&go).unwrap();
        std::fs::remove_file(&file).unwrap();
    }
    mcp.close().await;
}

#[tokio::test]
async fn an_own_pane_with_typed_text_is_skipped() {
    for shell in Shell::ALL {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let mcp = serve(&tmux).await;
        // Twice: the prompt is known only from the second command on.
        mcp.call("run_command", json!({"command": "true"})).await.text();
        let first = mcp.call("run_command", json!({"command": "true"})).await.ok();
        let taken = string(&first["pane_id"]);
        // A pane that is resized before zsh has drawn its prompt loses rows from the screen.
        at_prompt(&mcp, &taken).await;
        let session = tmux.tmux(&["display-message", "-p", "-t", &taken, "#{session_name}"]);
        let mut person = Person::attach(&tmux, &session, 80, 24);
        person.types("echo half");
        shows(&mcp, &taken, "echo half").await;
        let other = mcp.call("run_command", json!({"command": "echo other"})).await.ok();
        assert_eq!(other["output"], "other", "{shell:?}: {other}");
        assert_ne!(other["pane_id"], first["pane_id"], "{shell:?}");
        assert_refused(&tmux, &mcp, &taken, "not_ready").await;
        person.types("\r");
        shows(&mcp, &taken, "\nhalf\n").await;
        mcp.close().await;
    }
}

#[tokio::test]
async fn a_continuation_prompt_is_reported_and_interruptible() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for shell in SHELLS {
        for used in [false, true] {
            let target = tmux.open_shell(shell);
            if used {
                assert_usable(&mcp, &target, shell).await;
            }
            tmux.types(&target, "echo 'never finished");
            wait_for_text(&tmux, &target, "finished");
            let before = cursor_line(&tmux, &target);
            tmux.presses(&target, &["Enter"]);
            wait_until(&format!("{shell} continues the line"), || {
                let screen = tmux.screen(&target);
                let continues = match shell {
                    // It has no continuation prompt.
                    FISH => cursor_line(&tmux, &target) > before,
                    ZSH => screen.ends_with("\nquote>"),
                    _ => screen.ends_with("\n>"),
                };
                continues.then_some(())
            });
            let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
            assert!(error.contains("continuation prompt"), "{shell}, {used}: {error}");
            assert!(error.contains("interrupt"), "{shell}: {error}");
            let stopped = mcp.call("interrupt", json!({"target": target})).await.ok();
            assert_eq!(stopped["at_prompt"], true, "{shell}: {stopped}");
            assert_usable(&mcp, &target, shell).await;
        }
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_pane_without_input_is_refused() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let read = tmux.open_shell(BASH);
    tmux.tmux(&["copy-mode", "-t", &read]);
    let off = tmux.open_shell(BASH);
    tmux.tmux(&["select-pane", "-d", "-t", &off]);
    let dead = pane(&mcp, "exit 3").await;
    exited(&mcp, &dead).await;
    for (target, words) in [(&read, "copy-mode"), (&off, "switched off"), (&dead, "has exited")] {
        let error = assert_refused(&tmux, &mcp, target, "not_ready").await;
        assert!(error.contains(words), "{error}");
    }
    let mode = tmux.tmux(&["display-message", "-p", "-t", &read, "#{pane_mode}"]);
    assert_eq!(mode, "copy-mode");
    tmux.presses(&read, &["q"]);
    assert_usable(&mcp, &read, "after copy mode").await;
    tmux.tmux(&["select-pane", "-e", "-t", &off]);
    assert_usable(&mcp, &off, "switched on again").await;
    mcp.close().await;
}

#[tokio::test]
async fn invalid_arguments_are_named() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (arguments, code, words) in [
        (json!({"command": "true", "target": "%99"}), "not_found", "%99"),
        (json!({"command": "true", "target": "nowhere"}), "not_found", "nowhere"),
        (json!({"command": ""}), "invalid_argument", "empty"),
        (json!({"command": " \n"}), "invalid_argument", "empty"),
        (json!({"command": "a\u{0}b"}), "invalid_argument", "NUL"),
        (json!({"command": "true", "timeout": -1}), "invalid_argument", "timeout"),
        (json!({"command": "true", "timeout": 601}), "invalid_argument", "timeout"),
        (json!({"command": "true", "cwd": "/nonexistent"}), "invalid_argument", "/nonexistent"),
        (json!({"command": "true", "cwd": "tmp"}), "invalid_argument", "absolute"),
        (json!({"command": "true", "cwd": "/", "target": "%0"}), "invalid_argument", "cwd"),
        (json!({"target": "%0"}), "invalid_argument", "`command` is missing"),
        (json!({"command": "true", "shell": "zsh"}), "invalid_argument", "no argument `shell`"),
    ] {
        let error = mcp.call("run_command", arguments.clone()).await.err(code);
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
    assert_eq!(tmux.screen("%0"), "$");
    assert_eq!(tmux.tmux(&["list-sessions", "-F", "#{session_name}"]), "main");
    mcp.close().await;
}

#[tokio::test]
async fn a_person_may_type_between_two_commands() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (shell, prompt) in [
        (BASH, "PS1='<new> $ '"),
        (ZSH, "PS1='<new> %# '"),
        (FISH, "function fish_prompt; echo '<new> $ '; end"),
        (DASH, "PS1='<new> $ '"),
    ] {
        let target = tmux.open_shell(shell);
        assert_usable(&mcp, &target, shell).await;
        tmux.type_line(&target, &format!("cd /usr; {prompt}"));
        wait_for_text(&tmux, &target, "\n<new> ");
        assert_eq!(run(&mcp, &target, "pwd").await["output"], "/usr", "{shell}");
        assert_usable(&mcp, &target, shell).await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_starting_shell_is_awaited() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for shell in [Shell::Bash, Shell::Zsh] {
        tmux.write_start_up(shell, "sleep 1; MADE=yes\n");
    }
    tmux.write_start_up(Shell::Fish, "sleep 1; set MADE yes\n");
    let dash = tmux.home().join("dashrc");
    std::fs::write(&dash, "sleep 1; MADE=yes\n").unwrap();
    for shell in [
        "exec bash -i".to_owned(),
        ZSH.to_owned(),
        FISH.to_owned(),
        format!("ENV={} exec dash -i", dash.display()),
    ] {
        let target = tmux.open(&shell);
        let result = run(&mcp, &target, "echo made: $MADE").await;
        assert_eq!(result["output"], "made: yes", "{shell}: {result}");
        assert_eq!(result["exit_code"], 0, "{shell}: {result}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn commands_run_in_the_innermost_shell() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (outer, inner, ask) in [
        (ZSH, "bash --norc --noprofile", "echo ${BASH_VERSION:+bash}"),
        (BASH, "zsh", "echo ${ZSH_VERSION:+zsh}"),
        (DASH, "fish", "set -q FISH_VERSION; and echo fish"),
        (FISH, "dash", "echo ${BASH_VERSION:-dash}"),
    ] {
        let target = tmux.open_shell(outer);
        assert_usable(&mcp, &target, outer).await;
        let name = inner.split(' ').next().unwrap();
        tmux.type_line(&target, inner);
        wait_for_foreground(&tmux, &target, name);
        let result = run(&mcp, &target, ask).await;
        assert_eq!(result["output"], name, "{outer}: {result}");
        let result = run(&mcp, &target, "exit 5").await;
        assert_eq!(result["exit_code"], 5, "{outer}, {inner}: {result}");
        assert_usable(&mcp, &target, outer).await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn an_aborted_command_line_has_an_exit_code() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (shell, command, words) in [
        (BASH, "echo ${nothing?nope}; echo not reached", "nope"),
        (ZSH, "echo ${nothing?nope}; echo not reached", "nope"),
        (DASH, "echo ${nothing?nope}; echo not reached", "nope"),
        (BASH, "set -u; echo $nothing; echo not reached", "nothing"),
        (ZSH, "set -u; echo $nothing; echo not reached", "nothing"),
        (DASH, "set -u; echo $nothing; echo not reached", "nothing"),
        (ZSH, "echo /nonexistent/*; echo not reached", "no matches"),
        (FISH, "echo /nonexistent/*; false", "No matches"),
        (BASH, "echo 'unfinished", "matching"),
        (ZSH, "echo 'unfinished", "unmatched '"),
        (FISH, "echo 'unfinished", "quot"),
        (DASH, "echo 'unfinished", "quot"),
        (BASH, "for x in", "syntax error"),
        (ZSH, "for x in 1; do", "parse error"),
        (FISH, "for x in 1", "end"),
        (DASH, "if true; then", "ntax error"),
        (BASH, "echo )", "syntax error"),
        (ZSH, "echo )", "parse error"),
        (DASH, "echo )", "ntax error"),
    ] {
        let target = tmux.open_shell(shell);
        for _ in 0..2 {
            let result = run(&mcp, &target, command).await;
            let context = format!("{shell}, {command}: {result}");
            assert_eq!(result["status"], "exited", "{context}");
            assert!(result["exit_code"].as_i64().is_some_and(|code| code > 0), "{context}");
            let output = string(&result["output"]);
            assert!(output.contains(words) && !output.contains("\nnot reached"), "{context}");
            assert_usable(&mcp, &target, &context).await;
        }
        tmux.tmux(&["kill-pane", "-t", &target]);
    }
    mcp.close().await;
}
