//! The system on which a tmux server runs: this one, or another one that a shell there describes. Paths of panes are
//! paths of that system.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use process::{Processes, RemoteShell};
use tmux_control::remote::Remote;

use crate::private_dir::LocalDir;

/// The system on which a tmux server runs.
#[derive(Debug, Clone)]
pub struct System {
    processes: Processes,
    /// The shell of another system.
    shell: Option<Arc<dyn RemoteShell>>,
    connection: Option<Connection>,
}

/// The connection to another system.
#[derive(Debug, Clone)]
struct Connection {
    remote: Remote,
    /// The directory of its socket, on this system.
    sockets: Arc<LocalDir>,
}

impl System {
    /// This system.
    pub fn local() -> Self {
        Self { processes: Processes::local(), shell: None, connection: None }
    }

    /// Another system with these processes, on which this shell runs scripts.
    pub(super) fn remote(
        processes: Processes,
        shell: Arc<dyn RemoteShell>,
        remote: Remote,
        sockets: Arc<LocalDir>,
    ) -> Self {
        let connection = Some(Connection { remote, sockets });
        Self { processes, shell: Some(shell), connection }
    }

    /// The connection to another system; `None` for this one.
    pub fn connection(&self) -> Option<&Remote> {
        self.connection.as_ref().map(|connection| &connection.remote)
    }

    /// Ends the connection to another system for good.
    pub(super) async fn close(&self) {
        if let Some(Connection { remote, sockets }) = &self.connection {
            remote.close().await;
            sockets.close();
        }
    }

    /// Whether it is this one.
    pub(crate) fn is_local(&self) -> bool {
        self.shell.is_none()
    }

    /// Its processes.
    pub(super) fn processes(&self) -> &Processes {
        &self.processes
    }

    /// Whether there is a directory at a path. True if the system cannot be reached: tmux reports that.
    pub(crate) async fn has_directory(&self, path: &Path) -> bool {
        let Some(shell) = &self.shell else { return path.is_dir() };
        let Some(path) = path.to_str() else { return false };
        let script = format!("[ -d {} ] && printf yes", quoted(path));
        printed(shell, script).await.is_none_or(|answer| answer == "yes")
    }

    /// The path of a directory without links. `None` if there is none, or if it cannot be entered.
    pub(crate) async fn real_directory(&self, path: &Path) -> Option<PathBuf> {
        let Some(shell) = &self.shell else { return std::fs::canonicalize(path).ok() };
        // The last letter keeps a path whole that ends with a line feed.
        let script = format!("( CDPATH= cd -P {} && pwd -P && printf x )", quoted(path.to_str()?));
        let answer = printed(shell, script).await?;
        answer.strip_suffix("\nx").map(PathBuf::from)
    }

    /// The value of an environment variable there; of this process if it is this system.
    pub(crate) async fn variable(&self, name: &'static str) -> Option<String> {
        match &self.shell {
            None => std::env::var(name).ok(),
            Some(shell) => printed(shell, format!("printf %s \"${{{name}-}}\"")).await,
        }
        .filter(|value| !value.is_empty())
    }

    /// A path with `~` replaced by the user's home directory on another system. That of this one is replaced where
    /// arguments are checked.
    pub(crate) async fn expand_remote_home(&self, text: String) -> String {
        let below = text.strip_prefix('~').filter(|it| it.is_empty() || it.starts_with('/'));
        match below.filter(|_| self.shell.is_some()) {
            None => text,
            Some(below) => match self.variable("HOME").await {
                Some(home) => format!("{home}{below}"),
                None => text,
            },
        }
    }
}

/// The output of a script. `None` if the system cannot be reached.
async fn printed(shell: &Arc<dyn RemoteShell>, script: String) -> Option<String> {
    match shell.run(format!("{{ {script}\n:\n}} 2>/dev/null")).await {
        Ok(printed) => String::from_utf8(printed).ok(),
        Err(error) => {
            tracing::debug!("asking the other system: {error}");
            None
        }
    }
}

/// A text as one word of a POSIX shell.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
