//! `run_command` types only into a shell at an empty prompt; all else is refused and left as it was.

use serde_json::{Value, json};
use testkit::{Mcp, Person, Shell, TmuxServer, until, wait_until};

use crate::serve;
use crate::support::{exited, pane, screen, shows, string};

/// The shells, each without files of its own.
const SHELLS: [&str; 4] = [BASH, ZSH, FISH, DASH];
const BASH: &str = "exec bash --norc --noprofile -i";
const ZSH: &str = "exec zsh -f -i";
const FISH: &str = "XDG_CONFIG_HOME= XDG_DATA_HOME= exec fish -i";
const DASH: &str = "exec dash -i";

async fn run(mcp: &Mcp, target: &str, command: &str) -> Value {
    let arguments = json!({"target": target, "command": command, "timeout": 60});
    mcp.call("run_command", arguments).await.ok()
}

/// Runs a command in a pane that must be usable.
pub(crate) async fn works(mcp: &Mcp, target: &str, what: &str) {
    let result = run(mcp, target, "echo it works").await;
    assert_eq!(
        (&result["status"], &result["exit_code"], &result["output"]),
        (&json!("exited"), &json!(0), &json!("it works")),
        "{what}: {result}\n{}",
        screen(mcp, target).await
    );
}

/// Tries to run a command in a pane that must not be touched, and returns the error.
async fn refused(tmux: &TmuxServer, mcp: &Mcp, target: &str, code: &str) -> String {
    let forbidden = tmux.home().join("forbidden");
    let command = format!("touch {}", forbidden.display());
    let before = tmux.screen(target);
    let error = mcp.call("run_command", json!({"target": target, "command": command})).await;
    let error = error.err(code);
    assert!(error.contains("Next: "), "{error}");
    // A shell takes a moment to show again what was cleared to see whether it is there.
    wait_until(&format!("{target} shows the same as before; {error}"), || {
        (tmux.screen(target) == before).then_some(())
    });
    assert!(!forbidden.exists(), "{error}");
    error
}

fn waits_for(tmux: &TmuxServer, pane: &str, what: &str) -> String {
    wait_until(&format!("{pane} shows {what:?}"), || {
        Some(tmux.screen(pane)).filter(|screen| screen.contains(what))
    })
}

/// Waits until what a pane shows has changed, as the cursor tells, and then changes no more.
fn settles(tmux: &TmuxServer, pane: &str, before: &str) {
    wait_until(&format!("{pane} shows something new"), || {
        (cursor(tmux, pane) != before).then_some(())
    });
    let (mut last, mut same) = (String::new(), 0);
    wait_until(&format!("{pane} is still"), || {
        let now = format!("{} {}", cursor(tmux, pane), tmux.screen(pane));
        same = if now == last { same + 1 } else { 0 };
        last = now;
        (same > 20).then_some(())
    });
}

/// Where the cursor is.
fn cursor(tmux: &TmuxServer, pane: &str) -> String {
    let format = "#{history_size} #{cursor_y} #{cursor_x}";
    tmux.tmux(&["display-message", "-p", "-t", pane, format])
}

/// Waits until tmux names this program as the one in the foreground.
pub(crate) fn runs(tmux: &TmuxServer, pane: &str, program: &str) {
    wait_until(&format!("{program} runs in {pane}"), || {
        let name = tmux.tmux(&["display-message", "-p", "-t", pane, "#{pane_current_command}"]);
        name.starts_with(program).then_some(())
    });
}

#[tokio::test]
async fn a_program_in_the_foreground_is_named_and_gets_nothing() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (command, program, shows) in [
        ("python3 -q", "python", ">>>"),
        ("less FILE", "less", "some text"),
        ("vi FILE", "vi", "some text"),
        ("sleep 1000", "sleep", ""),
        ("cat", "cat", ""),
        ("ssh -F none -o ProxyCommand='sleep 1000' nowhere", "ssh", ""),
    ] {
        // Started by a person's shell, or the pane's own; each editor has a file of its own.
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
            runs(&tmux, &target, program);
            waits_for(&tmux, &target, shows);
            let error = refused(&tmux, &mcp, &target, "busy").await;
            assert!(error.contains(&format!("{command}` (pid ").replace('\'', "")), "{error}");
        }
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_shell_that_is_at_something_itself_is_busy() {
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
        let error = refused(&tmux, &mcp, &target, "busy").await;
        assert!(error.contains(words), "{shell}, {command}: {error}");
        let stopped = mcp.call("interrupt", json!({"target": target})).await.ok();
        assert_eq!(stopped["at_prompt"], true, "{shell}, {command}: {stopped}");
        works(&mcp, &target, shell).await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_command_of_ours_that_runs_there_is_named_with_its_id() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for target in [tmux.open_shell(BASH), tmux.open_shell(DASH)] {
        let arguments = json!({"target": target, "command": "sleep 1000", "timeout": 0});
        let first = mcp.call("run_command", arguments).await.ok();
        let id = string(&first["command_id"]);
        runs(&tmux, &target, "sleep");
        let error = refused(&tmux, &mcp, &target, "busy").await;
        assert!(error.contains(&format!("busy with command {id}\n")), "{error}");
        assert!(error.contains("command_result") && error.contains("interrupt"), "{error}");
        mcp.call("interrupt", json!({"target": target})).await.text();
        works(&mcp, &target, &error).await;
    }
    mcp.close().await;
}

/// Has a person begin a line and press some keys, and sees that it survives an attempt to run a
/// command and then does what it says.
async fn is_kept(at: (&TmuxServer, &Mcp, &mut Person), target: &str, rest: &str, keys: &str) {
    let (tmux, mcp, person) = at;
    let file = tmux.home().join("entered");
    let line = format!("echo 'a  b' > {}{rest}", file.display());
    tmux.tmux(&["select-window", "-t", target]);
    let shows_last = |ends: &[&str]| {
        wait_until(&format!("the last thing {target} shows is one of {ends:?}"), || {
            let screen = tmux.screen(target);
            ends.iter().any(|end| screen.ends_with(end)).then_some(())
        });
    };
    shows_last(&["$", "#", "%", ">"]);
    person.types(&line);
    shows_last(&[&line[line.len() - 10..]]);
    if !keys.is_empty() {
        let end = cursor(tmux, target);
        person.types(keys);
        settles(tmux, target, &end);
    }
    let error = refused(tmux, mcp, target, "not_ready").await;
    // What they typed may be a secret.
    assert!(error.contains("typed at the prompt") && !error.contains("echo"), "{error}");
    // Again: what was put back is a line like any other.
    refused(tmux, mcp, target, "not_ready").await;
    person.types("\r");
    let entered =
        wait_until(&format!("the line of {target} has run: {}", tmux.screen(target)), || {
            std::fs::read_to_string(&file).ok().filter(|text| !text.is_empty())
        });
    assert_eq!(entered, "a  b\n");
    std::fs::remove_file(&file).unwrap();
    works(mcp, target, &error).await;
}

#[tokio::test]
async fn a_half_typed_line_is_told_and_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut person = Person::attach(&tmux, "main", 80, 24);
    for shell in SHELLS {
        let target = tmux.open_shell(shell);
        is_kept((&tmux, &mcp, &mut person), &target, "", "").await;
        // Now its prompt is known.
        is_kept((&tmux, &mcp, &mut person), &target, "", "").await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_half_typed_line_of_two_rows_is_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut person = Person::attach(&tmux, "main", 80, 24);
    let rest = format!("; : {} $HOME the end", "x".repeat(70));
    for shell in SHELLS {
        let target = tmux.open_shell(shell);
        is_kept((&tmux, &mcp, &mut person), &target, &rest, "").await;
        is_kept((&tmux, &mcp, &mut person), &target, &rest, "").await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_half_typed_line_is_kept_in_the_vi_modes_too() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut person = Person::attach(&tmux, "main", 80, 24);
    for (shell, mode) in [(BASH, "set -o vi"), (ZSH, "bindkey -v"), (FISH, "fish_vi_key_bindings")]
    {
        let target = tmux.open_shell(shell);
        run(&mcp, &target, mode).await;
        is_kept((&tmux, &mcp, &mut person), &target, "", "").await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_half_typed_line_is_seen_wherever_its_cursor_is() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut person = Person::attach(&tmux, "main", 80, 24);
    for shell in [BASH, ZSH, FISH] {
        // To its start, behind its second letter, before its last but one.
        for keys in ["\x01", "\x01\x1b[C\x1b[C", "\x1b[D\x1b[D"] {
            let target = tmux.open_shell(shell);
            is_kept((&tmux, &mcp, &mut person), &target, "", keys).await;
            is_kept((&tmux, &mcp, &mut person), &target, "", keys).await;
        }
    }
    mcp.close().await;
}

#[tokio::test]
async fn what_a_person_types_while_a_command_runs_is_kept() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut person = Person::attach(&tmux, "main", 80, 24);
    // dash shows nothing of it: the terminal keeps the line.
    let shells = [BASH, ZSH, FISH].into_iter().flat_map(|shell| [(shell, true), (shell, false)]);
    for (shell, used) in shells {
        let target = tmux.open_shell(shell);
        tmux.tmux(&["select-window", "-t", &target]);
        if used {
            works(&mcp, &target, shell).await;
        }
        let (go, file) = (tmux.home().join("go"), tmux.home().join("ahead"));
        let wait = format!("while ! test -e {}; do sleep 0.05; done", go.display());
        let wait = format!("sh -c 'echo begun; {wait}'");
        let arguments = json!({"target": target, "command": wait, "timeout": 0});
        let begun = mcp.call("run_command", arguments).await.ok();
        waits_for(&tmux, &target, "\nbegun");
        person.types(&format!("echo ahead > {}", file.display()));
        waits_for(&tmux, &target, "echo ahead");
        std::fs::write(&go, "").unwrap();
        let arguments = json!({"command_id": begun["command_id"], "wait": 30});
        let end = mcp.call("command_result", arguments).await.ok();
        assert_eq!(end["exit_code"], 0, "{shell}: {end}");
        // The other time the next command comes at once.
        if used {
            wait_until(&format!("{shell} shows the line at its prompt"), || {
                (tmux.screen(&target).matches("echo ahead").count() == 2).then_some(())
            });
        }
        let arguments = json!({"target": target, "command": "echo mine"});
        let error = mcp.call("run_command", arguments).await.err("not_ready");
        assert!(error.contains("typed at the prompt"), "{shell}: {error}");
        person.types("\r");
        wait_until(&format!("the line has run ({shell})"), || file.exists().then_some(()));
        works(&mcp, &target, shell).await;
        std::fs::remove_file(&go).unwrap();
        std::fs::remove_file(&file).unwrap();
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_pane_of_our_own_in_which_a_person_types_is_left_to_them() {
    for shell in Shell::ALL {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let mcp = serve(&tmux).await;
        // Twice: when its first command is typed, nobody has looked at its prompt yet.
        mcp.call("run_command", json!({"command": "true"})).await.text();
        let first = mcp.call("run_command", json!({"command": "true"})).await.ok();
        let taken = string(&first["pane_id"]);
        let session = tmux.tmux(&["display-message", "-p", "-t", &taken, "#{session_name}"]);
        let mut person = Person::attach(&tmux, &session, 80, 24);
        shows(&mcp, &taken, "true\n").await;
        person.types("echo half");
        shows(&mcp, &taken, "echo half").await;
        let other = mcp.call("run_command", json!({"command": "echo other"})).await.ok();
        assert_eq!(other["output"], "other", "{shell:?}: {other}");
        assert_ne!(other["pane_id"], first["pane_id"], "{shell:?}");
        refused(&tmux, &mcp, &taken, "not_ready").await;
        person.types("\r");
        shows(&mcp, &taken, "\nhalf\n").await;
        mcp.close().await;
    }
}

#[tokio::test]
async fn an_unfinished_command_is_told_and_can_be_given_up() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for shell in SHELLS {
        for used in [false, true] {
            let target = tmux.open_shell(shell);
            if used {
                works(&mcp, &target, shell).await;
            }
            tmux.types(&target, "echo 'never finished");
            waits_for(&tmux, &target, "finished");
            let before = cursor(&tmux, &target);
            tmux.presses(&target, &["Enter"]);
            settles(&tmux, &target, &before);
            let error = refused(&tmux, &mcp, &target, "not_ready").await;
            assert!(error.contains("continuation prompt"), "{shell}, {used}: {error}");
            assert!(error.contains("interrupt"), "{shell}: {error}");
            let stopped = mcp.call("interrupt", json!({"target": target})).await.ok();
            assert_eq!(stopped["at_prompt"], true, "{shell}: {stopped}");
            works(&mcp, &target, shell).await;
        }
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_pane_that_takes_no_input_is_refused_with_the_reason() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let read = tmux.open_shell(BASH);
    tmux.tmux(&["copy-mode", "-t", &read]);
    let off = tmux.open_shell(BASH);
    tmux.tmux(&["select-pane", "-d", "-t", &off]);
    let dead = pane(&mcp, "exit 3").await;
    exited(&mcp, &dead).await;
    for (target, words) in [(&read, "copy-mode"), (&off, "switched off"), (&dead, "has exited")] {
        let error = refused(&tmux, &mcp, target, "not_ready").await;
        assert!(error.contains(words), "{error}");
    }
    let mode = tmux.tmux(&["display-message", "-p", "-t", &read, "#{pane_mode}"]);
    assert_eq!(mode, "copy-mode");
    tmux.presses(&read, &["q"]);
    works(&mcp, &read, "after copy mode").await;
    tmux.tmux(&["select-pane", "-e", "-t", &off]);
    works(&mcp, &off, "switched on again").await;
    mcp.close().await;
}

#[tokio::test]
async fn mistakes_in_a_call_are_named() {
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
async fn a_person_may_work_there_between_two_commands() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (shell, prompt) in [
        (BASH, "PS1='<new> $ '"),
        (ZSH, "PS1='<new> %# '"),
        (FISH, "function fish_prompt; echo '<new> $ '; end"),
        (DASH, "PS1='<new> $ '"),
    ] {
        let target = tmux.open_shell(shell);
        works(&mcp, &target, shell).await;
        tmux.type_line(&target, &format!("cd /usr; {prompt}"));
        waits_for(&tmux, &target, "\n<new> ");
        assert_eq!(run(&mcp, &target, "pwd").await["output"], "/usr", "{shell}");
        works(&mcp, &target, shell).await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_shell_that_still_starts_is_waited_for() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let home = tmux.home().to_path_buf();
    let slow = |file: &str, text: &str| {
        let path = home.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let bash = slow("bashrc", "sleep 1; MADE=yes\n");
    slow(".zshrc", "sleep 1; MADE=yes\n");
    slow(".config/fish/config.fish", "sleep 1; set MADE yes\n");
    let dash = slow("dashrc", "sleep 1; MADE=yes\n");
    for shell in [
        format!("exec bash --rcfile {bash} -i"),
        "exec zsh -i".to_owned(),
        FISH.to_owned(),
        format!("ENV={dash} exec dash -i"),
    ] {
        let target = tmux.open(&shell);
        let result = run(&mcp, &target, "echo made: $MADE").await;
        assert_eq!(result["output"], "made: yes", "{shell}: {result}");
        assert_eq!(result["exit_code"], 0, "{shell}: {result}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn whatever_the_prompt_is_like_commands_work() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let fish = |text: &str| format!("function fish_prompt; {text}; end");
    for (shell, setting) in [
        (BASH, "PS1='\\w\\n$ '".to_owned()),
        (BASH, "PS1='one\\ntwo\\nthree\\n❯ '".to_owned()),
        (BASH, "PS1='\\t $ '".to_owned()),
        (BASH, "PS1='\\[\\e[1;32m\\]me\\[\\e[0m\\] \\# \\$ '".to_owned()),
        (BASH, "PS1='$?$ '".to_owned()),
        (BASH, "PROMPT_COMMAND='echo a hook'".to_owned()),
        (BASH, "set -o vi".to_owned()),
        (BASH, "trap 'true' DEBUG".to_owned()),
        (ZSH, "PS1=$'%~\\n%# '".to_owned()),
        (ZSH, "PS1='%* %# '".to_owned()),
        (ZSH, "RPS1='%* right'".to_owned()),
        (ZSH, "bindkey -v".to_owned()),
        (ZSH, "precmd() { echo a hook }".to_owned()),
        (ZSH, "unsetopt prompt_cr prompt_sp".to_owned()),
        (FISH, fish("echo; echo above; echo '$ '")),
        (FISH, fish("date +%T; echo -n '> '")),
        (FISH, "function fish_right_prompt; date; end".to_owned()),
        (FISH, "fish_vi_key_bindings".to_owned()),
        (DASH, "PS1='one\ntwo $ '".to_owned()),
        (DASH, "PS1='$(date +%T) # '".to_owned()),
    ] {
        let target = tmux.open_shell(shell);
        let what = format!("{shell}, {setting}");
        assert_eq!(run(&mcp, &target, &setting).await["exit_code"], 0, "{what}");
        works(&mcp, &target, &what).await;
        let result = run(&mcp, &target, "printf 'no end'; sh -c 'exit 42'").await;
        assert_eq!(result["exit_code"], 42, "{what}: {result}");
        assert_eq!(result["output"], "no end", "{what}: {result}");
        // After an Enter it is a prompt that has to be looked at anew.
        let before = cursor(&tmux, &target);
        tmux.presses(&target, &["Enter"]);
        settles(&tmux, &target, &before);
        works(&mcp, &target, &what).await;
        tmux.tmux(&["kill-pane", "-t", &target]);
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_prompt_that_looks_unfinished_works_after_an_interrupt() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for shell in ["PS1='> ' exec bash --norc --noprofile -i", "PS1='> ' exec dash -i"] {
        let target = tmux.open_shell(shell);
        let error = refused(&tmux, &mcp, &target, "not_ready").await;
        assert!(error.contains("continuation prompt") && error.contains("interrupt"), "{error}");
        mcp.call("interrupt", json!({"target": target})).await.text();
        works(&mcp, &target, shell).await;
        works(&mcp, &target, shell).await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_shell_inside_a_shell_is_the_one_that_is_used() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (outer, inner, ask) in [
        (ZSH, "bash --norc --noprofile", "echo ${BASH_VERSION:+bash}"),
        (BASH, "zsh -f", "echo ${ZSH_VERSION:+zsh}"),
        (DASH, "fish", "set -q FISH_VERSION; and echo fish"),
        (FISH, "dash", "echo ${BASH_VERSION:-dash}"),
    ] {
        let target = tmux.open_shell(outer);
        works(&mcp, &target, outer).await;
        let name = inner.split(' ').next().unwrap();
        tmux.type_line(&target, inner);
        runs(&tmux, &target, name);
        let result = run(&mcp, &target, ask).await;
        assert_eq!(result["output"], name, "{outer}: {result}");
        let result = run(&mcp, &target, "exit 5").await;
        assert_eq!(result["exit_code"], 5, "{outer}, {inner}: {result}");
        works(&mcp, &target, outer).await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn an_error_that_makes_the_shell_drop_the_rest_has_an_exit_code() {
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
            let what = format!("{shell}, {command}: {result}");
            assert_eq!(result["status"], "exited", "{what}");
            assert!(result["exit_code"].as_i64().is_some_and(|code| code > 0), "{what}");
            let output = string(&result["output"]);
            assert!(output.contains(words) && !output.contains("\nnot reached"), "{what}");
            works(&mcp, &target, &what).await;
        }
        tmux.tmux(&["kill-pane", "-t", &target]);
    }
    mcp.close().await;
}
