//! What the operating system knows of processes: who has a terminal, what it does with what is
//! typed, who started it. It knows nothing of tmux; a pane is the process that runs first in it.
//! Nothing is kept: every call looks anew.

mod exit;
mod shell;
mod signal;
mod terminal;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as os;

// Its parsers are tested on Linux too.
#[cfg(any(test, target_os = "macos"))]
mod macos;
#[cfg(target_os = "macos")]
use macos as os;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("tmuxwright runs on Linux and macOS only");

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Pid;

pub use exit::exited;
pub use shell::{ShellKind, shell};
pub use signal::{SignalError, parse_signal, signal_foreground, signal_names};

/// Limit for the bytes of an argument list that are read.
const MAX_ARGV_BYTES: usize = 4096;

/// Limit for the processes of one terminal, in case the process table changes while it is read.
const MAX_PROCESSES: usize = 4096;

/// The program that has a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreground {
    /// The leader of the foreground process group or, when that is gone, another member.
    pub pid: u32,
    /// The foreground process group.
    pub group: u32,
    /// What people call the program: no directory, and no dash for login shells.
    pub name: String,
    /// The arguments from the name on. Of a very long list only the beginning.
    pub argv: Vec<String>,
    /// When it started, as in [`started`].
    pub started: Option<String>,
}

/// What the foreground program does with what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// It is not reading.
    None,
    /// It reads a line, which the terminal echoes.
    Line,
    /// It reads a line that is not shown: a password.
    Password,
    /// It reads key by key: the prompt of a line editor, or a full-screen program.
    Raw,
    /// This cannot be known.
    Unknown,
}

/// The program that has the terminal of the pane whose first process is `pid`.
pub fn foreground(pid: u32) -> Option<Foreground> {
    os::foreground(pid)
}

/// What the program in the foreground of that pane does with what is typed.
pub fn input(pid: u32) -> Input {
    os::input(pid)
}

/// Prints to the terminal of a process, as the process itself would. False if that cannot be done.
pub fn print(pid: u32, bytes: &[u8]) -> bool {
    os::terminal(pid).is_some_and(|path| terminal::print(&path, bytes))
}

/// A process and its parents, nearest first.
pub fn ancestors(pid: u32) -> Vec<u32> {
    let mut chain = vec![pid];
    let mut current = pid;
    // The bound is for a table that changes while it is read.
    while let Some(parent) = os::parent(current).filter(|&parent| parent > 0 && chain.len() < 256) {
        chain.push(parent);
        current = parent;
    }
    chain
}

/// When a process started, as the system counts: with the pid it names a process for good, since a
/// pid alone is given out again. `None` if there is no such process.
pub fn started(pid: u32) -> Option<String> {
    os::started(pid)
}

/// How long ago a process started.
pub fn age(pid: u32) -> Option<Duration> {
    os::age(pid)
}

/// Whether the program that has the terminal of `pid` runs another one there in its own process
/// group, as a shell does with the commands of a script. `None` where this cannot be known.
pub fn foreground_has_child(pid: u32) -> Option<bool> {
    os::foreground_has_child(pid)
}

/// Whether a process other than `pid` and its parents belongs to the session of `pid`, and so may
/// print where it does. `None` where this cannot be known.
pub fn has_company(pid: u32) -> Option<bool> {
    os::has_company(pid)
}

/// The directory a process is in. `None` also if it has been removed.
pub fn cwd(pid: u32) -> Option<PathBuf> {
    os::cwd(pid)
}

/// The user with whose rights a process runs.
pub fn uid(pid: u32) -> Option<u32> {
    os::uid(pid)
}

/// Whether a process sees the same files under the same names as we do: not so in a container or a
/// chroot. `None` where this cannot be known.
pub fn sees_our_files(pid: u32) -> Option<bool> {
    os::sees_our_files(pid)
}

fn rustix_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Strings that each end with a NUL byte, as in an argument list.
fn nul_separated(text: &[u8]) -> impl Iterator<Item = String> {
    let text = text.strip_suffix(b"\0").unwrap_or(text);
    let parts = (!text.is_empty()).then(|| text.split(|&byte| byte == 0));
    parts.into_iter().flatten().map(|part| String::from_utf8_lossy(part).into_owned())
}

/// The last part of a path; of a login shell's name, what follows the dash.
fn base_name(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_prefix('-').unwrap_or(name)
}

/// What to call a program. Some write a sentence over their arguments (`npm install x/y`), whose end
/// would be no name: then it is what the system has noted.
fn program_name(argv: &[String], noted: impl FnOnce() -> Option<String>) -> String {
    let name = argv.first().filter(|first| !first.contains(' ')).map(|first| base_name(first));
    match name {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => noted().map(|name| base_name(&name).to_owned()).unwrap_or_default(),
    }
}
