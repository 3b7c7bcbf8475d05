//! Answers about real programs in panes, through each shell that may be `sh` elsewhere, held against those
//! that this system gives itself.

#![cfg(target_os = "linux")]

use std::io;
use std::process::Stdio;
use std::time::Duration;

use testkit::{TmuxServer, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

use super::super::tests::pane;
use super::super::{InputState, Inspection, Processes};
use super::*;

/// The shells that are `sh` on some system.
const SHELLS: [&[&str]; 3] = [&["dash"], &["bash", "--posix"], &["busybox", "ash"]];

/// A shell of this system that runs scripts from a pipe.
#[derive(Debug)]
struct PipedShell {
    pipes: Mutex<(ChildStdin, ChildStdout)>,
    /// Killed when this is dropped.
    _child: Child,
}

impl PipedShell {
    /// Starts the shell and runs the prelude.
    async fn start(command: &[&str]) -> Arc<Self> {
        #[expect(clippy::disallowed_methods, reason = "it stands for the shell of another system")]
        let mut child = Command::new(command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let pipes = Mutex::new((child.stdin.take().unwrap(), child.stdout.take().unwrap()));
        let shell = Arc::new(Self { pipes, _child: child });
        assert_eq!(shell.run(REMOTE_PRELUDE.to_owned()).await.unwrap(), b"");
        shell
    }
}

impl RemoteShell for PipedShell {
    fn run(&self, script: String) -> ScriptOutput<'_> {
        Box::pin(async move {
            const END: &[u8] = b"\0the end\n";
            let mut pipes = self.pipes.lock().await;
            let script = format!("{{ {script}\n}} </dev/null\nprintf '\\000the end\\n'\n");
            pipes.0.write_all(script.as_bytes()).await?;
            let mut reply = Vec::new();
            while !reply.ends_with(END) {
                if pipes.1.read_buf(&mut reply).await? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            reply.truncate(reply.len() - END.len());
            Ok(reply)
        })
    }
}

async fn through(command: &[&str]) -> Processes {
    Processes::remote(PipedShell::start(command).await)
}

/// All facts of an inspection that stay the same as long as the program waits.
fn facts(found: &Inspection, pid: u32) -> Vec<String> {
    let group = found.foreground_group();
    let mut facts = vec![
        format!("foreground {:?}", found.foreground()),
        format!("group {group:?}"),
        format!("input {:?} {:?}", found.input_state(), found.input_wait().reader),
        format!("mode {} {}", found.hides_input(), found.edits_lines()),
        format!("child {:?}", found.foreground_has_child()),
        format!("own {:?}", found.own_uid()),
    ];
    for program in &group {
        facts.push(format!("shell {:?} {}", found.shell(program), found.runs_script(program)));
    }
    for pid in group.iter().map(|program| program.pid).chain([pid]) {
        facts.push(format!("{pid} {:?} {:?}", found.started(pid), found.cwd(pid)));
        facts.push(format!("{pid} {:?} {:?}", found.uid(pid), found.sees_our_files(pid)));
    }
    facts
}

/// Waits until a pane reads in this way by its own system, and holds the answers of all shells against it.
async fn compare(shells: &[Processes], pid: u32, name: &str, state: InputState) {
    let local = Processes::local();
    let own = until(&format!("`{name}` reads {state:?}"), async || {
        let own = local.inspect(pid).await;
        let is_there = own.foreground().is_some_and(|program| program.name == name);
        (is_there && own.input_state() == state).then_some(own)
    })
    .await;
    for (shell, command) in shells.iter().zip(SHELLS) {
        let there = shell.inspect(pid).await;
        assert_eq!(facts(&there, pid), facts(&own, pid), "{name} through {command:?}");
        let ages = (there.age().unwrap(), own.age().unwrap());
        assert!(ages.0.abs_diff(ages.1) < Duration::from_secs(5), "{name}: {ages:?}");
        assert_eq!(there.has_unread_input(), None);
    }
}

async fn shells() -> Vec<Processes> {
    let mut shells = Vec::new();
    for command in SHELLS {
        shells.push(through(command).await);
    }
    shells
}

#[tokio::test]
async fn panes_look_the_same_from_elsewhere() {
    let tmux = TmuxServer::new();
    let shells = shells().await;
    for (command, name, state) in [
        ("bash --norc", "bash", InputState::Raw),
        ("zsh -f", "zsh", InputState::Raw),
        ("fish --no-config", "fish", InputState::Raw),
        ("dash", "dash", InputState::Line),
        ("sh -i", "sh", InputState::Line),
        ("busybox ash", "busybox", InputState::Raw),
        ("cat", "cat", InputState::Line),
        ("bash -c 'read -s secret'", "bash", InputState::Password),
        ("python3 -c 'import getpass; getpass.getpass()'", "python3", InputState::Password),
        ("python3 -c 'input()'", "python3", InputState::Line),
        ("python3 -i", "python3", InputState::Raw),
        ("vi -u NONE", "vi", InputState::Raw),
        ("less /etc/passwd", "less", InputState::Raw),
        ("node -i", "node", InputState::Raw),
        ("sleep 1000", "sleep", InputState::None),
        ("bash -c 'while :; do :; done'", "bash", InputState::None),
        ("bash -c 'cat | sort'", "bash", InputState::Line),
        ("sh -c 'cat; true'", "sh", InputState::Line),
        ("script -qc 'sleep 1000' /dev/null", "script", InputState::Raw),
        ("setpriv --reuid 65534 --regid 65534 --clear-groups cat", "cat", InputState::Line),
    ] {
        compare(&shells, pane(&tmux, command), name, state).await;
    }
}
