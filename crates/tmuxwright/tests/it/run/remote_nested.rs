//! Commands behind a relay that start interpreters and further shells there, as an agent starts them.

use serde_json::{Value, json};
use testkit::{Mcp, Shell, TmuxServer, until, wait_until};

use crate::run::places::{InnerShell, Place};
use crate::support::{command_end, string};
use crate::{serve, serve_configured};

/// A shell behind `script`, which a command of ours has started in a person's pane.
struct Nested {
    tmux: TmuxServer,
    mcp: Mcp,
    target: String,
    outer: Value,
}

const INNER_BASH: &str = "env PS1='in$ ' bash --norc --noprofile -i";

impl Nested {
    async fn open() -> Self {
        let tmux = TmuxServer::new();
        let mcp = serve(&tmux).await;
        let target = tmux.open_shell("exec bash --norc --noprofile -i");
        let command = format!("script -q -c \"{INNER_BASH}\" /dev/null");
        let arguments = json!({"target": target, "command": command, "timeout": 30});
        let outer = mcp.call("run_command", arguments).await.ok();
        assert_eq!(outer["waiting"], "keys", "{outer}");
        Self { tmux, mcp, target, outer }
    }

    async fn run(&self, command: &str) -> Value {
        let arguments = json!({"target": self.target, "command": command, "timeout": 30});
        self.mcp.call("run_command", arguments).await.ok()
    }

    async fn assert_prints(&self, command: &str, output: &str) {
        let answer = self.run(command).await;
        assert_eq!(
            (&answer["output"], &answer["exit_code"]),
            (&json!(output), &json!(0)),
            "{answer}"
        );
    }

    async fn enter(&self, input: &str) -> Value {
        let arguments = json!({"target": self.target, "input": input, "timeout": 30});
        self.mcp.call("run_in_repl", arguments).await.ok()
    }

    async fn interrupt(&self) -> Value {
        self.mcp.call("interrupt", json!({"target": self.target, "timeout": 30})).await.ok()
    }
}

#[tokio::test]
async fn interpreter_in_a_remote_shell_takes_input() {
    let nested = Nested::open().await;
    nested.assert_prints("echo inner", "inner").await;
    let started = nested.run("python3 -q").await;
    assert_eq!(started["waiting"], "keys", "{started}");
    let answer = nested.enter("6 * 7").await;
    assert_eq!((&answer["output"], &answer["state"]), (&json!("42"), &json!("at >>>")), "{answer}");
    let done = nested.interrupt().await;
    assert_eq!((&done["at_prompt"], &done["state"]), (&json!(true), &json!("at >>>")), "{done}");
    assert_eq!(nested.tmux.screen(&nested.target).matches("KeyboardInterrupt").count(), 0);
    nested
        .mcp
        .call("send_keys", json!({"target": nested.target, "text": "while True: pass\n"}))
        .await
        .ok();
    nested.mcp.call("send_keys", json!({"target": nested.target, "keys": ["Enter"]})).await.ok();
    // The typed lines can be read late.
    let cursor = ["display-message", "-p", "-t", &nested.target, "#{cursor_x}"];
    until("the loop runs", async || {
        let is_open = nested.tmux.screen(&nested.target).ends_with("\n...");
        (is_open && nested.tmux.tmux(&cursor) == "0").then_some(())
    })
    .await;
    let done = nested.interrupt().await;
    assert_eq!((&done["at_prompt"], &done["state"]), (&json!(true), &json!("at >>>")), "{done}");
    let left = nested.enter("exit(3)").await;
    assert_eq!(left["state"], "left: back in bash, exit code 3", "{left}");
    assert_eq!(command_end(&nested.mcp, &started).await["exit_code"], 3);
    nested.assert_prints("echo after", "after").await;
    nested.mcp.close().await;
}

#[tokio::test]
async fn shell_in_a_remote_shell_takes_commands() {
    let nested = Nested::open().await;
    let started = nested.run(INNER_BASH).await;
    assert_eq!(started["waiting"], "keys", "{started}");
    for word in ["one", "two"] {
        nested.assert_prints(&format!("echo {word}"), word).await;
    }
    // Neither the shell nor the one around it is left.
    assert_eq!(nested.interrupt().await["at_prompt"], true);
    nested.assert_prints("echo three", "three").await;
    let lost = nested.run("exit 4").await;
    assert_eq!(lost["status"], "lost", "{lost}");
    assert!(string(&lost["note"]).contains("its shell has exited"), "{lost}");
    assert_eq!(command_end(&nested.mcp, &started).await["exit_code"], 4);
    nested.assert_prints("echo $?", "4").await;
    // Once it has left, a command that its shell abandons is reported as such again.
    let arguments = json!({"target": nested.target, "command": "read x", "timeout": 0});
    let started = nested.mcp.call("run_command", arguments).await.ok();
    assert_eq!(started["status"], "running", "{started}");
    assert_eq!(nested.interrupt().await["exit_code"], 130);
    let outer =
        nested.mcp.call("command_result", json!({"command_id": nested.outer["command_id"]}));
    assert_eq!(outer.await.ok()["status"], "running");
    nested.mcp.close().await;
}

/// Each shell is a relay of its own here: their processes can be inspected.
#[tokio::test]
async fn shells_within_commands_are_told_apart() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = tmux.open_shell("exec env PS1='zero$ ' bash --norc --noprofile -i");
    let run = async |command: &str| -> Value {
        let arguments = json!({"target": target, "command": command, "timeout": 30});
        mcp.call("run_command", arguments).await.ok()
    };
    let prints = async |command: &str, output: &str| {
        let answer = run(command).await;
        let printed = (&answer["output"], &answer["exit_code"]);
        assert_eq!(printed, (&json!(output), &json!(0)), "{answer}");
    };
    let one = run("env PS1='one$ ' bash --norc --noprofile -i").await;
    assert_eq!(one["waiting"], "keys", "{one}");
    assert_eq!(run("sh -c 'exit 9'").await["exit_code"], 9);
    prints("echo $?", "9").await;
    let two = run("env PS1='two$ ' bash --norc --noprofile -i").await;
    assert_eq!(two["waiting"], "keys", "{two}");
    // A new shell has run nothing.
    prints("echo $?; cd /", "0").await;
    prints("pwd", "/").await;
    let refused = mcp.call("run_in_repl", json!({"target": target, "input": "exit 5"})).await.ok();
    assert_eq!(refused["state"], "left: back in bash, exit code 5", "{refused}");
    assert_eq!(command_end(&mcp, &two).await["exit_code"], 5);
    prints("echo $?", "5").await;
    tmux.type_line(&target, "exit 6");
    assert_eq!(command_end(&mcp, &one).await["exit_code"], 6);
    prints("echo $?", "6").await;
    mcp.close().await;
}

/// The query for the status cannot be typed there, which says nothing about the command.
#[tokio::test]
async fn inner_shell_in_vi_mode_loses_nothing() {
    const START: &str =
        "PS1='z:%~%# '; bindkey -v; zle-line-init() { zle -K vicmd }; zle -N zle-line-init\n";
    let inner = Place::Script.open(InnerShell::Plain(Shell::Zsh)).await.unwrap();
    let (tmux, target) = (&inner.fixture.tmux, inner.fixture.target.as_deref().unwrap());
    std::fs::write(tmux.home().join(".zshrc"), START).unwrap();
    let command = format!("ZDOTDIR={} zsh -i; echo over", tmux.home().display());
    let started = inner.fixture.answer_within(&command, 2.0).await;
    assert_eq!(started["status"], "running", "{started}");
    let arguments = json!({"command_id": started["command_id"], "wait": 6});
    let result = inner.fixture.mcp.call("command_result", arguments).await.ok();
    assert_eq!(result["status"], "running", "{result}");
    tmux.type_line(target, "iecho with''in; exit 4");
    let result = command_end(&inner.fixture.mcp, &started).await;
    assert_eq!(result["exit_code"], 0, "{result}");
    assert!(string(&result["output"]).ends_with("within\nover"), "{result}");
    inner.fixture.assert_usable().await;
}

/// The key reaches the command, not the script that is to run it. The shell itself runs this command: a shell that is
/// starting a program may miss the key.
#[tokio::test]
async fn interrupt_right_after_the_start_is_exact() {
    let nested = Nested::open().await;
    for _ in 0..20 {
        let arguments = json!({"target": nested.target, "command": "read x", "timeout": 0});
        let started = nested.mcp.call("run_command", arguments).await.ok();
        assert_eq!(started["status"], "running", "{started}");
        let done = nested.interrupt().await;
        assert_eq!((&done["at_prompt"], &done["exit_code"]), (&json!(true), &json!(130)), "{done}");
    }
    nested.mcp.close().await;
}

/// Without a line editor, the terminal echoes the keys that try it.
#[tokio::test]
async fn other_shell_over_the_same_ssh_takes_commands() {
    let inner = Place::Ssh.open(InnerShell::BASH).await.unwrap();
    let (tmux, target) = (&inner.fixture.tmux, inner.fixture.target.as_deref().unwrap());
    inner.fixture.assert_usable().await;
    tmux.type_line(target, "PS1='d@x:$ ' dash -i");
    wait_until("dash shows its prompt", || tmux.screen(target).ends_with("d@x:$").then_some(()));
    inner.fixture.assert_usable().await;
    tmux.type_line(target, "PS1='z:%~%# ' zsh -f -i");
    wait_until("zsh shows its prompt", || tmux.screen(target).ends_with(['%', '#']).then_some(()));
    inner.fixture.assert_usable().await;
    tmux.type_line(target, "exit");
    wait_until("dash shows its prompt", || tmux.screen(target).ends_with("d@x:$").then_some(()));
    inner.fixture.assert_usable().await;
    tmux.presses(target, &["C-d"]);
    wait_until("bash shows its prompt", || {
        tmux.screen(target).lines().last().is_some_and(|row| row.starts_with("b:")).then_some(())
    });
    inner.fixture.assert_usable().await;
}

/// Each call runs its command or is refused; none is typed into another one.
#[tokio::test]
async fn calls_at_once_do_not_mix() {
    let nested = Nested::open().await;
    let started = nested.run(INNER_BASH).await;
    assert_eq!(started["waiting"], "keys", "{started}");
    let mut runs = 0;
    for round in 0..10 {
        let calls = (0..4).map(|number| {
            let command = format!("echo {round} {number}");
            nested.mcp.call("run_command", json!({"target": nested.target, "command": command}))
        });
        for (number, outcome) in futures::future::join_all(calls).await.into_iter().enumerate() {
            let result = outcome.result();
            if result.is_error == Some(true) {
                let text = format!("{:?}", result.content);
                assert!(text.contains("busy") || text.contains("another call"), "{text}");
                continue;
            }
            runs += 1;
            let answer = result.structured_content.unwrap();
            assert_eq!(answer["output"], format!("{round} {number}"), "{answer}");
        }
    }
    assert!(runs >= 10, "{runs}");
    nested.mcp.close().await;
}

/// The key of a status query would reach every program through an exported variable.
#[tokio::test]
async fn no_variable_of_ours_is_exported() {
    for shell in InnerShell::ALL.into_iter().filter(|it| *it != InnerShell::Plain(Shell::Fish)) {
        let inner = Place::Script.open(shell).await.unwrap();
        inner.fixture.run("set -a").await;
        let shown = inner.fixture.run("env; echo end").await;
        assert!(shown.output.ends_with("end"), "{shell:?}: {shown:?}");
        // The status of the command is set after it.
        let ours = shown.output.lines().filter(|line| line.starts_with("__tmuxwright"));
        assert_eq!(ours.count(), 0, "{shell:?}: {shown:?}");
        inner.fixture.close().await;
    }
}

/// The policy is asked about the target, not about the pane that its program shows.
#[tokio::test]
async fn client_of_the_same_server_is_refused() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let shown = tmux.new_session("shown");
    let attach = format!(
        "exec env -u TMUX {} -S {} attach-session -t shown",
        TmuxServer::program().display(),
        tmux.socket().display()
    );
    let target = tmux.open(&attach);
    until("the client shows its status line", async || {
        tmux.screen(&target)
            .lines()
            .last()
            .is_some_and(|row| row.starts_with("[shown]"))
            .then_some(())
    })
    .await;
    let before = tmux.screen(&shown);
    mcp.call("run_command", json!({"target": target, "command": "echo no"})).await.err("busy");
    assert_eq!(tmux.screen(&shown), before);
    mcp.close().await;
}

/// A server that the policy excludes is not asked, and its client is not typed into.
#[tokio::test]
async fn server_that_policy_excludes_is_not_reached() {
    let tmux = TmuxServer::new();
    let config = format!("[policy]\nallowed_servers = [\"{}\"]", tmux.socket().display());
    let mcp = serve_configured(&tmux, &config).await;
    let socket = tmux.home().join("inner-socket");
    // Without a status line, the screen looks like that of a shell.
    let target = tmux.open(&format!(
        "exec env -u TMUX PS1='in$ ' {} -f /dev/null -S {} new-session 'bash --norc --noprofile -i' \\; \
         set-option -g status off \\; set-option -g destroy-unattached on",
        TmuxServer::program().display(),
        socket.display()
    ));
    wait_until("the shell shows its prompt", || {
        tmux.screen(&target).ends_with("in$").then_some(())
    });
    let before = tmux.screen(&target);
    let arguments = json!({"target": target, "command": "echo no"});
    let error = mcp.call("run_command", arguments).await.err("busy");
    assert!(error.contains("another terminal"), "{error}");
    assert_eq!(tmux.screen(&target), before);
    mcp.close().await;
}

/// The shell around a relay that exits is at its prompt before the end of its command is confirmed.
#[tokio::test]
async fn shell_around_an_exited_relay_takes_commands() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = tmux.open_shell("exec env PS1='out@x$ ' bash --norc --noprofile -i");
    for _ in 0..5 {
        let run = async |command: &str, timeout: u32| -> Value {
            let arguments = json!({"target": target, "command": command, "timeout": timeout});
            mcp.call("run_command", arguments).await.ok()
        };
        let relay = r#"script -q -c "env PS1='in@x$ ' bash --norc --noprofile -i" /dev/null"#;
        let outer = run(relay, 30).await;
        assert_eq!(outer["waiting"], "keys", "{outer}");
        let left = run("echo last; exit 3", 30).await;
        assert_eq!(left["status"], "lost", "{left}");
        let output = string(&left["output"]);
        assert!(output.starts_with("last") && !output.contains("out@x"), "{left}");
        let next = run("echo next", 30).await;
        assert_eq!((&next["output"], &next["exit_code"]), (&json!("next"), &json!(0)), "{next}");
    }
    mcp.close().await;
}
