//! Answers about real programs in panes, through each shell that may be `sh` elsewhere, held against those
//! that this system gives itself.

#![cfg(target_os = "linux")]

use std::io;
use std::process::Stdio;
use std::time::Duration;

use testkit::{TmuxServer, until, until_it_is, wait_until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

use super::super::tests::{pane, wait_for_input, wait_for_name};
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
        format!("input {:?} {:?}", found.input_state(), found.input_wait()),
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
        let same = format!("{name} looks the same through {command:?}: {:#?}", facts(&own, pid));
        let there = until_it_is(
            &same,
            async || shell.inspect(pid).await,
            |there| {
                // A program wakes for a moment when its window is resized, for example.
                facts(there, pid) == facts(&own, pid)
            },
        );
        let there = there.await;
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
        (
            "python3 -c 'import select; p = select.poll(); p.register(0, 1); p.poll()'",
            "python3",
            InputState::Line,
        ),
        (
            "sh -c 'python3 -c \"import select; p = select.poll(); p.register(0, 1); p.poll()\"; true'",
            "sh",
            InputState::Line,
        ),
        (
            "python3 -c 'import select; p = select.epoll(); p.register(0, 1); p.poll()'",
            "python3",
            InputState::Line,
        ),
        ("perl -e 'vec($r, 0, 1) = 1; select($r, undef, undef, 1000)'", "perl", InputState::Line),
        (
            "sh -c 'stty raw; exec perl -e \"pipe(R, W); vec(\\$r, fileno(R), 1) = 1; select(\\$r, undef, undef, undef)\"'",
            "perl",
            InputState::None,
        ),
        ("setpriv --reuid 65534 --regid 65534 --clear-groups cat", "cat", InputState::Line),
    ] {
        compare(&shells, pane(&tmux, command), name, state).await;
    }
    let sh = tmux.home().join("sh");
    std::os::unix::fs::symlink("/bin/bash", &sh).unwrap();
    let command = format!("{} --norc", sh.display());
    compare(&shells, pane(&tmux, &command), "sh", InputState::Raw).await;
}

/// Programs that try to look like others: a name with lines and brackets, arguments that hold a reply.
#[tokio::test]
async fn process_cannot_forge_a_reply() {
    let tmux = TmuxServer::new();
    let shells = shells().await;
    let name = ") R 1 1\n7 (x";
    let script = tmux.home().join("renamed.py");
    let renamed =
        format!("open('/proc/self/comm', 'w').write({name:?})\nimport sys; sys.stdin.read()");
    std::fs::write(&script, renamed).unwrap();
    let forged = "files /proc/1/stat\n1 (init) S 0 1 1 0 -1 4194560\n1000000000000000000\n";
    for (command, name) in [
        (format!("python3 {}", script.display()), "python3"),
        (format!("bash -c 'cat; true' \"$(printf '{forged}')\""), "bash"),
        // More than is read of an argument list.
        (format!("bash -c 'cat; true' {}", "word ".repeat(3000)), "bash"),
        ("bash -c 'exec -a \"a sentence\" cat'".to_owned(), "cat"),
    ] {
        compare(&shells, pane(&tmux, &command), name, InputState::Line).await;
    }
}

#[tokio::test]
async fn removed_directory_is_unknown_elsewhere() {
    let tmux = TmuxServer::new();
    let dir = tmux.home().canonicalize().unwrap().join("a (deleted)\nfiles x");
    std::fs::create_dir(&dir).unwrap();
    let args = ["new-window", "-d", "-P", "-F", "#{pane_pid}", "-c", dir.to_str().unwrap()];
    let pid = tmux.tmux(&[&args[..], &["exec cat"]].concat()).parse().unwrap();
    let shells = shells().await;
    compare(&shells, pid, "cat", InputState::Line).await;
    std::fs::remove_dir(&dir).unwrap();
    for shell in &shells {
        assert_eq!(shell.inspect(pid).await.cwd(pid), None);
    }
}

#[tokio::test]
async fn group_without_leader_is_found_elsewhere() {
    let tmux = TmuxServer::new();
    let shells = shells().await;
    let pid = pane(&tmux, "bash --norc");
    compare(&shells, pid, "bash", InputState::Raw).await;
    let pane = tmux.tmux(&["list-panes", "-s", "-F", "#{pane_id}"]);
    let pane = pane.lines().last().unwrap();
    tmux.type_line(pane, "true | cat - /dev/tty");
    compare(&shells, pid, "cat", InputState::Line).await;
    // Not a descendant of the pane: its parent, the leader, has exited.
    let orphan = "perl -MPOSIX -e '$SIG{TTOU} = \"IGNORE\"; if (!fork) { setpgrp; tcsetpgrp(0, $$); \
                  exec \"cat\" if !fork; exit } wait; sleep 1000'";
    compare(&shells, self::pane(&tmux, orphan), "cat", InputState::Line).await;
}

#[tokio::test]
async fn missing_process_is_unknown_elsewhere() {
    const NO_PROCESS: u32 = u32::MAX - 1;
    for shell in shells().await {
        let there = shell.inspect(NO_PROCESS).await;
        assert_eq!(there.foreground(), None);
        assert_eq!(there.input_state(), InputState::Unknown);
        assert_eq!((there.started(NO_PROCESS), there.age()), (None, None));
        assert_eq!(shell.read_count(NO_PROCESS).await, None);
        assert_eq!(shell.other_session_processes(NO_PROCESS).await, None);
        assert_eq!(shell.ancestors(NO_PROCESS).await, [NO_PROCESS]);
        let written = shell.write_to_terminal(NO_PROCESS, b"x").await.unwrap_err();
        assert_eq!(written.kind(), io::ErrorKind::NotFound);
        assert!(!shell.terminate(NO_PROCESS).await);
        let refused = shell.signal_foreground(NO_PROCESS, Signal::TERM).await.unwrap_err();
        assert!(matches!(refused, SignalError::NoForeground(NO_PROCESS)));
        shell.exited(NO_PROCESS).await;
    }
}

#[tokio::test]
async fn relatives_and_counts_are_the_same_elsewhere() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "bash -c 'sleep 1000 & cat; true'");
    let local = Processes::local();
    wait_for_input(pid, InputState::Line);
    let others = local.other_session_processes(pid).await;
    assert_eq!(others.as_ref().map(Vec::len), Some(2));
    for shell in shells().await {
        assert_eq!(shell.other_session_processes(pid).await, others);
        assert_eq!(shell.ancestors(pid).await, local.ancestors(pid).await);
        assert_eq!(shell.read_count(pid).await, local.read_count(pid).await);
        assert_eq!(shell.inspect(pid).await.read_count(pid), local.read_count(pid).await);
    }
}

#[tokio::test]
async fn exit_is_reported_from_elsewhere() {
    let tmux = TmuxServer::new();
    for shell in shells().await {
        let pids = [pane(&tmux, "cat"), pane(&tmux, "sh -c 'cat; true'")];
        for pid in pids {
            wait_for_input(pid, InputState::Line);
            let exit = shell.exited(pid);
            tokio::pin!(exit);
            assert!(futures::poll!(exit.as_mut()).is_pending());
            let other = shell.exited(std::process::id());
            tokio::pin!(other);
            assert!(futures::poll!(other.as_mut()).is_pending());
            let signalled = shell.signal_foreground(pid, Signal::KILL).await.unwrap();
            assert_eq!(signalled.group, pid);
            exit.await;
            assert!(futures::poll!(other.as_mut()).is_pending());
        }
        let pid = pane(&tmux, "cat");
        wait_for_name(pid, "cat");
        assert!(shell.terminate(pid).await);
        shell.exited(pid).await;
    }
}

#[tokio::test]
async fn every_signal_is_known_elsewhere() {
    for command in SHELLS {
        let shell = PipedShell::start(command).await;
        for name in super::super::signal_names() {
            let script = format!("kill -{name} -2147483647 2>&1\n");
            let reply = String::from_utf8(shell.run(script).await.unwrap()).unwrap();
            assert!(reply.contains("No such process"), "{command:?} {name}: {reply}");
        }
    }
}

#[tokio::test]
async fn terminal_is_written_to_from_elsewhere() {
    let tmux = TmuxServer::new();
    for shell in shells().await {
        let pane = tmux.open("cat");
        let pid = tmux.tmux(&["display-message", "-p", "-t", &pane, "#{pane_pid}"]);
        let pid = pid.parse().unwrap();
        wait_for_input(pid, InputState::Line);
        shell.write_to_terminal(pid, b"it's\x1b[5C$(here)\0%s").await.unwrap();
        wait_until("the text is on the screen", || {
            (tmux.screen(&pane) == "it's     $(here)%s").then_some(())
        });
        let refused = shell.discard_unread_line(pid).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::Unsupported);
        // Stopped: a write waits for ever.
        tmux.presses(&pane, &["C-s"]);
        let full = until("the terminal is stopped", async || {
            shell.write_to_terminal(pid, b"x").await.err()
        });
        assert_eq!(full.await.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(shell.inspect(pid).await.input_state(), InputState::Line);
    }
}

/// Where the kernel hides the system calls of other programs, the wait channels are left.
#[tokio::test]
async fn reader_is_found_by_its_wait_channel() {
    let tmux = TmuxServer::new();
    for command in SHELLS {
        let shell = PipedShell::start(command).await;
        shell.run("tw_machine=unknown".to_owned()).await.unwrap();
        let processes = Processes::remote(shell);
        for (command, state) in [
            ("cat", InputState::Line),
            ("zsh -f", InputState::Raw),
            ("bash --norc", InputState::Raw),
            ("node -i", InputState::Raw),
            ("bash -c 'read -s secret'", InputState::Password),
            ("sleep 1000", InputState::None),
        ] {
            let pid = pane(&tmux, command);
            wait_for_input(pid, state);
            until(&format!("`{command}` reads {state:?}"), async || {
                (processes.inspect(pid).await.input_state() == state).then_some(())
            })
            .await;
        }
    }
}

/// An old kernel, and no programs besides the shell: only `cat`, then `stty`, too.
#[tokio::test]
async fn minimal_system_answers_as_far_as_it_can() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "sh -c 'cat - \"two words\"; true'");
    wait_for_input(pid, InputState::Line);
    let own = facts(&Processes::local().inspect(pid).await, pid);
    let dir = tmux.home().join("programs");
    std::fs::create_dir(&dir).unwrap();
    for program in ["cat", "stty"] {
        std::os::unix::fs::symlink(format!("/bin/{program}"), dir.join(program)).unwrap();
        for command in SHELLS {
            // It keeps its own path, so that the shell itself is found.
            let shell = PipedShell::start(command).await;
            let path = format!("PATH={}; tw_slack=/nowhere; tw_begin", dir.display());
            shell.run(format!("{path}; tw_machine= tw_head=cat")).await.unwrap();
            let processes = Processes::remote(shell);
            let there = until("the pane is described", async || {
                let there = processes.inspect(pid).await;
                let reads = there.input_state() == InputState::Line;
                (reads == (program == "stty")).then_some(there)
            });
            let there = facts(&there.await, pid);
            let differs = |(there, own): &(&String, &String)| there != own;
            let unknown: Vec<_> = there.iter().zip(&own).filter(differs).collect();
            let expected = if program == "stty" { 1 } else { 2 };
            assert_eq!(unknown.len(), expected, "{program} {command:?}: {unknown:#?}");
            assert_eq!(processes.ancestors(pid).await, Processes::local().ancestors(pid).await);
        }
    }
}

/// `su` and `sudo` run as root, and their prompts must be seen by other users.
#[tokio::test]
async fn programs_of_other_users_are_unknown_elsewhere() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let tmux = TmuxServer::new();
    for command in SHELLS {
        let user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
        let processes = through(&[&user, command].concat()).await;
        let pid = pane(&tmux, "cat");
        wait_for_input(pid, InputState::Line);
        let there = processes.inspect(pid).await;
        assert_eq!(there.foreground().unwrap().name, "cat");
        assert_eq!(there.input_state(), InputState::Unknown);
        assert_eq!((there.own_uid(), there.uid(pid)), (Some(65534), Some(0)));
        assert_eq!((there.cwd(pid), there.sees_our_files(pid)), (None, None));
        assert_eq!(processes.read_count(pid).await, None);
        assert!(!processes.terminate(pid).await);
        let refused = processes.signal_foreground(pid, Signal::TERM).await.unwrap_err();
        assert!(matches!(refused, SignalError::Refused { .. }), "{refused}");
    }
}

/// The shell answers other callers, too, and must not acquire a terminal as a session leader does.
#[tokio::test]
async fn scripts_leave_the_shell_as_it_was() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "cat");
    wait_for_input(pid, InputState::Line);
    for command in SHELLS {
        let shell = PipedShell::start(&[&["setsid"], command].concat()).await;
        let state = "echo $PWD \"$IFS\" $- $#; trap; umask; set | while read -r x; do case $x in \
                     _=*|PPID*|*LINENO*|BASH_*) ;; *) echo \"$x\"; esac; done; \
                     while read -r x; do echo \"${x##*)}\" | { read -r a b c d tty e; echo $tty; }; done \
                     </proc/$$/stat";
        // The first run sets variables of its own.
        shell.run(state.to_owned()).await.unwrap();
        let before = shell.run(state.to_owned()).await.unwrap();
        let processes = Processes::remote(Arc::clone(&shell) as Arc<dyn RemoteShell>);
        assert_eq!(processes.inspect(pid).await.input_state(), InputState::Line);
        processes.write_to_terminal(pid, b"x").await.unwrap();
        assert_eq!(processes.ancestors(pid).await.first(), Some(&pid));
        let after = shell.run(state.to_owned()).await.unwrap();
        assert!(before.ends_with(b"\n0\n"), "it has a terminal already");
        let (before, after) = (String::from_utf8_lossy(&before), String::from_utf8_lossy(&after));
        let new: Vec<_> =
            after.lines().filter(|line| !before.lines().any(|l| l == *line)).collect();
        assert_eq!((new, after.len()), (Vec::<&str>::new(), before.len()), "{command:?}");
    }
}

/// A shell whose replies end early or fail.
#[derive(Debug)]
struct BrokenShell {
    inner: Arc<PipedShell>,
    /// Bytes that are left of each reply; none at all fail.
    limit: std::sync::Mutex<Option<usize>>,
}

impl RemoteShell for BrokenShell {
    fn run(&self, script: String) -> ScriptOutput<'_> {
        Box::pin(async move {
            let mut reply = self.inner.run(script).await?;
            let limit = *self.limit.lock().unwrap();
            reply.truncate(limit.ok_or(io::ErrorKind::ConnectionReset)?);
            Ok(reply)
        })
    }
}

#[tokio::test]
async fn incomplete_replies_are_unknown() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "cat");
    wait_for_input(pid, InputState::Line);
    let inner = PipedShell::start(SHELLS[0]).await;
    let whole = inner.run(format!("tw_look {} {pid}", nonce())).await.unwrap();
    let broken = Arc::new(BrokenShell { inner, limit: std::sync::Mutex::new(None) });
    let processes = Processes::remote(Arc::clone(&broken) as Arc<dyn RemoteShell>);
    for limit in (0..whole.len() - 40).step_by(61).map(Some).chain([None]) {
        *broken.limit.lock().unwrap() = limit;
        let there = processes.inspect(pid).await;
        assert_eq!(there.foreground(), None, "{limit:?}");
        assert_eq!(there.input_state(), InputState::Unknown, "{limit:?}");
        assert_eq!(processes.other_session_processes(pid).await, None);
    }
}

#[tokio::test]
async fn unreachable_system_does_not_report_an_exit() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "cat");
    wait_for_input(pid, InputState::Line);
    let inner = PipedShell::start(SHELLS[0]).await;
    let broken = Arc::new(BrokenShell { inner, limit: std::sync::Mutex::new(None) });
    let processes = Processes::remote(Arc::clone(&broken) as Arc<dyn RemoteShell>);
    let exit = processes.exited(pid);
    tokio::pin!(exit);
    for limit in [None, Some(0), Some(30)] {
        *broken.limit.lock().unwrap() = limit;
        let waited = tokio::time::timeout(Duration::from_millis(400), exit.as_mut()).await;
        assert!(waited.is_err(), "{limit:?}");
    }
    *broken.limit.lock().unwrap() = Some(usize::MAX);
    assert!(super::super::terminate(pid));
    exit.await;
}
