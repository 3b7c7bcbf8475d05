//! `run_in_repl` in programs that exit while an input is being entered, so that another one reads.

use serde_json::json;
use testkit::{Sshd, TmuxServer, until, wait_until};

use crate::run::repl_fixture::{assert_answers, enter, interpreter};
use crate::serve;
use crate::support::string;

/// A program with the prompt of IPython that exits when it has read one character of its input.
const LEAVING_IPYTHON: &str = r#"
import os, termios, tty
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b'\x1b[?2004hIn [1]: ')
text = ''
while not text or text in '\x1b[D \x7f' or text in '\x1bOD \x7f':
    key = os.read(0, 1).decode()
    text += key
    if key == ' ': os.write(1, b' ')
    if key == '\x7f': os.write(1, b'\b \b')
termios.tcsetattr(0, termios.TCSADRAIN, before)
os.write(1, b'\r\n')
"#;

/// The shell around it gets the text from the terminal.
#[tokio::test]
async fn text_is_not_entered_after_its_program_exits() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let (program, script) = (tmux.home().join("ipython"), tmux.home().join("script"));
    let entered = tmux.home().join("entered");
    std::fs::write(&program, LEAVING_IPYTHON).unwrap();
    let read = format!("while read -r line; do echo \"$line\" >> {}; done", entered.display());
    std::fs::write(&script, format!("set -m\npython3 {}\n{read}\n", program.display())).unwrap();
    let target = tmux.open(&format!("exec sh {}", script.display()));
    wait_until("the prompt is shown", || tmux.screen(&target).ends_with("In [1]:").then_some(()));
    let answer = enter(&mcp, &target, "rm file").await;
    assert!(string(&answer["state"]).starts_with("left: back in sh"), "{answer}");
    tmux.type_line(&target, "end");
    let lines = || std::fs::read_to_string(&entered).unwrap_or_default();
    until("the person's line is read", async || lines().contains("end").then_some(())).await;
    assert_eq!(lines().lines().count(), 1, "{}", lines());
    mcp.close().await;
}

/// tmux learns the code later than the end.
#[tokio::test]
async fn exit_code_of_a_kept_pane_is_reported() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (command, prompt, leave) in
        [("python3 -q", ">>>", "exit(3)"), ("sqlite3", "sqlite>", ".exit 3")].repeat(5)
    {
        let target = tmux.open(&format!("cat; exec {command}"));
        tmux.tmux(&["set-option", "-p", "-t", &target, "remain-on-exit", "on"]);
        tmux.presses(&target, &["C-d"]);
        wait_until("the prompt is shown", || tmux.screen(&target).ends_with(prompt).then_some(()));
        let answer = enter(&mcp, &target, leave).await;
        assert_eq!(answer["state"], "left: its program has exited, exit code 3", "{answer}");
    }
    mcp.close().await;
}

/// Behind a relay only the prompt tells that the program has exited.
#[tokio::test]
async fn further_lines_stay_out_of_another_prompt() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let (script, ran) = (tmux.home().join("client"), tmux.home().join("ran"));
    let client = "while printf 'ftp> ' && read -r line && [ \"$line\" != bye ]; do echo \"did $line\"; done\n\
                  exec env PS1='me@host:~$ ' bash --norc --noprofile -i\n";
    std::fs::write(&script, client).unwrap();
    let command = format!("script -q -c 'sh {}' /dev/null", script.display());
    let target = interpreter(&tmux, &command, "ftp>");
    let answer = enter(&mcp, &target, "ls\ncd x").await;
    assert_eq!((&answer["output"], &answer["lines_left"]), (&json!("did ls\ndid cd x"), &json!(0)));
    let answer = enter(&mcp, &target, &format!("bye\ntouch {}", ran.display())).await;
    assert!(string(&answer["state"]).starts_with("at me@host:~$"), "{answer}");
    assert_eq!(answer["lines_left"], 1, "{answer}");
    let end = tmux.home().join("end");
    tmux.type_line(&target, &format!("touch {}", end.display()));
    until("the person's line has run", async || end.exists().then_some(())).await;
    assert!(!ran.exists());
    mcp.close().await;
}

/// At the beginning of a line, ssh takes a tilde for a command to itself.
#[tokio::test]
async fn tilde_at_the_line_start_passes_ssh() {
    let tmux = TmuxServer::new();
    let sshd = Sshd::start();
    let mcp = serve(&tmux).await;
    let target = interpreter(&tmux, &format!("{} python3 -q", sshd.terminal()), ">>>");
    assert_answers(&mcp, &target, &[("B = 5\nprint(\n~B)", "-6"), ("(\n~3,\n~4)", "(-4, -5)")])
        .await;
    mcp.close().await;
}
