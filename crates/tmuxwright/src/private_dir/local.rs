//! The private directory on this system.
//!
//! Other users can create files with such names, and cleaners of temporary files remove ours. So nothing is
//! opened through a link, and the directory is created again if it is gone.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rustix::fs::{Mode, OFlags, open, openat};
use rustix::process::geteuid;
use tempfile::TempDir;

use super::{DIR_PREFIX, MAX_PATH_BYTES, OWNER_FILE, REMOVAL_ATTEMPTS};
use crate::file_io;
use crate::lock::lock;

/// Bytes read from the file of the owner; a token is shorter.
const MAX_OWNER_BYTES: u64 = 4096;

/// Flags for opening files that another process may have replaced by something else.
const FLAGS: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The directory, created when it is first needed.
#[derive(Debug)]
pub(crate) struct LocalDir {
    owner: String,
    dir: Mutex<DirState>,
}

#[derive(Debug)]
enum DirState {
    Unused,
    Created(TempDir),
    /// Removed for good: a follower that ends later must not create it again.
    Closed,
}

impl DirState {
    /// The path, if the directory exists. A cleaner of temporary files may have removed it.
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Created(dir) => Some(dir.path()).filter(|path| path.is_dir()),
            Self::Unused | Self::Closed => None,
        }
    }
}

impl tmux_control::SocketDir for LocalDir {
    fn socket_dir(&self) -> io::Result<PathBuf> {
        self.path()
    }
}

impl LocalDir {
    /// A directory of the process with this token, not created yet.
    pub(crate) fn new(owner: String) -> Self {
        Self { owner, dir: Mutex::new(DirState::Unused) }
    }

    /// The path of the directory, which is created if it does not exist.
    pub(super) fn path(&self) -> io::Result<PathBuf> {
        let mut dir = lock(&self.dir);
        match (dir.path(), &*dir) {
            (Some(path), _) => return Ok(path.to_owned()),
            (None, DirState::Closed) => return Err(io::Error::other("the server exits")),
            (None, _) => {}
        }
        let created = tempfile::Builder::new()
            .prefix(DIR_PREFIX)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(parent())?;
        write(&created.path().join(OWNER_FILE), &self.owner)?;
        let path = created.path().to_owned();
        *dir = DirState::Created(created);
        Ok(path)
    }

    /// Writes a file that only the user can read.
    pub(super) fn write_file(&self, name: &str, text: &str) -> io::Result<()> {
        write(&self.path()?.join(name), text)
    }

    /// Removes a file. Returns false if there was none.
    pub(super) fn remove_file(&self, name: &str) -> bool {
        lock(&self.dir).path().is_some_and(|dir| fs::remove_file(dir.join(name)).is_ok())
    }

    /// Whether a file exists and is not empty.
    pub(super) fn has_text(&self, name: &str) -> bool {
        let file = lock(&self.dir).path().map(|dir| fs::metadata(dir.join(name)));
        file.is_some_and(|file| file.is_ok_and(|about| about.len() > 0))
    }

    /// The absolute path that a shell has written to a file, which is removed.
    pub(super) fn take_path(&self, name: &str) -> Option<PathBuf> {
        let path = lock(&self.dir).path()?.to_owned();
        let dir = open(&path, FLAGS | OFlags::DIRECTORY, Mode::empty()).ok()?;
        let path = read_own(&File::from(dir), name, MAX_PATH_BYTES);
        self.remove_file(name);
        path.map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// Removes the directory for good.
    pub(crate) fn close(&self) {
        let dir = std::mem::replace(&mut *lock(&self.dir), DirState::Closed);
        if let DirState::Created(dir) = dir
            && let Err(error) = remove(&dir.keep())
        {
            tracing::debug!("removing the private directory: {error}");
        }
    }
}

/// Removes a private directory. It is renamed first, since a shell that exits writes its directory there;
/// a file that a shell was just creating needs another attempt. The owner's file goes last: as long as it is
/// there, another process can finish the removal.
fn remove(path: &Path) -> io::Result<()> {
    let renamed = path.with_extension("closed");
    let path = if fs::rename(path, &renamed).is_ok() { &renamed } else { path };
    let mut removed = Ok(());
    for _ in 0..REMOVAL_ATTEMPTS {
        for entry in fs::read_dir(path)?.flatten().filter(|it| it.file_name() != OWNER_FILE) {
            let _ = fs::remove_file(entry.path());
        }
        removed = fs::remove_dir_all(path);
        match &removed {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            _ => break,
        }
    }
    removed
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// The directory for temporary files. The path is typed into shells, so it must need no quoting in
/// any of them; otherwise `/tmp` is used.
fn parent() -> PathBuf {
    let dir = std::env::temp_dir();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,".contains(c);
    match dir.to_str() {
        Some(text) if text.chars().all(plain) && dir.is_absolute() => dir,
        _ => PathBuf::from("/tmp"),
    }
}

/// The beginning of the paths of all private directories.
pub(crate) fn prefix() -> PathBuf {
    parent().join(DIR_PREFIX)
}

/// Removes the private directories of processes that died without doing so. Other users can create
/// directories with such names, so only the user's own are looked into.
pub(super) async fn remove_stale(is_dead: fn(&str) -> bool) {
    let removed = file_io::off_runtime(move || {
        for entry in fs::read_dir(parent()).into_iter().flatten().flatten() {
            let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(DIR_PREFIX));
            if ours
                && owner_of(&entry.path()).is_some_and(|owner| is_dead(&owner))
                && let Err(error) = remove(&entry.path())
            {
                tracing::debug!("removing {}: {error}", entry.path().display());
            }
        }
    });
    if let Err(error) = removed.await {
        tracing::debug!("removing directories of dead processes: {error}");
    }
}

/// The token in a private directory's owner file. `None` unless the user owns both, and the file is a
/// regular file.
fn owner_of(dir: &Path) -> Option<String> {
    let dir = File::from(open(dir, FLAGS | OFlags::DIRECTORY, Mode::empty()).ok()?);
    own_metadata(&dir)?;
    read_own(&dir, OWNER_FILE, MAX_OWNER_BYTES)
}

/// The text of a file in a directory, if it is a regular file of the user.
fn read_own(dir: &File, name: &str, max_bytes: u64) -> Option<String> {
    let file = File::from(openat(dir, name, FLAGS, Mode::empty()).ok()?);
    own_metadata(&file).filter(fs::Metadata::is_file)?;
    let mut text = String::new();
    file.take(max_bytes).read_to_string(&mut text).ok()?;
    Some(text)
}

fn own_metadata(file: &File) -> Option<fs::Metadata> {
    file.metadata().ok().filter(|about| about.uid() == geteuid().as_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_directory_stays_removed() {
        let dir = LocalDir::new("token".to_owned());
        assert!(!dir.remove_file("unknown"));
        assert!(dir.dir.lock().unwrap().path().is_none());
        dir.write_file("first", "").unwrap();
        let path = dir.path().unwrap();
        assert!(dir.remove_file("first"));
        // A shell that exits meanwhile.
        let (begin, begun) = std::sync::mpsc::channel();
        let files = path.clone();
        let writer = std::thread::spawn(move || {
            let mut names = (0..).map(|number: u32| files.join(number.to_string()));
            names.by_ref().take(100).for_each(|file| fs::write(file, "").unwrap());
            begin.send(()).unwrap();
            names.take(10_000).take_while(|file| fs::write(file, "").is_ok()).count()
        });
        begun.recv().unwrap();
        dir.close();
        writer.join().unwrap();
        assert!(!path.exists());
        assert!(!path.with_extension("closed").exists());
        assert!(!dir.remove_file("first"));
        assert!(dir.take_path("exit").is_none());
        assert!(dir.write_file("late", "").is_err());
    }

    #[test]
    fn owner_is_read_from_a_regular_file_only() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(owner_of(dir.path()), None);
        let file = dir.path().join(OWNER_FILE);
        write(&file, "token").unwrap();
        assert_eq!(owner_of(dir.path()).as_deref(), Some("token"));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        assert_eq!(owner_of(&link), None);
        fs::rename(&file, dir.path().join("other")).unwrap();
        std::os::unix::fs::symlink("other", &file).unwrap();
        assert_eq!(owner_of(dir.path()), None);
        // rustix has no mknodat on other systems.
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, FileType, mknodat};
            fs::remove_file(&file).unwrap();
            mknodat(CWD, &file, FileType::Fifo, Mode::RWXU, 0).unwrap();
            assert_eq!(owner_of(dir.path()), None);
        }
    }
}
