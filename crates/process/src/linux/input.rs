//! Whether a process in the foreground of a pane waits for input, from the system calls or the wait
//! channels of its threads and the terminal's mode.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::super::procfs::{Stat, Syscall, TerminalWait, WaitChannel};
use super::super::terminal::{TerminalDevice, TerminalMode};
use super::super::{InputState, InputWait};
use super::files::{self, OpenFile};
use super::group;
use super::name;
use super::read;

/// Number of probes before giving up on a terminal whose mode changes each time.
const MAX_PROBES: usize = 3;

/// The source from which the waits of threads are read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Evidence {
    /// The system call, or the wait channel where the kernel hides the call.
    Syscall,
    /// The wait channel alone.
    #[cfg(test)]
    WaitChannel,
}

/// The wait for input in the pane whose first process is `pid`.
pub(super) fn input_wait(pid: u32, evidence: Evidence) -> InputWait {
    for _ in 0..MAX_PROBES {
        let Some(pane) = Stat::of(pid) else { break };
        let terminal = terminal_path(&pane).and_then(|path| TerminalDevice::open(&path));
        let (Some(group), Some(terminal)) = (pane.foreground, terminal) else { break };
        let Some(mode) = terminal.mode() else { break };
        // A program that is just being handed input still seems to wait for it. One that waits after
        // its input was read has acted on it: so the input is looked at first, too.
        let was_unread = terminal.has_unread_input();
        let reads = TerminalProbe { terminal: &terminal, evidence }.group(&pane, group, mode);
        let found = match was_unread || terminal.has_unread_input() {
            true => InputWait::without_reader(InputState::None),
            false => reads,
        };
        // Repeated if the mode has changed: a shell may have taken its terminal back.
        if terminal.mode() == Some(mode) {
            return found;
        }
    }
    InputWait::without_reader(InputState::Unknown)
}

/// Path of a process's terminal, through one of its own files where possible: in a container,
/// `/dev/pts/3` is another terminal than here.
pub(super) fn terminal_path(pane: &Stat) -> Option<PathBuf> {
    let own = (0..3).find(|&descriptor| {
        files::metadata(pane.pid, descriptor).is_some_and(|file| file.rdev() == pane.terminal)
    });
    if let Some(descriptor) = own {
        return Some(PathBuf::from(format!("/proc/{}/fd/{descriptor}", pane.pid)));
    }
    let is_pty = (136..144).contains(&(pane.terminal >> 8 & 0xfff));
    let number = pane.terminal & 0xff | pane.terminal >> 12 & 0xfff00;
    is_pty.then(|| PathBuf::from(format!("/dev/pts/{number}")))
}

/// Inspects which processes wait for one terminal.
struct TerminalProbe<'a> {
    terminal: &'a TerminalDevice,
    evidence: Evidence,
}

impl TerminalProbe<'_> {
    fn group(&self, pane: &Stat, group: u32, mode: TerminalMode) -> InputWait {
        let leader = group::leader(pane, group).into_iter();
        // Searched only if the leader does not read.
        let others = std::iter::once_with(|| group::members(pane, group)).flatten();
        let (mut seen, mut unknown) = (false, false);
        for process in leader.chain(others) {
            seen = true;
            let wait = self.process(&process);
            match wait.input(mode) {
                InputState::None => {}
                InputState::Unknown => unknown = true,
                state => {
                    let (reader, is_lone) = (Some(name(process.pid)), wait == TerminalWait::Lone);
                    return InputWait { state, reader, is_lone };
                }
            }
        }
        InputWait::without_reader(match seen {
            // `/proc` may hide all processes of other users.
            false => TerminalWait::Hidden.input(mode),
            true if unknown => InputState::Unknown,
            true => InputState::None,
        })
    }

    fn process(&self, process: &Stat) -> TerminalWait {
        if process.is_stopped() {
            return TerminalWait::No;
        }
        let main = self.thread(process.pid, process.pid);
        if main >= TerminalWait::Hidden || process.threads == 1 {
            return main;
        }
        let others = group::threads_of(process.pid).into_iter();
        let others = others.filter(|&thread| thread != process.pid);
        // The first thread may be at work while another one reads.
        let beside = |thread| self.thread(process.pid, thread).min(TerminalWait::Shared);
        others.map(beside).fold(main, TerminalWait::max)
    }

    fn thread(&self, pid: u32, thread: u32) -> TerminalWait {
        let call = match self.evidence {
            Evidence::Syscall => Syscall::of(pid, thread),
            #[cfg(test)]
            Evidence::WaitChannel => None,
        };
        let is_terminal = |file: u32| files::is_terminal(pid, file, self.terminal);
        let among = |files: Option<Vec<u32>>, blocks: bool| {
            let Some(files) = files else { return self.among_open_files(pid) };
            let terminals = files.iter().filter(|&&file| is_terminal(file)).count();
            match terminals {
                0 => TerminalWait::No,
                _ if blocks && terminals == files.len() => TerminalWait::Lone,
                _ => TerminalWait::Shared,
            }
        };
        match call {
            Some(Syscall::Read(file)) if is_terminal(file) => TerminalWait::Lone,
            Some(Syscall::Read(_) | Syscall::Other) => TerminalWait::No,
            Some(Syscall::Select(files)) => {
                among(read::select_inputs(pid, files), !files.has_time_limit)
            }
            Some(Syscall::Poll(files)) => {
                among(read::poll_inputs(pid, files), !files.has_time_limit)
            }
            Some(Syscall::Epoll(epoll)) => among(files::epoll_inputs(pid, epoll).ok(), false),
            Some(Syscall::Unclear) | None => self.by_wait_channel(pid, thread),
        }
    }

    fn by_wait_channel(&self, pid: u32, thread: u32) -> TerminalWait {
        // Checked before and after, since it changes while a program writes. A thread that may be
        // blocked in a write is not a reader.
        let accepts_output = self.terminal.accepts_output();
        match WaitChannel::of(pid, thread) {
            WaitChannel::Other => TerminalWait::No,
            WaitChannel::Hidden => TerminalWait::Hidden,
            WaitChannel::Poll => self.among_open_files(pid),
            WaitChannel::Epoll => self.among_epoll_inputs(pid),
            WaitChannel::Read if accepts_output && self.terminal.accepts_output() => {
                self.as_blocked_reader(pid)
            }
            WaitChannel::Read => TerminalWait::Hidden,
        }
    }

    /// For a process that waits for unknown files: it may wait for any that it has open.
    fn among_open_files(&self, pid: u32) -> TerminalWait {
        with_open_files(pid, |files| {
            let reads =
                |file: &OpenFile| files::is_readable_terminal(pid, file.descriptor, self.terminal);
            if files.iter().any(reads) { TerminalWait::Perhaps } else { TerminalWait::No }
        })
    }

    /// For a process that waits on an unknown epoll instance: it may be any of its own.
    fn among_epoll_inputs(&self, pid: u32) -> TerminalWait {
        with_open_files(pid, |files| {
            let epolls =
                files.iter().filter(|file| file.name == Path::new("anon_inode:[eventpoll]"));
            let mut inputs = epolls
                .flat_map(|epoll| files::epoll_inputs(pid, epoll.descriptor).unwrap_or_default());
            if inputs.any(|file| files::is_terminal(pid, file, self.terminal)) {
                TerminalWait::Shared
            } else {
                TerminalWait::No
            }
        })
    }

    /// For a process that sleeps where readers of a terminal do: it reads the terminal if it has it
    /// open, and no other file whose readers sleep there.
    fn as_blocked_reader(&self, pid: u32) -> TerminalWait {
        const NEVER_BLOCKING: &[&str] =
            &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
        with_open_files(pid, |files| {
            let (terminals, others): (Vec<_>, Vec<_>) = files
                .iter()
                .partition(|file| files::is_terminal(pid, file.descriptor, self.terminal));
            let is_ambiguous = others.iter().any(|file| {
                let name = file.name.to_string_lossy();
                name.starts_with("socket:")
                    || name.contains("notify")
                    || name.starts_with("/dev/") && !NEVER_BLOCKING.contains(&&*name)
            });
            let mut descriptors = terminals.iter().map(|file| file.descriptor);
            match descriptors.any(|it| files::is_readable_terminal(pid, it, self.terminal)) {
                true if is_ambiguous => TerminalWait::Hidden,
                true => TerminalWait::Lone,
                false => TerminalWait::No,
            }
        })
    }
}

/// Judges by the open files of a process, if it may be inspected.
fn with_open_files(pid: u32, judge: impl FnOnce(&[OpenFile]) -> TerminalWait) -> TerminalWait {
    files::open_files(pid).map_or(TerminalWait::Hidden, |files| judge(&files))
}
