//! The terminal device of another process: its mode, its identity, writing to it, and discarding input.
//!
//! Nothing is read from the terminal and its settings are never changed.

use std::fs;
use std::io::{self, Write};
#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode as Permissions, OFlags, open};
use rustix::termios::{LocalModes, QueueSelector, tcflush, tcgetattr};

use super::InputState;

/// How a terminal passes typed input to its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TerminalMode {
    /// Line by line, with echo.
    Line,
    /// Line by line, without echo.
    NoEcho,
    /// Key by key.
    Raw,
}

impl TerminalMode {
    /// The input state of a program that reads from a terminal in this mode.
    pub(super) fn input(self) -> InputState {
        match self {
            Self::Line => InputState::Line,
            Self::NoEcho => InputState::Password,
            Self::Raw => InputState::Raw,
        }
    }
}

/// An open terminal device.
#[derive(Debug)]
pub(super) struct TerminalDevice {
    file: fs::File,
}

impl TerminalDevice {
    pub(super) fn open(path: &Path) -> Option<Self> {
        // It must not become our controlling terminal, and opening must not wait for a carrier.
        let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = fs::File::from(open(path, flags, Permissions::empty()).ok()?);
        Some(Self { file })
    }

    /// Discards input that no program has read, also a line without its end.
    pub(super) fn discard_input(&self) -> io::Result<()> {
        Ok(tcflush(&self.file, QueueSelector::IFlush)?)
    }

    pub(super) fn mode(&self) -> Option<TerminalMode> {
        let modes = tcgetattr(&self.file).ok()?.local_modes;
        Some(if !modes.contains(LocalModes::ICANON) {
            TerminalMode::Raw
        } else if modes.contains(LocalModes::ECHO) {
            TerminalMode::Line
        } else {
            TerminalMode::NoEcho
        })
    }

    /// Whether a file is this terminal.
    #[cfg(target_os = "linux")]
    pub(super) fn is_same_file(&self, file: &fs::Metadata) -> bool {
        self.file.metadata().is_ok_and(|ours| identity(&ours) == identity(file))
    }

    /// Whether the terminal accepts output now: a write would not block.
    #[cfg(target_os = "linux")]
    pub(super) fn accepts_output(&self) -> bool {
        self.is_ready(rustix::event::PollFlags::OUT)
    }

    /// Whether typed input has not been read yet. On Linux `poll` waits for input that the kernel is still
    /// passing to the terminal, `FIONREAD` does not.
    #[cfg(target_os = "linux")]
    pub(super) fn has_unread_input(&self) -> bool {
        self.is_ready(rustix::event::PollFlags::IN)
    }

    /// Whether typed input has not been read yet. `poll` of a terminal is unreliable on macOS.
    #[cfg(target_os = "macos")]
    pub(super) fn has_unread_input(&self) -> bool {
        rustix::io::ioctl_fionread(&self.file).is_ok_and(|bytes| bytes > 0)
    }

    #[cfg(target_os = "linux")]
    fn is_ready(&self, events: rustix::event::PollFlags) -> bool {
        use rustix::event::{PollFd, Timespec, poll};
        let mut files = [PollFd::new(&self.file, events)];
        let no_wait = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut files, Some(&no_wait)).is_ok_and(|ready| ready > 0)
    }
}

/// Writes to a terminal, as its program would. `WouldBlock` if not all bytes are taken at once.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut terminal = fs::File::from(open(path, flags, Permissions::empty())?);
    match terminal.write(bytes)? {
        taken if taken == bytes.len() => Ok(()),
        _ => Err(io::ErrorKind::WouldBlock.into()),
    }
}

/// Device and inode. The path would not do: `/dev/pts/3` of a container is not our `/dev/pts/3`.
#[cfg(target_os = "linux")]
fn identity(file: &fs::Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}
