//! Discovery of running tmux servers. It starts no server, and a server that hangs delays it by at
//! most one second per step.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::UnixStream;

use crate::command::Command;
use crate::error::Error;
use crate::format::{FieldValue, Row};
use crate::remote::{Remote, quote};
use crate::row;
use crate::server::Server;
use crate::socket::Socket;
use crate::spawn::Program;

/// How long a server may take to accept a connection, and to reply.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// The same for a server on another system, whose reply may have a long way.
const REMOTE_PROBE_TIMEOUT: Duration = Duration::from_secs(3);

/// The result of probing a socket path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SocketState {
    /// A tmux server replied.
    Server {
        /// The pid of the server.
        pid: u32,
        /// The version of the server.
        version: String,
        /// The number of sessions.
        sessions: u32,
    },
    /// A process listens on the socket but does not reply as a tmux server; the text is the error.
    Unresponsive(String),
    /// A socket on which no process listens any more.
    Stale,
    /// The path is not a socket.
    NoSocket,
}

row! {
    ServerFacts {
        pid: u32 = "pid",
        version: String = "version",
        sessions: CharCount = "S:x",
    }
}

/// A count that tmux prints as one character per object: the loop `#{S:x}` prints `x` per session.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CharCount(u32);

impl FieldValue for CharCount {
    fn parse(text: String) -> Option<Self> {
        u32::try_from(text.len()).ok().map(Self)
    }
}

/// The sockets in tmux's socket directory, sorted. Reads the file system, which can block. There are
/// none in a directory that another user could have filled; tmux refuses to use such a directory too.
pub fn sockets() -> Vec<PathBuf> {
    let directory = Socket::directory();
    if !is_private(&directory) {
        return Vec::new();
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut sockets: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| is_socket(path)).collect();
    sockets.sort();
    sockets
}

/// Prints the sockets in the directory `$1` of the user `$2`, by the same rules.
const LIST_SOCKETS: &str = r#"__sockets() {
  __d=$1 __u=$2
  set -- $(ls -ldn "$__d")
  case $1 in d??????---*) [ "$3" = "$__u" ] || return ;; *) return ;; esac
  for __s in "$__d"/*; do [ -S "$__s" ] && printf '%s\n' "$__s"; done
}"#;

/// Whether a directory belongs to the user, and other users have no access.
fn is_private(directory: &Path) -> bool {
    fs::symlink_metadata(directory).is_ok_and(|data| {
        let owner = rustix::process::getuid().as_raw();
        data.is_dir() && data.uid() == owner && data.mode() & 0o007 == 0
    })
}

fn is_socket(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.file_type().is_socket())
}

impl Server {
    /// The sockets in tmux's socket directory, sorted, on the system of this server.
    pub async fn sockets(&self) -> Result<Vec<PathBuf>, Error> {
        let Some(remote) = self.remote() else {
            return Ok(tokio::task::spawn_blocking(sockets).await.unwrap_or_default());
        };
        let facts = remote.facts().await?;
        let (Some(directory), Some(uid)) = (facts.tmux_dir, facts.uid) else {
            return Ok(Vec::new());
        };
        let script = format!("{LIST_SOCKETS}\n__sockets {} {uid}", quote(&directory));
        let printed = remote.run(&script).await?;
        let mut sockets: Vec<PathBuf> =
            String::from_utf8_lossy(&printed).lines().map(PathBuf::from).collect();
        sockets.sort();
        Ok(sockets)
    }

    /// Probes a socket path with the tmux program of this server, on its system.
    pub async fn probe_socket(&self, path: &Path) -> SocketState {
        if let Some(remote) = self.remote() {
            return self.probe_there(remote, path).await;
        }
        // The file system of a path that a caller named may not answer.
        let named = path.to_owned();
        let is_socket = tokio::task::spawn_blocking(move || is_socket(&named));
        match tokio::time::timeout(PROBE_TIMEOUT, is_socket).await {
            Ok(Ok(true)) => {}
            Ok(_) => return SocketState::NoSocket,
            Err(_) => {
                return SocketState::Unresponsive("the file system does not answer".to_owned());
            }
        }
        match tokio::time::timeout(PROBE_TIMEOUT, UnixStream::connect(path)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
                return SocketState::Stale;
            }
            Ok(Err(error)) => return SocketState::Unresponsive(error.to_string()),
            Err(_) => {
                return SocketState::Unresponsive("the socket accepts no connection".to_owned());
            }
        }
        query(self.tmux_program(), path, PROBE_TIMEOUT).await
    }

    /// Probes a socket path on another system.
    async fn probe_there(&self, remote: &Remote, path: &Path) -> SocketState {
        let script = format!("[ -S {} ] && echo socket", quote(&path.to_string_lossy()));
        match Box::pin(remote.run(&script)).await {
            Ok(printed) if printed.is_empty() => SocketState::NoSocket,
            Ok(_) => query(self.tmux_program(), path, REMOTE_PROBE_TIMEOUT).await,
            Err(error) => SocketState::Unresponsive(error.to_string()),
        }
    }
}

/// Asks the tmux server on a socket for its facts.
async fn query(program: &Program, path: &Path, limit: Duration) -> SocketState {
    let program = Program { socket: Socket::Path(path.to_owned()), ..program.clone() };
    let command = Command::query("display-message").arg("-p").arg(ServerFacts::format());
    let facts = match program.run(&[command], limit).await {
        Ok(reply) => ServerFacts::parse_one("display-message", &reply),
        Err(error) if error.is_no_server() => return SocketState::Stale,
        Err(error) => Err(error),
    };
    match facts {
        Ok(ServerFacts { pid, version, sessions: CharCount(sessions) }) => {
            SocketState::Server { pid, version, sessions }
        }
        Err(error) => SocketState::Unresponsive(error.to_string()),
    }
}
