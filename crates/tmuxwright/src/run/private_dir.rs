//! The private directory of this process: start-up scripts of shells, command files, ready files.
//!
//! Only the user can open it, and it is removed when the process exits.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::TempDir;

use crate::lock::lock;

/// Start-up scripts of shells, by file name.
const STARTUP_SCRIPTS: &[(&str, &str)] = &[
    ("bash.sh", include_str!("start/bash.sh")),
    (".zshenv", include_str!("start/zshenv.zsh")),
    ("init.fish", include_str!("start/init.fish")),
];

/// Prefix of the directory's name. `start/zshenv.zsh` matches it too.
const DIR_PREFIX: &str = "tmuxwright-";

/// Name of the file that holds the token of the process that owns the directory.
const OWNER_FILE: &str = "owner";

/// The directory, created when it is first needed.
#[derive(Debug)]
pub(super) struct PrivateDir {
    owner: String,
    dir: Mutex<Option<TempDir>>,
}

impl PrivateDir {
    /// A directory of the process with this token, not created yet.
    pub(super) fn new(owner: String) -> Self {
        Self { owner, dir: Mutex::new(None) }
    }

    /// The path of the directory, which holds the start-up scripts.
    pub(super) fn path(&self) -> io::Result<PathBuf> {
        let mut dir = lock(&self.dir);
        // A cleaner of temporary files may have removed the directory: then it is created again.
        if let Some(dir) = dir.as_ref().filter(|dir| dir.path().is_dir()) {
            return Ok(dir.path().to_owned());
        }
        let created = tempfile::Builder::new()
            .prefix(DIR_PREFIX)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(parent())?;
        for (name, text) in STARTUP_SCRIPTS.iter().chain([&(OWNER_FILE, self.owner.as_str())]) {
            write(&created.path().join(name), text)?;
        }
        let path = created.path().to_owned();
        *dir = Some(created);
        Ok(path)
    }

    /// Writes a file that only the user can read.
    pub(super) fn write_file(&self, name: &str, text: &str) -> io::Result<()> {
        write(&self.path()?.join(name), text)
    }

    /// Removes a file. Returns false if there was none.
    pub(super) fn remove_file(&self, name: &str) -> bool {
        self.path().is_ok_and(|dir| fs::remove_file(dir.join(name)).is_ok())
    }

    /// Removes the directory.
    pub(super) fn close(&self) {
        lock(&self.dir).take();
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut open = fs::OpenOptions::new();
    open.write(true).create(true).truncate(true).mode(0o600);
    open.open(path)?.write_all(text.as_bytes())
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
pub(crate) fn private_dir_prefix() -> PathBuf {
    parent().join(DIR_PREFIX)
}

/// Removes the private directories of processes that died without doing so.
pub(super) fn remove_stale(is_dead: impl Fn(&str) -> bool) {
    for entry in fs::read_dir(parent()).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(DIR_PREFIX));
        let owner = || fs::read_to_string(entry.path().join(OWNER_FILE)).ok();
        if ours
            && owner().is_some_and(|owner| is_dead(&owner))
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            tracing::debug!("removing {}: {error}", entry.path().display());
        }
    }
}
