//! Paths of terminal devices on macOS.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The path of the terminal with this device number.
pub(super) fn path_of(device: u32) -> Option<PathBuf> {
    let pty = pty_path(device);
    if is_device(&pty, device) {
        return Some(pty);
    }
    let entries = fs::read_dir("/dev").ok()?.flatten();
    entries.map(|entry| entry.path()).find(|path| is_device(path, device))
}

/// The path that a pseudo-terminal with this device number has: the lower 24 bits are its number.
fn pty_path(device: u32) -> PathBuf {
    PathBuf::from(format!("/dev/ttys{:03}", device & 0xff_ffff))
}

fn is_device(path: &Path, device: u32) -> bool {
    // Links are not followed: `/dev/stdin` names another file in every process.
    fs::symlink_metadata(path).is_ok_and(|file| {
        // The standard library extends the sign of the 32-bit number.
        file.file_type().is_char_device() && file.rdev() & u64::from(u32::MAX) == u64::from(device)
    })
}

/// Whether a character device with this path is a terminal: a pseudo-terminal, the controlling
/// terminal, a serial line, the console.
pub(super) fn is_terminal(path: &Path) -> bool {
    path.to_str().is_some_and(|path| {
        ["/dev/tty", "/dev/cu.", "/dev/console"].iter().any(|prefix| path.starts_with(prefix))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pty_path_has_three_digits() {
        for (device, path) in [
            (0x1000_0000, "/dev/ttys000"),
            (0x1000_0003, "/dev/ttys003"),
            (0x1000_03e7, "/dev/ttys999"),
        ] {
            assert_eq!(pty_path(device), Path::new(path));
        }
    }

    #[test]
    fn devices_are_found_by_their_number() {
        let null = fs::metadata("/dev/null").unwrap().rdev() & u64::from(u32::MAX);
        assert_eq!(path_of(u32::try_from(null).unwrap()), Some("/dev/null".into()));
        assert_eq!(path_of(u32::MAX), None);
    }

    #[test]
    fn terminals_are_recognized_by_their_path() {
        for path in ["/dev/ttys003", "/dev/tty", "/dev/console", "/dev/cu.usbserial"] {
            assert!(is_terminal(Path::new(path)), "{path}");
        }
        for path in ["/dev/null", "/dev/random", "/Users/me/dev/tty", ""] {
            assert!(!is_terminal(Path::new(path)), "{path}");
        }
    }
}
