//! Processes on Linux, read from `/proc`. A file there costs about five microseconds to read, so
//! each is read once.

mod files;
mod group;
mod input;
mod read;
#[cfg(test)]
mod tests;

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::time::{ClockId, clock_gettime};

use super::procfs::Stat;
use super::terminal::TerminalDevice;
use super::{Foreground, InputWait, MAX_ARGV_BYTES, ReadCount, nul_separated, program_name};

/// Unit of the times in `/proc`: 1/100 s on every architecture that Rust supports.
const TICKS_PER_SECOND: u64 = 100;

pub(super) fn parent(pid: u32) -> Option<u32> {
    Some(Stat::of(pid)?.parent)
}

pub(super) fn started(pid: u32) -> Option<String> {
    let stat = Stat::of(pid).filter(Stat::is_alive)?;
    Some(stat.started.to_string())
}

pub(super) fn age(pid: u32) -> Option<Duration> {
    let started = Duration::from_millis(Stat::of(pid)?.started * 1000 / TICKS_PER_SECOND);
    let now = clock_gettime(ClockId::Boottime);
    let now = Duration::new(u64::try_from(now.tv_sec).ok()?, u32::try_from(now.tv_nsec).ok()?);
    Some(now.saturating_sub(started))
}

pub(super) fn foreground(pid: u32) -> Option<Foreground> {
    let pane = Stat::of(pid)?;
    let group = pane.foreground?;
    let program =
        group::leader(&pane, group).or_else(|| group::members(&pane, group).into_iter().next())?;
    (program.pid != pid || program.has_executed).then(|| described(program))
}

pub(super) fn foreground_group(pid: u32) -> Vec<Foreground> {
    let Some(pane) = Stat::of(pid) else { return Vec::new() };
    let Some(group) = pane.foreground else { return Vec::new() };
    let processes = group::leader(&pane, group).into_iter().chain(group::members(&pane, group));
    processes.map(described).collect()
}

fn described(program: Stat) -> Foreground {
    let Stat { pid, group, .. } = program;
    let argv = argv(pid);
    let name = name_by(pid, &argv);
    Foreground { pid, group, name, argv, started: Some(program.started.to_string()) }
}

/// Name of a process's program.
fn name(pid: u32) -> String {
    name_by(pid, &argv(pid))
}

fn name_by(pid: u32, argv: &[String]) -> String {
    let comm = || fs::read_to_string(format!("/proc/{pid}/comm")).ok();
    program_name(argv, || comm().map(|name| name.trim().into()))
}

fn argv(pid: u32) -> Vec<String> {
    let mut buffer = [0; MAX_ARGV_BYTES];
    nul_separated(read::read_of(pid, pid, "cmdline", &mut buffer).unwrap_or_default()).collect()
}

pub(super) fn input_wait(pid: u32) -> InputWait {
    input::input_wait(pid, input::Evidence::Syscall)
}

/// The device file of a process's terminal.
pub(super) fn terminal(pid: u32) -> Option<PathBuf> {
    input::terminal_path(&Stat::of(pid)?)
}

pub(super) fn has_unread_input(pid: u32) -> Option<bool> {
    Some(TerminalDevice::open(&terminal(pid)?)?.has_unread_input())
}

/// The state of [`input_wait`] where the kernel hides the system calls of other programs.
#[cfg(test)]
pub(super) fn input_by_wait_channel(pid: u32) -> super::InputState {
    input::input_wait(pid, input::Evidence::WaitChannel).state
}

pub(super) fn foreground_has_child(pid: u32) -> Option<bool> {
    let group = Stat::of(pid)?.foreground?;
    let children = group::children(group, Stat::of(group)?.threads)?;
    Some(children.into_iter().filter_map(Stat::of).any(|child| child.group == group))
}

pub(super) fn other_session_processes(pid: u32) -> Option<Vec<u32>> {
    let session = Stat::of(pid)?.session;
    let ancestors = super::ancestors(pid);
    let processes = group::all_pids().filter_map(Stat::of);
    let in_session = processes.filter(|stat| stat.session == session && stat.is_alive());
    Some(in_session.map(|stat| stat.pid).filter(|pid| !ancestors.contains(pid)).collect())
}

/// The executable of a process.
pub(super) fn exe(pid: u32) -> Option<String> {
    let path = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let path = path.to_string_lossy();
    // The kernel adds this if an update has replaced the file.
    Some(path.strip_suffix(" (deleted)").unwrap_or(&path).to_owned())
}

/// Whether the standard input of a process is a terminal of any kind.
pub(super) fn stdin_is_terminal(pid: u32) -> Option<bool> {
    const TERMINAL_MAJORS: [std::ops::Range<u64>; 2] = [4..6, 136..144];
    let file = files::metadata(pid, 0)?;
    let major = file.rdev() >> 8 & 0xfff;
    let is_terminal = TERMINAL_MAJORS.iter().any(|range| range.contains(&major));
    Some(file.file_type().is_char_device() && is_terminal)
}

pub(super) fn cwd(pid: u32) -> Option<PathBuf> {
    let link = format!("/proc/{pid}/cwd");
    let path = fs::read_link(&link).ok()?;
    // A removed directory stays open for the processes in it, but has no links.
    (fs::metadata(&link).ok()?.nlink() > 0).then_some(path)
}

pub(super) fn uid(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    // Real, effective, saved and file system user.
    ids.split_ascii_whitespace().nth(1)?.parse().ok()
}

pub(super) fn read_count(pid: u32) -> Option<ReadCount> {
    let mut total = ReadCount { bytes: 0, calls: 0 };
    // The count of the whole process includes its children that have exited.
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let counts = fs::read_to_string(thread.ok()?.path().join("io")).ok()?;
        let count = |name: &str| -> Option<u64> {
            counts.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
        };
        total.bytes += count("rchar:")?;
        total.calls += count("syscr:")?;
    }
    Some(total)
}

pub(super) fn sees_our_files(pid: u32) -> Option<bool> {
    let namespace = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/mnt")).ok();
    let root =
        |pid: &str| fs::metadata(format!("/proc/{pid}/root")).ok().map(|r| (r.dev(), r.ino()));
    let theirs = pid.to_string();
    let same_namespace = namespace(&theirs)? == namespace("self")?;
    Some(same_namespace && root(&theirs)? == root("self")?)
}

/// False for a zombie: tmux at times does not wait for its children.
pub(super) fn is_alive(pid: u32) -> bool {
    Stat::of(pid).is_some_and(|stat| stat.is_alive())
}

/// A descriptor that becomes readable when the process exits.
pub(super) fn exit_handle(pid: Pid) -> Result<OwnedFd, Errno> {
    pidfd_open(pid, PidfdFlags::empty())
}
