//! Files and directories that other users can neither read nor redirect: opened without following
//! links, and made private to the user.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Opens a log for reading and appending, and creates it if it does not exist.
pub(super) fn log(path: &Path) -> io::Result<File> {
    // Without NONBLOCK, opening a pipe without a reader would block before the check below.
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND | OFlags::NONBLOCK;
    let file = open(path, flags, 0o600)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if about.nlink() > 1 {
        return Err(io::Error::other("it has a second name (a hard link)"));
    }
    keep_private(&file, &about, 0o600)?;
    Ok(file)
}

/// Opens a directory, and creates it if it does not exist.
pub(super) fn directory(path: &Path) -> io::Result<File> {
    match rustix::fs::mkdir(path, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let directory = open(path, OFlags::RDONLY | OFlags::DIRECTORY, 0)?;
    let about = directory.metadata()?;
    keep_private(&directory, &about, 0o700)?;
    Ok(directory)
}

fn open(path: &Path, flags: OFlags, mode: u16) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
    match rustix::fs::open(path, flags, Mode::from_raw_mode(mode.into())) {
        Ok(file) => Ok(file.into()),
        Err(Errno::LOOP) => Err(io::Error::other("it is a symbolic link")),
        Err(Errno::NOTDIR) if flags.contains(OFlags::DIRECTORY) => {
            Err(io::Error::other("it is a symbolic link or not a directory"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a path names this open file.
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let file = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (file.dev(), file.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Refuses a file of another user, and removes the permissions of other users.
fn keep_private(file: &File, about: &Metadata, mode: u32) -> io::Result<()> {
    if about.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it belongs to another user"));
    }
    if about.mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    Ok(())
}
