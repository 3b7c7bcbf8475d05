//! Open files of a process, from `/proc/PID/fd` and `/proc/PID/fdinfo`.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::super::procfs::epoll_input;
use super::super::terminal::TerminalDevice;

/// Device number of `/dev/tty`, the controlling terminal of the process that opens it.
const CONTROLLING_TERMINAL: u64 = 5 << 8;

/// An open file of a process.
pub(super) struct OpenFile {
    pub(super) descriptor: u32,
    /// Path, or a name such as `socket:[123]`.
    pub(super) name: PathBuf,
}

/// All open files; an error if the process may not be inspected.
pub(super) fn open_files(pid: u32) -> io::Result<Vec<OpenFile>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(format!("/proc/{pid}/fd"))? {
        let entry = entry?;
        let descriptor = entry.file_name().to_str().and_then(|number| number.parse().ok());
        // Files that were closed meanwhile are skipped.
        if let (Some(descriptor), Ok(name)) = (descriptor, fs::read_link(entry.path())) {
            files.push(OpenFile { descriptor, name });
        }
    }
    Ok(files)
}

pub(super) fn metadata(pid: u32, descriptor: u32) -> Option<Metadata> {
    fs::metadata(format!("/proc/{pid}/fd/{descriptor}")).ok()
}

/// Whether an open file of a foreground process is this terminal.
pub(super) fn is_terminal(pid: u32, descriptor: u32, terminal: &TerminalDevice) -> bool {
    metadata(pid, descriptor)
        .is_some_and(|file| file.rdev() == CONTROLLING_TERMINAL || terminal.is_same_file(&file))
}

/// Whether an open file of a foreground process is this terminal, open for reading.
pub(super) fn is_readable_terminal(pid: u32, descriptor: u32, terminal: &TerminalDevice) -> bool {
    const READ: u32 = 0o400;
    // The permissions of the link show how the file was opened.
    let link = fs::symlink_metadata(format!("/proc/{pid}/fd/{descriptor}"));
    link.is_ok_and(|link| link.mode() & READ != 0) && is_terminal(pid, descriptor, terminal)
}

/// The descriptors for whose input an epoll instance waits.
pub(super) fn epoll_inputs(pid: u32, epoll: u32) -> io::Result<Vec<u32>> {
    let text = fs::read_to_string(format!("/proc/{pid}/fdinfo/{epoll}"))?;
    Ok(text.lines().filter_map(epoll_input).collect())
}
