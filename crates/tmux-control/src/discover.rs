//! Discovery of running tmux servers. It starts no server, and a server that hangs delays it by at
//! most one second per step.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::UnixStream;

use crate::command::Command;
use crate::error::Error;
use crate::format::{FieldValue, Row};
use crate::row;
use crate::server::Server;
use crate::socket::Socket;
use crate::spawn::Program;

/// How long a server may take to accept a connection, and to reply.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

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

/// The sockets in tmux's socket directory, sorted.
pub fn sockets() -> Vec<PathBuf> {
    let entries = fs::read_dir(Socket::directory()).into_iter().flatten().flatten();
    let mut sockets: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| is_socket(path)).collect();
    sockets.sort();
    sockets
}

fn is_socket(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.file_type().is_socket())
}

impl Server {
    /// Probes a socket path with the tmux program of this server.
    pub async fn probe_socket(&self, path: &Path) -> SocketState {
        if !is_socket(path) {
            return SocketState::NoSocket;
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
        match query(self.tmux_program(), path).await {
            Ok(found) => found,
            Err(error) if error.is_no_server() => SocketState::Stale,
            Err(error) => SocketState::Unresponsive(error.to_string()),
        }
    }
}

async fn query(program: &Program, path: &Path) -> Result<SocketState, Error> {
    let program = Program { socket: Socket::Path(path.to_owned()), ..program.clone() };
    let command = Command::query("display-message").arg("-p").arg(ServerFacts::format());
    let reply = program.run(&[command], PROBE_TIMEOUT).await?;
    let facts = ServerFacts::parse_one("display-message", &reply)?;
    let ServerFacts { pid, version, sessions: CharCount(sessions) } = facts;
    Ok(SocketState::Server { pid, version, sessions })
}
