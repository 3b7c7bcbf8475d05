//! The output of commands: exact for any program, limited in size, and readable in parts.

use serde_json::{Value, json};
use testkit::{Shell, TmuxServer, wait_until};

use crate::launch;
use crate::run::fixture::ShellFixture;
use crate::support::{numbers, string};

/// Commands run in an existing pane of 30 columns with 2,000 lines of history.
async fn narrow_pane(shell: Shell) -> ShellFixture {
    let mut fixture = ShellFixture::own(shell).await;
    fixture.tmux.tmux(&["set-option", "-g", "history-limit", "2000"]);
    fixture.target = Some(fixture.tmux.shell_pane(30, 24));
    fixture
}

impl ShellFixture {
    /// The result of a command with these arguments.
    async fn result_with(&self, id: &str, arguments: Value) -> Value {
        let mut all = json!({"command_id": id});
        for (name, value) in arguments.as_object().unwrap() {
            all[name] = value.clone();
        }
        self.mcp.call("command_result", all).await.ok()
    }

    /// Fails if the server uses more than 100 MiB of memory.
    fn assert_memory_is_small(&self) {
        #[expect(clippy::disallowed_methods, reason = "an observer outside of tmux")]
        let mut ps = std::process::Command::new("ps");
        let ps = ps.args(["-o", "rss=", "-p", &self.mcp.pid().to_string()]).output().unwrap();
        let kilobytes: u64 = String::from_utf8(ps.stdout).unwrap().trim().parse().unwrap();
        assert!(kilobytes < 100 * 1024, "{kilobytes} kB");
    }

    /// Runs two commands, which must succeed. In the own session they may run in another pane, when
    /// the prompt of the first can no longer be recognised.
    async fn assert_next_commands_run(&self, pane: &str, after: &str) {
        for (command, output, code) in
            [("echo 'the next'; sh -c 'exit 6'", "the next", 6), ("echo plain", "plain", 0)]
        {
            let answer = self.answer(command).await;
            let facts = (&answer["output"], &answer["exit_code"]);
            assert_eq!(facts, (&json!(output), &json!(code)), "{self}: after {after}: {answer}");
            let same = self.target.is_none() || answer["pane_id"] == pane;
            assert!(same, "{self}: after {after}: {answer}");
        }
    }
}

#[tokio::test]
async fn a_hundred_thousand_lines_come_back_exactly() {
    let expected = numbers(1, 100_000);
    for fixture in [ShellFixture::own(Shell::Bash).await, narrow_pane(Shell::Bash).await] {
        let answer = fixture.answer("seq 1 100000").await;
        assert_eq!(answer["exit_code"], 0, "{fixture}");
        assert_eq!(answer["total_lines"], 100_000, "{fixture}");
        assert!(answer["output"] == expected, "{fixture}: the output differs");
        assert_eq!(answer.get("truncated"), None, "{fixture}");
        fixture.assert_prints("echo next", "next").await;
        fixture.close().await;
    }
}

/// Commands, and their output as a terminal shows it.
const RENDERED: &[(&str, &str, i64)] = &[
    ("printf '\\r10%%\\r50%%\\rdone\\n'", "done", 0),
    ("printf '10%%\\b\\b\\b50%%\\b\\b\\bdone'", "done", 0),
    ("printf 'long line\\rshort\\n'", "shortline", 0),
    ("printf 'long line\\r\\033[Kshort\\n'", "short", 0),
    ("printf 'one\\ntwo\\n\\033[2A\\033[KONE\\n\\n'", "ONE\ntwo", 0),
    (
        "printf '\\033[31mred\\033[0m \\033[1;4mbold\\033[m \\033[38;2;1;2;3mmore\\033[39m\\n'",
        "red bold more",
        0,
    ),
    ("printf '\\033]8;;http://x\\033\\134link\\033]8;;\\033\\134\\n'", "link", 0),
    ("printf '\\033]0;a title\\007titled\\n\\033]2;b\\033\\134'", "titled", 0),
    ("printf 'a\\tb\\tc\\n\\tindented\\n'", "a\tb\tc\n\tindented", 0),
    ("printf '漢字\\b\\bX 🎉 e\\314\\201 👨‍👩‍👧\\n'", "漢X 🎉 e\u{301} 👨‍👩‍👧", 0),
    (
        "printf 'a\\377\\376b \\303( \\360\\237\\216 c\\n'",
        "a\u{fffd}\u{fffd}b \u{fffd}( \u{fffd} c",
        0,
    ),
    ("printf '\\033(0lqk\\033(B lqk\\n'", "┌─┐ lqk", 0),
    ("printf 'bell\\007 nul\\000 del\\177\\n'", "bell nul del", 0),
    ("printf '\\033[2J\\033[Hcleared\\n'", "cleared", 0),
];

#[tokio::test]
async fn output_is_what_a_wide_terminal_would_show() {
    for shell in Shell::ALL {
        for fixture in [ShellFixture::own(shell).await, narrow_pane(shell).await] {
            fixture.assert_all(RENDERED).await;
            // Lines that fill ten rows of the narrow pane.
            fixture
                .assert_prints(
                    "printf '%0300d\\n' 7; printf %0300d 8",
                    &format!("{:0300}\n{:0300}", 7, 8),
                )
                .await;
            fixture.close().await;
        }
    }
}

/// Output that imitates the shell or leaves the terminal in a bad state.
const HOSTILE: &[&str] = &[
    // Marks without a key, with a wrong key, with a part of one, and incomplete marks.
    "\\033]133;D;0\\007\\033]133;A\\007$ \\033]133;B\\007\\033]133;C\\007",
    "\\033]133;D;0;k=\\007\\033]133;D;0;k=0123456789abcdef01234567\\007",
    "\\033]133;C;k=0123456789abcdef01234567\\007\\033]133;D;0;aid=1;k=x\\033\\134",
    "\\033]133;D;0;k=0123456789abcdef",
    "\\033]133;D;",
    "\\033]133",
    "\\033",
    // Strings that are never terminated.
    "\\033]0;title",
    "\\033Pq#0",
    "\\033_Gapc",
    "\\033kname",
    "\\033[",
    "\\033[38;5",
    // Other character sets, modes, margins, screens.
    "\\016\\033(0\\033)0",
    "\\033[?1049h\\033[?25l\\033[?1000h\\033[?2004h\\033=",
    "\\033[3;5r\\033[?6h\\033[4h\\033[?7l",
    "\\033c",
    "\\033[?1049l\\033[!p\\033[r\\033[4l\\033[?7h\\033(B\\017",
    // Terminal queries, whose replies arrive as if a person had typed them.
    "\\033[c\\033[>c\\033[6n\\033[5n\\033Z",
    "\\033]10;?\\007\\033]11;?\\007\\033P+q544e\\033\\134\\033[?2004$p",
    // Text that resembles the shell's prompt.
    "\\n$ \\n# \\n%% \\n> \\nme@host:~$ ",
    "^C^C",
];

#[tokio::test]
async fn hostile_output_neither_ends_nor_breaks_commands() {
    for shell in Shell::ALL {
        for fixture in ShellFixture::own_and_existing(shell).await {
            let pane = string(&fixture.answer("true").await["pane_id"]);
            for text in HOSTILE {
                let command = format!("echo begin; printf '{text}'; sh -c 'exit 4'");
                let ran = fixture.run(&command).await;
                assert_eq!(ran.code, 4, "{fixture}: {text}: {ran:?}");
                assert!(ran.output.starts_with("begin"), "{fixture}: {text}: {ran:?}");
                fixture.assert_next_commands_run(&pane, text).await;
            }
            fixture.close().await;
        }
    }
}

/// The terminal echoes its replies while no program reads them.
#[tokio::test]
async fn replies_of_the_terminal_are_not_output() {
    for fixture in ShellFixture::own_and_existing(Shell::Bash).await {
        for query in ["\\033[6n", "\\033[c", "\\033[5n\\033[6n", "\\033]11;?\\007"] {
            let command = format!("printf 'a{query}'; sleep 0.3; echo b");
            fixture.assert_prints(&command, "ab").await;
            fixture.assert_usable().await;
        }
        fixture.close().await;
    }
}

/// The reply stands at the prompt, where a later command would be typed behind it.
#[tokio::test]
async fn replies_are_removed_behind_a_changed_prompt() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        for fixture in ShellFixture::own_and_existing(shell).await {
            let prompt = match shell {
                Shell::Bash => "PS1='\\w \\$ '",
                Shell::Zsh => "PS1='%~ %# '",
                _ => "function fish_prompt; echo (prompt_pwd)' > '; end",
            };
            fixture.run(prompt).await;
            for (directory, query) in [("/usr", "\\033[c"), ("/", "\\033[6n\\033[c\\n")] {
                let command = format!("cd {directory}; printf '{query}'; sleep 0.2; echo 'q'");
                fixture.run(&command).await;
                fixture.assert_usable().await;
            }
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn an_unterminated_escape_string_keeps_the_screen_visible() {
    for shell in Shell::ALL {
        for fixture in ShellFixture::own_and_existing(shell).await {
            for text in ["\\033Pq#0", "\\033_Gapc", "\\033^pm", "\\033kname", "\\033]0;t"] {
                let answer = fixture.answer(&format!("printf 'open{text}'")).await;
                assert_eq!(answer["output"], "open", "{fixture}: {text}");
                let pane = string(&answer["pane_id"]);
                fixture.assert_prints("clear", "").await;
                fixture.assert_prints("echo 'it is visible'", "it is visible").await;
                wait_until(&format!("{fixture} shows its output after {text}"), || {
                    fixture.tmux.screen(&pane).contains("\nit is visible").then_some(())
                });
            }
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn printing_shell_internals_does_not_end_a_command() {
    for (shell, print) in [
        (
            Shell::Bash,
            "set; declare -f; trap; printf \"$PS0\"; echo -e \"$PS0\"; cat /proc/$$/environ",
        ),
        (Shell::Zsh, "set; functions; setopt; cat /proc/$$/environ"),
        (
            Shell::Fish,
            "set; for f in (functions -a); functions $f; end; cat /proc/$fish_pid/environ",
        ),
        (Shell::Dash, "set; trap; cat /proc/$$/environ"),
    ] {
        for fixture in ShellFixture::own_and_existing(shell).await {
            let ran = fixture.run(&format!("{print}; echo; echo end; false")).await;
            assert_eq!(ran.code, 1, "{fixture}");
            assert!(ran.output.lines().count() > 5, "{fixture}: {}", ran.output);
            assert!(ran.output.ends_with("\nend"), "{fixture}: {}", ran.output);
            fixture.assert_prints("echo 'the next'", "the next").await;
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn random_bytes_do_not_end_a_command() {
    for shell in Shell::ALL {
        for fixture in ShellFixture::own_and_existing(shell).await {
            let pane = string(&fixture.answer("true").await["pane_id"]);
            // With 47, a string that tmux parses is never terminated.
            for seed in [1, 2, 3, 47, 134, 175] {
                let random = format!("srand({seed}); print map {{ chr int rand 256 }} 1..3000");
                let ran = fixture.run(&format!("perl -e '{random}'; sh -c 'exit 3'")).await;
                assert_eq!(ran.code, 3, "{fixture}: {seed}: {ran:?}");
                assert!(ran.output.len() > 1_000, "{fixture}: {seed}: {ran:?}");
                fixture.assert_next_commands_run(&pane, &random).await;
            }
            fixture.close().await;
        }
    }
}

#[tokio::test]
async fn the_alternate_screen_is_reported() {
    for fixture in ShellFixture::own_and_existing(Shell::Bash).await {
        let answer = fixture.answer("printf 'a\\033[?1049hHIDDEN\\033[?1049lb\\n'").await;
        assert_eq!((&answer["output"], &answer["alternate_screen"]), (&json!("ab"), &json!(true)));
        let command = "printf 'before\\n\\033[?1049hHIDDEN'; read x; printf '\\033[?1049lafter\\n'";
        let answer = fixture.answer(command).await;
        assert_eq!(answer["status"], "running", "{answer}");
        assert_eq!(
            (&answer["output"], &answer["alternate_screen"]),
            (&json!("before"), &json!(true))
        );
        assert!(string(&answer["note"]).contains("capture_pane"), "{answer}");
        let (id, pane) = (string(&answer["command_id"]), string(&answer["pane_id"]));
        assert!(fixture.tmux.screen(&pane).contains("HIDDEN"));
        fixture.mcp.call("send_keys", json!({"target": pane, "enter": true})).await.text();
        let answer = fixture.result_with(&id, json!({"wait": 20})).await;
        assert_eq!((&answer["exit_code"], &answer["output"]), (&json!(0), &json!("before\nafter")));
        assert_eq!(answer["alternate_screen"], true);
        let answer = fixture.answer("echo next").await;
        assert_eq!((&answer["output"], answer.get("alternate_screen")), (&json!("next"), None));
        fixture.close().await;
    }
}

#[tokio::test]
async fn long_output_is_cut_in_the_middle() {
    let fixture = ShellFixture::own(Shell::Bash).await;
    for (command, arguments, head, tail, total) in [
        ("seq 1000", json!({}), 100, 901, 1000),
        ("seq 201", json!({}), 100, 102, 201),
        ("seq 1000", json!({"max_lines": 5}), 2, 998, 1000),
        ("seq 3", json!({"max_lines": 1}), 0, 3, 3),
    ] {
        let mut arguments = arguments;
        arguments["command"] = json!(command);
        let answer = fixture.mcp.call("run_command", arguments).await.ok();
        let id = string(&answer["command_id"]);
        let (first, last) = (head + 1, tail - 1);
        let which =
            if first == last { format!("line {first}") } else { format!("lines {first}–{last}") };
        let them = if first == last { "it" } else { "them" };
        let notice = format!(
            "… {which} of {total} left out; \
             command_result(command_id=\"{id}\", from={first}) shows {them} …"
        );
        let ends = [numbers(1, head), notice, numbers(tail, total)];
        let shown: Vec<_> = ends.into_iter().filter(|part| !part.is_empty()).collect();
        assert_eq!(answer["output"], shown.join("\n"), "{command}");
        assert_eq!(answer["total_lines"], total, "{command}");
        assert_eq!((&answer["truncated"], &answer["next"]), (&json!(true), &json!(first)));
        let rest = fixture.result_with(&id, json!({"from": first})).await;
        assert_eq!(rest["output"], numbers(first, total), "{command}");
        assert_eq!((rest.get("truncated"), rest.get("next")), (None, None), "{command}");
    }
    for (command, lines) in [("seq 200", 200), ("true", 0)] {
        let answer = fixture.mcp.call("run_command", json!({"command": command})).await.ok();
        assert_eq!(answer["output"].as_str().unwrap_or_default(), numbers(1, lines));
        assert_eq!((answer.get("truncated"), &answer["total_lines"]), (None, &json!(lines)));
    }
    fixture.close().await;
}

#[tokio::test]
async fn pages_follow_one_another_without_a_gap() {
    let fixture = ShellFixture::own(Shell::Bash).await;
    // A quarter of a million characters; a line of 40,000 in the middle.
    let print =
        "for my $n (1..5000) { print $n, q( ), q(x) x ($n == 2500 ? 40_000 : 42), qq(\\n) }";
    let whole = fixture.answer(&format!("perl -e '{print}'")).await;
    let (id, text) = (string(&whole["command_id"]), string(&whole["output"]));
    assert_eq!(text.lines().count(), 5000);
    for arguments in [json!({}), json!({"max_chars": 50_000}), json!({"max_chars": 0})] {
        let (mut pages, mut from, mut all) = (0, 1, String::new());
        loop {
            let mut arguments = arguments.clone();
            arguments["from"] = json!(from);
            let page = fixture.result_with(&id, arguments).await;
            assert_eq!(page["total_lines"], 5000);
            let mut shown: Vec<String> =
                string(&page["output"]).lines().map(str::to_owned).collect();
            let next = page["next"].as_u64();
            if let Some(next) = next {
                let notice = shown.pop().unwrap();
                let left = format!("… {} more lines; go on with", 5001 - next);
                assert!(
                    notice.starts_with(&left) && notice.contains(&format!("from={next})")),
                    "{notice}"
                );
                assert_eq!(page["truncated"], true);
            }
            if let [line] = shown.as_mut_slice()
                && line.contains("characters; command_result")
            {
                // The line is too long for a page, and the notice names the call that returns it.
                assert!(line.contains(&format!("from={from}, max_chars=40005)")), "{line}");
                let one =
                    fixture.result_with(&id, json!({"from": from, "max_chars": 40_005})).await;
                *line = string(&one["output"]).lines().next().unwrap().to_owned();
            }
            all += &(shown.join("\n") + "\n");
            pages += 1;
            match next {
                Some(next) => from = next,
                None => break,
            }
        }
        assert!(all.trim_end() == text, "{arguments}: {pages} pages do not make the whole");
        assert_eq!(pages > 1, arguments["max_chars"] != 0, "{arguments}: {pages}");
    }
    fixture.close().await;
}

#[tokio::test]
async fn output_is_read_by_range_or_pattern() {
    let fixture = ShellFixture::own(Shell::Bash).await;
    let id = string(&fixture.answer("seq 1 1000; echo the end").await["command_id"]);
    let around =
        "99-99\n100:100\n101-101\n--\n199-199\n200:200\n201-201\n--\n299-299\n300:300\n301-301";
    let cut = "1\n2\n3\n… 998 more lines; go on with command_result(command_id=\"ID\", from=4) …";
    for (arguments, output, next) in [
        (json!({"tail": 2}), "1000\nthe end", None),
        (json!({"tail": 0}), "", None),
        (json!({"head": 3}), "1\n2\n3", Some(4)),
        (json!({"from": 999}), "999\n1000\nthe end", None),
        (json!({"from": 1001}), "the end", None),
        (json!({"from": 5000}), "", None),
        (json!({"from": 1, "max_chars": 6}), cut, Some(4)),
        (json!({"grep": "end$"}), "1001:the end", None),
        (json!({"grep": "^[123]00$", "context": 1}), around, None),
        (json!({"grep": "99", "from": 998}), "998:998\n999:999", None),
        (json!({"grep": "nothing like it"}), "", None),
    ] {
        let answer = fixture.result_with(&id, arguments.clone()).await;
        let shown = answer["output"].as_str().unwrap_or_default();
        assert_eq!(shown, output.replace("ID", &id), "{arguments}");
        assert_eq!(answer["next"].as_u64(), next, "{arguments}");
        assert_eq!((&answer["total_lines"], &answer["exit_code"]), (&json!(1001), &json!(0)));
    }
    let page = fixture.result_with(&id, json!({"grep": "0", "max_chars": 20})).await;
    let next = page["next"].as_u64().unwrap();
    let (found, notice) = page["output"].as_str().unwrap().rsplit_once('\n').unwrap();
    assert!(notice.contains("matches up to line") && notice.contains("same grep"), "{notice}");
    let more = fixture.result_with(&id, json!({"grep": "0", "from": next})).await;
    let all = fixture.result_with(&id, json!({"grep": "0"})).await;
    assert_eq!(all["output"], format!("{found}\n{}", more["output"].as_str().unwrap()));
    fixture.close().await;
}

#[tokio::test]
async fn invalid_arguments_are_named() {
    let fixture = ShellFixture::own(Shell::Bash).await;
    let none =
        fixture.mcp.call("command_result", json!({"command_id": "c1"})).await.err("not_found");
    assert!(none.contains("`c1`") && none.contains("run_command"), "{none}");
    let id = string(&fixture.answer("seq 10").await["command_id"]);
    for (arguments, words) in [
        (json!({"tail": 1, "head": 1}), "only one of"),
        (json!({"tail": 1, "from": 1}), "only one of"),
        (json!({"tail": 1, "grep": "x"}), "only one of"),
        (json!({"from": 0}), "`from`: 0"),
        (json!({"from": -1}), "`from`"),
        (json!({"grep": "("}), "`grep`"),
        (json!({"context": 1}), "`context`"),
        (json!({"grep": "x", "context": 101}), "`context`"),
        (json!({"wait": -1}), "`wait`"),
        (json!({"lines": 1}), "`lines`"),
    ] {
        let mut all = json!({"command_id": id});
        all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        let error = fixture.mcp.call("command_result", all).await.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
    let error =
        fixture.mcp.call("command_result", json!({"command_id": "c99"})).await.err("not_found");
    assert!(error.contains("`c99`") && error.contains(&id), "{error}");
    for (arguments, words) in [
        (json!({"command": "true", "timeout": -1}), "`timeout`"),
        (json!({"command": "true", "max_lines": -1}), "`max_lines`"),
        (json!({"command": "true", "cwd": "/no/such/dir"}), "`cwd`"),
        (json!({"command": "true", "cwd": "/", "target": "main"}), "`cwd`"),
        (json!({"cmd": "true"}), "`cmd`"),
        (json!({"target": "main"}), "`command`"),
    ] {
        let error =
            fixture.mcp.call("run_command", arguments.clone()).await.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
    fixture.close().await;
}

#[tokio::test]
async fn twenty_megabytes_of_output_take_little_memory() {
    const LINES: u64 = 2_700_000;
    let fixture = ShellFixture::own(Shell::Bash).await;
    let answer = fixture
        .mcp
        .call("run_command", json!({"command": "seq 1 2700000", "timeout": 0}))
        .await
        .ok();
    let id = string(&answer["command_id"]);
    let mut done = Value::Null;
    while done["status"] != "exited" {
        done = fixture.result_with(&id, json!({"wait": 2, "head": 1})).await;
        fixture.assert_memory_is_small();
        assert!(done["duration"].as_f64() < Some(300.0), "{done}");
    }
    assert_eq!((&done["exit_code"], &done["total_lines"]), (&json!(0), &json!(LINES)));
    for first in [1, 2, 1_000, 123_456, 1_350_000, LINES - 1_000, LINES] {
        let page = fixture.result_with(&id, json!({"from": first, "max_chars": 4_000})).await;
        let shown = string(&page["output"]);
        let last = page["next"].as_u64().map_or(LINES, |next| next - 1);
        let text = shown.split("\n…").next().unwrap();
        assert_eq!(text, numbers(first, last), "{first}");
    }
    let tail = fixture.result_with(&id, json!({"tail": 3})).await;
    assert_eq!(tail["output"], numbers(LINES - 2, LINES));
    let found = fixture.result_with(&id, json!({"grep": "^1350000$", "context": 1})).await;
    assert_eq!(found["output"], "1349999-1349999\n1350000:1350000\n1350001-1350001");
    fixture.assert_memory_is_small();
    fixture.assert_prints("echo next", "next").await;
    fixture.close().await;
}

/// tmux sends all output of a session, and its replies, through one pipe: they come behind the flood.
#[tokio::test]
async fn a_command_runs_beside_a_flood() {
    let fixture = ShellFixture::own(Shell::Bash).await;
    // A debug build reads more slowly than tmux prints, so that the flood has an end.
    let flood = json!({"command": "yes 'a line of some length' | head -c 8000000", "timeout": 0});
    let flood = fixture.mcp.call("run_command", flood).await.ok();
    for round in 0..5 {
        let call = json!({"command": format!("echo 'round {round}'; sh -c 'exit {round}'"), "timeout": 120});
        let answer = fixture.mcp.call("run_command", call).await.ok();
        let expected = (json!(format!("round {round}")), json!(round));
        assert_eq!(
            (&answer["output"], &answer["exit_code"]),
            (&expected.0, &expected.1),
            "{answer}"
        );
    }
    assert_eq!(fixture.end(&flood).await["exit_code"], 0);
    fixture.close().await;
}

#[tokio::test]
async fn a_text_answer_begins_with_the_facts() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = launch(&tmux).mcp().await;
    let regex = |text: &str| regex::Regex::new(text).unwrap();
    let time = r"\d+(\.\d)? m?s";
    for (command, facts, text) in [
        (
            "seq 1000; false",
            "exit 1 · TIME · 1000 lines, 200 shown, next line 101 · command c1 in %1",
            None,
        ),
        ("echo one", "exit 0 · TIME · 1 line · command c2 in %1", Some("one")),
        ("seq 2", "exit 0 · TIME · 2 lines · command c3 in %1", Some("1\n2")),
        ("true", "exit 0 · TIME · 0 lines · command c4 in %1", Some("")),
        (
            "printf '\\033[?1049hx\\033[?1049l'",
            "exit 0 · TIME · 0 lines · command c5 in %1 · used the alternate screen, which is not in the output",
            Some(""),
        ),
    ] {
        let result = mcp.call("run_command", json!({"command": command})).await.result();
        assert_eq!(result.structured_content, None, "{command}");
        let answer = result.content[0].as_text().unwrap().text.clone();
        let (first, rest) = answer.split_once('\n').unwrap_or((&answer, ""));
        let facts = regex::escape(facts).replace("TIME", time).replace("%1", r"%\d+");
        assert!(regex(&format!("^{facts}$")).is_match(first), "{first} is not {facts}");
        match text {
            Some(text) => assert_eq!(rest, text),
            None => assert!(rest.starts_with("1\n2\n") && rest.ends_with("999\n1000"), "{rest}"),
        }
    }
    let answer = mcp.call("command_result", json!({"command_id": "c1", "tail": 2})).await.text();
    let (first, rest) = answer.split_once('\n').unwrap();
    assert!(first.contains("1000 lines, 2 shown · command c1") && rest == "999\n1000", "{answer}");
    mcp.close().await;
}
