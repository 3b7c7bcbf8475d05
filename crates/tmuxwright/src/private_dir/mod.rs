//! The private directory of this process on the system of a tmux server: start-up scripts of shells,
//! command files, ready files, the socket of the keepers, and that of the relay for control clients.
//!
//! Only the user can open it, and it is removed when the process exits.

mod local;
mod remote;
#[cfg(test)]
mod remote_tests;
#[cfg(test)]
mod test_shell;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use process::RemoteShell;

pub(crate) use local::{LocalDir, prefix};
use remote::RemoteDir;

/// Prefix of the directory's name. `run/start/zshenv.zsh` matches it too.
const DIR_PREFIX: &str = "tmuxwright-";

/// Suffix of the name of a directory that is being removed.
const CLOSED_SUFFIX: &str = ".closed";

/// Name of the file that holds the token of the process that owns the directory.
const OWNER_FILE: &str = "owner";

/// Bytes read from a file with a path.
const MAX_PATH_BYTES: u64 = 4096;

/// Attempts to remove the directory.
const REMOVAL_ATTEMPTS: usize = 10;

/// The directory, created when it is first needed.
#[derive(Debug)]
pub(crate) enum PrivateDir {
    /// On this system.
    Local(Arc<LocalDir>),
    /// On another one, through a shell there.
    Remote(Arc<RemoteDir>),
}

impl PrivateDir {
    /// A directory of the process with this token on another system, not created yet.
    pub(crate) fn remote(owner: String, shell: Arc<dyn RemoteShell>) -> Self {
        Self::Remote(Arc::new(RemoteDir::new(owner, shell)))
    }

    /// The path of the directory, which is created if it does not exist. It needs no quoting in any shell.
    pub(crate) async fn path(&self) -> io::Result<PathBuf> {
        match self {
            Self::Local(dir) => dir.path(),
            Self::Remote(dir) => dir.path().await.map(PathBuf::from),
        }
    }

    /// Writes a file that only the user can read.
    pub(crate) async fn write_file(&self, name: &str, text: &str) -> io::Result<()> {
        match self {
            Self::Local(dir) => dir.write_file(name, text),
            Self::Remote(dir) => dir.write_file(name, text.as_bytes()).await,
        }
    }

    /// Removes a file. Returns false if there was none.
    pub(crate) async fn remove_file(&self, name: &str) -> bool {
        match self {
            Self::Local(dir) => dir.remove_file(name),
            Self::Remote(dir) => dir.remove_files(&[name.to_owned()]).await,
        }
    }

    /// Removes files whose names are not used again. On another system that goes on in the background: the end
    /// of a command is not to wait for it.
    pub(crate) fn discard(&self, names: &[&str]) {
        match self {
            Self::Local(dir) => {
                for name in names {
                    dir.remove_file(name);
                }
            }
            Self::Remote(dir) => {
                let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
                let dir = Arc::clone(dir);
                tokio::spawn(async move { dir.discard_files(&names).await });
            }
        }
    }

    /// Whether a file exists and is not empty.
    pub(crate) async fn has_text(&self, name: &str) -> bool {
        match self {
            Self::Local(dir) => dir.has_text(name),
            Self::Remote(dir) => dir.has_text(name).await,
        }
    }

    /// The absolute path that a shell has written to a file, which is removed.
    pub(crate) async fn take_path(&self, name: &str) -> Option<PathBuf> {
        match self {
            Self::Local(dir) => dir.take_path(name),
            Self::Remote(dir) => dir.take_path(name).await,
        }
    }

    /// Removes the directory for good.
    pub(crate) async fn close(&self) {
        match self {
            Self::Local(dir) => dir.close(),
            Self::Remote(dir) => dir.close().await,
        }
    }

    /// Removes the private directories of processes that died without doing so. `is_dead` judges the token of a
    /// process of this system; those of other systems count as alive.
    pub(crate) async fn remove_stale(&self, is_dead: fn(&str) -> bool) {
        match self {
            Self::Local(_) => local::remove_stale(is_dead).await,
            Self::Remote(dir) => dir.remove_stale(is_dead).await,
        }
    }
}
