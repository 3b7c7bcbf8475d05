//! Commands in every shell, in own and in existing panes: exact output, exit code, and the state that
//! they leave in the shell.

use testkit::Shell;

use crate::run::fixture::{Finished, ShellFixture};

/// Commands, each with its output and exit code.
type Table = &'static [(&'static str, &'static str, i64)];

/// Commands in the common syntax of all shells.
const ANY_SHELL: Table = &[
    ("true", "", 0),
    ("false", "", 1),
    ("echo one; echo two", "one\ntwo", 0),
    ("sh -c 'exit 42'", "", 42),
    ("sh -c 'exit 255'", "", 255),
    ("echo after a failure", "after a failure", 0),
    ("printf abc", "abc", 0),
    ("printf 'a\\nb'", "a\nb", 0),
    ("echo; echo", "\n", 0),
    ("echo '  blanks  '; echo end", "  blanks  \nend", 0),
    ("echo e >&2", "e", 0),
    ("echo out; echo err >&2; sh -c 'exit 3'", "out\nerr", 3),
    ("echo 'a b' \"c  d\" e\\ f g\"h\"'i'", "a b c  d e f ghi", 0),
    ("echo \"it's\" 'say \"hi\"'", "it's say \"hi\"", 0),
    ("printf '%s\\n' '$HOME' '`x`' '!!' '*' '~' 'a\\b' '%d'", "$HOME\n`x`\n!!\n*\n~\na\\b\n%d", 0),
    ("printf '[%s]' '' \"\" 'tab\there' '#'", "[][][tab\there][#]", 0),
    (
        "printf '%s ' \\' \\\" \\\\ \\$ \\# \\; \\& \\( \\) \\* \\< \\|",
        "' \" \\ $ # ; & ( ) * < | ",
        0,
    ),
    ("echo hi # c", "hi", 0),
    ("# nothing but a comment", "", 0),
    ("# first a comment\necho then; # 'another\n# (one \"more", "then", 0),
    ("echo héllo 漢字 🎉", "héllo 漢字 🎉", 0),
    ("echo '漢字  🎉'; sh -c 'exit 9' # é", "漢字  🎉", 9),
    ("  echo blanks   around  ", "blanks around", 0),
    ("echo a \\\n  b", "a b", 0),
    ("\n\necho lines around\n\n", "lines around", 0),
    ("echo a\nfalse\nsh -c 'exit 3'", "a", 3),
    ("false\necho last", "last", 0),
    ("true && echo and; false || echo or", "and\nor", 0),
    ("echo piped | cat | tr a-z A-Z", "PIPED", 0),
    ("test -t 0 && test -t 1 && test -t 2", "", 0),
    ("test -t 0 && test -t 1 && test -t 2 && echo 'a terminal'", "a terminal", 0),
    ("cat /dev/null", "", 0),
    ("echo !! !x ^a^b^", "!! !x ^a^b^", 0),
];

/// Commands in the syntax of bash, zsh and dash.
const POSIX: Table = &[
    ("if false; then\n  echo no\nelse\n  echo yes\nfi", "yes", 0),
    ("for i in 1 2 3; do\n  echo $i\ndone", "1\n2\n3", 0),
    ("case x in\n  x) echo is x;;\nesac\n(exit 7)", "is x", 7),
    ("cat <<'END'\n$x `y` 'q' \"d\" \\\n\ttab\nEND", "$x `y` 'q' \"d\" \\\n\ttab", 0),
    ("cat <<END\nsum $((1 + 2))\nEND\necho after", "sum 3\nafter", 0),
    ("cat <<-A; cat <<B\n\tone\n\tA\ntwo\nB\nfalse", "one\ntwo", 1),
    ("{ echo group; }; (echo sub; exit 4)", "group\nsub", 4),
    ("echo $(echo inner) \"$(printf 'a\\nb')\"", "inner a\nb", 0),
    ("set -- a 'b c'; echo $#; shift; echo \"$1\"; set --", "2\nb c", 0),
];

/// Commands in the syntax of fish.
const FISH: Table = &[
    ("if false\n  echo no\nelse\n  echo yes\nend", "yes", 0),
    ("for i in 1 2 3\n  echo $i\nend", "1\n2\n3", 0),
    ("switch x\n  case x\n    echo is x\nend\nsh -c 'exit 7'", "is x", 7),
    ("begin; echo group; end; sh -c 'exit 4'", "group", 4),
    ("echo (echo inner) \"$HOME\" | string match -r '^inner /'", "inner /", 0),
    ("string join , a 'b c' \"d\"", "a,b c,d", 0),
    ("not true", "", 1),
];

#[tokio::test]
async fn output_and_exit_code_are_exact_in_bash() {
    assert_exact(Shell::Bash).await;
}

#[tokio::test]
async fn output_and_exit_code_are_exact_in_zsh() {
    assert_exact(Shell::Zsh).await;
}

#[tokio::test]
async fn output_and_exit_code_are_exact_in_fish() {
    assert_exact(Shell::Fish).await;
}

#[tokio::test]
async fn output_and_exit_code_are_exact_in_dash() {
    assert_exact(Shell::Dash).await;
}

async fn assert_exact(shell: Shell) {
    let own_syntax = if shell == Shell::Fish { FISH } else { POSIX };
    for fixture in ShellFixture::own_and_existing(shell).await {
        fixture.assert_all(ANY_SHELL.iter().chain(own_syntax)).await;
        fixture.close().await;
    }
}

#[tokio::test]
async fn shell_state_persists_between_commands() {
    let posix = [
        ("cd /usr && pwd", "/usr", 0),
        ("pwd", "/usr", 0),
        ("export WORD='b  ar'", "", 0),
        ("sh -c 'echo \"$WORD\"'", "b  ar", 0),
        ("number=5", "", 0),
        ("echo $number", "5", 0),
        ("unset WORD number", "", 0),
        ("echo ${WORD-gone} ${number-gone}", "gone gone", 0),
        ("greet() {\n  echo \"hello $1\"\n  return 6\n}", "", 0),
        ("greet you", "hello you", 6),
        ("alias hi='echo aliased'", "", 0),
        ("hi there", "aliased there", 0),
        ("hi; echo two", "aliased\ntwo", 0),
    ];
    let fish = [
        ("cd /usr; and pwd", "/usr", 0),
        ("pwd", "/usr", 0),
        ("set -x WORD 'b  ar'", "", 0),
        ("sh -c 'echo \"$WORD\"'", "b  ar", 0),
        ("set number 5", "", 0),
        ("echo $number", "5", 0),
        ("set -e WORD number", "", 0),
        ("set -q WORD number; or echo gone", "gone", 0),
        ("function greet\n  echo \"hello $argv[1]\"\n  return 6\nend", "", 0),
        ("greet you", "hello you", 6),
        ("alias hi='echo aliased'", "", 0),
        ("hi there", "aliased there", 0),
        ("hi; echo two", "aliased\ntwo", 0),
    ];
    for shell in Shell::ALL {
        for fixture in ShellFixture::own_and_existing(shell).await {
            fixture.assert_all(if shell == Shell::Fish { &fish } else { &posix }).await;
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn a_command_sees_the_previous_exit_status() {
    for shell in Shell::ALL {
        let status = if shell == Shell::Fish { "$status" } else { "$?" };
        for fixture in ShellFixture::own_and_existing(shell).await {
            for (command, code) in
                [("sh -c 'exit 7'", 7), ("false", 1), ("true", 0), ("no-such-command", 127)]
            {
                assert_eq!(fixture.run(command).await.code, code, "{fixture}: {command}");
                fixture.assert_prints(&format!("echo {status}"), &code.to_string()).await;
                fixture.assert_prints(&format!("echo {status}"), "0").await;
            }
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn consecutive_commands_do_not_mix_their_output() {
    for shell in Shell::ALL {
        for fixture in ShellFixture::own_and_existing(shell).await {
            for number in 1..=25 {
                // Every other command has quotes and goes through a command file.
                let (command, code) = match number % 2 {
                    0 => (format!("echo run {number}"), 0),
                    _ => (format!("echo 'run {number}'; sh -c 'exit {number}'"), number),
                };
                let expected = Finished { output: format!("run {number}"), code };
                assert_eq!(fixture.run(&command).await, expected, "{fixture}");
            }
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn a_command_after_a_failed_one_runs() {
    for shell in Shell::ALL {
        for fixture in ShellFixture::own_and_existing(shell).await {
            for _ in 0..30 {
                assert_eq!(fixture.run("sh -c 'exit 6'").await, Finished::silent(6), "{fixture}");
                assert_eq!(fixture.run("true").await, Finished::silent(0), "{fixture}");
            }
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn a_missing_command_exits_with_127() {
    for shell in Shell::ALL {
        for fixture in ShellFixture::own_and_existing(shell).await {
            for command in ["no-such-command", "no-such-command 'x y'; true; no-such-command"] {
                let ran = fixture.run(command).await;
                let reported =
                    ran.output.contains("not found") || ran.output.contains("Unknown command");
                assert!(ran.code == 127 && reported, "{fixture}: {ran:?}");
                assert!(ran.output.contains("no-such-command"), "{fixture}: {ran:?}");
            }
            fixture.assert_prints("echo fine", "fine").await;
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn a_backslash_at_the_end_swallows_nothing() {
    // For fish it is a mistake.
    for shell in [Shell::Bash, Shell::Zsh, Shell::Dash] {
        for fixture in ShellFixture::own_and_existing(shell).await {
            fixture.assert_prints("echo 'a' \\", "a").await;
            fixture.assert_prints("echo 'clean'", "clean").await;
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn a_syntax_error_leaves_the_shell_usable() {
    let posix = ["echo \"open", "echo 'open", "if true; then", ")", "echo $(", "for", "}", "a |"];
    let fish = ["echo \"open", "echo 'open", "if true", ")", "echo (", "for x", "end", "a |"];
    for shell in Shell::ALL {
        for fixture in ShellFixture::own_and_existing(shell).await {
            for command in if shell == Shell::Fish { fish } else { posix } {
                let ran = fixture.run(command).await;
                assert!(ran.code != 0 && !ran.output.is_empty(), "{fixture}: {command}: {ran:?}");
                fixture.assert_prints("echo fine", "fine").await;
                fixture.assert_prints("echo 'just fine'", "just fine").await;
            }
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn a_killed_command_exits_with_128_plus_signal() {
    for shell in Shell::ALL {
        for fixture in ShellFixture::own_and_existing(shell).await {
            for (signal, code) in [("KILL", 137), ("TERM", 143), ("HUP", 129), ("INT", 130)] {
                let ran = fixture.run(&format!("echo before; sh -c 'kill -{signal} $$'")).await;
                assert_eq!(ran.code, code, "{fixture}: {ran:?}");
                assert_eq!(ran.output.lines().next(), Some("before"), "{fixture}: {ran:?}");
                fixture.assert_prints("echo 'still here'", "still here").await;
            }
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn a_background_process_does_not_delay_the_end() {
    for shell in Shell::ALL {
        let last = if shell == Shell::Fish { "$last_pid" } else { "$!" };
        for fixture in ShellFixture::own_and_existing(shell).await {
            let ran = fixture.run("sleep 1000 & echo started").await;
            assert!(ran.code == 0 && ran.output.contains("started"), "{fixture}: {ran:?}");
            fixture.assert_prints("echo meanwhile", "meanwhile").await;
            assert_eq!(fixture.run(&format!("kill {last}")).await.code, 0, "{fixture}");
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn a_command_of_100_kilobytes_runs_unchanged() {
    let long = format!("printf %s '{}' | wc -c", "x $y \"z\"! ".repeat(10_000));
    let many = "true # and one line more\n".repeat(4_000) + "echo end; sh -c 'exit 5'";
    for shell in Shell::ALL {
        for fixture in ShellFixture::own_and_existing(shell).await {
            assert_eq!(fixture.run(&long).await.output.trim(), "100000", "{fixture}");
            let expected = Finished { output: "end".to_owned(), code: 5 };
            assert_eq!(fixture.run(&many).await, expected, "{fixture}");
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn an_empty_command_is_an_invalid_argument() {
    for fixture in ShellFixture::own_and_existing(Shell::Bash).await {
        for command in ["", "  \n\t ", "a\0b"] {
            let error = fixture.error(command, "invalid_argument").await;
            assert!(error.contains("`command`") && error.contains("Next: "), "{error}");
        }
        fixture.close().await;
    }
}

#[tokio::test]
async fn commands_run_under_any_shell_option_or_alias() {
    let table = [
        ("set -u", "set +u"),
        ("set -f", "set +f"),
        ("set -C", "set +C"),
        ("set -o vi", "set -o emacs"),
        ("IFS=,", "unset IFS"),
        ("alias exit='echo no'", "unalias exit"),
        ("alias printf='echo no' cat='echo no'", "unalias printf cat"),
        ("eval=x case=y", "unset eval case"),
    ];
    for shell in [Shell::Bash, Shell::Zsh, Shell::Dash] {
        for fixture in ShellFixture::own_and_existing(shell).await {
            for (set, unset) in table {
                let checks = [
                    ("echo 'it works'", "it works", 0),
                    ("sh -c 'exit 5'", "", 5),
                    ("echo $?", "5", 0),
                    ("false", "", 1),
                ];
                fixture.assert_all(&[(set, "", 0)]).await;
                fixture.assert_all(&checks).await;
                fixture.assert_all(&[(unset, "", 0)]).await;
            }
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn exit_codes_survive_redirected_shell_output() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Dash] {
        for fixture in ShellFixture::own_and_existing(shell).await {
            let table = [
                ("exec 3>&1 >$HOME/elsewhere", "", 0),
                ("true", "", 0),
                ("echo hidden", "", 0),
                ("echo 'hidden'; false", "", 1),
                ("exec >&3 3>&-", "", 0),
                ("cat ~/elsewhere", "hidden\nhidden", 0),
            ];
            fixture.assert_all(&table).await;
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn commands_run_while_the_shell_traces() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Dash] {
        for fixture in ShellFixture::own_and_existing(shell).await {
            assert_eq!(fixture.run("set -x").await.code, 0, "{fixture}");
            for (command, line, code) in
                [("echo 'x  y'; sh -c 'exit 3'", "x  y", 3), ("echo plain", "plain", 0)]
            {
                let ran = fixture.run(command).await;
                let found = ran.output.lines().filter(|&printed| printed == line).count();
                assert_eq!((ran.code, found), (code, 1), "{fixture}: {ran:?}");
                // zsh also traces the function that prints the end mark.
                assert!(
                    shell == Shell::Zsh || !ran.output.contains("/dev/tty"),
                    "{fixture}: {ran:?}"
                );
            }
            assert_eq!(fixture.run("set +x").await.code, 0, "{fixture}");
            fixture.assert_prints("echo 'x  y'", "x  y").await;
            fixture.close().await;
        }
    }
}
