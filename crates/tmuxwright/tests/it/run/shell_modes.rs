//! Shells with modes, traps and functions of a person: commands run there as if the person had typed
//! them, and none of the server's own lines counts.

use serde_json::json;
use testkit::{Shell, wait_until};

use crate::run::fixture::{Finished, ShellFixture, assert_usable, wait_for_foreground};
use crate::run::gate::{BASH, wait_for_text};
use crate::serve;
use crate::support::{command_end, string};

#[tokio::test]
async fn a_failed_condition_does_not_end_the_shell() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Dash] {
        for fixture in ShellFixture::own_and_existing(shell).await {
            fixture
                .assert_all(&[
                    ("set -e; ! true", "", 1),
                    ("echo \"$?\"", "1", 0),
                    ("! true", "", 1),
                    ("echo 'still here'", "still here", 0),
                    ("false && true", "", 1),
                    ("false || echo 'or else'", "or else", 0),
                    ("set +e", "", 0),
                    ("sh -c 'exit 7'", "", 7),
                    ("echo $?", "7", 0),
                ])
                .await;
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn an_error_trap_runs_once_for_each_failure() {
    for (shell, trap) in [(Shell::Bash, "ERR"), (Shell::Zsh, "ZERR")] {
        for fixture in ShellFixture::own_and_existing(shell).await {
            fixture
                .assert_all(&[
                    (format!("trap 'echo trapped' {trap}").as_str(), "", 0),
                    ("false", "trapped", 1),
                    ("echo 'next'", "next", 0),
                    ("! true", "", 1),
                    ("echo \"$?\"", "1", 0),
                    ("sh -c 'exit 5'", "trapped", 5),
                    ("echo after", "after", 0),
                ])
                .await;
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn functions_named_like_builtins_do_no_harm() {
    let posix = "printf() { echo no; }; history() { echo no; }; cat() { echo no; }";
    let more =
        "eval() { echo no; }; typeset() { echo no; }; unset() { echo no; }; exit() { echo no; }";
    let aliases =
        "alias eval='echo no' printf='echo no' typeset='echo no' unset='echo no' case_=no";
    for shell in [Shell::Bash, Shell::Zsh, Shell::Dash] {
        for fixture in ShellFixture::own_and_existing(shell).await {
            fixture.assert_all(&[(posix, "", 0)]).await;
            // dash has no functions with the names of special builtins.
            if shell != Shell::Dash {
                fixture.assert_all(&[(more, "", 0)]).await;
            }
            fixture
                .assert_all(&[
                    (aliases, "", 0),
                    ("echo 'it works'", "it works", 0),
                    ("sh -c 'exit 6'", "", 6),
                    ("echo \"$?\"", "6", 0),
                ])
                .await;
            fixture.close().await;
        }
    }
}

/// Runs commands in an existing pane after a person has typed `line`, and asserts outputs, exit codes
/// and the whole screen: the prompt, the command and its output, and nothing else.
async fn assert_screen(shell: Shell, columns: u16, line: &str, table: &[(&str, &str, i64)]) {
    let mut fixture = ShellFixture::own(shell).await;
    let target = fixture.tmux.shell_pane(columns, 24);
    fixture.target = Some(target.clone());
    let prompt = fixture.tmux.screen(&target);
    fixture.tmux.type_line(&target, &format!(" {line}"));
    let mut screen = wait_until("the line has run", || {
        let screen = fixture.tmux.screen(&target);
        let next = screen.lines().skip(1).last();
        (next == Some(&*prompt)).then_some(screen)
    });
    screen.truncate(screen.rfind(&prompt).unwrap());
    fixture.assert_all(table).await;
    for (command, output, _) in table {
        screen += &format!("{prompt} {command}\n");
        screen += output;
        screen += if output.is_empty() { "" } else { "\n" };
    }
    screen += &prompt;
    let shown = fixture.tmux.tmux(&["capture-pane", "-p", "-J", "-t", &target]);
    let shown: Vec<_> = shown.trim_end().lines().map(str::trim_end).collect();
    assert_eq!(shown.join("\n"), screen, "{}, {columns} columns, {line}", shell.name());
    fixture.close().await;
}

#[tokio::test]
async fn traces_show_the_command_and_nothing_else() {
    for (shell, trace) in [(Shell::Bash, "+++ "), (Shell::Zsh, "+(eval):2> "), (Shell::Dash, "+ ")]
    {
        for columns in [80, 40] {
            let one = format!("{trace}echo one\none");
            let seven = format!("{trace}sh -c 'exit 7'").replace(
                '\'',
                match shell {
                    Shell::Dash => "",
                    _ => "'",
                },
            );
            let asked = format!("{trace}echo 7\n7");
            let off = format!("{trace}set +x");
            let table = [
                ("echo 'one'", one.as_str(), 0),
                ("sh -c 'exit 7'", &seven, 7),
                ("echo \"$?\"", &asked, 0),
                ("set +x", &off, 0),
                ("echo 'two'", "two", 0),
            ];
            assert_screen(shell, columns, "set -x", &table).await;
        }
    }
}

#[tokio::test]
async fn a_verbose_shell_repeats_no_line_of_ours() {
    let table = [("echo 'one'", "one", 0), ("sh -c 'exit 7'", "", 7), ("echo \"$?\"", "7", 0)];
    for shell in [Shell::Bash, Shell::Zsh, Shell::Dash] {
        for columns in [80, 40] {
            assert_screen(shell, columns, "set -v", &table).await;
        }
    }
}

#[tokio::test]
async fn a_debug_trap_sees_only_the_command() {
    let line = "trap 'echo \"[$BASH_COMMAND]\"' DEBUG";
    let table = [
        ("echo 'one'", "[echo 'one']\none", 0),
        ("sh -c 'exit 7'", "[sh -c 'exit 7']", 7),
        ("echo \"$?\"", "[echo \"$?\"]\n7", 0),
        ("trap - DEBUG", "[trap - DEBUG]", 0),
        ("echo 'two'", "two", 0),
    ];
    assert_screen(Shell::Bash, 80, line, &table).await;
    let own = ShellFixture::own(Shell::Bash).await;
    own.assert_all(&[(line, "", 0)]).await;
    own.assert_all(&table).await;
    own.assert_all(&[("echo plain", "plain", 0), ("set -x", "", 0)]).await;
    own.assert_all(&[("echo plain", "+ echo plain\nplain", 0)]).await;
    own.close().await;
}

#[tokio::test]
async fn text_printed_before_each_command_leaves_no_garbage() {
    let table = [("echo 'one'", "one", 0), ("sh -c 'exit 7'", "", 7), ("echo \"$?\"", "7", 0)];
    for columns in [80, 40] {
        assert_screen(Shell::Bash, columns, "PS0='\\n\\t\\n'", &table).await;
    }
}

#[tokio::test]
async fn a_status_query_leaves_no_history() {
    for control in ["unset HISTCONTROL", "HISTCONTROL=ignoredups", "HISTCONTROL=ignorespace"] {
        let fixture = ShellFixture::existing(Shell::Bash).await;
        let target = fixture.target.clone().unwrap();
        fixture.tmux.type_line(&target, &format!("{control}; echo 'mine'"));
        wait_for_text(&fixture.tmux, &target, "\nmine\n");
        let started = fixture.start("echo begun; sleep 1000; echo 'never'", "begun").await;
        wait_for_foreground(&fixture.tmux, &target, "sleep");
        fixture.mcp.call("interrupt", json!({"target": target})).await.text();
        assert_eq!(fixture.end(&started).await["exit_code"], 130, "{control}");
        fixture.assert_prints("echo \"$?\"", "130").await;
        let Finished { output, .. } = fixture.run("history").await;
        assert!(output.contains("echo 'mine'") && output.lines().count() == 1, "{output}");
        fixture.assert_prints("echo ${__tmuxwright_status-unset}", "unset").await;
        fixture.close().await;
    }
}

#[tokio::test]
async fn zsh_history_gets_one_line_at_most() {
    let fixture = ShellFixture::existing(Shell::Zsh).await;
    let target = fixture.target.clone().unwrap();
    fixture.tmux.type_line(&target, "HISTSIZE=100 SAVEHIST=100 HISTFILE=$HOME/history");
    fixture.tmux.type_line(&target, "setopt inc_append_history; echo mine");
    wait_for_text(&fixture.tmux, &target, "\nmine\n");
    for word in ["one", "two", "three"] {
        fixture.assert_prints(&format!("echo '{word}'"), word).await;
    }
    for history in ["fc -l 1", "cat $HOME/history"] {
        let Finished { output, .. } = fixture.run(history).await;
        let ours = output.lines().filter(|line| line.contains("tmuxwright-")).count();
        assert!(output.contains("echo mine") && ours <= 1, "{history}: {output}");
    }
    fixture.close().await;
}

/// A subshell of zsh that exits writes the history file.
#[tokio::test]
async fn zsh_history_file_has_each_line_once() {
    let fixture = ShellFixture::existing(Shell::Zsh).await;
    let target = fixture.target.clone().unwrap();
    fixture.tmux.type_line(&target, "HISTSIZE=100 SAVEHIST=100 HISTFILE=$HOME/history");
    fixture.tmux.type_line(&target, "setopt hist_ignore_space; echo mine");
    wait_for_text(&fixture.tmux, &target, "\nmine\n");
    for (command, code) in [("true", 0), ("sh -c 'exit 3'", 3), ("echo $?", 0), ("false", 1)] {
        assert_eq!(fixture.run(command).await.code, code, "{command}");
    }
    fixture.tmux.type_line(&target, "exit");
    let history = wait_until("the shell has exited", || {
        let panes = fixture.tmux.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]);
        let is_gone = panes.lines().all(|pane| pane != target);
        is_gone.then(|| std::fs::read_to_string(fixture.tmux.home().join("history")).unwrap())
    });
    assert_eq!(history.matches("echo mine").count(), 1, "{history}");
    fixture.close().await;
}

#[tokio::test]
async fn a_nested_shell_is_not_the_end() {
    let tmux = testkit::TmuxServer::new();
    let mcp = serve(&tmux).await;
    for wrapper in [
        "sh -c 'bash --norc --noprofile; echo over'",
        "python3 -c 'import os; os.system(\"bash --norc --noprofile\"); print(\"over\")'",
        "script -q -c 'bash --norc --noprofile' /dev/null; echo over",
    ] {
        let target = tmux.open_shell(BASH);
        assert_usable(&mcp, &target, wrapper).await;
        let arguments = json!({"target": target, "command": wrapper, "timeout": 2});
        let nested = mcp.call("run_command", arguments).await.ok();
        assert_eq!(nested["status"], "running", "{wrapper}: {nested}");
        let arguments = json!({"target": target, "command": "echo 'within'; (exit 4)"});
        let within = mcp.call("run_command", arguments).await.ok();
        assert_eq!((&within["output"], &within["exit_code"]), (&json!("within"), &json!(4)));
        let arguments = json!({"target": target, "input": "echo inside"});
        let inside = mcp.call("run_in_repl", arguments).await.ok();
        assert_eq!(inside["output"], "inside", "{wrapper}: {inside}");
        tmux.type_line(&target, "exit");
        let end = command_end(&mcp, &nested).await;
        assert_eq!(end["exit_code"], 0, "{wrapper}: {end}");
        assert!(end["output"].as_str().unwrap().trim_end().ends_with("over"), "{wrapper}: {end}");
        assert_usable(&mcp, &target, wrapper).await;
    }
    mcp.close().await;
}

/// The end of a command is known by a hook of the prompt, which a command can replace.
#[tokio::test]
async fn changed_prompt_hooks_leave_results_exact() {
    for change in [
        "PROMPT_COMMAND=\"true; $PROMPT_COMMAND\"",
        "PROMPT_COMMAND=\"echo hook; $PROMPT_COMMAND\"",
        "PROMPT_COMMAND=(\"echo hook\" \"${PROMPT_COMMAND[@]}\")",
        "PROMPT_COMMAND=true",
        "unset PROMPT_COMMAND",
        "unset PS0",
        "PS0='start\\n'",
        "PS0=$PS0'late '",
        ". ~/changes",
    ] {
        let fixture = ShellFixture::own(Shell::Bash).await;
        let file = "PROMPT_COMMAND=\"false; $PROMPT_COMMAND\"; PS0='start '\n";
        std::fs::write(fixture.tmux.home().join("changes"), file).unwrap();
        for (command, expected) in [
            ("true", Finished::silent(0)),
            (change, Finished::silent(0)),
            ("false", Finished::silent(1)),
            ("(exit 5)", Finished::silent(5)),
            ("printf x", Finished { output: "x".to_owned(), code: 0 }),
            ("echo 'a  b'", Finished { output: "a  b".to_owned(), code: 0 }),
            ("ls -d /usr", Finished { output: "/usr".to_owned(), code: 0 }),
        ] {
            assert_eq!(fixture.run(command).await, expected, "{change}: {command}");
        }
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_status_that_a_hook_replaces_is_lost() {
    let fixture = ShellFixture::own(Shell::Bash).await;
    fixture.run("change() { PROMPT_COMMAND=\"true; $PROMPT_COMMAND\"; return 3; }").await;
    let changed = fixture.answer("change").await;
    assert_eq!(changed["status"], "lost", "{changed}");
    assert!(string(&changed["note"]).contains("it has ended"), "{changed}");
    assert_eq!(fixture.run("false").await, Finished::silent(1));
    fixture.close().await;
}

#[tokio::test]
async fn restoring_a_status_shows_nothing() {
    for fixture in ShellFixture::own_and_existing(Shell::Bash).await {
        fixture.run("trap 'echo CHILD' CHLD").await;
        fixture.run("sh -c 'exit 3'").await;
        let next = fixture.run("echo \"$?\"; printf 'abc'").await;
        assert_eq!(next.output, "3\nabc", "{fixture}");
        fixture.close().await;
    }
}
