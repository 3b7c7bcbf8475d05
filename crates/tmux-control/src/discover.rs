//! Which tmux servers there are. Nothing is started, and a server that hangs keeps nobody waiting.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::UnixStream;

use crate::command::Command;
use crate::error::Error;
use crate::format::{Cell, Row};
use crate::row;
use crate::server::Server;
use crate::socket::Socket;
use crate::spawn::Program;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is behind a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A server that answers.
    Server {
        /// Its process.
        pid: u32,
        /// Its version.
        version: String,
        /// How many sessions it has.
        sessions: u32,
    },
    /// Somebody listens there, but this is what came of asking.
    Mute(String),
    /// A socket on which nobody listens any more.
    Stale,
    /// No socket at all.
    NoSocket,
}

row! {
    Facts {
        pid: u32 = "pid",
        version: String = "version",
        sessions: Tally = "S:x",
    }
}

/// One character for each of something.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tally(u32);

impl Cell for Tally {
    fn parse(text: String) -> Option<Self> {
        u32::try_from(text.len()).ok().map(Self)
    }
}

/// The sockets in tmux's own directory, in order.
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
    /// Looks what is behind a path, with the same tmux program.
    pub async fn look_behind(&self, path: &Path) -> Found {
        if !is_socket(path) {
            return Found::NoSocket;
        }
        match tokio::time::timeout(PATIENCE, UnixStream::connect(path)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
                return Found::Stale;
            }
            Ok(Err(error)) => return Found::Mute(error.to_string()),
            Err(_) => return Found::Mute("it takes no connection".to_owned()),
        }
        match ask(self.tmux_program(), path).await {
            Ok(found) => found,
            Err(error) if error.is_no_server() => Found::Stale,
            Err(error) => Found::Mute(error.to_string()),
        }
    }
}

async fn ask(program: &Program, path: &Path) -> Result<Found, Error> {
    let there = Program { socket: Socket::Path(path.to_owned()), ..program.clone() };
    let facts = Command::query("display-message").arg("-p").arg(Facts::format());
    let facts = Facts::parse_one("display-message", &there.run(&[facts], PATIENCE).await?)?;
    let Facts { pid, version, sessions: Tally(sessions) } = facts;
    Ok(Found::Server { pid, version, sessions })
}
