//! Relay between control clients and a tmux server older than 3.7, which attaching could crash: it passes
//! the [`Introduction`] of a client in a safe order, and all later bytes unchanged.
//!
//! The relay is a process of its own. If the program that uses this crate is stopped, as by Ctrl-Z in
//! the terminal of an agent, its clients still see that the server exits; otherwise the server would
//! wait for them.

use std::ffi::OsString;
use std::fs::{Permissions, set_permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, copy_bidirectional};
use tokio::net::unix::pipe;
use tokio::net::{UnixListener, UnixStream};
use tokio::process::Child;
use tokio::task::JoinSet;

use crate::control::introduction::Introduction;
use crate::spawn::Program;

/// Upper bound for a client to introduce itself, after which it is disconnected.
const INTRODUCTION_TIMEOUT: Duration = Duration::from_secs(10);

/// Where the socket of a relay is created: a directory that no other user can open.
pub trait SocketDir: std::fmt::Debug + Send + Sync {
    /// The directory, which exists.
    fn socket_dir(&self) -> io::Result<PathBuf>;
}

/// The program that runs as a relay.
#[derive(Debug, Clone)]
pub struct RelayProgram {
    /// Path of the program, which calls [`relay_clients`] with its last argument.
    pub path: OsString,
    /// Its arguments; the path of the tmux server's socket is added.
    pub args: Vec<OsString>,
    /// Directory of its socket.
    pub dir: Arc<dyn SocketDir>,
}

/// A running relay. It ends, and its socket is removed, when this is dropped.
#[derive(Debug)]
pub(crate) struct RelayProcess {
    /// Holds the input of the relay open, which ends with this process.
    child: Child,
    path: PathBuf,
}

impl RelayProcess {
    /// Starts the relay of a tmux server. Clients can connect when this returns.
    pub(crate) fn start(program: &Program, relay: &RelayProgram) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("relay-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let path = relay.dir.socket_dir()?.join(name);
        let listener = StdListener::bind(&path)?;
        let started = set_permissions(&path, Permissions::from_mode(0o600))
            .and_then(|()| program.relay(relay, listener.into()));
        let child = started.inspect_err(|_| drop(std::fs::remove_file(&path)))?;
        Ok(Self { child, path })
    }

    /// The path that clients connect to.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for RelayProcess {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Relays clients to the tmux server that listens on `server`. They connect to the socket that listens on
/// standard output. When standard input has ended, no further ones are accepted; this returns when the
/// last one has left. It must not disconnect them: tmux 3.3a was seen to exit when it lost a client that
/// followed a flooding pane just after the end of the client's input.
pub async fn relay_clients(server: PathBuf) -> io::Result<()> {
    let listener = StdListener::from(io::stdout().as_fd().try_clone_to_owned()?);
    listener.set_nonblocking(true)?;
    let listener = UnixListener::from_std(listener)?;
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let mut input = pipe::Receiver::from_owned_fd(input)?;
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (client, _) = accepted?;
                clients.spawn(relay(client, server.clone()));
            }
            Some(_) = clients.join_next() => {}
            _ = input.read_u8() => break,
        }
    }
    while clients.join_next().await.is_some() {}
    Ok(())
}

/// Relays one client. An error is the end of its connection, which the client reports.
async fn relay(client: UnixStream, server: PathBuf) {
    let introduced = tokio::time::timeout(INTRODUCTION_TIMEOUT, introduce(&client, &server)).await;
    if let Ok(Ok(mut server)) = introduced {
        let mut client = client;
        let _ = copy_bidirectional(&mut client, &mut server).await;
    }
}

/// Connects to the server and passes the introduction of the client on.
async fn introduce(client: &UnixStream, server: &Path) -> io::Result<UnixStream> {
    let introduction = Introduction::receive(client).await?;
    let server = UnixStream::connect(server).await?;
    introduction.send(&server).await?;
    Ok(server)
}
