//! `run_command` in shells behind ssh and the like: what is refused, what is kept, and how commands end there.

use serde_json::{Value, json};
use testkit::{Shell, Sshd, TmuxServer, wait_until, wait_until_equal};

use crate::run::places::{Inner, InnerShell, Place};
use crate::serve;
use crate::support::{command_end, string};

async fn over_ssh(shell: InnerShell) -> Inner {
    Place::Ssh.open(shell).await.unwrap()
}

impl Inner {
    fn target(&self) -> &str {
        self.fixture.target.as_deref().unwrap()
    }

    fn screen(&self) -> String {
        self.fixture.tmux.screen(self.target())
    }

    /// Waits until the last row of the screen is this one.
    fn shows_row(&self, row: &str) {
        let last_row = || self.screen().lines().last().unwrap_or_default().to_owned();
        wait_until_equal("the last row", last_row, &row.trim_end().to_owned());
    }

    async fn assert_usable(&self) {
        self.fixture.assert_usable().await;
    }
}

#[tokio::test]
async fn answer_names_user_and_host() {
    let inner = over_ssh(InnerShell::BASH).await;
    let arguments = json!({"target": inner.target(), "command": "id -un; uname -n"});
    let text = inner.fixture.mcp.call("run_command", arguments).await.text();
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows[0].contains(&format!("as {}@{}", rows[1], rows[2])), "{text}");
}

#[tokio::test]
async fn history_keeps_no_line_of_ours() {
    const ZSH: InnerShell = InnerShell::Plain(Shell::Zsh);
    for (shell, show) in [
        (InnerShell::BASH, "history"),
        (ZSH, "fc -l -100"),
        (InnerShell::Plain(Shell::Fish), "history"),
    ] {
        let inner = over_ssh(shell).await;
        inner.fixture.tmux.type_line(inner.target(), "true theirs");
        for _ in 0..3 {
            inner.assert_usable().await;
        }
        let shown = inner.fixture.run(show).await;
        assert!(shown.output.contains("true theirs"), "{shell:?}: {shown:?}");
        // zsh cannot remove the first line, and drops the others.
        let most = if shell == ZSH { 1 } else { 0 };
        let ours = shown.output.lines().filter(|line| line.contains("sh -c")).count();
        assert!(ours <= most, "{shell:?}: {shown:?}");
    }
}

/// A line editor that scrolls in one row never shows the whole line of ours.
#[tokio::test]
async fn rows_above_a_scrolling_editor_stay() {
    for mode in ["bind 'set horizontal-scroll-mode on'", "TERM=dumb"] {
        let inner = over_ssh(InnerShell::BASH).await;
        inner.fixture.tmux.type_line(inner.target(), "printf '%s\\n' 1 2 3 4 5 6");
        wait_until("the rows are shown", || inner.screen().contains("\n6\n").then_some(()));
        inner.fixture.tmux.type_line(inner.target(), mode);
        for number in 0..2 {
            inner
                .fixture
                .assert_prints(&format!("echo it {number}"), &format!("it {number}"))
                .await;
        }
        let started = inner.fixture.start("sh -c 'echo begun; exec sleep 1000'", "begun").await;
        inner.fixture.tmux.presses(inner.target(), &["C-c"]);
        let ended = command_end(&inner.fixture.mcp, &started).await;
        assert_eq!(ended["exit_code"], 130, "{mode}: {ended}");
        let rows = inner.screen();
        for row in ["1\n2\n3\n4\n5\n6\n", "echo it 0\nit 0\n", "echo it 1\nit 1\n", "begun\n^C"] {
            assert!(rows.contains(row), "{mode}: {row:?} in\n{rows}");
        }
    }
}

#[tokio::test]
async fn half_typed_line_is_kept_over_ssh() {
    for shell in InnerShell::ALL {
        for text in ["echo half", "echo $ ", "rm x # "] {
            let inner = over_ssh(shell).await;
            let empty = inner.screen().lines().last().unwrap_or_default().to_owned();
            inner.fixture.tmux.types(inner.target(), text);
            let row = format!("{empty} {text}");
            inner.shows_row(&row);
            let error = inner.fixture.error("echo no", "not_ready").await;
            assert!(error.contains("not entered"), "{shell:?}: {error}");
            inner.shows_row(&row);
            inner.fixture.tmux.presses(inner.target(), &["C-u"]);
            // dash takes the key as text.
            if shell != InnerShell::Plain(Shell::Dash) {
                inner.shows_row(&empty);
                inner.assert_usable().await;
            }
        }
    }
}

#[tokio::test]
async fn other_programs_over_ssh_are_refused() {
    // The typed lines do not hold the texts.
    let cat = "printf 'r''eads\\n'; cat";
    for (program, shown) in
        [("less /etc/passwd", None), ("python3 -q", Some(">>>")), (cat, Some("reads"))]
    {
        let inner = over_ssh(InnerShell::BASH).await;
        let prompt = inner.screen().lines().last().unwrap_or_default().to_owned();
        inner.fixture.tmux.type_line(inner.target(), program);
        wait_until(&format!("{program} runs"), || {
            let screen = inner.screen();
            let last = screen.lines().last().unwrap_or_default().to_owned();
            match shown {
                Some(shown) => last == shown,
                None => !last.starts_with(&prompt),
            }
            .then_some(())
        });
        let before = inner.screen();
        let error = inner.fixture.error("echo no", "busy").await;
        assert!(error.contains("run_in_repl"), "{error}");
        assert_eq!(inner.screen(), before, "{program}");
    }
}

#[tokio::test]
async fn editor_in_a_nested_tmux_is_refused() {
    let inner = Place::Tmux.open(InnerShell::BASH).await.unwrap();
    inner.fixture.tmux.type_line(inner.target(), "vi -c 'normal i# '");
    wait_until("the editor shows its text", || inner.screen().starts_with('#').then_some(()));
    // The status line has a clock, and the name of the window changes.
    let shown = || inner.screen().rsplit_once('\n').map(|(text, _status)| text.to_owned());
    let before = shown();
    inner.fixture.error("echo no", "busy").await;
    assert_eq!(shown(), before);
}

#[tokio::test]
async fn dead_connection_loses_the_command() {
    let inner = over_ssh(InnerShell::BASH).await;
    let started = inner.fixture.start("echo begun; sleep 1000", "begun").await;
    let facts = ["display-message", "-p", "-t", inner.target(), "#{pane_pid}"];
    let pid = inner.fixture.tmux.tmux(&facts);
    #[expect(clippy::disallowed_methods, reason = "it ends the test's own ssh")]
    let killed = std::process::Command::new("kill").arg(&pid).status().unwrap();
    assert!(killed.success());
    let result = command_end(&inner.fixture.mcp, &started).await;
    assert_eq!(result["status"], "lost", "{result}");
}

#[tokio::test]
async fn interrupted_command_exits_with_130_over_ssh() {
    for shell in InnerShell::ALL {
        let inner = over_ssh(shell).await;
        let started = inner.fixture.start("sh -c 'echo begun; exec sleep 1000'", "begun").await;
        inner.fixture.tmux.presses(inner.target(), &["C-c"]);
        let result = command_end(&inner.fixture.mcp, &started).await;
        assert_eq!(result["exit_code"], 130, "{shell:?}: {result}");
        assert!(!string(&result["output"]).contains("printf"), "{shell:?}: {result}");
        inner.assert_usable().await;
    }
}

#[tokio::test]
async fn interrupt_waits_for_the_prompt_over_ssh() {
    let inner = over_ssh(InnerShell::BASH).await;
    let started = inner.fixture.start("sh -c 'echo begun; exec sleep 1000'", "begun").await;
    let arguments = json!({"target": inner.target(), "timeout": 30});
    let result = inner.fixture.mcp.call("interrupt", arguments.clone()).await.ok();
    assert_eq!(
        (&result["at_prompt"], &result["command_id"], &result["exit_code"]),
        (&json!(true), &started["command_id"], &json!(130)),
        "{result}"
    );
    let result = inner.fixture.mcp.call("interrupt", arguments).await.ok();
    assert_eq!(result["at_prompt"], true, "{result}");
    inner.assert_usable().await;
}

/// Without an identity of the shell, the query for the status would end the command at the inner prompt.
#[tokio::test]
async fn nested_shell_with_same_prompt_ends_nothing() {
    let inner = over_ssh(InnerShell::BASH).await;
    let command = "PS1='b:\\w$ ' bash --norc --noprofile; echo over";
    let started = inner.fixture.answer_within(command, 2.0).await;
    assert_eq!(started["status"], "running", "{started}");
    inner.fixture.tmux.type_line(inner.target(), "echo with''in; exit 4");
    let result = command_end(&inner.fixture.mcp, &started).await;
    assert_eq!(result["exit_code"], 0, "{result}");
    let output = string(&result["output"]);
    assert!(output.contains("within") && output.ends_with("over"), "{result}");
    inner.assert_usable().await;
}

#[tokio::test]
async fn question_over_ssh_is_reported_and_answered() {
    let inner = over_ssh(InnerShell::BASH).await;
    let asked = inner.fixture.answer_within("read -p 'Name: ' x; echo \"hi $x\"", 30.0).await;
    assert_eq!(
        (&asked["status"], &asked["waiting"]),
        (&json!("running"), &json!("keys")),
        "{asked}"
    );
    let arguments = json!({"target": inner.target(), "text": "Ann", "enter": true});
    inner.fixture.mcp.call("send_keys", arguments).await.ok();
    let result = command_end(&inner.fixture.mcp, &asked).await;
    assert_eq!(result["output"], "Name: Ann\nhi Ann", "{result}");
}

/// The terminal of the question is elsewhere, so only its words tell.
#[tokio::test]
async fn password_question_over_ssh_is_reported() {
    let inner = over_ssh(InnerShell::BASH).await;
    let command = "read -s -p '[sudo] password for me: ' x; echo; echo ${#x}";
    let asked = inner.fixture.answer_within(command, 30.0).await;
    assert_eq!(asked["waiting"], "password", "{asked}");
    let arguments = json!({"target": inner.target(), "text": "1234", "enter": true});
    inner.fixture.mcp.call("send_keys", arguments).await.ok();
    let result = command_end(&inner.fixture.mcp, &asked).await;
    assert_eq!(result["output"], "[sudo] password for me: \n4", "{result}");
    let (mcp, target) = (&inner.fixture.mcp, inner.target());
    let input = json!({"target": target, "input": command, "timeout": 20});
    let answer = mcp.call("run_in_repl", input).await.ok();
    assert_eq!(answer["state"], "asks for a password", "{answer}");
}

/// The prompt of the last answer is known, and the row of the question is not it.
#[tokio::test]
async fn repl_input_is_refused_at_a_question() {
    let inner = over_ssh(InnerShell::BASH).await;
    let (mcp, target) = (&inner.fixture.mcp, inner.target());
    let input = |text: &str| json!({"target": target, "input": text, "timeout": 2});
    let answer = mcp.call("run_in_repl", input("echo 1")).await.ok();
    assert_eq!(answer["output"], "1", "{answer}");
    let asked = inner.fixture.answer_within("read -p 'Name: ' x; echo \"hi $x\"", 30.0).await;
    assert_eq!(asked["waiting"], "keys", "{asked}");
    let before = inner.screen();
    let refused = mcp.call("run_in_repl", input("rm x")).await.result();
    assert_eq!(refused.is_error, Some(true), "{refused:?}");
    assert_eq!(inner.screen(), before);
}

#[tokio::test]
async fn watch_follows_a_command_over_ssh() {
    let inner = over_ssh(InnerShell::BASH).await;
    let command = "for i in 1 2 3; do echo \"line $i\"; done; read x; echo \"got $x\"";
    let arguments = json!({"target": inner.target(), "command": command, "until": ["text:line 3"]});
    let seen = inner.fixture.mcp.call("start_and_watch", arguments).await.ok();
    assert_eq!(
        (&seen["event"], &seen["match"]),
        (&json!("text:line 3"), &json!("line 3")),
        "{seen}"
    );
    let arguments = json!({
        "target": inner.target(), "text": "it", "enter": true, "until": ["text:got it"], "timeout": 30
    });
    let seen = inner.fixture.mcp.call("send_keys", arguments).await.ok();
    assert_eq!(seen["event"], "text:got it", "{seen}");
    inner.assert_usable().await;
}

#[tokio::test]
async fn commands_run_inside_a_running_ssh_command() {
    let tmux = TmuxServer::new();
    let sshd = Sshd::start();
    let mcp = serve(&tmux).await;
    let ssh = format!("{} \"exec env PS1='in\\$ ' bash --norc --noprofile -i\"", sshd.terminal());
    let outer = mcp.call("run_command", json!({"command": ssh, "timeout": 20})).await.ok();
    assert_eq!(outer["status"], "running", "{outer}");
    let target = string(&outer["pane_id"]);
    let run = async |command: &str| -> Value {
        mcp.call("run_command", json!({"target": target, "command": command})).await.ok()
    };
    for (command, output, code) in [("echo inner", "inner", 0), ("false", "", 1)] {
        let answer = run(command).await;
        let printed = answer["output"].as_str().unwrap_or_default();
        assert_eq!((printed, answer["exit_code"].as_i64()), (output, Some(code)), "{answer}");
    }
    let lost = run("exit 7").await;
    assert!(string(&lost["note"]).contains("connection"), "{lost}");
    let result = command_end(&mcp, &outer).await;
    assert_eq!(result["exit_code"], 7, "{result}");
    mcp.close().await;
}
