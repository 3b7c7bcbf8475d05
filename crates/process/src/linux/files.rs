//! The files that a process has open.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::super::terminal::Terminal;

/// `/dev/tty`: the terminal that the process has, whichever that is.
const OWN_TERMINAL: u64 = 5 << 8;

/// An open file of a process.
pub(super) struct OpenFile {
    pub(super) number: u32,
    /// The path, or a name such as `socket:[123]`.
    pub(super) name: PathBuf,
}

/// All open files; an error if the process lets nobody look.
pub(super) fn open_files(pid: u32) -> io::Result<Vec<OpenFile>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(format!("/proc/{pid}/fd"))? {
        let entry = entry?;
        let number = entry.file_name().to_str().and_then(|number| number.parse().ok());
        // One that has been closed meanwhile is of no interest.
        if let (Some(number), Ok(name)) = (number, fs::read_link(entry.path())) {
            files.push(OpenFile { number, name });
        }
    }
    Ok(files)
}

pub(super) fn metadata(pid: u32, file: u32) -> Option<Metadata> {
    fs::metadata(format!("/proc/{pid}/fd/{file}")).ok()
}

/// Whether a file of a process in the foreground is this terminal.
pub(super) fn is_terminal(pid: u32, file: u32, terminal: &Terminal) -> bool {
    metadata(pid, file).is_some_and(|file| file.rdev() == OWN_TERMINAL || terminal.is(&file))
}

/// The same, and it is open for reading.
pub(super) fn reads_terminal(pid: u32, file: u32, terminal: &Terminal) -> bool {
    const READ: u32 = 0o400;
    // The permissions of the link are how the file was opened.
    let link = fs::symlink_metadata(format!("/proc/{pid}/fd/{file}"));
    link.is_ok_and(|link| link.mode() & READ != 0) && is_terminal(pid, file, terminal)
}

/// The files in an epoll set whose input is waited for.
pub(super) fn in_set(pid: u32, set: u32) -> io::Result<Vec<u32>> {
    let text = fs::read_to_string(format!("/proc/{pid}/fdinfo/{set}"))?;
    Ok(text.lines().filter_map(set_member).collect())
}

/// `tfd:       19 events:       19 data:                0`
fn set_member(line: &str) -> Option<u32> {
    const IN: u32 = 0x01 | 0x40;
    let mut words = line.strip_prefix("tfd:")?.split_ascii_whitespace();
    let file = words.next()?.parse().ok()?;
    let events = words.find(|&word| word != "events:")?;
    let events = u32::from_str_radix(events, 16).ok()?;
    (events & IN != 0).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_lists_its_members() {
        let line = "tfd:       19 events:       1b data: ffff  pos:0 ino:6 sdev:5";
        assert_eq!(set_member(line), Some(19));
        assert_eq!(set_member("tfd: 7 events: 40000000 data: 0"), None, "disabled");
        assert_eq!(set_member("tfd: 7 events: 4 data: 0"), None, "only written to");
        assert_eq!(set_member("pos:\t0"), None);
        assert_eq!(set_member("tfd:"), None);
    }
}
