//! A terminal that belongs to somebody else: how it is set, and which file it is. Nothing is ever
//! set or read from it; it can be printed to.

use std::fs;
use std::io::Write;
#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode as Permissions, OFlags, open};
use rustix::termios::{LocalModes, tcgetattr};

use super::Input;

/// How a terminal treats what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Lines, shown while they are typed.
    Line,
    /// Lines, not shown.
    NoEcho,
    /// Keys.
    Raw,
}

impl Mode {
    /// What somebody does who reads from a terminal in this mode.
    pub(super) fn read(self) -> Input {
        match self {
            Self::Line => Input::Line,
            Self::NoEcho => Input::Password,
            Self::Raw => Input::Raw,
        }
    }
}

/// An open terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    file: fs::File,
}

impl Terminal {
    pub(super) fn open(path: &Path) -> Option<Self> {
        // It must not become our terminal, and nothing may wait for a carrier.
        let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = fs::File::from(open(path, flags, Permissions::empty()).ok()?);
        Some(Self { file })
    }

    pub(super) fn mode(&self) -> Option<Mode> {
        let modes = tcgetattr(&self.file).ok()?.local_modes;
        Some(if !modes.contains(LocalModes::ICANON) {
            Mode::Raw
        } else if modes.contains(LocalModes::ECHO) {
            Mode::Line
        } else {
            Mode::NoEcho
        })
    }

    /// Whether a file is this terminal.
    #[cfg(target_os = "linux")]
    pub(super) fn is(&self, file: &fs::Metadata) -> bool {
        self.file.metadata().is_ok_and(|ours| identity(&ours) == identity(file))
    }

    /// Whether the terminal takes output now, which it does not while somebody is held up writing.
    #[cfg(target_os = "linux")]
    pub(super) fn takes_output(&self) -> bool {
        self.is_ready(rustix::event::PollFlags::OUT)
    }

    /// Whether something was typed that nobody has read yet.
    #[cfg(target_os = "linux")]
    pub(super) fn has_input(&self) -> bool {
        self.is_ready(rustix::event::PollFlags::IN)
    }

    #[cfg(target_os = "linux")]
    fn is_ready(&self, how: rustix::event::PollFlags) -> bool {
        use rustix::event::{PollFd, Timespec, poll};
        let mut files = [PollFd::new(&self.file, how)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut files, Some(&at_once)).is_ok_and(|ready| ready > 0)
    }
}

/// Prints to a terminal, as its program would. False if that cannot be done at once.
pub(super) fn print(path: &Path, bytes: &[u8]) -> bool {
    let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let terminal = open(path, flags, Permissions::empty()).map(fs::File::from);
    terminal.is_ok_and(|mut terminal| terminal.write(bytes).is_ok_and(|n| n == bytes.len()))
}

/// Device and inode: `/dev/pts/3` of a container is another terminal than ours.
#[cfg(target_os = "linux")]
fn identity(file: &fs::Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}
