//! `run_in_repl` in shells within a shell: twenty inputs for each, with their exact answers.

use serde_json::json;
use testkit::{Interpreter, Step, TmuxServer, until};

use crate::support::string;
use crate::{PROGRAM, serve};

/// Messages of a shell of the Bourne family.
struct Messages {
    not_found: &'static str,
    syntax: &'static str,
    continuation: [&'static str; 2],
    exit: &'static str,
}

/// Answers the question for a name, and waits until the shell has read the answer.
async fn answer_name(shell: &Interpreter) {
    let keys = json!({"target": shell.pane, "text": "Ann", "enter": true, "until": ["prompt"]});
    let seen = shell.mcp.call("send_keys", keys).await.ok();
    assert_eq!(seen["event"], "prompt", "{seen}");
}

/// A session with a shell of the Bourne family.
async fn session(command: &str, prompt: &str, messages: Messages) {
    let numbers: Vec<String> = (1..=3000).map(|number| number.to_string()).collect();
    let [at_then, at_quote] = messages.continuation;
    let steps = [
        Step::input("echo $((6 * 7))").prints("42"),
        Step::input("echo '漢字 🙂 é'").prints("漢字 🙂 é"),
        Step::input("f() {\n  echo in f $1\n\n  return 3\n}"),
        Step::input("f 1").prints("in f 1"),
        Step::input("false"),
        Step::input("nothing_here").prints(messages.not_found),
        Step::input(")").prints(messages.syntax),
        Step::input("seq 3000").prints(numbers.join("\n")),
        Step::input("printf '%05000d\\n' 7").prints(format!("{}7", "0".repeat(4999))),
        Step::input("printf 'no end'").prints("no end"),
        Step::input("echo 'a\tb'").prints("a\tb"),
        Step::input("if true; then\n\techo tab\nfi").prints("tab"),
        Step::input("printf 'Name? '; read n").state("asks: Name?"),
    ];
    let more = [
        Step::input("echo $n").prints("Ann"),
        Step::input("cat <<E\na\n  b\nE").prints("a\n  b"),
        Step::input("for x in a b; do\n  echo $x\ndone").prints("a\nb"),
        Step::input("if true; then").state(format!("at {at_then} (statement open)")),
        Step::input("echo yes; fi").prints("yes"),
        Step::input("echo 'a").state(format!("at {at_quote} (statement open)")),
        Step::input("b'").prints("a\nb"),
        Step::input("echo \"x\ny\"").prints("x\ny"),
        Step::input(""),
        Step::input("echo a; echo b >&2").prints("a\nb"),
        Step::input("case x in\nx) echo X;;\nesac").prints("X"),
        Step::input("exit 3").prints(messages.exit).state("left: back in bash, exit code 3"),
    ];
    let shell = Interpreter::open(PROGRAM, command, prompt).await;
    shell.run(&steps).await;
    answer_name(&shell).await;
    shell.run(&more).await;
    shell.close().await;
}

#[tokio::test]
async fn inner_bash_answers_exactly() {
    let messages = Messages {
        not_found: "bash: nothing_here: command not found",
        syntax: "bash: syntax error near unexpected token `)'",
        continuation: [">", ">"],
        exit: "exit",
    };
    session("PS1='$ ' bash --norc --noprofile", "$", messages).await;
}

#[tokio::test]
async fn inner_zsh_answers_exactly() {
    let messages = Messages {
        not_found: "zsh: command not found: nothing_here",
        syntax: "zsh: parse error near `)'",
        continuation: ["then>", "quote>"],
        exit: "",
    };
    session("zsh -i", "%", messages).await;
}

#[tokio::test]
async fn inner_dash_answers_exactly() {
    let messages = Messages {
        not_found: "dash: …: nothing_here: not found",
        syntax: "dash: …: Syntax error: \")\" unexpected",
        continuation: [">", ">"],
        exit: "",
    };
    session("PS1='$ ' dash -i", "$", messages).await;
}

#[tokio::test]
async fn inner_fish_answers_exactly() {
    let numbers: Vec<String> = (1..=3000).map(|number| number.to_string()).collect();
    let steps = [
        Step::input("echo (math 6 x 7)").prints("42"),
        Step::input("echo '漢字 🙂 é'").prints("漢字 🙂 é"),
        Step::input("function f\n  echo in f $argv\n\n  return 3\nend"),
        Step::input("f 1").prints("in f 1"),
        Step::input("false"),
        Step::input("nothing_here").prints("fish: Unknown command: nothing_here"),
        Step::input("seq 3000").prints(numbers.join("\n")),
        Step::input("printf '%05000d\\n' 7").prints(format!("{}7", "0".repeat(4999))),
        Step::input("printf 'no end'").prints("no end"),
        Step::input("echo after").prints("after"),
        Step::input("read -P 'Name? ' n").state("asks: Name?"),
    ];
    let more = [
        Step::input("echo $n").prints("Ann"),
        Step::input("for x in a b\n  echo $x\nend").prints("a\nb"),
        Step::input("if true").state("statement open"),
        Step::input("echo yes; end").prints("yes"),
        Step::input("echo 'a").state("statement open"),
        Step::input("b'").prints("a\nb"),
        Step::input("echo \"x\ny\"").prints("x\ny"),
        Step::input("# comment"),
        Step::input(""),
        Step::input("echo a; echo b >&2").prints("a\nb"),
        Step::input("exit 3").state("left: back in bash, exit code 3"),
    ];
    let shell = Interpreter::open(PROGRAM, "fish", ">").await;
    shell.run(&steps).await;
    answer_name(&shell).await;
    shell.run(&more).await;
    shell.close().await;
}

/// fish leaves a line with a wrong syntax in its line editor, and drops tabs.
#[tokio::test]
async fn input_that_fish_does_not_take_is_reported() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = tmux.open_shell("exec fish");
    let enter = |input: &'static str| {
        mcp.call("run_in_repl", json!({"target": target, "input": input, "timeout": 20}))
    };
    let error = enter("echo 'a\tb'").await.err("not_ready");
    assert!(error.contains("takes a tab as a key"), "{error}");
    assert_eq!(tmux.screen(&target), ">");
    let answer = enter("echo )").await.ok();
    assert_eq!(answer["state"], "input not accepted, still typed: > echo )", "{answer}");
    enter("echo x").await.err("not_ready");
    mcp.call("interrupt", json!({"target": target, "timeout": 20})).await.ok();
    assert_eq!(enter("echo x").await.ok()["output"], "x");
    mcp.close().await;
}

/// A job in the background prints over the prompt, which the shell does not draw again.
#[tokio::test]
async fn input_is_entered_below_output_of_a_job() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for command in ["bash --norc --noprofile -i", "zsh -i", "dash -i", "fish -i"] {
        let target = tmux.open_shell(&format!("exec {command}"));
        let enter = |input: String| {
            let arguments = json!({"target": target, "input": input, "timeout": 20});
            mcp.call("run_in_repl", arguments)
        };
        let go = tmux.home().join("go");
        let wait = format!("while test ! -e {}; do sleep 0.05; done; echo tick", go.display());
        enter(format!("sh -c '{wait}' &")).await.ok();
        std::fs::write(&go, "").unwrap();
        until("the job has printed", async || {
            let screen = tmux.screen(&target);
            screen.lines().any(|row| row.ends_with("tick") && !row.contains("echo")).then_some(())
        })
        .await;
        let answer = enter("echo 22".to_owned()).await.ok();
        assert_eq!(string(&answer["output"]).lines().next(), Some("22"), "{command}: {answer}");
        std::fs::remove_file(&go).unwrap();
    }
    mcp.close().await;
}

/// A shell that reads for a command is not at its prompt, although the same process reads.
#[tokio::test]
async fn question_of_a_shell_builtin_is_not_answered() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (command, builtin, question) in [
        ("bash --norc --noprofile -i", "read -e -p 'Name: ' n", "Name:"),
        ("bash --norc --noprofile -i", "read -n1 -p 'Sure (y/n) ' n", "Sure (y/n)"),
        ("bash --norc --noprofile -i", "read -n1 -p 'One of (a b) ' n", "One of (a b)"),
        ("zsh -i", "vared -p 'Name: ' -c n", "Name:"),
        ("zsh -i", "read -k1 'n?(sure) '", "(sure)"),
        ("fish -i", "read -P 'Name: ' n", "Name:"),
        ("dash -i", "printf 'Name: '; read n", "Name:"),
    ] {
        let target = tmux.open_shell(&format!("exec {command}"));
        let enter = |input: &'static str| {
            mcp.call("run_in_repl", json!({"target": target, "input": input, "timeout": 20}))
        };
        let answer = enter(builtin).await.ok();
        assert_eq!(answer["state"], format!("asks: {question}"), "{builtin}: {answer}");
        let before = tmux.screen(&target);
        let arguments = json!({"target": target, "input": "rm x", "timeout": 1});
        let refused = mcp.call("run_in_repl", arguments).await.result();
        assert_eq!(refused.is_error, Some(true), "{builtin}: {refused:?}");
        assert_eq!(tmux.screen(&target), before, "{builtin}");
    }
    mcp.close().await;
}
