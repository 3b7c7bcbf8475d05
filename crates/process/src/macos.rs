//! macOS and the other Unixes: `ps`, which needs no unsafe code. It takes milliseconds, and knows
//! less than Linux tells.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::test_kill_process;

use super::terminal::{Mode, Terminal};
use super::{Foreground, Input, program_name, rustix_pid};

pub(super) fn parent(pid: u32) -> Option<u32> {
    ps("ppid=", pid)?.parse().ok()
}

pub(super) fn started(pid: u32) -> Option<String> {
    // Only letters and digits: the text becomes part of a tmux option and of a token.
    let text = ps("lstart=", pid)?;
    Some(text.chars().filter(char::is_ascii_alphanumeric).collect())
}

/// From `[[days-]hours:]minutes:seconds`.
pub(super) fn age(pid: u32) -> Option<Duration> {
    let text = ps("etime=", pid)?;
    let (days, time) = text.split_once('-').unwrap_or(("0", &text));
    let mut seconds = 0;
    for part in time.split(':') {
        seconds = seconds * 60 + part.parse::<u64>().ok()?;
    }
    Some(Duration::from_secs(days.parse::<u64>().ok()? * 86_400 + seconds))
}

pub(super) fn uid(pid: u32) -> Option<u32> {
    ps("uid=", pid)?.parse().ok()
}

pub(super) fn foreground(pid: u32) -> Option<Foreground> {
    let group: u32 = ps("tpgid=", pid)?.parse().ok().filter(|&group| group > 0)?;
    let pid = if is_running(group) { group } else { member(group)? };
    // `ps` does not say where one argument ends.
    let argv: Vec<String> = ps("command=", pid)?.split_whitespace().map(str::to_owned).collect();
    let name = program_name(&argv, || ps("comm=", pid));
    Some(Foreground { pid, group, name, argv, started: started(pid) })
}

fn is_running(pid: u32) -> bool {
    ps("stat=", pid).is_some_and(|state| !state.starts_with('Z'))
}

fn member(group: u32) -> Option<u32> {
    let all = run_ps(&["-A", "-o", "pid=", "-o", "pgid="])?;
    let mut pids = all.lines().filter_map(|line| {
        let mut numbers = line.split_whitespace().map(str::parse);
        let (pid, its_group) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        (its_group == group).then_some(pid)
    });
    pids.find(|&pid| is_running(pid))
}

/// Nothing tells who reads. But a terminal that takes keys is a prompt or a full-screen program, and
/// one that takes lines and does not show them is a password prompt.
pub(super) fn input(pid: u32) -> Input {
    let mode =
        terminal(pid).and_then(|path| Terminal::open(&path)).and_then(|terminal| terminal.mode());
    match mode {
        Some(mode @ (Mode::NoEcho | Mode::Raw)) => mode.read(),
        Some(Mode::Line) | None => Input::Unknown,
    }
}

/// The file that is the terminal of a process.
pub(super) fn terminal(pid: u32) -> Option<PathBuf> {
    Some(Path::new("/dev").join(ps("tty=", pid)?))
}

pub(super) fn is_alive(pid: u32) -> bool {
    rustix_pid(pid).is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

/// There is no pidfd, and kqueue needs unsafe code.
#[cfg(not(target_os = "linux"))]
pub(super) use super::looked_for_until_gone as exited;

#[cfg(not(target_os = "linux"))]
pub(super) fn foreground_has_child(_: u32) -> Option<bool> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(super) fn has_company(_: u32) -> Option<bool> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(super) fn exe(_: u32) -> Option<String> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(super) fn stdin_is_terminal(_: u32) -> Option<bool> {
    None
}

/// tmux knows it for the programs that are asked about.
#[cfg(not(target_os = "linux"))]
pub(super) fn cwd(_: u32) -> Option<PathBuf> {
    None
}

/// There are no mount namespaces.
#[cfg(not(target_os = "linux"))]
pub(super) fn sees_our_files(pid: u32) -> Option<bool> {
    parent(pid).map(|_| true)
}

fn ps(column: &str, pid: u32) -> Option<String> {
    run_ps(&["-ww", "-o", column, "-p", &pid.to_string()])
}

fn run_ps(arguments: &[&str]) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "not tmux, and only where there is no /proc")]
    let output = Command::new("ps").args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (!text.is_empty()).then_some(text)
}
