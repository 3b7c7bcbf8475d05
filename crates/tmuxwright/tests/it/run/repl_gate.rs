//! `run_in_repl` enters nothing unless an interpreter is at its empty prompt.

use serde_json::json;
use testkit::{Mcp, Shell, TmuxServer, until, wait_until};

use crate::run::hostile_rows::{QUESTIONS, RECORDER, tries};
use crate::run::repl_fixture::interpreter;
use crate::serve;
use crate::support::random::Random;

/// Pieces of the lines that a person has typed in part.
const TYPED: &[&str] =
    &["rm FILE ", "x > ", "$ ", "> ", "a", "1", "# ", "é", "漢", "= ", ">>> ", "; ", "select "];

/// The error of an input that is refused.
async fn refused(mcp: &Mcp, target: &str) -> String {
    let arguments = json!({"target": target, "input": "pwd", "timeout": 20});
    let error = mcp.call("run_in_repl", arguments).await.err("not_ready");
    assert!(error.contains("Next: "), "{error}");
    error
}

/// Text that a program has typed at a prompt stays there, and is never entered.
async fn typed_text_stays(command: &str, prompt: &str, seed: u64) {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, command, prompt);
    let prompts = || tmux.screen(&target).lines().filter(|row| row.starts_with(prompt)).count();
    let before = prompts();
    let mut random = Random(seed);
    for round in 0..tries() / 5 {
        // Blanks at the end are not seen on the screen.
        let text = format!("{}{}.", random.pick(TYPED).trim_start(), random.join(TYPED, 3));
        tmux.types(&target, &text);
        let shown = format!("{prompt} {text}");
        until(&format!("{shown} is shown"), async || {
            tmux.screen(&target).contains(&shown).then_some(())
        })
        .await;
        if round % 2 == 0 {
            tmux.presses(&target, &["BSpace"]);
            let shorter = shown.trim_end_matches('.').trim_end().to_owned();
            until("the last key is erased", async || {
                let screen = tmux.screen(&target);
                (screen.contains(&shorter) && !screen.contains(&shown)).then_some(())
            })
            .await;
        }
        refused(&mcp, &target).await;
        assert_eq!(prompts(), before, "{text:?} was entered:\n{}", tmux.screen(&target));
        tmux.presses(&target, &["C-e", "C-u"]);
        until("the line is erased", async || tmux.screen(&target).ends_with(prompt).then_some(()))
            .await;
    }
    // The empty prompt is accepted.
    let arguments = json!({"target": target, "input": "1", "timeout": 20});
    mcp.call("run_in_repl", arguments).await.ok();
    mcp.close().await;
}

#[tokio::test]
async fn text_typed_in_python_is_never_entered() {
    typed_text_stays("python3 -q", ">>>", 1).await;
}

#[tokio::test]
async fn text_typed_in_node_is_never_entered() {
    typed_text_stays("env NODE_REPL_HISTORY= node", ">", 2).await;
}

#[tokio::test]
async fn text_typed_in_sqlite_is_never_entered() {
    typed_text_stays("sqlite3", "sqlite>", 3).await;
}

#[tokio::test]
async fn text_typed_in_bash_is_never_entered() {
    typed_text_stays("env PS1='$ ' bash --norc --noprofile -i", "$", 4).await;
}

#[tokio::test]
async fn text_typed_in_zsh_is_never_entered() {
    let home = Shell::Zsh;
    typed_text_stays(&format!("env PS1='%% ' {} -f -i", home.name()), "%", 5).await;
}

/// Nothing of the shell can be inspected there, and its prompt ends like none that is known.
#[tokio::test]
async fn text_typed_behind_a_relay_is_never_entered() {
    let start = r#"script -q -c "env PS1='λ ' bash --norc --noprofile -i" /dev/null"#;
    typed_text_stays(start, "λ", 6).await;
}

#[tokio::test]
async fn text_typed_in_zsh_behind_a_relay_stays() {
    let start = r#"script -q -c "env PS1='z:%~%% ' zsh -f -i" /dev/null"#;
    typed_text_stays(start, "%", 7).await;
}

#[tokio::test]
async fn questions_are_never_answered() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let answers = tmux.home().join("answers");
    let panes: Vec<(String, &str)> = QUESTIONS
        .iter()
        .map(|question| {
            let file = tmux.home().join("question");
            let (text, answers) = (question.replace('\'', "'\\''"), answers.display());
            let script = format!("printf %s '{text}'; read x; echo \"$x\" >> {answers}\n");
            std::fs::write(&file, script).unwrap();
            let shown = question.trim_end();
            let pane = tmux.open(&format!("sh {}", file.display()));
            wait_until("the question is shown", || {
                tmux.screen(&pane).ends_with(shown).then_some(())
            });
            (pane, shown)
        })
        .collect();
    let mut random = Random(7);
    for _ in 0..tries() {
        let (pane, question) = random.pick(&panes);
        let error = refused(&mcp, pane).await;
        assert!(error.contains(question), "{question}: {error}");
        assert_eq!(tmux.screen(pane), *question);
    }
    assert!(!answers.exists(), "a question was answered");
    mcp.close().await;
}

#[tokio::test]
async fn full_screen_programs_are_never_typed_into() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let (program, keys) = (tmux.home().join("recorder"), tmux.home().join("keys"));
    std::fs::write(&program, RECORDER).unwrap();
    let panes: Vec<String> = [
        ("alternate", "~"),
        ("alternate", "$ "),
        ("alternate", ">>> "),
        ("main", "top - 12:00:00 up 1 day"),
        ("main", ":"),
        ("main", "lines 1-20/300 (END)"),
        ("main", "(1/3) Choose one"),
        ("main", "-- INSERT --"),
    ]
    .iter()
    .map(|(screen, text)| {
        let files = (program.display(), keys.display());
        let pane = tmux.open(&format!("exec python3 {} {screen} '{text}' {}", files.0, files.1));
        wait_until("the screen is shown", || {
            tmux.screen(&pane).ends_with(text.trim_end()).then_some(())
        });
        pane
    })
    .collect();
    let mut random = Random(8);
    for _ in 0..tries() {
        let pane: &String = random.pick(&panes);
        refused(&mcp, pane).await;
    }
    assert!(!keys.exists(), "{:?}", std::fs::read_to_string(&keys));
    mcp.close().await;
}

#[tokio::test]
async fn a_statement_left_open_is_reported_and_completed() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "sqlite3", "sqlite>");
    let enter = |input: &'static str| {
        mcp.call("run_in_repl", json!({"target": target, "input": input, "timeout": 30}))
    };
    let open = enter("select 6").await.ok();
    assert_eq!((&open["state"], open.get("output")), (&json!("at ...> (statement open)"), None));
    let closed = enter("* 7;").await.ok();
    assert_eq!((&closed["state"], &closed["output"]), (&json!("at sqlite>"), &json!("42")));
    // A statement that a person has begun is not continued.
    tmux.type_line(&target, "select 1");
    until("the statement is open", async || tmux.screen(&target).ends_with("...>").then_some(()))
        .await;
    assert!(refused(&mcp, &target).await.contains("continuation prompt"));
    mcp.close().await;
}

#[tokio::test]
async fn state_says_where_an_interpreter_stands() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = tmux.open_shell("exec bash --norc --noprofile -i");
    tmux.type_line(&target, "python3 -q");
    wait_until("python shows its prompt", || tmux.screen(&target).ends_with(">>>").then_some(()));
    let enter = |input: &'static str| {
        mcp.call("run_in_repl", json!({"target": target, "input": input, "timeout": 30}))
    };
    for (input, state, output, is_error) in [
        ("6 * 7", "at >>>", Some("42"), false),
        ("print('\\033[H\\033[2Jcleared')", "at >>>", Some("cleared"), false),
        ("print('no end', end='')", "at >>>", Some("no end"), false),
        ("1 + 1", "at >>>", Some("2"), false),
        ("nothing", "at >>>", None, true),
        ("x = (1,", "at ... (statement open)", None, false),
        ("2)", "at >>>", None, false),
        ("x", "at >>>", Some("(1, 2)"), false),
        ("y = '''a", "at ... (statement open)", None, false),
        ("\n  b'''", "at >>>", None, false),
        ("y", "at >>>", Some("'a\\n\\n  b'"), false),
        ("exit()", "left: back in bash", None, false),
    ] {
        let answer = enter(input).await.ok();
        assert_eq!(answer["state"], state, "{input}: {answer}");
        assert_eq!(answer["error"] == json!(true), is_error, "{input}: {answer}");
        if !is_error {
            assert_eq!(answer.get("output"), output.map(|it| json!(it)).as_ref(), "{input}");
        }
    }
    mcp.close().await;
}

#[tokio::test]
async fn exit_code_is_reported_when_python_is_left() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let begun = mcp.call("run_command", json!({"command": "python3 -q"})).await.ok();
    let enter = |input: &'static str| {
        mcp.call("run_in_repl", json!({"target": begun["pane_id"], "input": input, "timeout": 30}))
    };
    assert_eq!(enter("import sys").await.ok()["state"], "at >>>");
    assert_eq!(enter("sys.exit(3)").await.ok()["state"], "left: back in sh, exit code 3");
    mcp.close().await;
}

#[tokio::test]
async fn a_password_question_is_reported_and_refused() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let input = "import getpass; p = getpass.getpass()";
    let arguments = json!({"target": target, "input": input, "timeout": 30});
    let answer = mcp.call("run_in_repl", arguments).await.ok();
    assert_eq!(answer["state"], "asks for a password", "{answer}");
    assert!(refused(&mcp, &target).await.contains("asks for a password"));
    mcp.close().await;
}

#[tokio::test]
async fn interrupt_never_leaves_an_interpreter() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "node", ">");
    let interrupt = || mcp.call("interrupt", json!({"target": target, "timeout": 30}));
    let enter = |input: &'static str, timeout: u32| {
        mcp.call("run_in_repl", json!({"target": target, "input": input, "timeout": timeout}))
    };
    for _ in 0..3 {
        let done = interrupt().await.ok();
        assert_eq!((&done["at_prompt"], &done["state"]), (&json!(true), &json!("at >")), "{done}");
    }
    assert_eq!(enter("function f() {", 30).await.ok()["state"], "at ... (statement open)");
    assert_eq!(interrupt().await.ok()["state"], "at >");
    assert_eq!(enter("while (true) {}", 1).await.ok()["state"], "still running");
    assert_eq!(interrupt().await.ok()["state"], "at >");
    assert_eq!(enter("6 * 7", 30).await.ok()["output"], "42");
    mcp.close().await;
}

/// Their C-c drops no typed text.
#[tokio::test]
async fn interrupt_keeps_text_typed_in_sqlite() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "sqlite3", "sqlite>");
    tmux.types(&target, "sele");
    until("the text is shown", async || tmux.screen(&target).ends_with("sele").then_some(())).await;
    assert!(refused(&mcp, &target).await.contains("interrupt"));
    let arguments = json!({"target": target, "timeout": 30});
    let text = mcp.call("interrupt", arguments.clone()).await.text();
    assert!(text.contains("C-c not pressed") && text.contains("C-u"), "{text}");
    tmux.presses(&target, &["C-u"]);
    let done = mcp.call("interrupt", arguments).await.ok();
    assert_eq!(done["state"], "at sqlite>", "{done}");
    mcp.close().await;
}

#[tokio::test]
async fn timer_output_does_not_hide_the_prompt() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "node", ">");
    let enter = |input: &'static str| {
        mcp.call("run_in_repl", json!({"target": target, "input": input, "timeout": 30}))
    };
    // The typed line does not hold the text.
    enter("const timer = setTimeout(() => console.log('ti' + 'ck'), 200)").await.ok();
    until("the timer has printed", async || tmux.screen(&target).contains("tick").then_some(()))
        .await;
    assert_eq!(enter("6 * 7").await.ok()["output"], "42");
    mcp.close().await;
}

#[tokio::test]
async fn a_learned_prompt_is_named_in_the_answer() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let program = "while True: print('got', input('prog 7> '))";
    let target = interpreter(&tmux, &format!("python3 -c \"{program}\""), "prog 7>");
    let arguments = json!({"target": target, "input": "x", "timeout": 30});
    // Its program is python, and this is not the prompt of python.
    let error = mcp.call("run_in_repl", arguments).await.err("not_ready");
    assert!(error.contains("`prompt`"), "{error}");
    let script = tmux.home().join("prog");
    std::fs::write(&script, "while printf 'prog> ' && read -r x; do echo \"got $x\"; done\n")
        .unwrap();
    let target = interpreter(&tmux, &format!("sh {}", script.display()), "prog>");
    let arguments = json!({"target": target, "input": "x", "timeout": 30});
    let answer = mcp.call("run_in_repl", arguments).await.ok();
    assert_eq!(answer["state"], "at prog> (prompt learned)", "{answer}");
    assert_eq!(answer["output"], "got x", "{answer}");
    mcp.close().await;
}

/// `script` passes keys on to another terminal, as ssh does.
#[tokio::test]
async fn an_interpreter_behind_a_relay_answers() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "script -q -c 'python3 -q' /dev/null", ">>>");
    let enter = |input: &'static str| {
        mcp.call("run_in_repl", json!({"target": target, "input": input, "timeout": 30}))
    };
    for (input, output) in [
        ("6 * 7", "42"),
        ("import time; time.sleep(0.6); print('late')", "late"),
        ("def f():\n    return 8\nf()", "8"),
        ("print('no end', end='')", "no end"),
        ("6 * 7", "42"),
    ] {
        let answer = enter(input).await.ok();
        assert_eq!((&answer["output"], &answer["state"]), (&json!(output), &json!("at >>>")));
    }
    let answer = enter("x = input('Name? ')").await.ok();
    assert_eq!(answer["state"], "asks: Name?", "{answer}");
    assert!(refused(&mcp, &target).await.contains("Name?"));
    mcp.close().await;
}
