//! Processes on Linux and macOS: which program is in the foreground of a terminal, whether it reads
//! input, which shell it is, when it exits; and what happens when this process does.
//!
//! The crate knows nothing of tmux: a pane is represented by its first process. It keeps no state;
//! every call asks the operating system, or a shell on another Linux system (`remote/mod.rs`).

mod exit;
mod keeper;
mod processes;
mod procfs;
mod remote;
mod shell;
mod signal;
mod successor;
mod terminal;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as os;

// The parsers are tested on Linux too.
#[cfg(any(test, target_os = "macos"))]
mod macos;
#[cfg(target_os = "macos")]
use macos as os;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("tmuxwright runs on Linux and macOS only");

#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Pid;
use terminal::{TerminalDevice, TerminalMode};

pub use exit::exited;
pub use keeper::keep;
pub use processes::{Inspection, Processes};
pub use remote::{REMOTE_PRELUDE, RemoteShell, ScriptOutput};
pub use shell::{ShellKind, is_shell_name, runs_script, shell};
pub use signal::{SignalError, parse_signal, signal_foreground, signal_names, terminate};
pub use successor::Successor;

/// Limit for the bytes of an argument list that are read.
const MAX_ARGV_BYTES: usize = 4096;

/// Limit for the processes of one terminal, in case the process table changes while it is read.
const MAX_PROCESSES: usize = 4096;

/// The program in the foreground of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreground {
    /// The leader of the foreground process group, or another member if the leader has exited.
    pub pid: u32,
    /// The foreground process group.
    pub group: u32,
    /// Name of the program, without its directory and without the dash of a login shell.
    pub name: String,
    /// The arguments, beginning with the name. A very long list is cut. Empty while the program is
    /// being started, and on macOS for programs of other users.
    pub argv: Vec<String>,
    /// Start time, as in [`started`].
    pub started: Option<String>,
}

/// Whether the foreground program reads the terminal's input, and in which mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputState {
    /// The program is not reading.
    None,
    /// The program reads a line, which the terminal echoes.
    Line,
    /// The program reads a line without echo: a password.
    Password,
    /// The program reads key by key: the prompt of a line editor, or a full-screen program.
    Raw,
    /// The system does not say.
    Unknown,
}

/// The wait of a pane's foreground program for the terminal's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputWait {
    /// Whether the program reads, and in which mode.
    pub state: InputState,
    /// Name of the process that reads. `None` if none does, or the system does not say which.
    pub reader: Option<String>,
    /// Whether that process does nothing but wait for the terminal: its first thread is blocked
    /// until input comes, and in nothing else. False where the system does not say.
    pub is_lone: bool,
}

impl InputWait {
    fn without_reader(state: InputState) -> Self {
        Self { state, reader: None, is_lone: false }
    }
}

/// The foreground program of the pane whose first process is `pid`. `None` if there is none, also while
/// that process is still a copy of tmux and has not executed its program.
pub fn foreground(pid: u32) -> Option<Foreground> {
    os::foreground(pid)
}

/// All processes of the foreground process group of the pane whose first process is `pid`, the leader
/// first if it is alive.
pub fn foreground_group(pid: u32) -> Vec<Foreground> {
    os::foreground_group(pid)
}

/// Whether the foreground program of the pane whose first process is `pid` reads input.
pub fn input_state(pid: u32) -> InputState {
    os::input_wait(pid).state
}

/// The same, with the process that reads. A program with typed input that it has not read yet does
/// not wait.
pub fn input_wait(pid: u32) -> InputWait {
    os::input_wait(pid)
}

/// Whether the terminal of a process holds typed input that no program has read yet: after input that was
/// delivered before, `false` proves that a program has read it. `None` if the system does not say.
pub fn has_unread_input(pid: u32) -> Option<bool> {
    os::has_unread_input(pid)
}

/// Whether the terminal of a process takes lines without echoing them, as for a password. A program may
/// still print them.
pub fn hides_input(pid: u32) -> bool {
    terminal_mode(pid) == Some(TerminalMode::NoEcho)
}

/// Whether the terminal of a process holds typed text until the line is entered.
pub fn edits_lines(pid: u32) -> bool {
    matches!(terminal_mode(pid), Some(TerminalMode::Line | TerminalMode::NoEcho))
}

fn terminal_mode(pid: u32) -> Option<TerminalMode> {
    os::terminal(pid).and_then(|path| TerminalDevice::open(&path))?.mode()
}

/// Writes to the terminal of a process, as the process itself would. `WouldBlock` if the terminal does
/// not take all bytes at once; it may have taken some.
pub fn write_to_terminal(pid: u32, bytes: &[u8]) -> io::Result<()> {
    let path = os::terminal(pid).ok_or(io::ErrorKind::NotFound)?;
    terminal::write(&path, bytes)
}

/// Discards the unread input of the terminal of a process, if the terminal passes input on line by line.
/// It then holds a line that has no end yet, which no program can read and no query shows.
pub fn discard_unread_line(pid: u32) -> io::Result<()> {
    let path = os::terminal(pid).ok_or(io::ErrorKind::NotFound)?;
    let device = terminal::TerminalDevice::open(&path).ok_or(io::ErrorKind::NotFound)?;
    match device.mode() {
        Some(terminal::TerminalMode::Line) => device.discard_input(),
        _ => Ok(()),
    }
}

/// A process and its ancestors, nearest first.
pub fn ancestors(pid: u32) -> Vec<u32> {
    let mut chain = vec![pid];
    let mut current = pid;
    // The limit ends a cycle, possible if the process table changes meanwhile.
    while let Some(parent) = os::parent(current).filter(|&parent| parent > 0 && chain.len() < 256) {
        chain.push(parent);
        current = parent;
    }
    chain
}

/// What the threads of a process have read so far, from its terminal and from all other files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadCount {
    bytes: u64,
    calls: u64,
}

impl ReadCount {
    /// Whether the process has read no key since `earlier`: nothing, or only eight bytes at a time. Those are the reads
    /// of an eventfd, by which the threads of a program such as node wake each other.
    pub fn has_no_key_since(self, earlier: Self) -> bool {
        const EVENT_BYTES: u64 = 8;
        let events = self.calls.checked_sub(earlier.calls).map(|calls| calls * EVENT_BYTES);
        let bytes = self.bytes.checked_sub(earlier.bytes);
        events.zip(bytes).is_some_and(|(events, bytes)| bytes == 0 || bytes == events)
    }

    /// Whether the process has read at least this number of keys since `earlier`, as far as its reads tell.
    pub fn has_read_keys_since(self, earlier: Self, keys: usize) -> bool {
        // A thread that has ended takes its count with it, as those of fish do. Then there is no evidence.
        let bytes = self.bytes.checked_sub(earlier.bytes);
        !self.has_no_key_since(earlier) && bytes.is_none_or(|bytes| bytes >= keys as u64)
    }
}

/// What a process has read so far. `None` if the system does not say.
pub fn read_count(pid: u32) -> Option<ReadCount> {
    os::read_count(pid)
}

/// Start time of a process, in digits whose unit depends on the system. Pid and start time together
/// identify a process, since pids are reused. `None` if the process does not exist or is a zombie.
pub fn started(pid: u32) -> Option<String> {
    os::started(pid)
}

/// Time since a process started.
pub fn age(pid: u32) -> Option<Duration> {
    os::age(pid)
}

/// Whether the foreground program of the pane has a child in its own process group, as a shell that
/// runs a script has. `None` if the system does not say.
pub fn foreground_has_child(pid: u32) -> Option<bool> {
    os::foreground_has_child(pid)
}

/// The processes other than `pid` and its ancestors that belong to the session of `pid`, and so may
/// write to its terminal. `None` if the system does not say.
pub fn other_session_processes(pid: u32) -> Option<Vec<u32>> {
    os::other_session_processes(pid)
}

/// Current directory of a process. `None` also if the directory has been removed.
pub fn cwd(pid: u32) -> Option<PathBuf> {
    os::cwd(pid)
}

/// Effective user of a process.
pub fn uid(pid: u32) -> Option<u32> {
    os::uid(pid)
}

/// Whether paths name the same files for a process as for this one; they do not in a container or a
/// chroot. `None` if the system does not say.
pub fn sees_our_files(pid: u32) -> Option<bool> {
    os::sees_our_files(pid)
}

fn rustix_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Splits an argument list, in which every string ends with a NUL byte. A program that overwrites its arguments, such as
/// irb, fills the rest with blanks.
fn nul_separated(text: &[u8]) -> impl Iterator<Item = String> {
    let text = text.strip_suffix(b"\0").unwrap_or(text);
    let text = text.trim_ascii_end();
    let parts = (!text.is_empty()).then(|| text.split(|&byte| byte == 0));
    parts.into_iter().flatten().map(|part| String::from_utf8_lossy(part).into_owned())
}

/// The last component of a path, without the dash of a login shell's name.
fn base_name(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_prefix('-').unwrap_or(name)
}

/// Name of a program, from its first argument. Some programs overwrite their arguments with a
/// sentence (`npm install x/y`); they get the name that the kernel keeps.
fn program_name(argv: &[String], kernel_name: impl FnOnce() -> Option<String>) -> String {
    let name = argv.first().filter(|first| !first.contains(' ')).map(|first| base_name(first));
    match name {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => kernel_name().map(|name| base_name(&name).to_owned()).unwrap_or_default(),
    }
}
