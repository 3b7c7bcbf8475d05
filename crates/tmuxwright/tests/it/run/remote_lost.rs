//! `run_command` in shells behind ssh and the like that go away, drop a command, or are followed by other programs.

use serde_json::json;
use testkit::{Shell, TmuxServer, until, wait_until};

use crate::run::places::{InnerShell, Place};
use crate::serve;
use crate::support::{command_end, string};

/// A program that answers as a shell does, reads the beginning of the script, and exits.
const DYING_SHELL: &str = r#"
import os, re, sys, termios, tty
before = termios.tcgetattr(0)
tty.setraw(0)
def out(text): os.write(1, text.encode())
def line():
    text = ''
    while not text.endswith('\r'):
        text += os.read(0, 1).decode()
        for arrow in ('\x1b[D', '\x1bOD'): text = text.replace(arrow, '')
        if text == ' ': out(' ')
    return text
out('me@host:~$ ')
key = re.search('k=(\\w+)', line()).group(1)
out(f'\r\n\x1b]133;L;k={key}\x07')
key = re.search('k=(\\w+);', line()).group(1)
out(f'\x1b]133;L;k={key};bash.;me@host\x07')
os.read(0, 1)
termios.tcsetattr(0, termios.TCSADRAIN, before)
"#;

/// The rest of the script reaches the shell of this machine.
#[tokio::test]
async fn script_of_a_dead_shell_runs_nothing() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Dash] {
        let tmux = TmuxServer::new();
        let mcp = serve(&tmux).await;
        let file = |name: &str| tmux.home().join(name);
        std::fs::write(file("dying.py"), DYING_SHELL).unwrap();
        tmux.use_shell(shell);
        let target = tmux.shell_pane(90, 30);
        // A relay that keeps no keys for itself.
        let python = "import os, sys; print(os.path.realpath(sys.executable))";
        let (ssh, script) = (file("ssh"), file("dying.py"));
        std::fs::write(
            file("start"),
            format!(
                "ln -s \"$(python3 -c '{python}')\" {ssh}; exec {ssh} {script}\n",
                ssh = ssh.display(),
                script = script.display()
            ),
        )
        .unwrap();
        tmux.type_line(&target, &format!("sh {}", file("start").display()));
        wait_until("the prompt is shown", || {
            tmux.screen(&target).ends_with("me@host:~$").then_some(())
        });
        let command = format!("touch {}; echo 'x' | cat\n", file("ran").display()).repeat(1_000);
        let started = mcp.call("run_command", json!({"target": target, "command": command})).await;
        let ended = started.ok();
        assert_eq!(ended["status"], "lost", "{shell:?}: {ended}");
        tmux.type_line(&target, &format!("touch {}", file("end").display()));
        until("all lines are read", async || file("end").exists().then_some(())).await;
        assert!(!file("ran").exists(), "{shell:?}");
        mcp.close().await;
    }
}

/// A dropped command needs a query for its status, which is a line at the prompt.
#[tokio::test]
async fn query_for_a_status_leaves_the_history() {
    const BASH: InnerShell = InnerShell::BASH;
    const ZSH: InnerShell = InnerShell::Plain(Shell::Zsh);
    for (shell, option, show) in [
        (BASH, "HISTCONTROL=", "history"),
        (BASH, "HISTCONTROL=ignoreboth", "history"),
        (BASH, "HISTCONTROL=ignorespace", "history"),
        (ZSH, "true", "fc -l -100"),
        (ZSH, "setopt histignorespace", "fc -l -100"),
    ] {
        let inner = Place::Ssh.open(shell).await.unwrap();
        let (tmux, target) = (&inner.fixture.tmux, inner.fixture.target.as_deref().unwrap());
        tmux.type_line(target, option);
        tmux.type_line(target, "true theirs 1");
        tmux.type_line(target, "true theirs 2");
        for _ in 0..2 {
            let started =
                inner.fixture.start("sh -c 'echo begun; exec sleep 1000'; true", "begun").await;
            tmux.presses(target, &["C-c"]);
            let ended = command_end(&inner.fixture.mcp, &started).await;
            assert_eq!(ended["exit_code"], 130, "{shell:?}: {ended}");
        }
        let shown = inner.fixture.run(show).await.output;
        let count = |text: &str| shown.lines().filter(|line| line.contains(text)).count();
        assert_eq!(count("theirs"), 2, "{shell:?} {option}: {shown}");
        // zsh cannot remove the first line of ours.
        let most = usize::from(shell == ZSH && option == "true");
        assert!(count("133;L") <= most, "{shell:?} {option}: {shown}");
        inner.fixture.close().await;
    }
}

/// A program whose prompt ends as that of the shell, and which does not know the query.
const CONSOLE: &str = "import readline\nwhile True:\n try:\n  input('sw1$ ')\n  print('% invalid')\n \
                       except KeyboardInterrupt: print('^C')\n except EOFError: break\n";

/// After C-c its prompt may be that of the shell in another directory.
#[tokio::test]
async fn command_goes_on_at_a_foreign_prompt() {
    let inner = Place::Ssh.open(InnerShell::BASH).await.unwrap();
    let (tmux, target) = (&inner.fixture.tmux, inner.fixture.target.as_deref().unwrap());
    let console = tmux.home().join("console.py");
    std::fs::write(&console, CONSOLE).unwrap();
    let started = inner.fixture.start(&format!("python3 {}", console.display()), "sw1$").await;
    tmux.presses(target, &["C-c"]);
    wait_until("the query is answered", || tmux.screen(target).contains("% invalid").then_some(()));
    // Longer than the answer of a shell is awaited, and longer than probes are apart.
    let arguments = json!({"target": target, "until": ["text:never"], "timeout": 12});
    let seen = inner.fixture.mcp.call("wait_for", arguments).await.ok();
    assert_eq!(seen["event"], "timeout", "{seen}");
    let arguments = json!({"command_id": started["command_id"]});
    let seen = inner.fixture.mcp.call("command_result", arguments).await.ok();
    assert_eq!(seen["status"], "running", "{seen}");
    tmux.presses(target, &["C-d"]);
    let ended = command_end(&inner.fixture.mcp, &started).await;
    assert_eq!(ended["exit_code"], 0, "{ended}");
    assert!(string(&ended["output"]).contains("% invalid"), "{ended}");
    inner.fixture.close().await;
}

/// The prompt of that program is that of the shell, as `# ` of root's tcsh may be.
#[tokio::test]
async fn command_goes_on_at_its_own_prompt() {
    let inner = Place::Ssh.open(InnerShell::BASH).await.unwrap();
    let (tmux, target) = (&inner.fixture.tmux, inner.fixture.target.as_deref().unwrap());
    let prompt = format!("{} ", tmux.screen(target).lines().last().unwrap_or_default());
    let console = tmux.home().join("console.py");
    std::fs::write(&console, CONSOLE.replace("sw1$ ", &prompt)).unwrap();
    let started = inner.fixture.start(&format!("python3 {}", console.display()), "% invalid").await;
    // Longer than an answer is awaited.
    let arguments = json!({"target": target, "until": ["text:never"], "timeout": 12});
    let seen = inner.fixture.mcp.call("wait_for", arguments).await.ok();
    assert_eq!(seen["event"], "timeout", "{seen}");
    tmux.type_line(target, "hello");
    let asked = || tmux.screen(target).matches("% invalid").count();
    wait_until("the program has answered", || (asked() == 2).then_some(()));
    let result = inner.fixture.result(&started).await;
    assert_eq!(result["status"], "running", "{result}");
    tmux.presses(target, &["C-d"]);
    let ended = command_end(&inner.fixture.mcp, &started).await;
    assert_eq!(ended["exit_code"], 0, "{ended}");
    inner.fixture.close().await;
}
