//! Processes of another Linux system, as a shell there describes them.
//!
//! Every question is one script, and the answer one reply: a connection may take long for each. A reply is
//! not trusted: if it is incomplete, or another system cannot tell, the answer is that nothing is known.

mod exit;
mod input;
mod reply;
mod snapshot;
mod terminal;
#[cfg(test)]
mod tests;

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::Signal;

use super::procfs::Stat;
use super::signal::{SignalError, signal_name};
use super::{Foreground, MAX_PROCESSES, ReadCount};
use exit::ExitPoller;
use reply::Reply;
pub(super) use snapshot::Snapshot;

/// Functions for the shell that [`RemoteShell`] stands for, which must have run this text before any other
/// script, once per connection.
pub const REMOTE_PRELUDE: &str = include_str!("prelude.sh");

/// Limit for the probes of one inspection, if programs wake while they are probed.
const MAX_PROBES: usize = 3;

/// The output of a script, once it has run.
pub type ScriptOutput<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<u8>>> + Send + 'a>>;

/// A POSIX shell on another system that runs scripts one after the other.
pub trait RemoteShell: fmt::Debug + Send + Sync {
    /// Runs a script in the shell itself, without a subshell, so that functions it defines stay. It gets no
    /// input. Returns what it prints; its exit status does not count. Fails if the system cannot be reached.
    fn run(&self, script: String) -> ScriptOutput<'_>;
}

/// The processes of another system.
#[derive(Debug)]
pub(super) struct RemoteProcesses {
    shell: Arc<dyn RemoteShell>,
    exits: ExitPoller,
}

impl RemoteProcesses {
    pub(super) fn new(shell: Arc<dyn RemoteShell>) -> Self {
        Self { exits: ExitPoller::new(Arc::clone(&shell)), shell }
    }

    /// Describes the pane whose first process is `pid`. Empty if the system cannot be reached.
    pub(super) async fn inspect(&self, pid: u32) -> Snapshot {
        let mut members = Vec::new();
        let mut last_mode = None;
        let mut snapshot = Snapshot::default();
        for probe in 1..=MAX_PROBES {
            snapshot = self.probe(pid, &members).await;
            if probe == 1 && snapshot.misses_members() {
                members = self.members(&snapshot).await;
                if !members.is_empty() {
                    snapshot = self.probe(pid, &members).await;
                }
            }
            // A program that woke meanwhile may have changed the mode. Two equal modes say that it did not.
            if snapshot.is_settled() || last_mode.is_some() && last_mode == snapshot.mode() {
                snapshot.settle();
                break;
            }
            last_mode = snapshot.mode();
        }
        self.exits.compare(pid, snapshot.stats());
        snapshot
    }

    async fn probe(&self, pid: u32, members: &[u32]) -> Snapshot {
        let nonce = nonce();
        let members: String = members.iter().map(|pid| format!(" {pid}")).collect();
        let reply = self.shell.run(format!("tw_look {nonce} {pid}{members}\n")).await;
        Snapshot::new(pid, reply.ok().and_then(|text| Reply::parse(&text, &nonce)))
    }

    /// The members of the foreground group, searched among all processes.
    async fn members(&self, pane: &Snapshot) -> Vec<u32> {
        const MAX_MEMBERS: usize = 64;
        let Some(group) = pane.group() else { return Vec::new() };
        let stats = self.all_stats().await.unwrap_or_default().into_iter();
        let members = stats.filter(|stat| stat.group == group && stat.is_alive());
        members.map(|stat| stat.pid).take(MAX_MEMBERS).collect()
    }

    async fn all_stats(&self) -> Option<Vec<Stat>> {
        let reply = self.files(|nonce| format!("tw_stats {nonce}\n")).await?;
        Some(reply.files().filter_map(|(path, text)| stat(path, text)).collect())
    }

    /// The reply to a script that prints files.
    async fn files(&self, script: impl FnOnce(&str) -> String) -> Option<Reply> {
        let nonce = nonce();
        let text = self.shell.run(script(&nonce)).await.ok()?;
        Reply::parse(&text, &nonce).filter(Reply::is_complete)
    }

    pub(super) async fn exited(&self, pid: u32) {
        self.exits.exited(pid, exit::FIRST_PAUSE).await;
    }

    pub(super) async fn exited_soon(&self, pid: u32) {
        self.exits.exited(pid, Duration::ZERO).await;
    }

    pub(super) async fn read_count(&self, pid: u32) -> Option<ReadCount> {
        let reply = self.files(|nonce| format!("tw_counts {nonce} {pid}\n")).await?;
        total_read(reply.files())
    }

    pub(super) async fn other_session_processes(&self, pid: u32) -> Option<Vec<u32>> {
        let stats = self.all_stats().await?;
        let session = stats.iter().find(|stat| stat.pid == pid)?.session;
        let ancestors = chain(&stats, pid);
        let in_session = stats.iter().filter(|stat| stat.session == session && stat.is_alive());
        Some(in_session.map(|stat| stat.pid).filter(|pid| !ancestors.contains(pid)).collect())
    }

    pub(super) async fn ancestors(&self, pid: u32) -> Vec<u32> {
        chain(&self.all_stats().await.unwrap_or_default(), pid)
    }

    pub(super) async fn signal_foreground(
        &self,
        pid: u32,
        signal: Signal,
    ) -> Result<Foreground, SignalError> {
        let none = || SignalError::NoForeground(pid);
        let foreground = self.inspect(pid).await.foreground().ok_or_else(none)?;
        let name = signal_name(signal).ok_or_else(none)?;
        let script = format!("tw_signal {pid} {} {name}\n", foreground.group);
        match self.word(script).await.as_deref() {
            Ok("sent") => Ok(foreground),
            Ok("refused") => Err(SignalError::Refused { foreground, source: Errno::PERM }),
            Ok(_) => Err(none()),
            Err(_) => Err(SignalError::Refused { foreground, source: Errno::HOSTUNREACH }),
        }
    }

    pub(super) async fn terminate(&self, pid: u32) -> bool {
        self.word(format!("tw_terminate {pid}\n")).await.is_ok_and(|word| word == "sent")
    }

    /// The reply to a script that prints one word.
    async fn word(&self, script: String) -> io::Result<String> {
        let reply = self.shell.run(script).await?;
        Ok(String::from_utf8_lossy(&reply).trim().to_owned())
    }
}

/// The sum of the counts in files such as `/proc/PID/task/TID/io`. `None` if there are none.
fn total_read<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> Option<ReadCount> {
    let mut total = None;
    for (_, counts) in files {
        let total = total.get_or_insert(ReadCount { bytes: 0, calls: 0 });
        let counts = std::str::from_utf8(counts).ok()?;
        let count = |name: &str| -> Option<u64> {
            counts.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
        };
        total.bytes = total.bytes.checked_add(count("rchar:")?)?;
        total.calls = total.calls.checked_add(count("syscr:")?)?;
    }
    total
}

/// Time between two start times of `/proc`.
fn ticks(count: u64) -> Duration {
    /// Unit of the times in `/proc`: 1/100 s on every architecture that Rust supports.
    const TICKS_PER_SECOND: u64 = 100;
    Duration::from_millis(count.saturating_mul(1000 / TICKS_PER_SECOND))
}

/// Parses the file `/proc/PID/stat`.
fn stat(path: &str, text: &[u8]) -> Option<Stat> {
    let pid = path.strip_prefix("/proc/")?.strip_suffix("/stat")?.parse().ok()?;
    Stat::parse(pid, text)
}

/// A process and its ancestors, nearest first.
fn chain(stats: &[Stat], pid: u32) -> Vec<u32> {
    let parent = |pid| stats.iter().find(|stat| stat.pid == pid).map(|stat| stat.parent);
    let mut chain = vec![pid];
    let mut current = pid;
    // The limit ends a cycle, possible if the process table changes meanwhile.
    while let Some(parent) = parent(current).filter(|&parent| parent > 0)
        && chain.len() < MAX_PROCESSES.min(256)
    {
        chain.push(parent);
        current = parent;
    }
    chain
}

/// A number that no program on the other system can know, in 19 digits: the keys of `RandomState` come from
/// the operating system.
fn nonce() -> String {
    const SMALLEST: u64 = 1_000_000_000_000_000_000;
    (SMALLEST + RandomState::new().hash_one(()) % (8 * SMALLEST)).to_string()
}
