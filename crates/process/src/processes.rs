//! Processes of one system, as a handle: callers need not know whether that is this system.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;

use super::remote::{RemoteProcesses, RemoteShell, Snapshot};
use super::{Foreground, InputState, InputWait, ReadCount, ShellKind, SignalError, shell};

/// The processes of the system on which a tmux server runs.
#[derive(Debug, Clone, Default)]
pub struct Processes {
    /// `None` for this system.
    remote: Option<Arc<RemoteProcesses>>,
}

impl Processes {
    /// The processes of this system.
    pub fn local() -> Self {
        Self { remote: None }
    }

    /// The processes of the Linux system on which this shell runs. It must have run
    /// [`REMOTE_PRELUDE`](super::REMOTE_PRELUDE).
    pub fn remote(shell: Arc<dyn RemoteShell>) -> Self {
        Self { remote: Some(Arc::new(RemoteProcesses::new(shell))) }
    }

    /// Inspects the pane whose first process is `pid`.
    pub async fn inspect(&self, pid: u32) -> Inspection {
        let subject = match &self.remote {
            None => Subject::Local,
            Some(remote) => Subject::Remote(Arc::new(remote.inspect(pid).await)),
        };
        Inspection { pid, subject }
    }

    /// Waits until the process has exited; returns soon if it does not exist. Exits on another system are polled, more
    /// and more rarely: an inspection that misses the process makes the next poll due.
    pub async fn exited(&self, pid: u32) {
        match &self.remote {
            None => super::exited(pid).await,
            Some(remote) => remote.exited(pid).await,
        }
    }

    /// The same for a process that is about to exit.
    pub async fn exited_soon(&self, pid: u32) {
        match &self.remote {
            None => super::exited(pid).await,
            Some(remote) => remote.exited_soon(pid).await,
        }
    }

    /// What a process has read so far. `None` if the system does not say.
    pub async fn read_count(&self, pid: u32) -> Option<ReadCount> {
        match &self.remote {
            None => super::read_count(pid),
            Some(remote) => remote.read_count(pid).await,
        }
    }

    /// The processes other than `pid` and its ancestors that belong to the session of `pid`, and so may
    /// write to its terminal. `None` if the system does not say.
    pub async fn other_session_processes(&self, pid: u32) -> Option<Vec<u32>> {
        match &self.remote {
            None => super::other_session_processes(pid),
            Some(remote) => remote.other_session_processes(pid).await,
        }
    }

    /// A process and its ancestors, nearest first.
    pub async fn ancestors(&self, pid: u32) -> Vec<u32> {
        match &self.remote {
            None => super::ancestors(pid),
            Some(remote) => remote.ancestors(pid).await,
        }
    }

    /// Writes to the terminal of a process, as the process itself would. `WouldBlock` if the terminal does
    /// not take all bytes at once; it may have taken some.
    pub async fn write_to_terminal(&self, pid: u32, bytes: &[u8]) -> io::Result<()> {
        match &self.remote {
            None => super::write_to_terminal(pid, bytes),
            Some(remote) => remote.write_to_terminal(pid, bytes).await,
        }
    }

    /// Discards the unread input of the terminal of a process, if the terminal passes input on line by line.
    /// It then holds a line that has no end yet, which no program can read and no query shows.
    pub async fn discard_unread_line(&self, pid: u32) -> io::Result<()> {
        match &self.remote {
            None => super::discard_unread_line(pid),
            Some(remote) => remote.discard_unread_line(pid).await,
        }
    }

    /// Sends a signal to the foreground process group of the pane whose first process is `pid`, and
    /// returns the program in it.
    pub async fn signal_foreground(
        &self,
        pid: u32,
        signal: Signal,
    ) -> Result<Foreground, SignalError> {
        match &self.remote {
            None => super::signal_foreground(pid, signal),
            Some(remote) => remote.signal_foreground(pid, signal).await,
        }
    }

    /// Asks a process to end. Returns false if there is no such process, or it is not ours to end.
    pub async fn terminate(&self, pid: u32) -> bool {
        match &self.remote {
            None => super::terminate(pid),
            Some(remote) => remote.terminate(pid).await,
        }
    }
}

/// An inspection of the pane with a certain first process. On this system every method asks the operating
/// system anew; of another system, all are answered from one reply.
///
/// Methods with a `pid` of their own take processes that the inspection has named, or the first process.
#[derive(Debug, Clone)]
pub struct Inspection {
    pid: u32,
    subject: Subject,
}

#[derive(Debug, Clone)]
enum Subject {
    Local,
    Remote(Arc<Snapshot>),
}

impl Inspection {
    /// The foreground program. `None` if there is none, also while the first process is still a copy of
    /// tmux and has not executed its program.
    pub fn foreground(&self) -> Option<Foreground> {
        match &self.subject {
            Subject::Local => super::foreground(self.pid),
            Subject::Remote(there) => there.foreground(),
        }
    }

    /// All processes of the foreground process group, the leader first if it is alive.
    pub fn foreground_group(&self) -> Vec<Foreground> {
        match &self.subject {
            Subject::Local => super::foreground_group(self.pid),
            Subject::Remote(there) => there.foreground_group(),
        }
    }

    /// Whether the foreground program reads input.
    pub fn input_state(&self) -> InputState {
        match &self.subject {
            Subject::Local => super::input_state(self.pid),
            Subject::Remote(there) => there.input_wait().state,
        }
    }

    /// The same, with the process that reads. A program with typed input that it has not read yet does
    /// not wait.
    pub fn input_wait(&self) -> InputWait {
        match &self.subject {
            Subject::Local => super::input_wait(self.pid),
            Subject::Remote(there) => there.input_wait(),
        }
    }

    /// Whether the terminal holds typed input that no program has read yet: after input that was delivered
    /// before, `false` proves that a program has read it. `None` if the system does not say, as another
    /// system: no program of a minimal system asks a terminal that.
    pub fn has_unread_input(&self) -> Option<bool> {
        match &self.subject {
            Subject::Local => super::has_unread_input(self.pid),
            Subject::Remote(_) => None,
        }
    }

    /// What the first process of the foreground group had read: if the inspection found it waiting, it has acted on
    /// all of that. `None` if the system does not say.
    pub fn read_count(&self, pid: u32) -> Option<ReadCount> {
        match &self.subject {
            Subject::Local => super::read_count(pid),
            Subject::Remote(there) => there.read_count(pid),
        }
    }

    /// Whether the terminal takes lines without echoing them, as for a password. A program may still print
    /// them.
    pub fn hides_input(&self) -> bool {
        match &self.subject {
            Subject::Local => super::hides_input(self.pid),
            Subject::Remote(there) => there.hides_input(),
        }
    }

    /// Whether the terminal holds typed text until the line is entered.
    pub fn edits_lines(&self) -> bool {
        match &self.subject {
            Subject::Local => super::edits_lines(self.pid),
            Subject::Remote(there) => there.edits_lines(),
        }
    }

    /// Whether the foreground program has a child in its own process group, as a shell that runs a script
    /// has. `None` if the system does not say.
    pub fn foreground_has_child(&self) -> Option<bool> {
        match &self.subject {
            Subject::Local => super::foreground_has_child(self.pid),
            Subject::Remote(there) => there.foreground_has_child(),
        }
    }

    /// The kind of shell that a foreground program is. `None` if it is not a shell, or does not take
    /// commands from the terminal.
    pub fn shell(&self, program: &Foreground) -> Option<ShellKind> {
        match &self.subject {
            Subject::Local => shell::shell(program),
            Subject::Remote(there) => {
                let pid = program.pid;
                shell::shell_by(program, || there.exe(pid), || there.stdin_is_terminal(pid))
            }
        }
    }

    /// Whether a program is a shell that runs a script or the command after `-c`, and so takes no commands
    /// from the terminal.
    pub fn runs_script(&self, program: &Foreground) -> bool {
        match &self.subject {
            Subject::Local => shell::runs_script(program),
            Subject::Remote(there) => shell::runs_script_by(program, || there.exe(program.pid)),
        }
    }

    /// Time since the first process started.
    pub fn age(&self) -> Option<Duration> {
        match &self.subject {
            Subject::Local => super::age(self.pid),
            Subject::Remote(there) => there.age(),
        }
    }

    /// Start time of a process, in digits whose unit depends on the system. Pid and start time together
    /// identify a process. `None` if the process does not exist or is a zombie.
    pub fn started(&self, pid: u32) -> Option<String> {
        match &self.subject {
            Subject::Local => super::started(pid),
            Subject::Remote(there) => there.started(pid),
        }
    }

    /// Current directory of a process. `None` also if the directory has been removed.
    pub fn cwd(&self, pid: u32) -> Option<PathBuf> {
        match &self.subject {
            Subject::Local => super::cwd(pid),
            Subject::Remote(there) => there.cwd(pid),
        }
    }

    /// Effective user of a process.
    pub fn uid(&self, pid: u32) -> Option<u32> {
        match &self.subject {
            Subject::Local => super::uid(pid),
            Subject::Remote(there) => there.uid(pid),
        }
    }

    /// Effective user of this program on the system of the pane.
    pub fn own_uid(&self) -> Option<u32> {
        match &self.subject {
            Subject::Local => Some(rustix::process::geteuid().as_raw()),
            Subject::Remote(there) => there.own_uid(),
        }
    }

    /// Whether paths name the same files for a process as for the processes that start with ours; they do
    /// not in a container or a chroot. `None` if the system does not say.
    pub fn sees_our_files(&self, pid: u32) -> Option<bool> {
        match &self.subject {
            Subject::Local => super::sees_our_files(pid),
            Subject::Remote(there) => there.sees_our_files(pid),
        }
    }
}
