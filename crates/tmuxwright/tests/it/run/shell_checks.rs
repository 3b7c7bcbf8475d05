//! Checks that hold in every shell, wherever it runs: exact output, exit code, and the state that commands leave.

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

/// Rounds of a check for a fault that shows now and then: where many tests repeat it, and elsewhere.
const FEW_ROUNDS: i64 = 6;
const MANY_ROUNDS: i64 = 25;

/// Sizes of the long commands: where many tests type them into a terminal, and elsewhere.
const FEW_BYTES: usize = 10_000;
const MANY_BYTES: usize = 100_000;

/// All checks but that of redirected output, for a shell in which nothing has run yet.
pub(crate) async fn all(fixture: &ShellFixture) {
    prints_exactly(fixture).await;
    keeps_state(fixture).await;
    shows_previous_status(fixture).await;
    alternates_commands(fixture, FEW_ROUNDS).await;
    alternates_failures(fixture, FEW_ROUNDS).await;
    reports_missing_command(fixture).await;
    ends_after_backslash(fixture).await;
    survives_syntax_errors(fixture).await;
    reports_signals(fixture).await;
    ends_before_background_process(fixture).await;
    runs_long_commands_of(fixture, FEW_BYTES).await;
    survives_options_and_aliases(fixture).await;
    runs_while_traced(fixture).await;
}

/// Output and exit codes are exact.
pub(crate) async fn prints_exactly(fixture: &ShellFixture) {
    let own_syntax = if fixture.shell == Shell::Fish { FISH } else { POSIX };
    fixture.assert_all(ANY_SHELL.iter().chain(own_syntax)).await;
}

/// State that a command leaves is there for the next one.
pub(crate) async fn keeps_state(fixture: &ShellFixture) {
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
    let shell = fixture.shell;
    fixture.assert_all(if shell == Shell::Fish { &fish } else { &posix }).await;
}

/// A command reads the status of the previous one.
pub(crate) async fn shows_previous_status(fixture: &ShellFixture) {
    let shell = fixture.shell;
    let status = if shell == Shell::Fish { "$status" } else { "$?" };
    for (command, code) in
        [("sh -c 'exit 7'", 7), ("false", 1), ("true", 0), ("no-such-command", 127)]
    {
        assert_eq!(fixture.run(command).await.code, code, "{fixture}: {command}");
        fixture.assert_prints(&format!("echo {status}"), &code.to_string()).await;
        fixture.assert_prints(&format!("echo {status}"), "0").await;
    }
}

/// The outputs of commands that follow each other are separate.
pub(crate) async fn separates_outputs(fixture: &ShellFixture) {
    alternates_commands(fixture, MANY_ROUNDS).await;
}

async fn alternates_commands(fixture: &ShellFixture, rounds: i64) {
    for number in 1..=rounds {
        // Every other command has quotes and goes through a command file.
        let (command, code) = match number % 2 {
            0 => (format!("echo run {number}"), 0),
            _ => (format!("echo 'run {number}'; sh -c 'exit {number}'"), number),
        };
        let expected = Finished { output: format!("run {number}"), code };
        assert_eq!(fixture.run(&command).await, expected, "{fixture}");
    }
}

/// A failed command does not keep the next one from running.
pub(crate) async fn runs_after_failure(fixture: &ShellFixture) {
    alternates_failures(fixture, MANY_ROUNDS).await;
}

async fn alternates_failures(fixture: &ShellFixture, rounds: i64) {
    for _ in 0..rounds {
        assert_eq!(fixture.run("sh -c 'exit 6'").await, Finished::silent(6), "{fixture}");
        assert_eq!(fixture.run("true").await, Finished::silent(0), "{fixture}");
    }
}

/// A command that does not exist is reported as by the shell.
pub(crate) async fn reports_missing_command(fixture: &ShellFixture) {
    for command in ["no-such-command", "no-such-command 'x y'; true; no-such-command"] {
        let ran = fixture.run(command).await;
        let reported = ["not found", "Unknown command", "Permission denied"]
            .iter()
            .any(|it| ran.output.contains(it));
        assert!(ran.code == 127 && reported, "{fixture}: {ran:?}");
        assert!(ran.output.contains("no-such-command"), "{fixture}: {ran:?}");
    }
    fixture.assert_prints("echo fine", "fine").await;
}

/// A backslash at the end of a command swallows nothing.
pub(crate) async fn ends_after_backslash(fixture: &ShellFixture) {
    // For fish it is a mistake.
    if fixture.shell == Shell::Fish {
        return;
    }
    fixture.assert_prints("echo 'a' \\", "a").await;
    fixture.assert_prints("echo 'clean'", "clean").await;
}

/// A mistake in a command is reported, and the next command runs.
pub(crate) async fn survives_syntax_errors(fixture: &ShellFixture) {
    let posix = ["echo \"open", "echo 'open", "if true; then", ")", "echo $(", "for", "}", "a |"];
    let fish = ["echo \"open", "echo 'open", "if true", ")", "echo (", "for x", "end", "a |"];
    let shell = fixture.shell;
    for command in if shell == Shell::Fish { fish } else { posix } {
        let ran = fixture.run(command).await;
        assert!(ran.code != 0 && !ran.output.is_empty(), "{fixture}: {command}: {ran:?}");
        fixture.assert_prints("echo fine", "fine").await;
        fixture.assert_prints("echo 'just fine'", "just fine").await;
    }
}

/// A command that a signal ends exits with 128 and its number.
pub(crate) async fn reports_signals(fixture: &ShellFixture) {
    for (signal, code) in [("KILL", 137), ("TERM", 143), ("HUP", 129), ("INT", 130)] {
        let ran = fixture.run(&format!("echo before; sh -c 'kill -{signal} $$'")).await;
        assert_eq!(ran.code, code, "{fixture}: {ran:?}");
        assert_eq!(ran.output.lines().next(), Some("before"), "{fixture}: {ran:?}");
        fixture.assert_prints("echo 'still here'", "still here").await;
    }
}

/// A process in the background does not delay the end of its command.
pub(crate) async fn ends_before_background_process(fixture: &ShellFixture) {
    let shell = fixture.shell;
    let last = if shell == Shell::Fish { "$last_pid" } else { "$!" };
    let ran = fixture.run("sleep 1000 & echo started").await;
    assert!(ran.code == 0 && ran.output.contains("started"), "{fixture}: {ran:?}");
    fixture.assert_prints("echo meanwhile", "meanwhile").await;
    assert_eq!(fixture.run(&format!("kill {last}")).await.code, 0, "{fixture}");
    // The shell reports its end at some later moment.
    fixture.run("wait").await;
}

/// Commands of 100 kB run unchanged.
pub(crate) async fn runs_long_commands(fixture: &ShellFixture) {
    runs_long_commands_of(fixture, MANY_BYTES).await;
}

async fn runs_long_commands_of(fixture: &ShellFixture, bytes: usize) {
    let long = format!("printf %s '{}' | wc -c", "x $y \"z\"! ".repeat(bytes / 10));
    let many = "true # and one line more\n".repeat(bytes / 25) + "echo end; sh -c 'exit 5'";
    assert_eq!(fixture.run(&long).await.output.trim(), bytes.to_string(), "{fixture}");
    let expected = Finished { output: "end".to_owned(), code: 5 };
    assert_eq!(fixture.run(&many).await, expected, "{fixture}");
}

/// Commands run under any option or alias.
pub(crate) async fn survives_options_and_aliases(fixture: &ShellFixture) {
    if fixture.shell == Shell::Fish {
        return;
    }
    let table = [
        ("set -u", "set +u"),
        ("set -f", "set +f"),
        ("set -C", "set +C"),
        ("set -o vi", "(set -o emacs) 2>/dev/null && set -o emacs || set +o vi"),
        ("IFS=,", "unset IFS"),
        ("alias exit='echo no'", "unalias exit"),
        ("alias printf='echo no' cat='echo no'", "unalias printf cat"),
        ("eval=x case=y", "unset eval case"),
    ];
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
}

/// Exit codes are known although the output of the shell is redirected.
pub(crate) async fn survives_redirected_output(fixture: &ShellFixture) {
    if fixture.shell == Shell::Fish {
        return;
    }
    let table = [
        ("exec 3>&1 >$HOME/elsewhere", "", 0),
        ("true", "", 0),
        ("echo hidden", "", 0),
        ("echo 'hidden'; false", "", 1),
        ("exec >&3 3>&-", "", 0),
        ("cat ~/elsewhere", "hidden\nhidden", 0),
    ];
    fixture.assert_all(&table).await;
}

/// Commands run while the shell traces.
pub(crate) async fn runs_while_traced(fixture: &ShellFixture) {
    if fixture.shell == Shell::Fish {
        return;
    }
    let shell = fixture.shell;
    assert_eq!(fixture.run("set -x").await.code, 0, "{fixture}");
    for (command, line, code) in
        [("echo 'x  y'; sh -c 'exit 3'", "x  y", 3), ("echo plain", "plain", 0)]
    {
        let ran = fixture.run(command).await;
        let found = ran.output.lines().filter(|&printed| printed == line).count();
        assert_eq!((ran.code, found), (code, 1), "{fixture}: {ran:?}");
        // zsh also traces the function that prints the end mark.
        assert!(shell == Shell::Zsh || !ran.output.contains("/dev/tty"), "{fixture}: {ran:?}");
    }
    assert_eq!(fixture.run("set +x").await.code, 0, "{fixture}");
    fixture.assert_prints("echo 'x  y'", "x  y").await;
}
