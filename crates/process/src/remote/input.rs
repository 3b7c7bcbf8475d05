//! Whether a process of another system waits for input, by one reply. The judgement is that of
//! `linux/input.rs`, with less evidence: unread input cannot be seen from there, and memory only of first
//! threads.

use super::super::procfs::{
    Machine, Stat, Syscall, TerminalWait, WaitChannel, epoll_input, poll_inputs,
};
use super::super::terminal::TerminalMode;
use super::super::{InputState, InputWait};
use super::snapshot::Snapshot;

/// A wait for input.
#[derive(Debug)]
pub(super) struct Judgement {
    pub(super) wait: InputWait,
    /// Whether the terminal had this mode while the process waited.
    pub(super) is_settled: bool,
}

/// Inspects which processes wait for the terminal of a pane.
pub(super) struct TerminalProbe<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) machine: Option<Machine>,
}

/// The kind of an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Terminal,
    Socket,
    /// Another device. It can be the controlling terminal by the name of a container.
    Device,
    /// A file without a name, such as an epoll instance.
    Anonymous,
}

impl TerminalProbe<'_> {
    pub(super) fn group<'s>(
        &self,
        processes: impl Iterator<Item = &'s Stat>,
        mode: TerminalMode,
    ) -> Judgement {
        let (mut seen, mut unknown) = (false, false);
        for process in processes {
            seen = true;
            let wait = self.process(process);
            match wait.input(mode) {
                InputState::None => {}
                InputState::Unknown => unknown = true,
                state => {
                    let reader = Some(self.snapshot.name(process.pid));
                    let is_lone = wait == TerminalWait::Lone;
                    // Further threads may run while one waits.
                    let is_settled =
                        process.threads > 1 || self.stayed_blocked(process.pid) != Some(false);
                    return Judgement { wait: InputWait { state, reader, is_lone }, is_settled };
                }
            }
        }
        let state = match seen {
            // `/proc` may hide all processes of other users.
            false => TerminalWait::Hidden.input(mode),
            true if unknown => InputState::Unknown,
            true => InputState::None,
        };
        Judgement { wait: InputWait::without_reader(state), is_settled: true }
    }

    fn process(&self, process: &Stat) -> TerminalWait {
        if process.is_stopped() {
            return TerminalWait::No;
        }
        let main = self.thread(process.pid, process.pid);
        if main >= TerminalWait::Hidden || process.threads == 1 {
            return main;
        }
        if self.has_more(process.pid) {
            return TerminalWait::Hidden;
        }
        let tasks = format!("/proc/{}/task/", process.pid);
        let threads = self.snapshot.paths().filter_map(|path| {
            let (thread, file) = path.strip_prefix(&tasks)?.split_once('/')?;
            matches!(file, "syscall" | "wchan").then_some(())?;
            thread.parse().ok()
        });
        // The first thread may be at work while another one reads.
        let beside = |thread: u32| self.thread(process.pid, thread).min(TerminalWait::Shared);
        threads.map(beside).fold(main, TerminalWait::max)
    }

    fn thread(&self, pid: u32, thread: u32) -> TerminalWait {
        let text = self.snapshot.file_text(&of_thread(pid, thread, "syscall"));
        match text.and_then(|text| Syscall::parse(text, self.machine)) {
            Some(Syscall::Read(file)) if self.kind(pid, file) == Some(FileKind::Terminal) => {
                TerminalWait::Lone
            }
            Some(Syscall::Read(file)) if self.kind(pid, file) == Some(FileKind::Device) => {
                TerminalWait::Hidden
            }
            Some(Syscall::Read(file)) if self.has_more(pid) && self.kind(pid, file).is_none() => {
                TerminalWait::Hidden
            }
            Some(Syscall::Read(_) | Syscall::Other) => TerminalWait::No,
            Some(call @ (Syscall::Select(files) | Syscall::Poll(files))) => {
                let memory = text.and_then(|text| self.snapshot.memory(pid, text));
                let memory = memory.filter(|_| pid == thread);
                let inputs = match call {
                    Syscall::Select(_) if files.address == 0 => Some(Vec::new()),
                    // Of a set with a single descriptor nothing is read from memory.
                    Syscall::Select(_) if files.count == 1 => Some(vec![0]),
                    Syscall::Select(_) => memory
                        .filter(|bits| files.select_size() == Some(bits.len()))
                        .map(|bits| files.select_inputs(bits)),
                    _ => {
                        memory.filter(|list| files.poll_size() == Some(list.len())).map(poll_inputs)
                    }
                };
                self.among(pid, inputs, !files.has_time_limit)
            }
            Some(Syscall::Epoll(epoll)) => self.among(pid, self.epoll_inputs(pid, epoll), false),
            Some(Syscall::Unclear) | None => self.by_wait_channel(pid, thread),
        }
    }

    fn by_wait_channel(&self, pid: u32, thread: u32) -> TerminalWait {
        let name = self.snapshot.file_text(&of_thread(pid, thread, "wchan"));
        let stat = || {
            if pid == thread {
                return self.snapshot.stat(pid).cloned();
            }
            Stat::parse(thread, self.snapshot.file(&of_thread(pid, thread, "stat"))?)
        };
        match WaitChannel::judged(name, stat) {
            WaitChannel::Other => TerminalWait::No,
            WaitChannel::Hidden => TerminalWait::Hidden,
            WaitChannel::Poll => self.among_open_files(pid),
            WaitChannel::Epoll => {
                let epolls = self.files(pid).filter(|&(_, kind)| kind == FileKind::Anonymous);
                let inputs = epolls.filter_map(|(epoll, _)| self.epoll_inputs(pid, epoll));
                match self.is_open(pid) && !self.has_more(pid) {
                    true => self.among(pid, Some(inputs.flatten().collect()), false),
                    false => TerminalWait::Hidden,
                }
            }
            // A thread that is blocked in a write has this channel, too, but only for a moment, unless
            // the output is stopped: so it does not count as a lone reader.
            WaitChannel::Read if pid == thread && self.stayed_blocked(pid) == Some(true) => {
                self.as_blocked_reader(pid).min(TerminalWait::Shared)
            }
            WaitChannel::Read => TerminalWait::Hidden,
        }
    }

    /// Whether the first thread did not run during the inspection.
    fn stayed_blocked(&self, pid: u32) -> Option<bool> {
        let before = self.snapshot.lines("ran", pid).next()?;
        let after = self.snapshot.file_text(&format!("/proc/{pid}/schedstat"))?;
        // Zero where the kernel does not count.
        let counts = before.first().is_some_and(|time| time != "0");
        counts.then(|| after.split_ascii_whitespace().eq(before.iter().map(String::as_str)))
    }

    /// Whether the process has files or threads that the reply does not show.
    fn has_more(&self, pid: u32) -> bool {
        self.snapshot.lines("more", pid).next().is_some()
    }

    fn is_open(&self, pid: u32) -> bool {
        self.snapshot.lines("open", pid).next().is_some()
    }

    /// The open files whose kind matters.
    fn files(&self, pid: u32) -> impl Iterator<Item = (u32, FileKind)> {
        self.snapshot.lines("fd", pid).filter_map(|line| {
            let kind = match line.get(1)?.as_str() {
                "terminal" => FileKind::Terminal,
                "anonymous" => FileKind::Anonymous,
                "socket" => FileKind::Socket,
                _ => FileKind::Device,
            };
            Some((line.first()?.parse().ok()?, kind))
        })
    }

    fn kind(&self, pid: u32, file: u32) -> Option<FileKind> {
        self.files(pid).find(|&(descriptor, _)| descriptor == file).map(|(_, kind)| kind)
    }

    /// Whether a file was opened for reading, by the octal flags of the file.
    fn is_readable(&self, pid: u32, file: u32) -> bool {
        let info = self.snapshot.file_text(&format!("/proc/{pid}/fdinfo/{file}"));
        let flags = info.and_then(|info| info.lines().find_map(|line| line.strip_prefix("flags:")));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        flags.is_some_and(|flags| matches!(flags & 3, 0 | 2))
    }

    /// For a call that waits for these files, or for unknown ones.
    fn among(&self, pid: u32, inputs: Option<Vec<u32>>, blocks: bool) -> TerminalWait {
        let Some(inputs) = inputs else { return self.among_open_files(pid) };
        let is_terminal = |&&file: &&u32| self.kind(pid, file) == Some(FileKind::Terminal);
        match inputs.iter().filter(is_terminal).count() {
            0 => TerminalWait::No,
            terminals if blocks && terminals == inputs.len() => TerminalWait::Lone,
            _ => TerminalWait::Shared,
        }
    }

    /// For a process that waits for unknown files: it may wait for any that it has open.
    fn among_open_files(&self, pid: u32) -> TerminalWait {
        let reads = |(file, kind)| kind == FileKind::Terminal && self.is_readable(pid, file);
        match self.files(pid).any(reads) {
            true => TerminalWait::Perhaps,
            false if !self.is_open(pid) || self.has_more(pid) => TerminalWait::Hidden,
            false => TerminalWait::No,
        }
    }

    /// The descriptors for whose input an epoll instance waits.
    fn epoll_inputs(&self, pid: u32, epoll: u32) -> Option<Vec<u32>> {
        let info = self.snapshot.file_text(&format!("/proc/{pid}/fdinfo/{epoll}"))?;
        Some(info.lines().filter_map(epoll_input).collect())
    }

    /// For a process that sleeps where readers of a terminal do: it reads the terminal if it has it
    /// open, and no other file whose readers sleep there.
    fn as_blocked_reader(&self, pid: u32) -> TerminalWait {
        let reads = |(file, kind)| kind == FileKind::Terminal && self.is_readable(pid, file);
        let is_ambiguous = |(file, kind)| match kind {
            FileKind::Terminal => false,
            FileKind::Socket | FileKind::Device => true,
            FileKind::Anonymous => !self.never_blocks(pid, file),
        };
        if !self.is_open(pid) || self.has_more(pid) || self.files(pid).any(is_ambiguous) {
            return TerminalWait::Hidden;
        }
        if self.files(pid).any(reads) { TerminalWait::Lone } else { TerminalWait::No }
    }

    /// Whether the readers of a file without a name sleep elsewhere than those of a terminal. That is
    /// false for inotify and fanotify.
    fn never_blocks(&self, pid: u32, file: u32) -> bool {
        const HARMLESS: [&str; 4] = ["tfd:", "eventfd-", "sigmask:", "clockid:"];
        let info = self.snapshot.file_text(&format!("/proc/{pid}/fdinfo/{file}"));
        !self.is_readable(pid, file)
            || info.is_some_and(|info| {
                info.lines().any(|line| HARMLESS.iter().any(|word| line.starts_with(word)))
            })
    }
}

/// Path of a file about a thread.
fn of_thread(pid: u32, thread: u32, name: &str) -> String {
    match pid == thread {
        true => format!("/proc/{pid}/{name}"),
        false => format!("/proc/{pid}/task/{thread}/{name}"),
    }
}
