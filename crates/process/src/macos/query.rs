//! The functions that this crate needs from a system, on macOS.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use libc::{CTL_KERN, KERN_PROC, KERN_PROC_PGRP, KERN_PROC_PID, KERN_PROCARGS2};
use rustix::io::Errno;
use rustix::process::{Pid, getsid};

use super::super::terminal::{TerminalDevice, TerminalMode};
use super::super::{
    Foreground, InputState, InputWait, MAX_PROCESSES, ReadCount, ancestors, program_name,
    rustix_pid,
};
use super::kinfo::{ProcessRecord, RECORD_SIZE};
use super::{arguments, device, libproc};

/// The kernel's limit for the arguments and the environment of a program. A shorter buffer would
/// be filled with the end of them.
const ARG_MAX: usize = 1024 * 1024;

pub(crate) fn parent(pid: u32) -> Option<u32> {
    Some(record(pid)?.parent)
}

pub(crate) fn started(pid: u32) -> Option<String> {
    let record = record(pid).filter(|record| record.is_alive)?;
    Some(start_text(&record))
}

/// Microseconds since the Unix epoch. Only digits, since the text becomes part of a tmux option and
/// of a token.
fn start_text(record: &ProcessRecord) -> String {
    record.started.as_micros().to_string()
}

pub(crate) fn age(pid: u32) -> Option<Duration> {
    let started = SystemTime::UNIX_EPOCH.checked_add(record(pid)?.started)?;
    Some(started.elapsed().unwrap_or_default())
}

/// The system counts what was read from disks only.
pub(crate) fn read_count(_: u32) -> Option<ReadCount> {
    None
}

pub(crate) fn uid(pid: u32) -> Option<u32> {
    Some(record(pid)?.uid)
}

pub(crate) fn foreground(pid: u32) -> Option<Foreground> {
    let group = record(pid)?.foreground?;
    let belongs = |process: &ProcessRecord| process.group == group && process.is_alive;
    let program =
        record(group).filter(belongs).or_else(|| members(group).into_iter().find(belongs))?;
    (program.pid != pid || program.has_executed).then(|| described(program))
}

pub(crate) fn foreground_group(pid: u32) -> Vec<Foreground> {
    let Some(group) = record(pid).and_then(|record| record.foreground) else { return Vec::new() };
    let mut processes = members(group);
    processes.retain(|process| process.is_alive);
    processes.sort_by_key(|process| process.pid != group);
    processes.into_iter().map(described).collect()
}

fn described(program: ProcessRecord) -> Foreground {
    let argv = argv(program.pid);
    let started = Some(start_text(&program));
    let name = program_name(&argv, || Some(program.command));
    Foreground { pid: program.pid, group: program.group, name, argv, started }
}

/// Empty for processes of other users: macOS shows their arguments to root alone.
fn argv(pid: u32) -> Vec<String> {
    let Some(raw) = raw_pid(pid) else { return Vec::new() };
    let buffer = libproc::sysctl([CTL_KERN, KERN_PROCARGS2, raw], ARG_MAX);
    buffer.map(|buffer| arguments::parse(&buffer)).unwrap_or_default()
}

/// macOS hides the system call in which a program waits. The terminal's mode is the only evidence: a
/// program that reads keys, or lines without echo, has set it.
pub(crate) fn input_wait(pid: u32) -> InputWait {
    let mode = terminal(pid)
        .and_then(|path| TerminalDevice::open(&path))
        .and_then(|terminal| terminal.mode());
    match mode {
        Some(mode @ (TerminalMode::NoEcho | TerminalMode::Raw)) => {
            let reader = foreground(pid).map(|program| program.name);
            InputWait { state: mode.input(), reader, is_lone: false }
        }
        Some(TerminalMode::Line) | None => InputWait::without_reader(InputState::Unknown),
    }
}

/// The device file of a process's terminal.
pub(crate) fn terminal(pid: u32) -> Option<PathBuf> {
    device::path_of(record(pid)?.terminal?)
}

pub(crate) fn has_unread_input(pid: u32) -> Option<bool> {
    Some(TerminalDevice::open(&terminal(pid)?)?.has_unread_input())
}

pub(crate) fn is_alive(pid: u32) -> bool {
    record(pid).is_some_and(|record| record.is_alive)
}

/// A descriptor that becomes readable when the process exits.
pub(crate) fn exit_handle(pid: Pid) -> Result<OwnedFd, Errno> {
    libproc::exit_queue(pid)
}

pub(crate) fn foreground_has_child(pid: u32) -> Option<bool> {
    let group = record(pid)?.foreground?;
    record(group)?;
    Some(members(group).iter().any(|process| process.parent == group))
}

pub(crate) fn other_session_processes(pid: u32) -> Option<Vec<u32>> {
    let session = session_of(pid)?;
    let ancestors = ancestors(pid);
    let others = libproc::all_pids().into_iter().filter(|pid| !ancestors.contains(pid));
    // A zombie has no session any more.
    Some(others.filter(|&other| session_of(other) == Some(session)).collect())
}

/// The executable of a process.
pub(crate) fn exe(pid: u32) -> Option<String> {
    Some(libproc::executable(pid).ok()?.to_string_lossy().into_owned())
}

/// Whether the standard input of a process is a terminal of any kind.
pub(crate) fn stdin_is_terminal(pid: u32) -> Option<bool> {
    match libproc::open_file(pid, 0) {
        Ok(file) if !file.is_char_device => Some(false),
        Ok(file) if file.path.as_os_str().is_empty() => None,
        Ok(file) => Some(device::is_terminal(&file.path)),
        Err(error) => is_errno(&error, Errno::BADF).then_some(false),
    }
}

pub(crate) fn cwd(pid: u32) -> Option<PathBuf> {
    let directory = libproc::directories(pid).ok()?.current;
    // The kernel keeps the path of a directory that has been removed.
    let found = std::fs::metadata(&directory.path).ok()?;
    (found.ino() == directory.inode).then_some(directory.path)
}

/// macOS has no mount namespaces, but it has `chroot`.
pub(crate) fn sees_our_files(pid: u32) -> Option<bool> {
    let root = |pid: u32| libproc::directories(pid).ok().map(|directories| directories.root);
    Some(root(pid)? == root(std::process::id())?)
}

/// The record of a process, zombies included.
fn record(pid: u32) -> Option<ProcessRecord> {
    let name = [CTL_KERN, KERN_PROC, KERN_PROC_PID, raw_pid(pid)?];
    ProcessRecord::parse(&libproc::sysctl(name, RECORD_SIZE).ok()?)
}

/// The members of a process group, zombies included.
fn members(group: u32) -> Vec<ProcessRecord> {
    let Some(raw) = raw_pid(group) else { return Vec::new() };
    let list =
        libproc::sysctl([CTL_KERN, KERN_PROC, KERN_PROC_PGRP, raw], MAX_PROCESSES * RECORD_SIZE);
    ProcessRecord::parse_all(&list.unwrap_or_default()).collect()
}

fn session_of(pid: u32) -> Option<Pid> {
    getsid(Some(rustix_pid(pid)?)).ok()
}

fn raw_pid(pid: u32) -> Option<i32> {
    i32::try_from(pid).ok()
}

fn is_errno(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}
