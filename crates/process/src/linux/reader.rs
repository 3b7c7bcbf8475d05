//! Whether anybody in the foreground waits for what is typed.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::super::Input;
use super::super::terminal::{Mode, Terminal};
use super::call::{self, Call};
use super::files::{self, OpenFile};
use super::group;
use super::place::Place;
use super::stat::Stat;

/// How often a terminal may change while it is looked at.
const ATTEMPTS: usize = 3;

/// What is known of a thread or a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Waits {
    /// It does not wait for the terminal.
    No,
    /// It has the terminal open, and waits for several files that are not known.
    Perhaps,
    /// Not to be known.
    Hidden,
    /// It waits for the terminal.
    Yes,
}

impl Waits {
    fn input(self, mode: Mode) -> Input {
        match (self, mode) {
            (Self::Yes, mode) => mode.read(),
            // Who changes the terminal wants to read from it.
            (Self::Perhaps, Mode::Raw | Mode::NoEcho) => mode.read(),
            (Self::Perhaps, Mode::Line) | (Self::No, _) => Input::None,
            // A password prompt looks like this, and often runs as another user: sudo, su.
            (Self::Hidden, Mode::NoEcho) => Input::Password,
            (Self::Hidden, _) => Input::Unknown,
        }
    }
}

/// How the calls of threads are learnt.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sight {
    /// From the call itself where that is shown, or else from the place.
    Best,
    /// From the place alone.
    #[cfg(test)]
    Places,
}

/// What the foreground of this pane does with what is typed.
pub(super) fn input(pid: u32, sight: Sight) -> Input {
    for _ in 0..ATTEMPTS {
        let Some(pane) = Stat::of(pid) else { break };
        let terminal = terminal_path(&pane).and_then(|path| Terminal::open(&path));
        let (Some(group), Some(terminal)) = (pane.foreground, terminal) else { break };
        let Some(mode) = terminal.mode() else { break };
        let reads = Watch { terminal: &terminal, sight }.group(&pane, group, mode);
        // One that is in the middle of a call looks as if it waited there.
        let found = if terminal.has_input() { Input::None } else { reads };
        // A shell that has just taken its terminal back would be seen in the mode of before.
        if terminal.mode() == Some(mode) {
            return found;
        }
    }
    Input::Unknown
}

/// The terminal of a process, through one of its own files where possible: what is `/dev/pts/3` here
/// may be another terminal where it lives.
pub(super) fn terminal_path(pane: &Stat) -> Option<PathBuf> {
    let own = (0..3).find(|&file| {
        files::metadata(pane.pid, file).is_some_and(|file| file.rdev() == pane.terminal)
    });
    if let Some(file) = own {
        return Some(PathBuf::from(format!("/proc/{}/fd/{file}", pane.pid)));
    }
    let is_pty = (136..144).contains(&(pane.terminal >> 8 & 0xfff));
    let number = pane.terminal & 0xff | pane.terminal >> 12 & 0xfff00;
    is_pty.then(|| PathBuf::from(format!("/dev/pts/{number}")))
}

struct Watch<'a> {
    terminal: &'a Terminal,
    sight: Sight,
}

impl Watch<'_> {
    fn group(&self, pane: &Stat, group: u32, mode: Mode) -> Input {
        let leader = group::leader(pane, group).into_iter();
        // Looked for only if the leader does not read.
        let others = std::iter::once_with(|| group::members(pane, group)).flatten();
        let (mut seen, mut unknown) = (false, false);
        for process in leader.chain(others) {
            seen = true;
            match self.process(&process).input(mode) {
                Input::None => {}
                Input::Unknown => unknown = true,
                reads => return reads,
            }
        }
        match seen {
            // Other users' processes may be hidden as a whole.
            false => Waits::Hidden.input(mode),
            true if unknown => Input::Unknown,
            true => Input::None,
        }
    }

    fn process(&self, process: &Stat) -> Waits {
        if process.is_stopped() {
            return Waits::No;
        }
        let main = self.thread(process.pid, process.pid);
        if main >= Waits::Hidden || process.threads == 1 {
            return main;
        }
        let others = group::threads_of(process.pid).into_iter();
        let others = others.filter(|&thread| thread != process.pid);
        others.map(|thread| self.thread(process.pid, thread)).fold(main, Waits::max)
    }

    fn thread(&self, pid: u32, thread: u32) -> Waits {
        let call = match self.sight {
            Sight::Best => Call::of(pid, thread),
            #[cfg(test)]
            Sight::Places => None,
        };
        let is_terminal = |file: u32| files::is_terminal(pid, file, self.terminal);
        let one_of = |files: Option<Vec<u32>>| match files {
            Some(files) if files.iter().any(|&file| is_terminal(file)) => Waits::Yes,
            Some(_) => Waits::No,
            None => self.has_open(pid),
        };
        match call {
            Some(Call::Read(file)) if is_terminal(file) => Waits::Yes,
            Some(Call::Read(_) | Call::Other) => Waits::No,
            Some(Call::Select(count, address)) => one_of(call::selected(pid, count, address)),
            Some(Call::Poll(count, address)) => one_of(call::polled(pid, count, address)),
            Some(Call::Epoll(set)) => one_of(files::in_set(pid, set).ok()),
            Some(Call::Unclear) | None => self.by_place(pid, thread),
        }
    }

    fn by_place(&self, pid: u32, thread: u32) -> Waits {
        // Asked before and after, since both change while a program writes.
        let takes_output = self.terminal.takes_output();
        match Place::of(pid, thread) {
            Place::Elsewhere => Waits::No,
            Place::Hidden => Waits::Hidden,
            Place::Poll => self.has_open(pid),
            Place::Epoll => self.has_in_a_set(pid),
            Place::Read if takes_output && self.terminal.takes_output() => self.only_reads(pid),
            Place::Read => Waits::Hidden,
        }
    }

    /// For one that waits for files which are not known.
    fn has_open(&self, pid: u32) -> Waits {
        self.among(pid, |files| {
            let reads = |file: &OpenFile| files::reads_terminal(pid, file.number, self.terminal);
            if files.iter().any(reads) { Waits::Perhaps } else { Waits::No }
        })
    }

    /// For one that waits for a set, but not known for which.
    fn has_in_a_set(&self, pid: u32) -> Waits {
        self.among(pid, |files| {
            let sets = files.iter().filter(|file| file.name == Path::new("anon_inode:[eventpoll]"));
            let mut members =
                sets.flat_map(|set| files::in_set(pid, set.number).unwrap_or_default());
            if members.any(|file| files::is_terminal(pid, file, self.terminal)) {
                Waits::Yes
            } else {
                Waits::No
            }
        })
    }

    /// For one that sleeps where readers of terminals do: it is one if it has the terminal open and
    /// nothing else for which one would sleep there.
    fn only_reads(&self, pid: u32) -> Waits {
        const HARMLESS: &[&str] =
            &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
        self.among(pid, |files| {
            let (mine, others): (Vec<_>, Vec<_>) =
                files.iter().partition(|file| files::is_terminal(pid, file.number, self.terminal));
            let sleeps_alike = others.iter().any(|file| {
                let name = file.name.to_string_lossy();
                name.starts_with("socket:")
                    || name.contains("notify")
                    || name.starts_with("/dev/") && !HARMLESS.contains(&&*name)
            });
            match mine.iter().any(|file| files::reads_terminal(pid, file.number, self.terminal)) {
                true if sleeps_alike => Waits::Hidden,
                true => Waits::Yes,
                false => Waits::No,
            }
        })
    }

    fn among(&self, pid: u32, judge: impl FnOnce(&[OpenFile]) -> Waits) -> Waits {
        files::open_files(pid).map_or(Waits::Hidden, |files| judge(&files))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_and_the_mode_give_the_answer() {
        for (waits, line, hidden, raw) in [
            (Waits::Yes, Input::Line, Input::Password, Input::Raw),
            (Waits::Perhaps, Input::None, Input::Password, Input::Raw),
            (Waits::Hidden, Input::Unknown, Input::Password, Input::Unknown),
            (Waits::No, Input::None, Input::None, Input::None),
        ] {
            let found = [Mode::Line, Mode::NoEcho, Mode::Raw].map(|mode| waits.input(mode));
            assert_eq!(found, [line, hidden, raw], "{waits:?}");
        }
    }
}
