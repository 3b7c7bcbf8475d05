//! `run_command` while the relay exits or is stopped: the rest of the keys reaches another program of this machine.

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{Mcp, Shell, TmuxServer, until, wait_until};

use crate::run::hostile_rows::RECORDER;
use crate::serve;
use crate::support::string;

/// A relay whose shell shows its prompt. At the first key, or at the loader line, it leaves the terminal, and all
/// unread keys in it, to another program.
const LEAVING: &str = r#"
import os, select, signal, sys, termios, tty
when, how = sys.argv[1:]
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b'me@host:~$ ')
keys = b''
while when == 'line' and not keys.endswith(b' '):
    keys += os.read(0, 1)
if when == 'line': os.write(1, b' ')
select.select([0], [], [])
termios.tcsetattr(0, termios.TCSADRAIN, before)
if how == 'stop': os.kill(os.getpid(), signal.SIGSTOP)
"#;

struct Leaving {
    tmux: TmuxServer,
    mcp: Mcp,
    target: String,
}

impl Leaving {
    /// Runs the relay in a shell of this machine, and then this command line.
    async fn open(
        shell: Shell,
        when: &str,
        how: &str,
        then: impl Fn(&TmuxServer) -> String,
    ) -> Self {
        let tmux = TmuxServer::new();
        let mcp = serve(&tmux).await;
        tmux.use_shell(shell);
        let target = tmux.shell_pane(90, 30);
        let file = |name: &str| tmux.home().join(name).display().to_string();
        std::fs::write(file("leaving.py"), LEAVING).unwrap();
        let python = "import os, sys; print(os.path.realpath(sys.executable))";
        let (ssh, leaving) = (file("ssh"), file("leaving.py"));
        let start = format!(
            "ln -s \"$(python3 -c '{python}')\" {ssh}; exec {ssh} {leaving} {when} {how}\n"
        );
        std::fs::write(file("start"), start).unwrap();
        tmux.type_line(&target, &format!("sh {}; {}", file("start"), then(&tmux)));
        wait_until("the prompt is shown", || {
            tmux.screen(&target).ends_with("me@host:~$").then_some(())
        });
        Self { tmux, mcp, target }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.tmux.home().join(name)
    }

    async fn touch(&self) -> testkit::Outcome {
        let command = format!("touch {}", self.file("ran").display());
        self.mcp.call("run_command", json!({"target": self.target, "command": command})).await
    }

    async fn assert_lost(&self) {
        let ended: Value = self.touch().await.ok();
        assert_eq!(ended["status"], "lost", "{ended}");
        assert!(string(&ended["note"]).contains("another shell"), "{ended}");
    }

    /// Waits until a program has created this file.
    async fn wait_for(&self, name: &str) {
        until(&format!("{name} exists"), async || self.file(name).exists().then_some(())).await;
    }
}

/// The shell around a stopped relay reads the loader line, and answers as the shell behind the relay would.
#[tokio::test]
async fn shell_around_a_stopped_relay_runs_nothing() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let leaving = Leaving::open(shell, "line", "stop", |_| "true".to_owned()).await;
        leaving.assert_lost().await;
        let (tmux, target) = (&leaving.tmux, &leaving.target);
        tmux.type_line(target, &format!("touch {}", leaving.file("end").display()));
        leaving.wait_for("end").await;
        assert!(!leaving.file("ran").exists(), "{shell:?}:\n{}", tmux.screen(target));
        assert!(tmux.screen(target).contains("touch"), "{shell:?}: the echo is off");
        leaving.mcp.close().await;
    }
}

/// The program notes interrupts, and reads lines up to one that says so.
#[tokio::test]
async fn program_after_the_relay_is_not_interrupted() {
    let noting = |tmux: &TmuxServer| {
        let file = |name: &str| tmux.home().join(name).display().to_string();
        let script = format!(
            "trap 'echo > {}' 2\nuntil case $x in *end*) ;; *) false;; esac; do read x; done\necho > {}\n",
            file("interrupted"),
            file("end")
        );
        std::fs::write(file("noting"), script).unwrap();
        format!("sh {}", file("noting"))
    };
    let leaving = Leaving::open(Shell::Bash, "line", "exit", noting).await;
    leaving.assert_lost().await;
    leaving.tmux.type_line(&leaving.target, "end");
    leaving.wait_for("end").await;
    assert!(!leaving.file("interrupted").exists(), "{}", leaving.tmux.screen(&leaving.target));
    leaving.mcp.close().await;
}

/// The keys that undo a trial would be read by that program.
#[tokio::test]
async fn program_after_the_relay_gets_no_undo() {
    let recording = |tmux: &TmuxServer| {
        let file = |name: &str| tmux.home().join(name).display().to_string();
        std::fs::write(file("recorder.py"), RECORDER).unwrap();
        format!("python3 {} main 'recorder runs' {}", file("recorder.py"), file("keys"))
    };
    let leaving = Leaving::open(Shell::Bash, "key", "exit", recording).await;
    let refused = leaving.touch().await.result();
    assert_eq!(refused.is_error, Some(true), "{refused:?}");
    leaving.tmux.types(&leaving.target, "x");
    let keys = || std::fs::read(leaving.file("keys")).unwrap_or_default();
    until("the recorder reads", async || keys().ends_with(b"x").then_some(())).await;
    assert!(!keys().contains(&0x7f), "{:?}", String::from_utf8_lossy(&keys()));
    leaving.mcp.close().await;
}
