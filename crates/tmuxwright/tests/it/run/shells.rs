//! Commands in every shell, in panes of our own and in panes that were there before: what they
//! print, how they end, and what they leave behind.

use serde_json::{Value, json};
use testkit::{Mcp, Shell, TmuxServer};

use crate::serve;

/// A shell to run commands in.
pub(crate) struct Seat {
    pub(crate) tmux: TmuxServer,
    pub(crate) mcp: Mcp,
    pub(crate) shell: Shell,
    /// The pane that was there; without one, commands get a pane of our own.
    pub(crate) target: Option<String>,
}

/// How a command ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) output: String,
    pub(crate) code: i64,
}

impl Ran {
    fn silent(code: i64) -> Self {
        Self { output: String::new(), code }
    }
}

impl Seat {
    /// In a pane of our own.
    pub(crate) async fn own(shell: Shell) -> Self {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let mcp = serve(&tmux).await;
        Self { tmux, mcp, shell, target: None }
    }

    /// In a pane that was there.
    pub(crate) async fn there(shell: Shell, columns: u16, rows: u16) -> Self {
        let mut seat = Self::own(shell).await;
        seat.target = Some(seat.tmux.shell_pane(columns, rows));
        seat
    }

    /// In both, one after the other.
    pub(crate) async fn both(shell: Shell) -> [Self; 2] {
        [Self::own(shell).await, Self::there(shell, 80, 24).await]
    }

    /// The whole answer to a command.
    pub(crate) async fn answer(&self, command: &str) -> Value {
        let mut arguments = json!({"command": command, "max_lines": 0});
        if let Some(target) = &self.target {
            arguments["target"] = json!(target);
        }
        let result = self.mcp.call("run_command", arguments).await.result();
        result.structured_content.unwrap_or_else(|| json!({"refused": result.content}))
    }

    /// What a command printed and how it ended.
    pub(crate) async fn run(&self, command: &str) -> Ran {
        let answer = self.answer(command).await;
        let output = answer["output"].as_str().unwrap_or_default().to_owned();
        match answer["exit_code"].as_i64() {
            Some(code) => Ran { output, code },
            // It has not ended, was refused, or nobody knows: no exit code is like this.
            None => Ran { output: answer.to_string(), code: -1 },
        }
    }

    /// Runs a command that must print just this and end well.
    pub(crate) async fn prints(&self, command: &str, output: &str) {
        let ran = self.run(command).await;
        assert_eq!((ran.output.as_str(), ran.code), (output, 0), "{self}: {command:?}");
    }

    /// Runs all of them and says which did not do what they should.
    pub(crate) async fn must<'a>(
        &self,
        table: impl IntoIterator<Item = &'a (&'a str, &'a str, i64)>,
    ) {
        let mut wrong = Vec::new();
        for &(command, output, code) in table {
            let expected = Ran { output: output.to_owned(), code };
            let ran = self.run(command).await;
            if ran != expected {
                wrong.push(format!("{command:?}\n  is {ran:?}\n  not {expected:?}"));
            }
        }
        assert!(wrong.is_empty(), "{self}:\n{}", wrong.join("\n"));
    }

    pub(crate) async fn close(self) {
        self.mcp.close().await;
    }
}

impl std::fmt::Display for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if self.target.is_some() { "a pane that was there" } else { "an own pane" };
        write!(f, "{} in {place}", self.shell.name())
    }
}

/// What every shell understands.
const EVERYWHERE: &[(&str, &str, i64)] = &[
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

/// What bash, zsh and dash understand.
const POSIX: &[(&str, &str, i64)] = &[
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

/// What fish understands.
const FISH: &[(&str, &str, i64)] = &[
    ("if false\n  echo no\nelse\n  echo yes\nend", "yes", 0),
    ("for i in 1 2 3\n  echo $i\nend", "1\n2\n3", 0),
    ("switch x\n  case x\n    echo is x\nend\nsh -c 'exit 7'", "is x", 7),
    ("begin; echo group; end; sh -c 'exit 4'", "group", 4),
    ("echo (echo inner) \"$HOME\" | string match -r '^inner /'", "inner /", 0),
    ("string join , a 'b c' \"d\"", "a,b c,d", 0),
    ("not true", "", 1),
];

fn other(shell: Shell) -> &'static [(&'static str, &'static str, i64)] {
    if shell == Shell::Fish { FISH } else { POSIX }
}

#[tokio::test]
async fn output_and_exit_code_are_exact_in_bash() {
    exact(Shell::Bash).await;
}

#[tokio::test]
async fn output_and_exit_code_are_exact_in_zsh() {
    exact(Shell::Zsh).await;
}

#[tokio::test]
async fn output_and_exit_code_are_exact_in_fish() {
    exact(Shell::Fish).await;
}

#[tokio::test]
async fn output_and_exit_code_are_exact_in_dash() {
    exact(Shell::Dash).await;
}

async fn exact(shell: Shell) {
    for seat in Seat::both(shell).await {
        seat.must(EVERYWHERE.iter().chain(other(shell))).await;
        seat.close().await;
    }
}

#[tokio::test]
async fn what_a_command_changes_stays_for_the_next() {
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
        for seat in Seat::both(shell).await {
            seat.must(if shell == Shell::Fish { &fish } else { &posix }).await;
            seat.close().await;
        }
    }
}

#[tokio::test]
async fn a_command_sees_how_the_one_before_it_ended() {
    for shell in Shell::ALL {
        let status = if shell == Shell::Fish { "$status" } else { "$?" };
        for seat in Seat::both(shell).await {
            for (command, code) in
                [("sh -c 'exit 7'", 7), ("false", 1), ("true", 0), ("no-such-command", 127)]
            {
                assert_eq!(seat.run(command).await.code, code, "{seat}: {command}");
                seat.prints(&format!("echo {status}"), &code.to_string()).await;
                seat.prints(&format!("echo {status}"), "0").await;
            }
            seat.close().await;
        }
    }
}

#[tokio::test]
async fn twenty_five_commands_in_a_row_do_not_mix() {
    for shell in Shell::ALL {
        for seat in Seat::both(shell).await {
            for number in 1..=25 {
                // Typed as it is, and not.
                let (command, code) = match number % 2 {
                    0 => (format!("echo run {number}"), 0),
                    _ => (format!("echo 'run {number}'; sh -c 'exit {number}'"), number),
                };
                let expected = Ran { output: format!("run {number}"), code };
                assert_eq!(seat.run(&command).await, expected, "{seat}");
            }
            seat.close().await;
        }
    }
}

#[tokio::test]
async fn a_command_right_after_a_failed_one_is_taken() {
    for shell in Shell::ALL {
        for seat in Seat::both(shell).await {
            for _ in 0..30 {
                assert_eq!(seat.run("sh -c 'exit 6'").await, Ran::silent(6), "{seat}");
                assert_eq!(seat.run("true").await, Ran::silent(0), "{seat}");
            }
            seat.close().await;
        }
    }
}

#[tokio::test]
async fn a_missing_command_is_127_and_says_so() {
    for shell in Shell::ALL {
        for seat in Seat::both(shell).await {
            for command in ["no-such-command", "no-such-command 'x y'; true; no-such-command"] {
                let ran = seat.run(command).await;
                let told =
                    ran.output.contains("not found") || ran.output.contains("Unknown command");
                assert!(ran.code == 127 && told, "{seat}: {ran:?}");
                assert!(ran.output.contains("no-such-command"), "{seat}: {ran:?}");
            }
            seat.prints("echo fine", "fine").await;
            seat.close().await;
        }
    }
}

#[tokio::test]
async fn a_syntax_error_fails_and_does_no_harm() {
    let posix = ["echo \"open", "echo 'open", "if true; then", ")", "echo $(", "for", "}", "a |"];
    let fish = ["echo \"open", "echo 'open", "if true", ")", "echo (", "for x", "end", "a |"];
    for shell in Shell::ALL {
        for seat in Seat::both(shell).await {
            for command in if shell == Shell::Fish { fish } else { posix } {
                let ran = seat.run(command).await;
                assert!(ran.code != 0 && !ran.output.is_empty(), "{seat}: {command}: {ran:?}");
                seat.prints("echo fine", "fine").await;
                seat.prints("echo 'just fine'", "just fine").await;
            }
            seat.close().await;
        }
    }
}

#[tokio::test]
async fn a_command_killed_by_a_signal_is_128_and_its_number() {
    for shell in Shell::ALL {
        for seat in Seat::both(shell).await {
            for (signal, code) in [("KILL", 137), ("TERM", 143), ("HUP", 129), ("INT", 130)] {
                let ran = seat.run(&format!("echo before; sh -c 'kill -{signal} $$'")).await;
                assert_eq!(ran.code, code, "{seat}: {ran:?}");
                assert_eq!(ran.output.lines().next(), Some("before"), "{seat}: {ran:?}");
                seat.prints("echo 'still here'", "still here").await;
            }
            seat.close().await;
        }
    }
}

#[tokio::test]
async fn a_background_job_is_not_waited_for() {
    for shell in Shell::ALL {
        let last = if shell == Shell::Fish { "$last_pid" } else { "$!" };
        for seat in Seat::both(shell).await {
            let ran = seat.run("sleep 1000 & echo started").await;
            assert!(ran.code == 0 && ran.output.contains("started"), "{seat}: {ran:?}");
            seat.prints("echo meanwhile", "meanwhile").await;
            assert_eq!(seat.run(&format!("kill {last}")).await.code, 0, "{seat}");
            seat.close().await;
        }
    }
}

#[tokio::test]
async fn a_command_of_a_hundred_kilobytes_is_taken_as_it_is() {
    let long = format!("printf %s '{}' | wc -c", "x $y \"z\"! ".repeat(10_000));
    let many = "true # and one line more\n".repeat(4_000) + "echo end; sh -c 'exit 5'";
    for shell in Shell::ALL {
        for seat in Seat::both(shell).await {
            assert_eq!(seat.run(&long).await.output.trim(), "100000", "{seat}");
            let expected = Ran { output: "end".to_owned(), code: 5 };
            assert_eq!(seat.run(&many).await, expected, "{seat}");
            seat.close().await;
        }
    }
}

#[tokio::test]
async fn an_empty_command_is_a_mistake() {
    for seat in Seat::both(Shell::Bash).await {
        for command in ["", "  \n\t ", "a\0b"] {
            let mut arguments = json!({"command": command});
            if let Some(target) = &seat.target {
                arguments["target"] = json!(target);
            }
            let error = seat.mcp.call("run_command", arguments).await.err("invalid_argument");
            assert!(error.contains("`command`") && error.contains("Next: "), "{error}");
        }
        seat.close().await;
    }
}

#[tokio::test]
async fn options_and_aliases_of_the_user_are_in_nobodys_way() {
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
        for seat in Seat::both(shell).await {
            for (set, unset) in table {
                let checks = [
                    ("echo 'it works'", "it works", 0),
                    ("sh -c 'exit 5'", "", 5),
                    ("echo $?", "5", 0),
                    ("false", "", 1),
                ];
                seat.must(&[(set, "", 0)]).await;
                seat.must(&checks).await;
                seat.must(&[(unset, "", 0)]).await;
            }
            seat.close().await;
        }
    }
}

#[tokio::test]
async fn a_shell_whose_output_goes_elsewhere_still_tells_how_commands_end() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Dash] {
        for seat in Seat::both(shell).await {
            let table = [
                ("exec 3>&1 >$HOME/elsewhere", "", 0),
                ("true", "", 0),
                ("echo hidden", "", 0),
                ("echo 'hidden'; false", "", 1),
                ("exec >&3 3>&-", "", 0),
                ("cat ~/elsewhere", "hidden\nhidden", 0),
            ];
            seat.must(&table).await;
            seat.close().await;
        }
    }
}

#[tokio::test]
async fn a_shell_that_traces_its_commands_still_works() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Dash] {
        for seat in Seat::both(shell).await {
            assert_eq!(seat.run("set -x").await.code, 0, "{seat}");
            for (command, line, code) in
                [("echo 'x  y'; sh -c 'exit 3'", "x  y", 3), ("echo plain", "plain", 0)]
            {
                let ran = seat.run(command).await;
                let found = ran.output.lines().filter(|&printed| printed == line).count();
                assert_eq!((ran.code, found), (code, 1), "{seat}: {ran:?}");
                // zsh traces also what puts the mark at the end.
                assert!(shell == Shell::Zsh || !ran.output.contains("/dev/tty"), "{seat}: {ran:?}");
            }
            assert_eq!(seat.run("set +x").await.code, 0, "{seat}");
            seat.prints("echo 'x  y'", "x  y").await;
            seat.close().await;
        }
    }
}
