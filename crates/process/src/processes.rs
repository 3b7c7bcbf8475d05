//! Processes of one system, as a handle: callers need not know whether that is this system.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;

use super::{Foreground, InputState, InputWait, ReadCount, ShellKind, SignalError};

/// The processes of the system on which a tmux server runs.
#[derive(Debug, Clone, Default)]
pub struct Processes {}

impl Processes {
    /// The processes of this system.
    pub fn local() -> Self {
        Self {}
    }

    /// Inspects the pane whose first process is `pid`.
    pub async fn inspect(&self, pid: u32) -> Inspection {
        Inspection { pid }
    }

    /// Waits until the process has exited; returns at once if it does not exist.
    pub async fn exited(&self, pid: u32) {
        super::exited(pid).await;
    }

    /// What a process has read so far. `None` if the system does not say.
    pub async fn read_count(&self, pid: u32) -> Option<ReadCount> {
        super::read_count(pid)
    }

    /// The processes other than `pid` and its ancestors that belong to the session of `pid`, and so may
    /// write to its terminal. `None` if the system does not say.
    pub async fn other_session_processes(&self, pid: u32) -> Option<Vec<u32>> {
        super::other_session_processes(pid)
    }

    /// A process and its ancestors, nearest first.
    pub async fn ancestors(&self, pid: u32) -> Vec<u32> {
        super::ancestors(pid)
    }

    /// Writes to the terminal of a process, as the process itself would. `WouldBlock` if the terminal does
    /// not take all bytes at once; it may have taken some.
    pub async fn write_to_terminal(&self, pid: u32, bytes: &[u8]) -> io::Result<()> {
        super::write_to_terminal(pid, bytes)
    }

    /// Discards the unread input of the terminal of a process, if the terminal passes input on line by line.
    /// It then holds a line that has no end yet, which no program can read and no query shows.
    pub async fn discard_unread_line(&self, pid: u32) -> io::Result<()> {
        super::discard_unread_line(pid)
    }

    /// Sends a signal to the foreground process group of the pane whose first process is `pid`, and
    /// returns the program in it.
    pub async fn signal_foreground(
        &self,
        pid: u32,
        signal: Signal,
    ) -> Result<Foreground, SignalError> {
        super::signal_foreground(pid, signal)
    }

    /// Asks a process to end. Returns false if there is no such process, or it is not ours to end.
    pub async fn terminate(&self, pid: u32) -> bool {
        super::terminate(pid)
    }
}

/// An inspection of the pane with a certain first process. On this system every method asks the operating
/// system anew; of another system, all are answered from one reply.
///
/// Methods with a `pid` of their own take processes that the inspection has named, or the first process.
#[derive(Debug, Clone)]
pub struct Inspection {
    pid: u32,
}

impl Inspection {
    /// The foreground program. `None` if there is none, also while the first process is still a copy of
    /// tmux and has not executed its program.
    pub fn foreground(&self) -> Option<Foreground> {
        super::foreground(self.pid)
    }

    /// All processes of the foreground process group, the leader first if it is alive.
    pub fn foreground_group(&self) -> Vec<Foreground> {
        super::foreground_group(self.pid)
    }

    /// Whether the foreground program reads input.
    pub fn input_state(&self) -> InputState {
        super::input_state(self.pid)
    }

    /// The same, with the process that reads. A program with typed input that it has not read yet does
    /// not wait.
    pub fn input_wait(&self) -> InputWait {
        super::input_wait(self.pid)
    }

    /// Whether the terminal holds typed input that no program has read yet: after input that was delivered
    /// before, `false` proves that a program has read it. `None` if the system does not say.
    pub fn has_unread_input(&self) -> Option<bool> {
        super::has_unread_input(self.pid)
    }

    /// Whether the terminal takes lines without echoing them, as for a password. A program may still print
    /// them.
    pub fn hides_input(&self) -> bool {
        super::hides_input(self.pid)
    }

    /// Whether the terminal holds typed text until the line is entered.
    pub fn edits_lines(&self) -> bool {
        super::edits_lines(self.pid)
    }

    /// Whether the foreground program has a child in its own process group, as a shell that runs a script
    /// has. `None` if the system does not say.
    pub fn foreground_has_child(&self) -> Option<bool> {
        super::foreground_has_child(self.pid)
    }

    /// The kind of shell that a foreground program is. `None` if it is not a shell, or does not take
    /// commands from the terminal.
    pub fn shell(&self, program: &Foreground) -> Option<ShellKind> {
        super::shell(program)
    }

    /// Whether a program is a shell that runs a script or the command after `-c`, and so takes no commands
    /// from the terminal.
    pub fn runs_script(&self, program: &Foreground) -> bool {
        super::runs_script(program)
    }

    /// Time since the first process started.
    pub fn age(&self) -> Option<Duration> {
        super::age(self.pid)
    }

    /// Start time of a process, in digits whose unit depends on the system. Pid and start time together
    /// identify a process. `None` if the process does not exist or is a zombie.
    pub fn started(&self, pid: u32) -> Option<String> {
        super::started(pid)
    }

    /// Current directory of a process. `None` also if the directory has been removed.
    pub fn cwd(&self, pid: u32) -> Option<PathBuf> {
        super::cwd(pid)
    }

    /// Effective user of a process.
    pub fn uid(&self, pid: u32) -> Option<u32> {
        super::uid(pid)
    }

    /// Effective user of this program on the system of the pane.
    pub fn own_uid(&self) -> Option<u32> {
        Some(rustix::process::geteuid().as_raw())
    }

    /// Whether paths name the same files for a process as for the processes that start with ours; they do
    /// not in a container or a chroot. `None` if the system does not say.
    pub fn sees_our_files(&self, pid: u32) -> Option<bool> {
        super::sees_our_files(pid)
    }
}
