//! Side effects of commands on a person's shell: start-up files, screen, history and settings. Also
//! the first command of a new shell.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use testkit::{Shell, TmuxServer, wait_until, wait_until_equal};

use crate::run::fixture::{ShellFixture, wait_for_foreground};
use crate::support::string;
use crate::{launch, serve};

/// Start-up files that give each shell a plain prompt.
const PROMPTS: [(Shell, &str, &str); 4] = [
    (Shell::Bash, "PS1='me@bash$ '", "me@bash$"),
    (Shell::Zsh, "PROMPT='me@zsh> '; PROMPT_EOL_MARK='%%'", "me@zsh>"),
    (
        Shell::Fish,
        "set -g fish_greeting\nfunction fish_prompt; printf 'me@fish> '; end",
        "me@fish>",
    ),
    (Shell::Dash, "PS1='me@dash$ '", "me@dash$"),
];

/// A pane's whole text with history, without trailing blanks.
fn pane_text(tmux: &TmuxServer, pane: &str) -> String {
    let text = tmux.tmux(&["capture-pane", "-p", "-J", "-S", "-", "-t", pane]);
    let rows: Vec<&str> = text.lines().map(str::trim_end).collect();
    rows.join("\n").trim_matches('\n').to_owned()
}

#[tokio::test]
async fn the_screen_shows_only_command_and_output() {
    let commands = [
        ("true", ""),
        ("echo plain words", "plain words\n"),
        ("echo 'two  words' # why", "two  words\n"),
        ("echo one\n\necho two", "one\ntwo\n"),
        ("sh -c 'exit 3'", ""),
        ("printf 'a b'", "a b"),
        ("echo 漢字 🎉", "漢字 🎉\n"),
        ("seq 3", "1\n2\n3\n"),
        (
            "echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
        ),
        (
            "echo 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'",
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
        ),
    ];
    for (shell, start_up, prompt) in PROMPTS {
        // zsh and fish mark a line without an end; the other shells print their prompt behind it.
        let unended = match shell {
            Shell::Zsh => "%\n",
            Shell::Fish => "⏎\n",
            _ => "",
        };
        for columns in [None, Some(80), Some(30)] {
            let mut fixture = ShellFixture::own(shell).await;
            fixture.tmux.write_start_up(shell, start_up);
            fixture.target = columns.map(|columns| fixture.tmux.shell_pane(columns, 12));
            let mut expected = prompt.to_owned();
            for (command, output) in commands {
                let pane = string(&fixture.answer(command).await["pane_id"]);
                let end = if output.ends_with(['\n']) || output.is_empty() { "" } else { unended };
                expected += &format!(" {command}\n{output}{end}{prompt}");
                let shown = || pane_text(&fixture.tmux, &pane);
                wait_until_equal(&format!("{fixture}, {columns:?}"), shown, &expected);
            }
            fixture.close().await;
        }
    }
}

/// A command and what it prints.
type Check = (&'static str, &'static str);

/// A start-up file as people have one, and commands that show its effects.
const START_UP: [(Shell, &str, &[Check]); 4] = [
    (
        Shell::Bash,
        "PS1='mine> '; alias hi='echo aliased'; greet() { echo \"hello $1\"; }\n\
         export FROM=start PATH=\"$HOME/bin:$PATH\"; plain=5; shopt -s extglob; set -o noclobber\n\
         HISTCONTROL=ignoredups; PROMPT_COMMAND='times=$((times + 1))'; PS0='$((times += 0))\\r'\n",
        &[
            ("shopt extglob | tr '\\t' ' '", "extglob         on"),
            ("set -o | grep noclobber | tr -d '\\t '", "noclobberon"),
            ("echo $HISTCONTROL; test $times -ge 2 && echo counted", "ignoredups\ncounted"),
        ],
    ),
    (
        Shell::Zsh,
        "PROMPT='mine> '; alias hi='echo aliased'; greet() { echo \"hello $1\"; }\n\
         export FROM=start PATH=\"$HOME/bin:$PATH\"; plain=5; setopt extended_glob\n\
         precmd() { times=$((times + 1)); }\n",
        &[
            ("[[ -o extended_glob ]] && echo on", "on"),
            ("echo ${ZDOTDIR-unset}; test $times -ge 2 && echo counted", "unset\ncounted"),
        ],
    ),
    (
        Shell::Fish,
        "set -g fish_greeting\nfunction fish_prompt; printf 'mine> '; end\nalias hi='echo aliased'\n\
         function greet; echo \"hello $argv[1]\"; end\n\
         set -x FROM start; set -x PATH $HOME/bin $PATH; set -g plain 5\n\
         function tally --on-event fish_prompt; set -g times x $times; end\n",
        &[("test (count $times) -ge 2 && echo counted", "counted")],
    ),
    (
        Shell::Dash,
        "PS1='mine> '; alias hi='echo aliased'; greet() { echo \"hello $1\"; }\n\
         export FROM=start PATH=\"$HOME/bin:$PATH\"; plain=5; set -o noglob\n",
        &[("echo *; set -o | grep noglob | tr -d ' '", "*\nnoglobon")],
    ),
];

/// Writes a program to `bin` in the home.
fn write_tool(tmux: &TmuxServer) {
    let bin = tmux.home().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::write(bin.join("my-tool"), "#!/bin/sh\necho \"my tool $FROM\"\n").unwrap();
    std::fs::set_permissions(bin.join("my-tool"), PermissionsExt::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn own_panes_read_the_users_start_up_files() {
    for (shell, start_up, more) in START_UP {
        // dash reads its start-up file only as a login shell.
        for login in [true, false].into_iter().filter(|&login| login || shell != Shell::Dash) {
            let fixture = ShellFixture::own(shell).await;
            if !login {
                let command = format!("exec {}", shell.name());
                fixture.tmux.tmux(&["set-option", "-g", "default-command", &command]);
            }
            fixture.tmux.write_start_up(shell, start_up);
            write_tool(&fixture.tmux);
            let pane = string(&fixture.answer("hi there").await["pane_id"]);
            for (command, output) in [
                ("hi there", "aliased there"),
                ("greet you", "hello you"),
                ("greet 'you two'", "hello you two"),
                ("my-tool", "my tool start"),
                ("echo $plain $FROM", "5 start"),
            ] {
                fixture.assert_prints(command, output).await;
            }
            for (command, output) in more {
                fixture.assert_prints(command, output).await;
            }
            let prompts =
                || pane_text(&fixture.tmux, &pane).lines().all(|row| row.starts_with("mine>"));
            fixture.assert_prints("clear", "").await;
            wait_until("the screen is clear", || prompts().then_some(()));
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn zsh_reads_start_up_files_from_zdotdir() {
    let table =
        [("elsewhere", "", true), ("elsewhere", "ZDOTDIR=$HOME/elsewhere", false), ("", "", false)];
    for (place, before, by_tmux) in table {
        let fixture = ShellFixture::own(Shell::Zsh).await;
        let (home, dir) = (fixture.tmux.home(), fixture.tmux.home().join(place));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(home.join(".zshrc"), "wrong=1\n").unwrap();
        // The lines that override the start-up files of the machine.
        let first = std::fs::read_to_string(home.join(".zshenv")).unwrap();
        std::fs::write(dir.join(".zshenv"), format!("{first}seen+=(.zshenv)\n")).unwrap();
        for file in [".zprofile", ".zshrc", ".zlogin"] {
            std::fs::write(dir.join(file), format!("seen+=({file})\n")).unwrap();
        }
        if !before.is_empty() {
            let text = format!("{first}seen+=(.zshenv)\n{before}\n");
            std::fs::write(home.join(".zshenv"), text).unwrap();
        }
        let dir = dir.to_string_lossy().into_owned();
        if by_tmux {
            fixture.tmux.tmux(&["set-environment", "-g", "ZDOTDIR", &dir]);
        }
        let expected = if place.is_empty() { "none" } else { &dir };
        fixture.assert_prints("echo $seen", ".zshenv .zprofile .zshrc .zlogin").await;
        fixture
            .assert_prints("echo ${ZDOTDIR-none} ${wrong-right}", &format!("{expected} right"))
            .await;
        fixture
            .assert_prints("sh -c 'echo ${ZDOTDIR-none}'", if by_tmux { &dir } else { "none" })
            .await;
        fixture.close().await;
    }
}

#[tokio::test]
async fn output_of_prompt_hooks_is_left_out() {
    let table = [
        (Shell::Bash, "PROMPT_COMMAND='echo hook'; PS0='hook\\n'; trap 'n=$((n + 1))' DEBUG"),
        (Shell::Bash, "PROMPT_COMMAND=('echo hook' 'echo hook'); PS1='two\\nrows$ '"),
        (Shell::Zsh, "precmd() { echo hook; }; preexec() { echo hook; }; setopt no_prompt_sp"),
        (
            Shell::Zsh,
            "hook() { echo hook; }; precmd_functions=(hook); PROMPT=$'two\\nrows> '; RPROMPT=r",
        ),
        (
            Shell::Fish,
            "function a --on-event fish_preexec; echo hook; end\n\
             function b --on-event fish_postexec; echo hook; end\n\
             function c --on-event fish_prompt; echo hook; end\n",
        ),
        (
            Shell::Fish,
            "function fish_right_prompt; echo r; end; function fish_prompt; echo two; echo 'rows> '; end",
        ),
    ];
    for (shell, start_up) in table {
        for own in [true, false] {
            let mut fixture = ShellFixture::own(shell).await;
            fixture.tmux.write_start_up(shell, start_up);
            if !own {
                fixture.target = Some(fixture.tmux.shell_pane(80, 24));
            }
            fixture
                .assert_all(&[
                    ("true", "", 0),
                    ("echo plain", "plain", 0),
                    ("echo 'two words'; sh -c 'exit 3'", "two words", 3),
                    ("false", "", 1),
                    ("printf abc", "abc", 0),
                    ("echo last", "last", 0),
                ])
                .await;
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn history_holds_only_lines_a_person_typed() {
    let table = [
        (Shell::Bash, "", "history", true),
        (Shell::Bash, "HISTCONTROL=ignorespace", "history", true),
        (Shell::Bash, "HISTCONTROL=ignoredups HISTTIMEFORMAT='%F '", "history", true),
        (Shell::Zsh, "HISTSIZE=100; setopt hist_ignore_space", "fc -l 1", true),
        (Shell::Zsh, "HISTSIZE=100", "fc -l 1", false),
        (Shell::Fish, "", "history search --reverse | cat", true),
    ];
    for (shell, start_up, history, also_there) in table {
        for own in [true, false].into_iter().take(if also_there { 2 } else { 1 }) {
            let mut fixture = ShellFixture::own(shell).await;
            fixture.tmux.write_start_up(shell, start_up);
            if !own {
                fixture.target = Some(fixture.tmux.shell_pane(80, 24));
            }
            let pane = string(&fixture.answer("true").await["pane_id"]);
            for word in ["first", "second"] {
                let typed = fixture.tmux.home().join(word);
                fixture.tmux.type_line(&pane, &format!("touch {}", typed.display()));
                wait_until("the line has run", || typed.exists().then_some(()));
                // The file exists while `touch` is still exiting.
                wait_for_foreground(&fixture.tmux, &pane, shell.name());
                // The gate refuses a command until the person's line is gone.
                fixture.assert_prints("echo 'not typed'", "not typed").await;
                fixture.assert_prints("echo also not typed", "also not typed").await;
            }
            let ran = fixture.run(history).await;
            let lines: Vec<&str> = ran.output.lines().filter(|l| l.contains("touch")).collect();
            assert_eq!(lines.len(), 2, "{fixture}, {start_up}: {}", ran.output);
            assert!(lines[0].ends_with("first") && lines[1].ends_with("second"), "{lines:?}");
            assert!(!ran.output.contains("tmuxwright"), "{fixture}, {start_up}: {}", ran.output);
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn commands_inherit_no_variable_of_the_server() {
    for shell in Shell::ALL {
        let fixture = ShellFixture::own(shell).await;
        for command in ["env", "sh -c 'env'; true"] {
            let environment = fixture.run(command).await.output;
            let own = environment.lines().find(|line| line.to_uppercase().contains("TMUXWRIGHT"));
            assert!(environment.contains("HOME=") && own.is_none(), "{fixture}: {own:?}");
        }
        let tmux = &fixture.tmux;
        let sessions = tmux.tmux(&["list-sessions", "-F", "#{session_id}"]);
        let mut settings = tmux.tmux(&["show-environment", "-g"]);
        for session in sessions.lines() {
            settings += &tmux.tmux(&["show-environment", "-t", session]);
        }
        assert!(!settings.contains("TMUXWRIGHT"), "{fixture}: {settings}");
        fixture.close().await;
    }
}

/// A command that lists a shell's settings: options, names of variables, functions, aliases, traps,
/// and the environment.
fn list_settings(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => {
            "{ set +o; shopt -p | grep -v login_shell; compgen -v; declare -F; alias; trap; env; }"
        }
        Shell::Zsh => "{ setopt; print -l ${(ko)parameters} ${(ko)functions}; alias; trap; env; }",
        Shell::Fish => "begin; set -n; functions -n; bind | wc; env; end",
        Shell::Dash => "{ set -o; set | sed 's/=.*//'; alias; trap; env; }",
    }
}

/// Whether a setting differs between any two commands or is set by the server on purpose.
fn is_expected_to_differ(line: &str) -> bool {
    let name = line.split(['=', ' ']).next().unwrap_or_default();
    let changing =
        ["_", "PIPESTATUS", "FUNCNAME", "BASH_REMATCH", "pipestatus", "TMUX", "TMUX_PANE"];
    // Hooks of shells in the own session, and the pagers and editors of that session.
    let hooks = ["PS0", "PROMPT_COMMAND", "HISTFILE", "fish_history", "PROMPT_EOL_MARK"];
    let session =
        ["PAGER", "MANPAGER", "GIT_PAGER", "SYSTEMD_PAGER", "EDITOR", "VISUAL", "GIT_EDITOR"];
    changing.contains(&name)
        || hooks.contains(&name)
        || session.contains(&name)
        || name.ends_with("_functions")
        || name.starts_with("__")
        || line.contains("__tmuxwright")
}

#[tokio::test]
async fn commands_leave_shell_settings_unchanged() {
    for shell in Shell::ALL {
        for own in [true, false] {
            let mut fixture = ShellFixture::own(shell).await;
            let reference = fixture.tmux.shell_pane(200, 50);
            if !own {
                fixture.target = Some(fixture.tmux.shell_pane(200, 50));
            }
            for command in ["true", "echo 'two words'", "false", "echo $HOME; sh -c 'exit 3'"] {
                fixture.run(command).await;
            }
            let pane = string(&fixture.answer("true").await["pane_id"]);
            let read = |name: &str, pane: &str| {
                let file = fixture.tmux.home().join(name);
                let done = fixture.tmux.home().join(format!("{name}-done"));
                let line = format!(
                    "{} >{} 2>&1; touch {}",
                    list_settings(shell),
                    file.display(),
                    done.display()
                );
                // Twice: the first listing loads functions and sets variables in every shell.
                for _ in 0..2 {
                    let _ = std::fs::remove_file(&done);
                    fixture.tmux.type_line(pane, &line);
                    wait_until("the settings are written", || done.exists().then_some(()));
                }
                let text = std::fs::read_to_string(file).unwrap();
                let mut lines: Vec<String> = text
                    .lines()
                    .filter(|line| !is_expected_to_differ(line))
                    .map(str::to_owned)
                    .collect();
                lines.sort_unstable();
                lines
            };
            let (without, with) = (read("without", &reference), read("with", &pane));
            let more: Vec<_> = with.iter().filter(|line| !without.contains(line)).collect();
            let less: Vec<_> = without.iter().filter(|line| !with.contains(line)).collect();
            assert!(
                more.is_empty() && less.is_empty(),
                "{fixture}: added {more:?}, removed {less:?}"
            );
            assert!(with.len() > 10, "{fixture}: {with:?}");
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn a_new_pane_never_loses_its_first_command() {
    for (shell, times) in
        [(Shell::Bash, 50), (Shell::Dash, 20), (Shell::Zsh, 20), (Shell::Fish, 10)]
    {
        let fixture = ShellFixture::own(shell).await;
        for number in 1..=times {
            // Every other command has quotes and goes through a command file.
            let command = match number % 2 {
                0 => format!("echo first {number}"),
                _ => format!("echo 'first {number}'"),
            };
            let answer = fixture.answer(&command).await;
            assert_eq!(answer["output"], format!("first {number}"), "{fixture}: {answer}");
            let pane = string(&answer["pane_id"]);
            fixture.tmux.tmux(&["kill-pane", "-t", &pane]);
        }
        fixture.close().await;
    }
}

#[tokio::test]
async fn no_command_is_lost_while_a_shell_starts() {
    for shell in Shell::ALL {
        let fixture = ShellFixture::own(shell).await;
        fixture.tmux.write_start_up(shell, "sleep 1\n");
        let (one, two) = tokio::join!(fixture.run("echo plain"), fixture.run("echo 'not plain'"));
        assert_eq!([one.output, two.output], ["plain", "not plain"], "{fixture}");
        // A person's pane, opened just before.
        let pane = fixture.tmux.tmux(&["new-session", "-d", "-P", "-F", "#{pane_id}"]);
        let arguments = json!({"command": "echo 'in time'", "target": pane});
        let answer = fixture.mcp.call("run_command", arguments).await.ok();
        assert_eq!(answer["output"], "in time", "{fixture}: {answer}");
        fixture.close().await;
    }
}

#[tokio::test]
async fn the_first_command_also_starts_tmux() {
    for shell in Shell::ALL {
        let tmux = TmuxServer::not_started();
        tmux.write_start_up(shell, "export started=yes\n");
        let path = shell.path();
        let program = launch(&tmux).args(&["--structured"]).env("SHELL", &path.to_string_lossy());
        let mcp = program.mcp().await;
        let ran = mcp.call("run_command", json!({"command": "echo first $started"})).await.ok();
        assert_eq!(ran["output"], "first yes", "{shell:?}: {ran}");
        mcp.close().await;
    }
}

#[tokio::test]
async fn a_slow_shell_is_reused_once_it_starts() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let go = tmux.home().join("go");
    let wait = format!("until test -e {}; do sleep 0.05; done\n", go.display());
    tmux.write_start_up(Shell::Bash, &wait);
    let mcp = serve(&tmux).await;
    let error = mcp.call("run_command", json!({"command": "echo hi"})).await.err("busy");
    assert!(error.contains("start-up files") && error.contains("wait_for %"), "{error}");
    std::fs::write(&go, "").unwrap();
    let done = mcp.call("run_command", json!({"command": "echo hi"})).await.ok();
    assert_eq!(done["output"], "hi", "{done}");
    assert!(error.contains(done["pane_id"].as_str().unwrap()), "{error} {done}");
    mcp.close().await;
}
