//! Other systems on which a tmux server runs, reached by ssh or by a command such as `docker exec`.
//!
//! A [`Remote`] connects when it is first used, and again after a loss. All its channels share one
//! connection: lasting shells for scripts and for tmux commands, and one channel for each program that
//! streams.

mod channel;
mod clean_up;
mod connection;
mod facts;
mod queue;
mod route;
mod script;
mod shell;
mod ssh;
mod tmux;

use std::ffi::OsString;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::Mutex as AsyncMutex;
use tokio::time::Instant;

use crate::control::relay::SocketDir;
use crate::error::Error;
use crate::remote::connection::{CLOSED, Connection};
use crate::remote::queue::ShellQueue;
use crate::remote::shell::Work;
use crate::sync::lock;

pub(crate) use channel::Channel;
pub use clean_up::CleanUp;
pub(crate) use connection::{LossReceiver, lost_reason};
pub use facts::RemoteFacts;
pub use route::Route;
pub(crate) use script::quote;
pub use shell::RemoteOutput;
pub(crate) use ssh::ENVIRONMENT as CARRIER_ENVIRONMENT;

/// The pause after the first failed attempt to connect; it doubles with each further one.
const FIRST_BACK_OFF: Duration = Duration::from_millis(500);

/// The longest pause between two attempts to connect.
const MAX_BACK_OFF: Duration = Duration::from_secs(30);

/// How a [`Remote`] connects.
#[derive(Debug, Clone)]
pub struct RemoteOptions {
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// The interval of heartbeats. A loss is noticed within three of them.
    pub keep_alive: Duration,
    /// How long a script may run.
    pub script_timeout: Duration,
    /// How long the other side waits for a heartbeat before the clean-up. See [`CleanUp`].
    pub lease: Duration,
    /// The process group of the local processes; `None` gives each its own.
    pub process_group: Option<u32>,
    /// Environment variables removed from the local processes, which may pass theirs on.
    pub hidden: Vec<OsString>,
    /// The directory of the control socket of ssh. Its path must be short.
    pub socket_dir: Arc<dyn SocketDir>,
    /// A script that each shell of [`Remote::run`] runs first, such as definitions of functions.
    pub prelude: String,
}

impl RemoteOptions {
    /// The defaults: ten seconds to connect, a heartbeat each five seconds, ten seconds for a script.
    pub fn new(socket_dir: Arc<dyn SocketDir>) -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            keep_alive: Duration::from_secs(5),
            script_timeout: Duration::from_secs(10),
            lease: Duration::from_secs(60),
            process_group: None,
            hidden: Vec::new(),
            socket_dir,
            prelude: String::new(),
        }
    }
}

/// The state of the connection to another system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteState {
    /// It was not needed yet, or was closed.
    NotConnected,
    /// An attempt to connect is in progress.
    Connecting,
    /// Connected.
    Connected {
        /// For how long.
        since: Instant,
    },
    /// The last attempt failed, or the connection was lost.
    Failed {
        /// The reason.
        error: String,
        /// When the next attempt may be made; zero once it may.
        retry_in: Duration,
    },
}

/// Another system, cheap to clone. Clones share one connection, which ends with the last of them.
#[derive(Clone)]
pub struct Remote {
    inner: Arc<Inner>,
}

struct Inner {
    route: Route,
    options: Arc<RemoteOptions>,
    /// Held while connecting, so that all callers wait for the same attempt.
    connection: AsyncMutex<Option<Arc<Connection>>>,
    status: Mutex<Status>,
    scripts: ShellQueue,
    commands: ShellQueue,
}

/// The part of the state that is read without waiting.
#[derive(Debug, Default)]
struct Status {
    connecting: bool,
    connected: Option<(Instant, LossReceiver)>,
    /// Failed attempts since the last connection, and the reason of the last one.
    failures: u32,
    error: Option<String>,
    retry_at: Option<Instant>,
    /// How many connections there were.
    count: u64,
    closed: bool,
    facts: Option<RemoteFacts>,
    clean_up: Option<CleanUp>,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("route", &self.inner.route).finish_non_exhaustive()
    }
}

impl Remote {
    /// A system that is not connected yet.
    pub fn new(route: Route, options: RemoteOptions) -> Self {
        let prelude = options.prelude.clone();
        let inner = Inner {
            route,
            options: Arc::new(options),
            connection: AsyncMutex::default(),
            status: Mutex::default(),
            scripts: ShellQueue::new(prelude),
            commands: ShellQueue::new(String::new()),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The way to it.
    pub fn route(&self) -> &Route {
        &self.inner.route
    }

    /// The name of the system in messages: the destination of ssh, or the command.
    pub fn name(&self) -> String {
        self.inner.route.to_string()
    }

    /// Connects if there is no connection. After a failure it fails with the same error until the next
    /// attempt is due.
    pub async fn connect(&self) -> Result<(), Error> {
        self.connection().await.map(|_| ())
    }

    /// Facts about the system.
    pub async fn facts(&self) -> Result<RemoteFacts, Error> {
        Ok(self.connection().await?.facts.clone())
    }

    /// The facts of the last connection, without waiting for one.
    pub fn known_facts(&self) -> Option<RemoteFacts> {
        lock(&self.inner.status).facts.clone()
    }

    /// Runs a script in a lasting POSIX shell, without a subshell, so that functions it defines stay. It
    /// gets no input; its error output is discarded and its status does not count. Scripts run one after
    /// the other. One that is still running when the caller stops to wait runs to its end.
    pub async fn run(&self, script: &str) -> Result<Vec<u8>, Error> {
        if script.contains('\0') {
            return Err(Error::NulByte { command: "script".to_owned() });
        }
        let limit = self.inner.options.script_timeout;
        let work = Work::Script(script.to_owned());
        Ok(self.inner.scripts.run(self, work, limit).await?.stdout)
    }

    /// Runs a command in a lasting shell of its own kind, with a text and a line end as input.
    pub(crate) async fn command(
        &self,
        input: String,
        command: String,
        limit: Duration,
    ) -> Result<RemoteOutput, Error> {
        self.inner.commands.run(self, Work::Command { input, command }, limit).await
    }

    /// Opens a channel that runs `script`.
    pub(crate) async fn channel(&self, script: &str, stderr: bool) -> Result<Channel, Error> {
        let connection = self.connection().await?;
        connection.channel(script, stderr).await.map_err(|reason| self.unreachable(reason))
    }

    /// The state of the connection.
    pub fn state(&self) -> RemoteState {
        let mut status = lock(&self.inner.status);
        if status.connecting {
            return RemoteState::Connecting;
        }
        status.note_loss();
        match (&status.connected, &status.error) {
            _ if status.closed => RemoteState::NotConnected,
            (Some((since, _)), _) => RemoteState::Connected { since: *since },
            (None, Some(error)) => {
                RemoteState::Failed { error: error.clone(), retry_in: status.pause() }
            }
            (None, None) => RemoteState::NotConnected,
        }
    }

    /// Sets the script that runs on the other side once no heartbeat has come for the time of the lease: this
    /// process was killed, or the connection was cut and nothing has connected again.
    pub async fn set_clean_up(&self, clean_up: CleanUp) {
        let slot = self.inner.connection.lock().await;
        if let Some(connection) = slot.as_ref() {
            connection.set_clean_up(clean_up.clone());
        }
        lock(&self.inner.status).clean_up = Some(clean_up);
    }

    /// Ends the connection and all its channels. Nothing connects again.
    pub async fn close(&self) {
        lock(&self.inner.status).closed = true;
        self.inner.scripts.clear().await;
        self.inner.commands.clear().await;
        let connection = self.inner.connection.lock().await.take();
        if let Some(connection) = connection {
            let mut lost = connection.lost.clone();
            drop(connection);
            lost_reason(&mut lost).await;
        }
    }

    /// Receives the loss of the current connection.
    pub(crate) async fn loss(&self) -> Result<LossReceiver, Error> {
        Ok(self.connection().await?.lost.clone())
    }

    /// The error for a system that cannot be reached.
    pub(crate) fn unreachable(&self, reason: String) -> Error {
        Error::Unreachable { host: self.name(), reason }
    }

    async fn connection(&self) -> Result<Arc<Connection>, Error> {
        let mut slot = self.inner.connection.lock().await;
        if let Some(connection) = slot.as_ref().filter(|connection| connection.is_alive()) {
            return Ok(Arc::clone(connection));
        }
        *slot = None;
        let number = self.begin_attempt()?;
        let attempt = ConnectingGuard(&self.inner.status);
        let opened = Connection::open(&self.inner.route, &self.inner.options, number).await;
        drop(attempt);
        let mut status = lock(&self.inner.status);
        match opened {
            Ok(connection) => {
                let connection = Arc::new(connection);
                status.connected = Some((Instant::now(), connection.lost.clone()));
                status.facts = Some(connection.facts.clone());
                (status.failures, status.error, status.retry_at) = (0, None, None);
                if let Some(clean_up) = &status.clean_up {
                    connection.set_clean_up(clean_up.clone());
                }
                let kept =
                    reconnect_after_loss(Arc::downgrade(&self.inner), connection.lost.clone());
                tokio::spawn(kept);
                *slot = Some(Arc::clone(&connection));
                Ok(connection)
            }
            Err(reason) => {
                let back_off = FIRST_BACK_OFF * 2_u32.saturating_pow(status.failures.min(16));
                status.failures = status.failures.saturating_add(1);
                status.retry_at = Some(Instant::now() + back_off.min(MAX_BACK_OFF));
                status.error = Some(reason.clone());
                Err(self.unreachable(reason))
            }
        }
    }

    /// Notes that an attempt begins, and returns its number; fails while the pause after a failure lasts.
    fn begin_attempt(&self) -> Result<u64, Error> {
        let mut status = lock(&self.inner.status);
        if status.closed {
            return Err(self.unreachable(CLOSED.to_owned()));
        }
        status.note_loss();
        status.connected = None;
        let pause = status.pause();
        if let Some(error) = status.error.as_ref().filter(|_| !pause.is_zero()) {
            let again = format!("{error} (next attempt in {:.1} s)", pause.as_secs_f32());
            return Err(self.unreachable(again));
        }
        status.connecting = true;
        status.count += 1;
        Ok(status.count)
    }
}

impl Status {
    /// Counts a lost connection as a failed attempt: calls that come next, or that wait for the same system,
    /// learn of the loss at once instead of waiting for one more attempt.
    fn note_loss(&mut self) {
        let Some((_, lost)) = &self.connected else { return };
        let loss = lost.borrow().clone();
        if let Some(loss) = loss {
            self.connected = None;
            self.failures = 1;
            self.retry_at = Some(loss.at + FIRST_BACK_OFF);
            self.error = Some(format!("the connection was lost: {}", loss.reason));
        }
    }

    /// How long no attempt to connect is made.
    fn pause(&self) -> Duration {
        self.retry_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(Instant::now()))
    }
}

/// Connects again after a loss if a clean-up script is set, as long as its lease lasts: otherwise the other side
/// would remove what this process still uses, because no call came in between. Returns an unnamed type, since
/// connecting starts this again.
fn reconnect_after_loss(
    inner: Weak<Inner>,
    mut lost: LossReceiver,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        // Without a report the runtime shuts down.
        if lost.wait_for(Option::is_some).await.is_err() {
            return;
        }
        let begun = Instant::now();
        while let Some(inner) = inner.upgrade() {
            let remote = Remote { inner };
            let pause = {
                let mut status = lock(&remote.inner.status);
                status.note_loss();
                if status.closed || status.clean_up.is_none() {
                    return;
                }
                status.pause()
            };
            if begun.elapsed() > remote.inner.options.lease {
                return;
            }
            if pause.is_zero() {
                if remote.connection().await.is_ok() {
                    return;
                }
                continue;
            }
            // Not held meanwhile: the last handle may be dropped.
            drop(remote);
            tokio::time::sleep(pause).await;
        }
    })
}

/// Notes the end of an attempt, also if its caller was cancelled.
struct ConnectingGuard<'a>(&'a Mutex<Status>);

impl Drop for ConnectingGuard<'_> {
    fn drop(&mut self) {
        lock(self.0).connecting = false;
    }
}
