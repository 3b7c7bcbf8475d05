//! Lock that serialises the attaching of control clients with commands that change something.
//!
//! Before 3.7 a tmux server crashes, and all its sessions end, if it has to send a notification (a
//! client left, a session or a buffer came or went) while a control client is halfway through
//! attaching: <https://github.com/tmux/tmux/pull/4980>. A relay prevents this (`control::relay`). Where
//! there is none, our own changes can be prevented at least: a control client attaches only while no other
//! client of ours attaches or detaches and no command of ours that changes something is in flight.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedRwLockReadGuard, RwLock};

use crate::command::Command;
use crate::control::connection::ControlConnection;
use crate::control::introduction::IS_READABLE;
use crate::control::relay::RelayProcess;
use crate::error::Error;
use crate::id::SessionId;
use crate::socket::Socket;
use crate::spawn::Program;
use crate::sync::{lock, within};
use crate::version::Version;

/// Permission to make tmux send notifications. No client attaches while one is held.
pub(crate) type Permit = OwnedRwLockReadGuard<()>;

/// Attaches and detaches the control clients of one tmux server. Clones share the lock; the link,
/// the stream tasks and [`Server`](crate::Server) hold one each.
#[derive(Debug, Clone)]
pub(crate) struct AttachLock {
    program: Program,
    deadline: Duration,
    /// Set by the link before its client attaches.
    version: Arc<Mutex<Option<Version>>>,
    relay: Arc<Mutex<Option<RelayProcess>>>,
    /// Held for writing while a client attaches, for reading by permits.
    lock: Arc<RwLock<()>>,
    /// Process ids of the attached clients that receive output.
    stream_clients: Arc<Mutex<HashSet<u32>>>,
    /// Set when no further client may receive output: the process is about to exit.
    streams_closed: Arc<AtomicBool>,
}

impl AttachLock {
    pub(crate) fn new(
        program: Program,
        deadline: Duration,
        version: Arc<Mutex<Option<Version>>>,
    ) -> Self {
        Self {
            program,
            deadline,
            version,
            relay: Arc::default(),
            lock: Arc::default(),
            stream_clients: Arc::default(),
            streams_closed: Arc::default(),
        }
    }

    /// Waits until no client is attaching.
    pub(crate) async fn permit(&self) -> Permit {
        Arc::clone(&self.lock).read_owned().await
    }

    /// Starts a client attached to `session`; `output` is whether tmux sends it the panes' output.
    pub(crate) async fn attach(
        &self,
        session: SessionId,
        output: bool,
    ) -> Result<ControlConnection, Error> {
        self.program.connect().await?;
        let _exclusive = within(self.deadline, "attach-session", self.lock.write()).await?;
        if output && self.streams_closed.load(Ordering::Relaxed) {
            return Err(Error::Lost { command: "attach-session".to_owned() });
        }
        let attached = match self.relayed_program() {
            // A client that cannot reach the relay, or that the relay cannot connect, ends at once.
            Some(program) => match self.start_client(&program, session, output).await {
                Err(Error::Lost { .. }) => self.start_client(&self.program, session, output).await,
                attached => attached,
            },
            None => self.start_client(&self.program, session, output).await,
        };
        let connection = attached?;
        if let Some(pid) = connection.pid().filter(|_| output) {
            lock(&self.stream_clients).insert(pid);
        }
        Ok(connection)
    }

    async fn start_client(
        &self,
        program: &Program,
        session: SessionId,
        output: bool,
    ) -> Result<ControlConnection, Error> {
        let start = ControlConnection::start(program, session, output);
        let mut connection = within(self.deadline, "attach-session", start).await??;
        match connection.wait_until_attached(self.deadline).await {
            Ok(()) => Ok(connection),
            Err(error) => {
                self.close(connection).await;
                Err(error)
            }
        }
    }

    /// The program with the socket of the relay, if clients could crash the server. The relay is
    /// started if it does not run.
    fn relayed_program(&self) -> Option<Program> {
        if self.program.remote.is_some() {
            return None;
        }
        let can_crash = lock(&self.version).is_none_or(Version::can_crash_on_attach);
        let relay = self.program.relay.as_ref().filter(|_| can_crash && IS_READABLE)?;
        let mut running = lock(&self.relay);
        if running.as_mut().is_none_or(|process| !process.is_running()) {
            *running = RelayProcess::start(&self.program, relay)
                .inspect_err(|error| tracing::debug!("starting the relay: {error}"))
                .ok();
        }
        let socket = Socket::Path(running.as_ref()?.path().to_owned());
        Some(Program { socket, ..self.program.clone() })
    }

    /// Ends a client in a task of its own: only clients that want to attach wait for it.
    pub(crate) fn detach(&self, connection: ControlConnection) {
        let attach_lock = self.clone();
        tokio::spawn(async move {
            let _permit = attach_lock.permit().await;
            attach_lock.close(connection).await;
        });
    }

    /// Whether a process is one of our clients that receive output.
    pub(crate) fn is_stream_client(&self, pid: u32) -> bool {
        lock(&self.stream_clients).contains(&pid)
    }

    /// Lets no further client attach that receives output. Returns the commands that detach those
    /// that do.
    pub(crate) fn close_streams(&self) -> Vec<Command> {
        self.streams_closed.store(true, Ordering::Relaxed);
        let detach =
            |pid: &u32| Command::action("detach-client").option("-t", format!("client-{pid}"));
        lock(&self.stream_clients).iter().map(detach).collect()
    }

    /// Runs commands in a process of their own, under a permit if one of them changes something.
    pub(crate) async fn run_spawned(&self, commands: &[Command]) -> Result<Vec<u8>, Error> {
        let _permit = match commands.iter().find(|command| !command.is_repeatable()) {
            Some(action) => Some(within(self.deadline, action.name(), self.permit()).await?),
            None => None,
        };
        self.program.run(commands, self.deadline).await
    }

    /// Ends a client and waits until tmux has sent the notification about it. tmux sends that some
    /// time after the client's process has ended, but before it replies to a later command.
    async fn close(&self, connection: ControlConnection) {
        let pid = connection.pid();
        connection.close().await;
        let no_op = Command::query("display-message").arg("-p").arg("");
        let _ = self.program.run(&[no_op], self.deadline).await;
        if let Some(pid) = pid {
            lock(&self.stream_clients).remove(&pid);
        }
    }
}
