//! The files shells read from us: start-up scripts, and the commands that are carried to them. All
//! in one directory that only the user can open and that goes away with this process.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::TempDir;

use crate::lock::lock;

const SCRIPTS: &[(&str, &str)] = &[
    ("bash.sh", include_str!("start/bash.sh")),
    (".zshenv", include_str!("start/zshenv.zsh")),
    ("init.fish", include_str!("start/init.fish")),
];

/// Begins the directory's name. The zsh script knows it too.
const PREFIX: &str = "tmuxwright-";

/// The file that says whose directory it is.
const OWNER: &str = "owner";

/// The directory, made with its first file.
#[derive(Debug)]
pub(super) struct Kit {
    owner: String,
    dir: Mutex<Option<TempDir>>,
}

impl Kit {
    /// A kit of the process with this token.
    pub(super) fn new(owner: String) -> Self {
        Self { owner, dir: Mutex::new(None) }
    }

    /// The directory with the start-up scripts in it.
    pub(super) fn dir(&self) -> io::Result<PathBuf> {
        let mut dir = lock(&self.dir);
        // Those who tidy up temporary files may have taken it away.
        if let Some(dir) = dir.as_ref().filter(|dir| dir.path().is_dir()) {
            return Ok(dir.path().to_owned());
        }
        let made = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(parent())?;
        for (name, text) in SCRIPTS.iter().chain([&(OWNER, self.owner.as_str())]) {
            write(&made.path().join(name), text)?;
        }
        let path = made.path().to_owned();
        *dir = Some(made);
        Ok(path)
    }

    /// Writes a file that only the user can read.
    pub(super) fn put(&self, name: &str, text: &str) -> io::Result<()> {
        write(&self.dir()?.join(name), text)
    }

    /// Removes a file. False if there was none.
    pub(super) fn take(&self, name: &str) -> bool {
        self.dir().is_ok_and(|dir| fs::remove_file(dir.join(name)).is_ok())
    }

    /// Removes everything.
    pub(super) fn close(&self) {
        lock(&self.dir).take();
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut open = fs::OpenOptions::new();
    open.write(true).create(true).truncate(true).mode(0o600);
    open.open(path)?.write_all(text.as_bytes())
}

/// Where temporary files go. The path is typed into shells, so it must be one word to all of them.
fn parent() -> PathBuf {
    let dir = std::env::temp_dir();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,".contains(c);
    match dir.to_str() {
        Some(text) if text.chars().all(plain) && dir.is_absolute() => dir,
        _ => PathBuf::from("/tmp"),
    }
}

/// Removes the directories of processes that died without doing so themselves.
pub(super) fn reap(is_dead: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(parent()).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let owner = || fs::read_to_string(entry.path().join(OWNER)).ok();
        if ours
            && owner().is_some_and(|owner| is_dead(&owner))
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            tracing::debug!("removing {}: {error}", entry.path().display());
        }
    }
}
