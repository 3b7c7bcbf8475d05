//! `run_in_repl`: the prompts and answers of many interpreters.

use serde_json::json;
use testkit::{TmuxServer, until, wait_until};

use crate::run::repl_fixture::{assert_answers, enter, interpreter};
use crate::serve;
use crate::support::{command_end, exited, pane, shows, string};

const TRACEBACK: &str = "Traceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\n\
                         ZeroDivisionError: division by zero";

#[tokio::test]
async fn python_answers_lines_and_blocks() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let long = format!("'{}'", "x".repeat(300));
    assert_answers(
        &mcp,
        &target,
        &[
            ("6 * 7", "42"),
            ("x = 5", ""),
            ("x\n", "5"),
            ("print('a'); print('b')", "a\nb"),
            ("print('>>> ')", ">>> "),
            ("'6 * 7'", "'6 * 7'"),
            ("'漢字 🙂'", "'漢字 🙂'"),
            ("'x' * 300", &long),
            ("1 / 0", TRACEBACK),
            ("print('no end', end='')", "no end"),
            ("6 * 7", "42"),
            ("def f(x):\n    y = x + 1\n\n    return y\n", ""),
            ("f(1)", "2"),
            ("for i in range(3):\n    print(i)\nprint('done')", "0\n1\n2\ndone"),
            ("if x == 4:\n    'four'\nelif x == 5:\n    'five'\nelse:\n    'other'", "'five'"),
            ("class C:\n    a = 1\n\n    def m(self):\n        return self.a\n\nC().m()", "1"),
            ("d = {\n    'a': 1,\n\n    'b': 2,\n}\nd", "{'a': 1, 'b': 2}"),
            ("for i in range(3): print(i)", "0\n1\n2"),
            ("while x > 3: x -= 1\nx", "3"),
            ("try: 1 / 0\nexcept ZeroDivisionError: print('oh')\nx", "oh\n3"),
            ("@staticmethod\ndef g():\n    return 7\ng()", "7"),
            ("def h():\n\treturn 8\nh()", "8"),
            ("import time; time.sleep(1); print('late')", "late"),
            ("print('>>> ', end='', flush=True); time.sleep(1); print('x')", ">>> x"),
        ],
    )
    .await;
    mcp.close().await;
}

/// Each answer and each input is longer than the pane is wide.
#[tokio::test]
async fn narrow_pane_gives_the_same_answers() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let digits = "7".repeat(100);
    let rule = "-".repeat(40);
    let prompt = "a prompt that is longer than the pane is wide> ";
    let new_prompt = format!("import sys; sys.ps1 = '{prompt}'");
    let spinner =
        "x = [print('%0100d' % n, end='\\r\\033[2A\\033[J', flush=True) for n in range(9)]";
    let spinner = format!("print('one\\ntwo\\nthree'); {spinner}; print('done')");
    for start in ["python3 -q", "env PYTHON_BASIC_REPL=1 TERM=dumb python3 -q"] {
        let target = interpreter(&tmux, start, ">>>");
        tmux.tmux(&["resize-window", "-t", &target, "-x", "40", "-y", "12"]);
        let table = [
            ("6 * 7", "42"),
            (&format!("'{digits}'"), &format!("'{digits}'") as &str),
            (&format!("print('{digits}'); print('end')"), &format!("{digits}\nend")),
            (&format!("print('{digits}', end='')"), &digits),
            (&spinner, "one\ntwo\nthree\ndone"),
            (&format!("print('{rule}')"), &rule),
            ("6 * 7", "42"),
            (
                "print('\\n'.join('1' * 60 for _ in range(20)))",
                &vec!["1".repeat(60); 20].join("\n"),
            ),
            (&new_prompt, ""),
        ];
        assert_answers(&mcp, &target, &table).await;
        // A prompt that nobody knows has to be named once.
        let arguments = json!({"target": target, "input": "6 * 7", "prompt": "wide> "});
        assert_eq!(mcp.call("run_in_repl", arguments).await.ok()["output"], "42");
        assert_answers(&mcp, &target, &[("7 * 7", "49")]).await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn python_keeps_multi_line_strings_intact() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let text = "text = '''one\n\n  two:\nthree'''\ntext";
    assert_answers(&mcp, &target, &[(text, "'one\\n\\n  two:\\nthree'")]).await;
    mcp.close().await;
}

#[tokio::test]
async fn a_question_is_reported_and_not_answered() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let answer = enter(&mcp, &target, "name = input('Name? ')").await;
    assert_eq!((&answer["state"], answer.get("output")), (&json!("asks: Name?"), None));
    let before = tmux.screen(&target);
    let arguments = json!({"target": target, "input": "6 * 7", "timeout": 1});
    let error = mcp.call("run_in_repl", arguments).await.err("not_ready");
    assert!(error.contains("it asks `Name?`") && error.contains("send_keys"), "{error}");
    assert_eq!(tmux.screen(&target), before);
    // The end of every row is blank.
    for prompt in ["", " "] {
        let arguments = json!({"target": target, "input": "6 * 7", "prompt": prompt});
        mcp.call("run_in_repl", arguments).await.err("invalid_argument");
        assert_eq!(tmux.screen(&target), before);
    }
    // A caller who names the row as the prompt means to answer.
    let arguments = json!({"target": target, "input": "Ann", "prompt": "Name? "});
    assert_eq!(mcp.call("run_in_repl", arguments).await.ok()["state"], "at >>>");
    assert_answers(&mcp, &target, &[("name", "'Ann'")]).await;
    mcp.close().await;
}

#[tokio::test]
async fn node_answers_lines_and_blocks() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "node", ">");
    let long = format!("'{}'", "x".repeat(300));
    assert_answers(
        &mcp,
        &target,
        &[
            ("6 * 7", "42"),
            ("console.log('hello')", "hello\nundefined"),
            ("function f(x) {\n  const y = x + 1;\n\n  return y;\n}\nf(1)", "undefined\n2"),
            ("'x'.repeat(300)", &long),
            ("[1, 2].map((x) => {\n  return x * 2;\n})", "[ 2, 4 ]"),
        ],
    )
    .await;
    let answer = enter(&mcp, &target, "nothing()").await;
    assert!(string(&answer["output"]).contains("nothing is not defined"), "{answer}");
    assert_eq!(answer["foreground"], "node", "{answer}");
    assert_answers(&mcp, &target, &[("6 * 7", "42")]).await;
    mcp.close().await;
}

#[tokio::test]
async fn sqlite_answers_statements() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "sqlite3", "sqlite>");
    assert_answers(
        &mcp,
        &target,
        &[
            ("select 6 * 7;", "42"),
            ("create table t(a);\ninsert into t values (1), (2);\nselect * from t;", "1\n2"),
            ("select a\n  from t\n  where a > 1;", "2"),
            ("select 'a|b', 1;", "a|b|1"),
        ],
    )
    .await;
    mcp.close().await;
}

/// A script that runs statements which end in a semicolon, as database clients do.
const DATABASE: &str = r#"
prompt='db=> '
while printf %s "$prompt" && read -r line; do
    statement="$statement$line "
    case $line in
        *\;) echo "ran $statement"; statement=; prompt='db=> ' ;;
        *) prompt='db-> ' ;;
    esac
done
"#;

#[tokio::test]
async fn a_database_client_answers_multi_line_statements() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("database");
    std::fs::write(&file, DATABASE).unwrap();
    let target = interpreter(&tmux, &format!("sh {}", file.display()), "db=>");
    assert_answers(
        &mcp,
        &target,
        &[
            ("select 1;", "ran select 1; "),
            ("select\n1;", "ran select 1; "),
            ("select\n  2\n;\nselect 3;", "ran select 2 ; \nran select 3; "),
            // An unfinished statement gets the continuation prompt.
            ("select", ""),
            ("4;", "ran select 4; "),
        ],
    )
    .await;
    mcp.close().await;
}

#[tokio::test]
async fn shells_answer_like_any_interpreter() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (shell, block) in [
        ("bash --norc --noprofile -i", "for x in a b; do\n  echo $x\ndone"),
        ("zsh -i", "for x in a b; do\n  echo $x\ndone"),
        ("dash -i", "for x in a b; do\n  echo $x\ndone"),
        ("fish -i", "for x in a b\n  echo $x\nend"),
    ] {
        let target = tmux.open_shell(&format!("exec {shell}"));
        assert_answers(
            &mcp,
            &target,
            &[
                ("echo hello", "hello"),
                ("true", ""),
                (block, "a\nb"),
                ("echo one\necho two", "one\ntwo"),
                ("sleep 1; echo late", "late"),
            ],
        )
        .await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_given_prompt_is_awaited() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let entered = |input: &'static str, prompt: &'static str, timeout: f64| {
        let arguments =
            json!({"target": target, "input": input, "prompt": prompt, "timeout": timeout});
        mcp.call("run_in_repl", arguments)
    };
    assert_eq!(entered("6 * 7", ">>> ", 30.0).await.ok()["output"], "42");
    assert_eq!(entered("6 * 7", ">", 30.0).await.ok()["output"], "42");
    let before = tmux.screen(&target);
    let error = entered("6 * 7", "sql> ", 0.5).await.err("not_ready");
    assert!(error.contains("behind `>>>`") && error.contains("Next: "), "{error}");
    assert_eq!(tmux.screen(&target), before);
    mcp.close().await;
}

#[tokio::test]
async fn a_program_that_does_not_read_gets_nothing() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = tmux.open("exec sleep 1000");
    let arguments = json!({"target": target, "input": "6 * 7", "timeout": 0.5});
    let error = mcp.call("run_in_repl", arguments).await.err("not_ready");
    assert!(error.contains("`sleep 1000`") && error.contains("Next: "), "{error}");
    assert_eq!(tmux.screen(&target), "");
    mcp.close().await;
}

#[tokio::test]
async fn a_slow_answer_is_returned_in_part() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let input = "import time; print('first', flush=True); time.sleep(1000)";
    let arguments = json!({"target": target, "input": input, "timeout": 3});
    let answer = mcp.call("run_in_repl", arguments).await.ok();
    assert_eq!(answer["timed_out"], true, "{answer}");
    assert_eq!(answer["output"], "first", "{answer}");
    // Python does not read now, so nothing is typed.
    let arguments = json!({"target": target, "input": "6 * 7", "timeout": 0});
    mcp.call("run_in_repl", arguments).await.err("not_ready");
    mcp.call("interrupt", json!({"target": target, "timeout": 1})).await.text();
    until("python shows its prompt", async || tmux.screen(&target).ends_with(">>>").then_some(()))
        .await;
    assert_answers(&mcp, &target, &[("6 * 7", "42")]).await;
    mcp.close().await;
}

#[tokio::test]
async fn only_one_input_is_entered_at_once() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let file = tmux.home().join("go");
    let wait = format!("while not os.path.exists('{}'): time.sleep(0.05)", file.display());
    let first = format!("import os, time\nprint('begun')\n{wait}");
    let first = enter(&mcp, &target, &first);
    let second = async {
        shows(&mcp, &target, "\nbegun").await;
        let arguments = json!({"target": target, "input": "6 * 7"});
        let error = mcp.call("run_in_repl", arguments).await.err("busy");
        std::fs::write(&file, "").unwrap();
        error
    };
    let (answer, error) = tokio::join!(first, second);
    assert_eq!(answer["output"], "begun", "{answer}");
    assert!(error.contains(&target) && error.contains("Next: "), "{error}");
    mcp.close().await;
}

#[tokio::test]
async fn an_interpreter_started_by_a_command_answers() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let persons = tmux.open_shell("exec bash --norc --noprofile -i");
    for target in [None, Some(&persons)] {
        let mut arguments = json!({"command": "python3 -q; echo back"});
        if let Some(target) = target {
            arguments["target"] = json!(target);
        }
        let begun = mcp.call("run_command", arguments).await.ok();
        assert_eq!(begun["waiting"], "keys", "{begun}");
        let pane = string(&begun["pane_id"]);
        assert_answers(&mcp, &pane, &[("x = 6", ""), ("x * 7", "42")]).await;
        mcp.call("send_keys", json!({"target": pane, "text": "exit()", "enter": true}))
            .await
            .text();
        let result = command_end(&mcp, &begun).await;
        assert_eq!(result["exit_code"], 0, "{result}");
        assert!(string(&result["output"]).ends_with("\nback"), "{result}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn an_interpreter_may_end_with_its_answer() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    // Started by a shell, whose prompt follows.
    let target = tmux.open_shell("exec bash --norc --noprofile -i");
    tmux.type_line(&target, "python3 -q");
    wait_until("python shows its prompt", || tmux.screen(&target).ends_with(">>>").then_some(()));
    assert_answers(&mcp, &target, &[("print('bye'); exit()", "bye"), ("echo hello", "hello")])
        .await;
    // As the pane's own program: the pane closes.
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let answer = enter(&mcp, &target, "exit()").await;
    assert_eq!(answer.get("timed_out"), None, "{answer}");
    mcp.close().await;
}

#[tokio::test]
async fn a_pane_without_input_is_refused() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let dead = pane(&mcp, "exit 3").await;
    exited(&mcp, &dead).await;
    let read = interpreter(&tmux, "python3 -q", ">>>");
    tmux.tmux(&["copy-mode", "-t", &read]);
    let off = interpreter(&tmux, "python3 -q", ">>>");
    tmux.tmux(&["select-pane", "-d", "-t", &off]);
    for (target, code, words) in [
        (dead.as_str(), "not_ready", "has exited"),
        (&read, "not_ready", "copy-mode"),
        (&off, "not_ready", "switched off"),
        ("%99", "not_found", "%99"),
    ] {
        let arguments = json!({"target": target, "input": "6 * 7"});
        let error = mcp.call("run_in_repl", arguments).await.err(code);
        assert!(error.contains(words) && error.contains("Next: "), "{error}");
    }
    mcp.close().await;
}
