//! `run_in_repl` and `interrupt` in panes that are narrow, watched, resized, relayed or killed, and with
//! inputs that are keys.

use serde_json::json;
use testkit::{Person, TmuxServer, until, wait_until};

use crate::run::repl_fixture::{assert_answers, enter, interpreter};
use crate::support::{shows, string};
use crate::{serve, serve_configured};

/// Echoes and answers are longer than the pane is wide, or end at its margin.
#[tokio::test]
async fn answers_are_exact_in_narrow_panes() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let letters = "abcdefghijklmnopqrstuvwxyz";
    let text = format!("'{letters}'");
    let echo = format!("echo {letters}");
    let select = format!("select '{letters}';");
    let long = "'longer than the pane is'";
    let define = format!("def f():\n    return {long}\nf()");
    let function = format!("function f() {{\n  return {long}\n}}\nf()");
    let (defined, cs) = (format!("undefined\n{long}"), "c".repeat(24));
    let wide = "'漢字漢字漢字漢字漢字'";
    let printf = format!("printf '{cs}'");
    let python: &[(&str, &str)] = &[
        (&text, &text),
        ("print('c' * 24, end='')", &cs),
        ("print('c'*24,end='')", &cs),
        (&define, long),
        (wide, wide),
        ("x = (1,", ""),
        ("2)", ""),
    ];
    let node: &[(&str, &str)] = &[(&text, &text), (&function, &defined)];
    let sqlite: &[(&str, &str)] = &[(&select, letters), ("select 1\n+ 1;", "2")];
    let shell: &[(&str, &str)] = &[(&echo, letters), ("echo 'a\nb'", "a\nb"), (&printf, &cs)];
    for (command, prompt, table) in [
        ("python3 -q", ">>>", python),
        ("env NODE_REPL_HISTORY= node", ">", node),
        ("sqlite3", "sqlite>", sqlite),
        ("env PS1='$ ' bash --norc --noprofile -i", "$", shell),
        ("zsh -i", "%", shell),
        ("fish -i", ">", shell),
        ("env PS1='$ ' dash -i", "$", shell),
    ] {
        for width in ["10", "12", "20"] {
            let target = interpreter(&tmux, command, prompt);
            tmux.tmux(&["resize-window", "-t", &target, "-x", width, "-y", "10"]);
            assert_answers(&mcp, &target, table).await;
            tmux.tmux(&["kill-pane", "-t", &target]);
        }
    }
    mcp.close().await;
}

/// Characters that a line editor takes as keys are refused; tabs are entered as text.
#[tokio::test]
async fn control_characters_are_refused_as_input() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let before = tmux.screen(&target);
    for input in
        ["'a\0b'", "'\u{1b}[31m'", "x\u{3}y", "x\u{4}", "x\ry", "\u{16}", "\u{7f}", "\u{9b}A"]
    {
        let arguments = json!({"target": target, "input": input, "timeout": 1});
        let error = mcp.call("run_in_repl", arguments).await.err("invalid_argument");
        assert!(error.contains("takes as a key"), "{input:?}: {error}");
    }
    assert_eq!(tmux.screen(&target), before);
    let table = [("'a\tb'\r\n", "'a\\tb'"), ("x = (1,\r\n2)\r\nx\r", "(1, 2)")];
    assert_answers(&mcp, &target, &table).await;
    let open = enter(&mcp, &target, "y = '''a").await;
    assert_eq!(open["state"], "at ... (statement open)");
    assert_answers(&mcp, &target, &[("\tb'''\ny", "'a\\n\\tb'")]).await;
    mcp.close().await;
}

/// What a person begins after an answer, without a trace in tmux, as with a terminal that has detached since.
#[tokio::test]
async fn question_after_an_answer_is_not_answered() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("long");
    std::fs::write(&file, "row\n".repeat(500)).unwrap();
    let pager = format!("import os; _ = os.system('less -X {}')", file.display());
    let dash = "env PS1='$ ' dash -i";
    let bash = "env PS1='$ ' bash --norc --noprofile -i";
    for (command, prompt, begun, end, shown) in [
        ("python3 -q", ">>>", "x = input('Delete? [y/N] ')", "Enter", "\nDelete? [y/N]"),
        ("python3 -q", ">>>", &pager, "Enter", "\nrow\nrow\nrow"),
        ("python3 -q", ">>>", "y = 'half", "#", ">>> y = 'half#"),
        ("sqlite3", "sqlite>", ".shell printf 'Name '; read x", "Enter", "\nName"),
        ("perl -de0", "DB<1>", "$x = <STDIN>; 'given: '", "Enter", "'given: '\n"),
        ("perl -de0", "DB<1>", "print 41; ", "#", "print 41; #"),
        (bash, "$", "read -e -p 'Name ' x", "Enter", "\nName"),
        (bash, "$", "read -n1 -p 'Key ' x", "Enter", "\nKey"),
        (dash, "$", "read x", "Enter", "read x\n"),
        ("zsh -i", "%", "x=1; vared -p 'Name ' x", "Enter", "\nName 1"),
        ("zsh -i", "%", "select x in a b; do break; done", "Enter", "\n?#"),
        ("fish -i", ">", "read x", "Enter", "\nread>"),
        ("fish -i", ">", "echo danger; true", "C-r", "search:"),
    ] {
        let target = interpreter(&tmux, command, prompt);
        let first = if command == "sqlite3" { ".print 1" } else { "1" };
        let answered = enter(&mcp, &target, first).await;
        assert!(string(&answered["state"]).starts_with("at "), "{command}: {answered}");
        tmux.types(&target, begun);
        tmux.presses(&target, &[end]);
        until(&format!("{command} shows {shown:?}"), async || {
            let column = ["display-message", "-p", "-t", &target, "#{cursor_x}"];
            let screen = format!("{}\n", tmux.screen(&target));
            let at_start = !shown.ends_with('\n') || tmux.tmux(&column) == "0";
            (screen.contains(shown) && at_start).then_some(())
        })
        .await;
        let before = tmux.screen(&target);
        let arguments = json!({"target": target, "input": "MARK=7", "timeout": 1});
        let refused = mcp.call("run_in_repl", arguments).await.result();
        assert_eq!(refused.is_error, Some(true), "{command} {begun}: {refused:?}");
        assert_eq!(tmux.screen(&target), before, "{command} {begun}");
        tmux.tmux(&["kill-pane", "-t", &target]);
    }
    mcp.close().await;
}

/// `send_keys` has begun a question, in which no text shows that it is one.
#[tokio::test]
async fn question_begun_by_send_keys_is_not_answered() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (command, prompt, question) in [
        ("python3 -q", ">>>", "x = input()"),
        ("env PS1='$ ' dash -i", "$", "read x"),
        ("env PS1='$ ' bash --norc --noprofile -i", "$", "read -e x"),
    ] {
        let target = interpreter(&tmux, command, prompt);
        enter(&mcp, &target, "").await;
        let keys = json!({"target": target, "text": question, "enter": true});
        mcp.call("send_keys", keys).await.text();
        until("the question waits", async || {
            let column = ["display-message", "-p", "-t", &target, "#{cursor_x}"];
            (tmux.tmux(&column) == "0").then_some(())
        })
        .await;
        let before = tmux.screen(&target);
        let arguments = json!({"target": target, "input": "rm x", "timeout": 1});
        let refused = mcp.call("run_in_repl", arguments).await.result();
        assert_eq!(refused.is_error, Some(true), "{question}: {refused:?}");
        assert_eq!(tmux.screen(&target), before);
    }
    mcp.close().await;
}

/// A line editor in vi normal mode takes letters as commands.
#[tokio::test]
async fn vi_normal_mode_is_refused() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    std::fs::write(tmux.home().join(".inputrc"), "set editing-mode vi\n").unwrap();
    let target = interpreter(&tmux, "python3 -q", ">>>");
    assert_answers(&mcp, &target, &[("def f():\n    return 8\nf()", "8")]).await;
    tmux.presses(&target, &["Escape"]);
    // readline waits for the rest of a sequence behind Escape.
    let error = until("vi normal mode is refused", async || {
        let arguments = json!({"target": target, "input": "6 * 7", "timeout": 5});
        let result = mcp.call("run_in_repl", arguments).await.result();
        (result.is_error == Some(true)).then(|| format!("{result:?}"))
    })
    .await;
    assert!(error.contains("vi normal mode"), "{error}");
    tmux.presses(&target, &["i"]);
    assert_answers(&mcp, &target, &[("6 * 7", "42")]).await;
    mcp.close().await;
}

#[tokio::test]
async fn answer_is_exact_across_resizes() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let go = tmux.home().join("go");
    let wait = format!("while not os.path.exists('{}%d' % n): time.sleep(0.01)", go.display());
    let print = "print(str(n) * 30, flush=True)";
    let input = format!("import os, time\nfor n in range(5):\n    {print}\n    {wait}\n");
    let resize = async {
        for (number, width) in ["50", "20", "100", "40", "80"].iter().enumerate() {
            let digits = number.to_string().repeat(15);
            shows(&mcp, &target, &digits).await;
            tmux.tmux(&["resize-window", "-t", &target, "-x", width, "-y", "12"]);
            std::fs::write(tmux.home().join(format!("go{number}")), "").unwrap();
        }
    };
    let (answer, ()) = tokio::join!(enter(&mcp, &target, &input), resize);
    let lines: Vec<String> = (0..5).map(|number| number.to_string().repeat(30)).collect();
    assert_eq!(answer["output"], lines.join("\n"), "{answer}");
    mcp.close().await;
}

#[tokio::test]
async fn output_without_end_is_cut_and_interrupted() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let arguments = json!({"target": target, "input": "while True: print('y')\n", "timeout": 2});
    let answer = mcp.call("run_in_repl", arguments).await.ok();
    assert_eq!((&answer["state"], &answer["truncated"]), (&json!("still running"), &json!(true)));
    let done = mcp.call("interrupt", json!({"target": target, "timeout": 30})).await.ok();
    assert_eq!(done["state"], "at >>>", "{done}");
    assert_answers(&mcp, &target, &[("6 * 7", "42")]).await;
    mcp.close().await;
}

#[tokio::test]
async fn rest_of_an_input_is_not_entered_elsewhere() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = tmux.open_shell("exec bash --norc --noprofile -i");
    let start = || {
        tmux.type_line(&target, "python3 -q");
        wait_until("python shows its prompt", || {
            tmux.screen(&target).ends_with(">>>").then_some(())
        });
    };
    start();
    let answer = enter(&mcp, &target, "print(1)\nexit()\ntouch wrong\ntouch wrong").await;
    let stands = (&answer["output"], &answer["state"], &answer["lines_left"]);
    assert_eq!(stands, (&json!("1"), &json!("left: back in bash"), &json!(2)));
    start();
    let answer = enter(&mcp, &target, "import os\nos.system('less /etc/passwd')\nq = 5\nq").await;
    assert!(string(&answer["state"]).contains("full screen"), "{answer}");
    assert_eq!(answer["lines_left"], 2, "{answer}");
    assert!(!tmux.home().join("wrong").exists());
    mcp.close().await;
}

#[tokio::test]
async fn refused_call_cuts_off_no_input() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let (begun, go) = (tmux.home().join("begun"), tmux.home().join("go"));
    let wait = format!(
        "import os, time; os.mkdir('{}')\nwhile not os.path.exists('{}'): time.sleep(0.01)\n\n6 * 7\n6 * 8",
        begun.display(),
        go.display()
    );
    let other = async {
        until("python waits", async || begun.exists().then_some(())).await;
        for (tool, argument) in [("run_in_repl", "input"), ("run_command", "command")] {
            let refused = mcp.call(tool, json!({"target": target, argument: "pwd"})).await.result();
            assert_eq!(refused.is_error, Some(true), "{tool}: {refused:?}");
        }
        std::fs::write(&go, "").unwrap();
    };
    let (answer, ()) = tokio::join!(enter(&mcp, &target, &wait), other);
    assert_eq!((&answer["output"], &answer["lines_left"]), (&json!("42\n48"), &json!(0)));
    mcp.close().await;
}

/// Behind a relay, the prompt counts only after a while without output.
#[tokio::test]
async fn answer_ends_although_a_person_types() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "script -q -c 'python3 -q' /dev/null", ">>>");
    tmux.tmux(&["select-window", "-t", &target]);
    let mut person = Person::attach(&tmux, "main", 80, 24);
    let press = async {
        shows(&mcp, &target, "\n42\n>>>").await;
        person.types("zq");
    };
    let (answer, ()) = tokio::join!(enter(&mcp, &target, "6 * 7"), press);
    assert_eq!(answer["output"], "42", "{answer}");
    assert!(["asks: >>> zq", "at >>>"].contains(&string(&answer["state"]).as_str()), "{answer}");
    mcp.close().await;
}

#[tokio::test]
async fn killed_pane_or_server_ends_the_answer() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let wait = "print('begun', flush=True); import time; time.sleep(1000)";
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let kill = async {
        shows(&mcp, &target, "\nbegun").await;
        tmux.tmux(&["kill-pane", "-t", &target]);
    };
    let (answer, ()) = tokio::join!(enter(&mcp, &target, wait), kill);
    assert_eq!((&answer["output"], &answer["state"]), (&json!("begun"), &json!("pane gone")));
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let kill = async {
        shows(&mcp, &target, "\nbegun").await;
        tmux.kill();
    };
    let (answer, ()) = tokio::join!(enter(&mcp, &target, wait), kill);
    assert_eq!((&answer["output"], &answer["state"]), (&json!("begun"), &json!("pane gone")));
    mcp.close().await;
}

#[tokio::test]
async fn large_input_is_entered_whole() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, "python3 -q", ">>>");
    let line = format!("x = '{}'\nlen(x)", "a".repeat(100_000));
    let lines: Vec<String> = (0..300).map(|number| format!("y{number} = {number}")).collect();
    let lines = format!("{}\ny299", lines.join("\n"));
    assert_answers(&mcp, &target, &[(&line, "100000"), (&lines, "299")]).await;
    mcp.close().await;
}

/// A program behind a relay cannot be inspected: its continuation prompt is known by its prompt.
#[tokio::test]
async fn statement_behind_a_relay_is_left_open() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (command, prompt, open, at, close) in [
        ("env PS1='$ ' bash --norc --noprofile -i", "$", "if true; then", ">", "echo yes; fi"),
        ("zsh -i", "%", "if true; then", "then>", "echo yes; fi"),
        ("env NODE_REPL_HISTORY= node", ">", "['yes',", "...", "].join()"),
    ] {
        let target = interpreter(&tmux, &format!("script -q -c \"{command}\" /dev/null"), prompt);
        let answer = enter(&mcp, &target, open).await;
        assert_eq!(answer["state"], format!("at {at} (statement open)"), "{command}: {answer}");
        let answer = enter(&mcp, &target, close).await;
        assert!(string(&answer["output"]).contains("yes"), "{command}: {answer}");
        let state = string(&answer["state"]);
        assert!(state.starts_with(&format!("at {prompt}")), "{command}: {answer}");
    }
    mcp.close().await;
}

/// A script with prompts of its own. A full stop ends a statement.
const TOY: &str = r#"
prompt='toy 1) '
while printf %s "$prompt" && read -r line; do
    statement="$statement$line "
    case $line in
        bye) exit 3 ;;
        *oops.) echo "BAD $statement"; statement=; prompt='toy 2) ' ;;
        *.) echo "ran $statement"; statement=; prompt='toy 3) ' ;;
        *) prompt='more) ' ;;
    esac
done
"#;

#[tokio::test]
async fn interpreter_of_the_config_file_is_known() {
    let tmux = TmuxServer::new();
    let config = r#"
[interpreters.toy]
programs = ["toy-client"]
prompt = 'toy \d+\) '
continuation = 'more\) '
leave = "bye"
error = "BAD "
"#;
    let file = tmux.home().join("toy-client");
    std::fs::write(&file, TOY).unwrap();
    let mcp = serve_configured(&tmux, config).await;
    let target = tmux.open_shell("exec bash --norc --noprofile -i");
    tmux.type_line(&target, &format!("sh {}", file.display()));
    wait_until("the prompt is shown", || tmux.screen(&target).ends_with("toy 1)").then_some(()));
    let answer = enter(&mcp, &target, "one\ntwo.\nthree.").await;
    assert_eq!(answer["output"], "ran one two. \nran three. ", "{answer}");
    assert_eq!(answer["state"], "at toy 3)", "{answer}");
    let answer = enter(&mcp, &target, "open").await;
    assert_eq!(answer["state"], "at more) (statement open)", "{answer}");
    let answer = enter(&mcp, &target, "oops.").await;
    assert_eq!((&answer["error"], &answer["state"]), (&json!(true), &json!("at toy 2)")));
    let done = mcp.call("interrupt", json!({"target": target})).await.ok();
    assert_eq!((&done["at_prompt"], &done["state"]), (&json!(true), &json!("at toy 2)")));
    assert_eq!(enter(&mcp, &target, "bye").await["state"], "left: back in bash");
    mcp.close().await;
}
