//! `run_command` types nothing behind a relay unless a shell shows its empty prompt there.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Mcp, Person, Shell, TmuxServer, until, wait_until};

use crate::run::hostile_rows::{QUESTIONS, RECORDER, tries};
use crate::run::places::{Inner, InnerShell, Place};
use crate::serve;
use crate::support::random::Random;
use crate::support::{command_end, string};

/// Pieces of the lines that a person has typed in part.
const TYPED: &[&str] =
    &["rm FILE ", "x > ", "$ ", "> ", "a", "1", "# ", "é", "漢", "% ", "; ", "me@host:~$ "];

/// Rows of programs other than shells.
const OTHER_PROMPTS: &[&str] = &["#? ", "mysql> ", ">>> "];

async fn refused(mcp: &Mcp, target: &str) -> String {
    let arguments = json!({"target": target, "command": "echo entered > entered"});
    let error = mcp.call("run_command", arguments).await.result();
    assert_eq!(error.is_error, Some(true), "{error:?}");
    let error = format!("{:?}", error.content);
    assert!(error.contains("Next: "), "{error}");
    error
}

/// Text that is typed at a prompt stays there, and is never entered.
async fn typed_text_stays(shell: InnerShell, seed: u64) {
    let inner = Place::Script.open(shell).await.unwrap();
    let (fixture, target) = (&inner.fixture, inner.fixture.target.as_deref().unwrap());
    let tmux = &fixture.tmux;
    let prompt = tmux.screen(target).lines().last().unwrap_or_default().to_owned();
    let prompts = || tmux.screen(target).lines().filter(|row| row.starts_with(&prompt)).count();
    let mut before = prompts();
    let mut random = Random(seed);
    // busybox does not count the columns of wide characters.
    let is_typed = |text: &&str| text.is_ascii() || shell != InnerShell::Busybox;
    let typed: Vec<&str> = TYPED.iter().copied().filter(is_typed).collect();
    for round in 0..tries() / 4 {
        // From here on the prompt is known.
        if round == 15 {
            fixture.assert_usable().await;
            let is_back = || tmux.screen(target).ends_with(&prompt).then_some(());
            wait_until("the prompt is back", is_back);
            before = prompts();
        }
        // Blanks at the end are not seen on the screen.
        let text = format!("{}{}.", random.pick(&typed).trim_start(), random.join(&typed, 3));
        tmux.types(target, &text);
        let shown = format!("{prompt} {text}");
        let shows = |row: &str| tmux.screen(target).contains(row);
        until(&format!("{shown} is shown"), async || shows(&shown).then_some(())).await;
        if round % 2 == 0 {
            tmux.presses(target, &["BSpace"]);
            until("the last key is erased", async || (!shows(&shown)).then_some(())).await;
        }
        refused(&fixture.mcp, target).await;
        assert_eq!(prompts(), before, "{text:?} was entered:\n{}", tmux.screen(target));
        assert!(
            shows(shown.trim_end_matches('.').trim_end()),
            "{text:?}:\n{}",
            tmux.screen(target)
        );
        tmux.presses(target, &["C-e", "C-u"]);
        until("the line is erased", async || tmux.screen(target).ends_with(&prompt).then_some(()))
            .await;
    }
    fixture.assert_usable().await;
}

#[tokio::test]
async fn text_typed_in_inner_bash_is_never_entered() {
    typed_text_stays(InnerShell::Plain(Shell::Bash), 1).await;
}

#[tokio::test]
async fn text_typed_in_inner_zsh_is_never_entered() {
    typed_text_stays(InnerShell::Plain(Shell::Zsh), 2).await;
}

#[tokio::test]
async fn text_typed_in_inner_fish_is_never_entered() {
    typed_text_stays(InnerShell::Plain(Shell::Fish), 3).await;
}

#[tokio::test]
async fn text_typed_in_inner_busybox_is_never_entered() {
    typed_text_stays(InnerShell::Busybox, 4).await;
}

#[tokio::test]
async fn questions_behind_relays_are_never_answered() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let answers = tmux.home().join("answers");
    let mut panes = Vec::new();
    for (number, question) in QUESTIONS.iter().chain(OTHER_PROMPTS).enumerate() {
        let file = tmux.home().join(format!("question{number}"));
        let (text, answers) = (question.replace('\'', "'\\''"), answers.display());
        let script = format!("printf %s '{text}'; read x; echo \"$x\" >> {answers}\n");
        std::fs::write(&file, script).unwrap();
        let pane = tmux.open(&format!("exec script -q -c 'sh {}' /dev/null", file.display()));
        let shown = question.trim_end();
        wait_until("the question is shown", || tmux.screen(&pane).ends_with(shown).then_some(()));
        panes.push((pane, shown));
    }
    for _ in 0..tries() / panes.len() {
        let refusals = panes.iter().map(|(pane, _)| refused(&mcp, pane));
        futures::future::join_all(refusals).await;
        for (pane, question) in &panes {
            assert_eq!(tmux.screen(pane), *question);
        }
    }
    assert!(!answers.exists(), "a question was answered");
    mcp.close().await;
}

#[tokio::test]
async fn full_screens_behind_relays_are_never_typed_into() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let (program, keys) = (tmux.home().join("recorder"), tmux.home().join("keys"));
    std::fs::write(&program, RECORDER).unwrap();
    let mut panes = Vec::new();
    for (number, (screen, text)) in [
        ("alternate", "~"),
        ("alternate", "$ "),
        ("alternate", "root@host:~# "),
        ("main", "top - 12:00:00 up 1 day"),
        ("main", ":"),
        ("main", "lines 1-20/300 (END)"),
        ("main", "(1/3) Choose one"),
        ("main", "-- INSERT --"),
    ]
    .into_iter()
    .enumerate()
    {
        let file = tmux.home().join(format!("start{number}"));
        let (program, keys) = (program.display(), keys.display());
        std::fs::write(&file, format!("exec python3 {program} {screen} '{text}' {keys}\n"))
            .unwrap();
        let pane = tmux.open(&format!("exec script -q -c 'sh {}' /dev/null", file.display()));
        let shown = text.trim_end();
        wait_until("the screen is shown", || tmux.screen(&pane).ends_with(shown).then_some(()));
        panes.push(pane);
    }
    for _ in 0..tries() / panes.len() {
        futures::future::join_all(panes.iter().map(|pane| refused(&mcp, pane))).await;
    }
    assert!(!keys.exists(), "{:?}", std::fs::read_to_string(&keys));
    mcp.close().await;
}

/// Its prompt looks like that of a shell. It gets one line, which it does not understand, and C-c.
#[tokio::test]
async fn program_with_prompt_of_a_shell_is_named() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let program = tmux.home().join("program");
    std::fs::write(
        &program,
        "while printf 'admin@router# ' && read -r x; do echo \"% invalid\"; done\n",
    )
    .unwrap();
    let pane = tmux.open(&format!("exec script -q -c 'sh {}' /dev/null", program.display()));
    wait_until("the prompt is shown", || tmux.screen(&pane).ends_with("router#").then_some(()));
    let error = refused(&mcp, &pane).await;
    assert!(error.contains("did not answer as a shell"), "{error}");
    mcp.close().await;
}

/// A shell in which `stty` hangs, and so the line that asks which shell it is.
struct SlowShell {
    inner: Inner,
    /// Created by `stty` when it begins, and the file for which it waits.
    begun: PathBuf,
    go: PathBuf,
}

impl SlowShell {
    async fn open() -> Self {
        let inner = Place::Script.open(InnerShell::BASH).await.unwrap();
        let (tmux, target) = (&inner.fixture.tmux, inner.fixture.target.as_deref().unwrap());
        let bin = tmux.home().join("inner/bin");
        std::fs::create_dir(&bin).unwrap();
        let (go, begun) = (tmux.home().join("go"), tmux.home().join("inner/begun"));
        let wait = format!("until test -e {}; do sleep 0.01; done", go.display());
        let begin = format!("trap '' 2\necho > {}", begun.display());
        let script = format!("#!/bin/sh\n{begin}\n{wait}\nexec /bin/stty \"$@\"\n");
        std::fs::write(bin.join("stty"), script).unwrap();
        std::fs::set_permissions(bin.join("stty"), std::fs::Permissions::from_mode(0o755)).unwrap();
        tmux.type_line(target, &format!("PATH={}:$PATH", bin.display()));
        Self { inner, begun, go }
    }

    fn target(&self) -> &str {
        self.inner.fixture.target.as_deref().unwrap()
    }

    async fn wait_for_line(&self) {
        let begun = async || self.begun.exists().then_some(());
        until("the shell evaluates the line", begun).await;
    }

    fn go_on(&self) {
        std::fs::write(&self.go, "").unwrap();
    }
}

/// The line goes on when the call has given up.
#[tokio::test]
async fn shell_that_answers_late_takes_no_line() {
    let slow = SlowShell::open().await;
    let (tmux, target) = (&slow.inner.fixture.tmux, slow.target());
    tmux.tmux(&["select-window", "-t", target]);
    let mut person = Person::attach(tmux, "main", 90, 30);
    let press = async {
        slow.wait_for_line().await;
        person.types("x");
    };
    let (error, ()) = tokio::join!(refused(&slow.inner.fixture.mcp, target), press);
    assert!(error.contains("did not answer as a shell"), "{error}");
    slow.go_on();
    let ran = tmux.home().join("inner/ran");
    until("the shell is back", async || tmux.screen(target).ends_with('$').then_some(())).await;
    tmux.type_line(target, &format!("PATH=/usr/bin:/bin; touch {}", ran.display()));
    until("the person's line has run", async || ran.exists().then_some(())).await;
}

/// The shell has read the line when the call had given up, so no script behind it could delete it.
#[tokio::test]
async fn next_command_deletes_a_late_line() {
    let slow = SlowShell::open().await;
    let (tmux, fixture, target) = (&slow.inner.fixture.tmux, &slow.inner.fixture, slow.target());
    for line in ["HISTCONTROL=", "true theirs 1"] {
        tmux.type_line(target, line);
    }
    let error = refused(&fixture.mcp, target).await;
    assert!(error.contains("did not answer as a shell"), "{error}");
    slow.go_on();
    until("the shell is back", async || tmux.screen(target).ends_with('$').then_some(())).await;
    for line in ["true theirs 2", "PATH=/usr/bin:/bin"] {
        tmux.type_line(target, line);
    }
    for command in ["history", "history 6"] {
        let shown = fixture.run(command).await.output;
        let count = |text: &str| shown.lines().filter(|line| line.contains(text)).count();
        assert_eq!((count("theirs"), count("133;L")), (2, 0), "{shown}");
    }
}

/// The keys would end the program that reads the script, so that its lines are entered at the prompt.
#[tokio::test]
async fn keys_of_tools_wait_for_the_script() {
    for (tool, keys) in [
        ("send_keys", json!({"keys": ["C-c"]})),
        ("send_keys", json!({"text": "x", "enter": true})),
        ("paste_text", json!({"text": "x", "enter": true})),
        ("interrupt", json!({})),
    ] {
        let slow = SlowShell::open().await;
        let (mcp, target) = (&slow.inner.fixture.mcp, slow.target());
        let with = |mut arguments: Value| {
            arguments["target"] = json!(target);
            arguments
        };
        let command = "printf 'it %s\\n' works; read -r line; echo \"got $line\"";
        let run = mcp.call("run_command", with(json!({"command": command, "timeout": 3})));
        let press = async {
            slow.wait_for_line().await;
            let mut pressed = Box::pin(mcp.call(tool, with(keys.clone())));
            let early = tokio::time::timeout(Duration::from_millis(200), &mut pressed).await;
            assert!(early.is_err(), "{tool} typed into the script");
            slow.go_on();
            pressed.await.ok();
        };
        let (started, ()) = tokio::join!(run, press);
        let ended = command_end(mcp, &started.ok()).await;
        let interrupted = tool == "interrupt" || keys["keys"].is_array();
        if interrupted {
            assert_eq!(ended["exit_code"], 130, "{tool}: {ended}");
        } else {
            assert_eq!(ended["exit_code"], 0, "{tool}: {ended}");
            assert!(string(&ended["output"]).ends_with("\ngot x"), "{tool}: {ended}");
        }
        slow.inner.fixture.assert_usable().await;
    }
}

/// Of a row without a line editor no key tells whether it is a question: only one that names a place is a prompt.
#[tokio::test]
async fn question_that_ends_like_a_prompt_stays_open() {
    for shell in [InnerShell::BASH, InnerShell::Plain(Shell::Dash)] {
        let inner = Place::Script.open(shell).await.unwrap();
        let (tmux, target) = (&inner.fixture.tmux, inner.fixture.target.as_deref().unwrap());
        inner.fixture.assert_usable().await;
        for question in ["PO# ", "Price(USD)$ ", "Ready% "] {
            tmux.type_line(
                target,
                &format!("printf '%s' '{question}'; read -r x; echo \"got $x\""),
            );
            let row = format!("\n{}", question.trim_end());
            until("the question is shown", async || {
                tmux.screen(target).ends_with(&row).then_some(())
            })
            .await;
            let before = tmux.screen(target);
            refused(&inner.fixture.mcp, target).await;
            assert_eq!(tmux.screen(target), before, "{shell:?}");
            tmux.type_line(target, "yes");
            until("the answer is shown", async || {
                tmux.screen(target).contains("got yes").then_some(())
            })
            .await;
            tmux.tmux(&["clear-history", "-t", target]);
            inner.fixture.assert_usable().await;
            tmux.type_line(target, "clear");
            until("the screen is clear", async || {
                (!tmux.screen(target).contains("got yes")).then_some(())
            })
            .await;
        }
    }
}

/// The row above the prompt is full, so that the prompt may seem to be the end of a line that wraps.
#[tokio::test]
async fn full_row_above_the_prompt_keeps_no_command() {
    for shell in InnerShell::ALL {
        let inner = Place::Script.open(shell).await.unwrap();
        let (tmux, target) = (&inner.fixture.tmux, inner.fixture.target.as_deref().unwrap());
        let full = "z".repeat(90);
        for _ in 0..2 {
            inner.fixture.assert_prints(&format!("echo {full}"), &full).await;
            inner.fixture.assert_prints("echo in", "in").await;
        }
        // The typed line fills its row, too.
        let screen = tmux.screen(target);
        let prompt = screen.lines().last().unwrap_or_default().len() + 1;
        let line = |padding: usize| format!("env X={} PS1='$ ' dash -i", "x".repeat(padding));
        tmux.type_line(target, &line(90 - prompt - line(0).len()));
        until("dash shows its prompt", async || tmux.screen(target).ends_with("\n$").then_some(()))
            .await;
        inner.fixture.assert_prints("echo in", "in").await;
    }
}

/// An alias of the person does not change the line that asks for the shell.
#[tokio::test]
async fn aliased_sh_takes_commands() {
    for shell in [InnerShell::BASH, InnerShell::Plain(Shell::Zsh), InnerShell::Plain(Shell::Dash)] {
        let inner = Place::Script.open(shell).await.unwrap();
        let target = inner.fixture.target.as_deref().unwrap();
        inner.fixture.tmux.type_line(target, "alias sh='echo no' stty='echo no' read='echo no'");
        inner.fixture.assert_usable().await;
    }
}

/// Prompts of common themes.
#[tokio::test]
async fn prompts_of_themes_take_commands() {
    let inner = Place::Script.open(InnerShell::BASH).await.unwrap();
    let (tmux, target) = (&inner.fixture.tmux, inner.fixture.target.as_deref().unwrap());
    for prompt in [
        "λ ",
        "→ ",
        "~ » ",
        "~/x › ",
        "~ \u{e0b0} ",
        "root@vm:~#",
        "u@host:~$",
        "0 1 1 root@vm:~# ",
    ] {
        tmux.type_line(target, &format!("PS1='{prompt}'; clear"));
        let shown = prompt.trim_end();
        until(prompt, async || (tmux.screen(target) == shown).then_some(())).await;
        for _ in 0..2 {
            inner.fixture.assert_usable().await;
        }
    }
}

/// Its end is that of an interpreter's prompt.
#[tokio::test]
async fn prompt_set_by_a_command_takes_commands() {
    for shell in [InnerShell::BASH, InnerShell::Plain(Shell::Zsh), InnerShell::Busybox] {
        let inner = Place::Script.open(shell).await.unwrap();
        let (tmux, target) = (&inner.fixture.tmux, inner.fixture.target.as_deref().unwrap());
        for command in ["PS1='new> '", "PS1='my own> '; printf end"] {
            // zsh ends such a row before its prompt.
            if shell == InnerShell::Plain(Shell::Zsh) && command.contains("printf") {
                continue;
            }
            let set = inner.fixture.run(command).await;
            assert_eq!(set.code, 0, "{shell:?}: {set:?}");
            for _ in 0..2 {
                inner.fixture.assert_usable().await;
            }
        }
        // A further row is not below the output of a command.
        tmux.type_line(target, "true");
        tmux.type_line(target, "PS1='other> '");
        until("the prompt is shown", async || {
            tmux.screen(target).ends_with("other>").then_some(())
        })
        .await;
        refused(&inner.fixture.mcp, target).await;
    }
}
