//! Keepers: processes of this program around the programs in own panes.
//!
//! When a pane's first process exits, tmux closes the pane at once: it discards output that it has not
//! read (before 3.7) or not sent to its control clients (all versions), or crashes (3.2a). So the first
//! process is a keeper. When its program has ended, it connects to a socket of this process, and exits
//! when the connection is closed: after all output has come.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use process::Processes;
use tmux_control::{PaneId, Server};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Mutex;
use tokio::task::AbortHandle;

use super::{Host, NewPane, barrier};

/// Name of the subcommand that runs a keeper.
pub(crate) const KEEP: &str = "keep";
/// Its argument before a command line for the user's shell, in place of a program.
pub(crate) const COMMAND: &str = "command";

/// Name of the socket in the private directory.
const SOCKET_FILE: &str = "keep";

/// Limit for the time in which the last output of a pane must come: tmux may be stopped.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(3);
/// Limit for the bytes of a request, which is a pane's id.
const MAX_REQUEST_BYTES: u64 = 32;

/// The keepers of this process.
#[derive(Debug)]
pub(super) struct Keepers {
    /// The program that runs as keeper. Without one, programs run without keepers.
    program: Option<PathBuf>,
    socket: Mutex<Option<KeeperSocket>>,
}

/// The socket to which keepers connect.
#[derive(Debug)]
struct KeeperSocket {
    path: PathBuf,
    listener: AbortHandle,
}

impl Keepers {
    pub(super) fn new(program: Option<PathBuf>) -> Self {
        Self { program, socket: Mutex::default() }
    }

    /// The same pane with a keeper around its program; unchanged if there can be none.
    pub(super) async fn around(&self, host: &Host, pane: NewPane) -> NewPane {
        // A program that was replaced since this process started has another path.
        let keeper = self.program.as_deref().filter(|program| program.exists());
        let runs_default = pane.plain_words().is_empty();
        let Some(keeper) = keeper.and_then(Path::to_str).filter(|_| !runs_default) else {
            return pane;
        };
        let socket = match self.socket_path(host).await {
            Ok(socket) => socket,
            Err(error) => {
                tracing::warn!("the last output of programs may be lost: {error}");
                return pane;
            }
        };
        let mut program = vec![keeper.to_owned(), KEEP.to_owned(), socket];
        program.push(if pane.command.is_some() { format!("--{COMMAND}") } else { "--".to_owned() });
        program.extend_from_slice(pane.plain_words());
        // tmux would name the window after the keeper.
        let first = pane.plain_words().first().and_then(|words| words.split_whitespace().next());
        let first_name = first.and_then(|path| path.rsplit('/').next()).map(str::to_owned);
        NewPane { command: None, program, first_name, ..pane }
    }

    async fn socket_path(&self, host: &Host) -> io::Result<String> {
        let mut socket = self.socket.lock().await;
        let path = host.private_dir().path().await?.join(SOCKET_FILE);
        // A cleaner of temporary files may have removed the directory: then it is a new one.
        if socket.as_ref().is_none_or(|socket| socket.path != path || !path.exists()) {
            *socket = Some(KeeperSocket::open(host, path.clone())?);
        }
        path.into_os_string().into_string().map_err(|_| io::ErrorKind::InvalidFilename.into())
    }
}

impl KeeperSocket {
    fn open(host: &Host, path: PathBuf) -> io::Result<Self> {
        let (tmux, processes) = (host.tmux().clone(), host.processes().clone());
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let listener = tokio::spawn(async move {
            while let Ok((keeper, _)) = listener.accept().await {
                tokio::spawn(answer(tmux.clone(), processes.clone(), keeper));
            }
        });
        Ok(Self { path, listener: listener.abort_handle() })
    }
}

impl Drop for KeeperSocket {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// Lets a keeper exit once all output of its pane has come. Closing the connection is the answer.
async fn answer(tmux: Server, processes: Processes, keeper: UnixStream) {
    let Some(pid) = keeper.peer_cred().ok().and_then(|peer| peer.pid()) else { return };
    let Ok(pid) = u32::try_from(pid) else { return };
    let come = async {
        let mut request = String::new();
        let mut keeper = BufReader::new(keeper.take(MAX_REQUEST_BYTES));
        keeper.read_line(&mut request).await.ok()?;
        let pane: PaneId = request.trim_end().parse().ok()?;
        let come = read_all(&tmux, &processes, pane, pid).await;
        if let Err(error) = come {
            tracing::debug!("reading the last output of {pane}: {error}");
        }
        Some(keeper)
    };
    let _ = tokio::time::timeout(OUTPUT_TIMEOUT, come).await;
}

async fn read_all(
    tmux: &Server,
    processes: &Processes,
    pane: PaneId,
    pid: u32,
) -> Result<(), tmux_control::Error> {
    let mut stream = tmux.stream(pane).await?;
    barrier::pass(processes, pid, &mut stream).await;
    if tmux.version().await?.dies_of_unread_output() {
        tmux.pause_output(pane, pid).await?;
    }
    Ok(())
}
