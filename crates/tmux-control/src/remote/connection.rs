//! The connection to another system, and the task that watches it.
//!
//! Over ssh it is the master; its own session holds the *sentinel*, a lasting shell that does nothing but
//! answer heartbeats and see the end of the connection. A route through a command has a sentinel too: its end
//! says that the container or the user session is gone.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use crate::remote::channel::Channel;
use crate::remote::facts::{FACTS, RemoteFacts};
use crate::remote::script::{BODY, LASTING};
use crate::remote::shell::{Shell, Work};
use crate::remote::{CleanUp, RemoteOptions, Route, clean_up, ssh};
use crate::spawn::Carrier;
use crate::sync::lock;

/// How long the task that watches a connection may take to notice its loss, when a channel has ended.
const LOSS_NOTICE: Duration = Duration::from_secs(1);

/// The reason after an orderly end.
pub(super) const CLOSED: &str = "the connection was closed";

/// How much of the error output is kept.
const MAX_MESSAGE_BYTES: usize = 16 * 1024;

/// How long an orderly end may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The same for a master. It exits at once unless it has other channels, for which it would wait; without
/// it their programs see the end of their input.
const MASTER_EXIT_TIMEOUT: Duration = Duration::from_millis(200);

/// How long ssh may take for the reason of a failure, beyond its own limit.
const REASON_ALLOWANCE: Duration = Duration::from_secs(1);

/// The loss of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Loss {
    pub(super) at: Instant,
    pub(super) reason: String,
}

/// Receives the loss of a connection.
pub(crate) type LossReceiver = watch::Receiver<Option<Loss>>;

/// A connection. It ends in order when the last handle is dropped.
#[derive(Debug)]
pub(super) struct Connection {
    /// Which connection of its [`Remote`](super::Remote) this is.
    pub(super) number: u64,
    pub(super) facts: RemoteFacts,
    route: Route,
    options: Arc<RemoteOptions>,
    socket: Option<Arc<ControlSocket>>,
    /// Set once it is lost.
    pub(super) lost: LossReceiver,
    /// One more connection, for the channels that the system refuses on this one: sshd allows ten.
    overflow: Mutex<Option<Arc<Self>>>,
    /// Orders for the sentinel. Its end ends the connection.
    sentinel: mpsc::UnboundedSender<CleanUp>,
}

/// The control socket of a master, removed when this is dropped.
#[derive(Debug)]
struct ControlSocket {
    path: PathBuf,
    /// The value of `-S`.
    argument: String,
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Connection {
    /// Connects. The error is the reason for a failure. Needs at most the connect timeout and a second.
    pub(super) async fn open(
        route: &Route,
        options: &Arc<RemoteOptions>,
        number: u64,
    ) -> Result<Self, String> {
        let socket = match route {
            Route::Ssh { .. } => Some(Arc::new(ControlSocket::new(options)?)),
            Route::Command(_) => None,
        };
        let words = master_words(route, options, socket.as_deref());
        let carrier =
            Carrier { words: &words, hidden: &options.hidden, group: options.process_group };
        let limit = options.connect_timeout;
        let connected = async {
            let mut channel = Channel::open(&carrier, LASTING, true).await?;
            let messages = Messages::collect(channel.child.stderr.take());
            let mut sentinel = Shell::new(channel)?;
            let output = sentinel.run(&Work::Script(FACTS.to_owned())).await?;
            Ok::<_, String>((sentinel, messages, RemoteFacts::parse(&output.stdout)))
        };
        let (sentinel, messages, facts) = timeout(limit + REASON_ALLOWANCE, connected)
            .await
            .map_err(|_| format!("no answer within {} s", limit.as_secs_f32()))??;
        let (sender, clean_ups) = mpsc::unbounded_channel();
        let (report, lost) = watch::channel(None);
        let task = SentinelTask {
            sentinel,
            messages,
            clean_ups,
            report,
            interval: options.keep_alive,
            lease: options.lease,
            renew_at: None,
        };
        tokio::spawn(task.run(socket.clone()));
        let (route, options) = (route.clone(), Arc::clone(options));
        let overflow = Mutex::default();
        Ok(Self { number, facts, route, options, socket, lost, overflow, sentinel: sender })
    }

    /// Opens a channel that runs `script`, on this connection or on one more.
    pub(super) async fn channel(&self, script: &str, stderr: bool) -> Result<Channel, String> {
        match self.own_channel(script, stderr).await {
            Err(reason) if ssh::is_session_limit(&reason) => {
                let overflow = lock(&self.overflow).clone();
                let overflow = match overflow.filter(|connection| connection.is_alive()) {
                    Some(connection) => connection,
                    None => {
                        let opened = Box::pin(Self::open(&self.route, &self.options, self.number));
                        let opened = Arc::new(opened.await?);
                        *lock(&self.overflow) = Some(Arc::clone(&opened));
                        opened
                    }
                };
                Box::pin(overflow.channel(script, stderr)).await
            }
            opened => opened,
        }
    }

    async fn own_channel(&self, script: &str, stderr: bool) -> Result<Channel, String> {
        let words = match (&self.route, &self.socket) {
            (Route::Ssh { options, destination }, Some(socket)) => {
                ssh::channel(options, destination, &socket.argument)
            }
            (route, _) => command_words(route),
        };
        let RemoteOptions { hidden, process_group, connect_timeout, .. } = &*self.options;
        let carrier = Carrier { words: &words, hidden, group: *process_group };
        let mut lost = self.lost.clone();
        let opened = tokio::select! {
            opened = timeout(*connect_timeout, Channel::open(&carrier, script, stderr)) => {
                opened.unwrap_or_else(|_| Err("a further channel was not opened in time".to_owned()))
            }
            reason = lost_reason(&mut lost) => return Err(reason),
        };
        match opened {
            Err(reason) if !ssh::is_session_limit(&reason) => Err(self.loss_or(reason).await),
            opened => opened,
        }
    }

    /// The reason for the loss of the connection if it is lost now, else this failure of a channel. The end
    /// of a channel is seen before the loss, and says less.
    pub(super) async fn loss_or(&self, failure: String) -> String {
        timeout(LOSS_NOTICE, lost_reason(&mut self.lost.clone())).await.unwrap_or(failure)
    }

    /// Opens a lasting shell.
    pub(super) async fn shell(&self) -> Result<Shell, String> {
        Shell::new(self.channel(LASTING, false).await?)
    }

    /// Has the sentinel take the lease for a clean-up script.
    pub(super) fn set_clean_up(&self, clean_up: CleanUp) {
        let _ = self.sentinel.send(clean_up);
    }

    pub(super) fn is_alive(&self) -> bool {
        self.lost.borrow().is_none() && self.lost.has_changed().is_ok()
    }
}

/// Waits until the connection is lost.
pub(crate) async fn lost_reason(lost: &mut LossReceiver) -> String {
    let loss = lost.wait_for(Option::is_some).await.ok();
    let reason = loss.and_then(|loss| loss.as_ref().map(|loss| loss.reason.clone()));
    reason.unwrap_or_else(|| CLOSED.to_owned())
}

fn master_words(
    route: &Route,
    options: &RemoteOptions,
    socket: Option<&ControlSocket>,
) -> Vec<String> {
    match (route, socket) {
        (Route::Ssh { options: given, destination }, Some(socket)) => ssh::master(
            given,
            destination,
            &socket.argument,
            options.connect_timeout,
            options.keep_alive,
        ),
        (route, _) => command_words(route),
    }
}

fn command_words(route: &Route) -> Vec<String> {
    let mut words = match route {
        Route::Command(words) => words.clone(),
        Route::Ssh { .. } => Vec::new(),
    };
    words.extend(["sh", "-c", BODY].map(str::to_owned));
    words
}

impl ControlSocket {
    fn new(options: &RemoteOptions) -> Result<Self, String> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let directory = options.socket_dir.socket_dir();
        let directory =
            directory.map_err(|error| format!("the directory of the control socket: {error}"))?;
        let name = format!("ssh-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = directory.join(name);
        let argument = ssh::control_path(&path)?;
        Ok(Self { path, argument })
    }
}

/// The error output of the connecting program, collected in a task.
#[derive(Debug, Clone)]
struct Messages {
    text: Arc<Mutex<Vec<u8>>>,
    ended: watch::Receiver<bool>,
}

impl Messages {
    fn collect(stderr: Option<ChildStderr>) -> Self {
        let text = Arc::new(Mutex::new(Vec::new()));
        let (end, ended) = watch::channel(false);
        let collected = Arc::clone(&text);
        tokio::spawn(async move {
            let mut buffer = [0; 1024];
            let Some(mut stderr) = stderr else { return };
            while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
                let mut kept = lock(&collected);
                kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
                let surplus = kept.len().saturating_sub(MAX_MESSAGE_BYTES);
                kept.drain(..surplus);
            }
            let _ = end.send(true);
        });
        Self { text, ended }
    }

    /// The reason among them, once they have ended.
    async fn reason(&mut self) -> Option<String> {
        let _ = timeout(REASON_ALLOWANCE, self.ended.wait_for(|ended| *ended)).await;
        let text = String::from_utf8_lossy(&lock(&self.text)).into_owned();
        ssh::reason(&text)
    }
}

/// The task that owns the sentinel.
struct SentinelTask {
    sentinel: Shell,
    messages: Messages,
    clean_ups: mpsc::UnboundedReceiver<CleanUp>,
    report: watch::Sender<Option<Loss>>,
    interval: Duration,
    lease: Duration,
    /// When the lease is to be renewed, if there is one.
    renew_at: Option<Instant>,
}

impl SentinelTask {
    /// Runs until the connection is lost, or no longer needed. Keeps the control socket until then.
    async fn run(mut self, socket: Option<Arc<ControlSocket>>) {
        let reason = match self.watch().await {
            Some(fallback) => {
                let _ = self.sentinel.child.start_kill();
                self.messages.reason().await.unwrap_or(fallback)
            }
            None => {
                if self.renew_at.is_some() {
                    let end = Work::Script(clean_up::END.to_owned());
                    let _ = timeout(CLOSE_TIMEOUT, self.sentinel.run(&end)).await;
                }
                let limit = if socket.is_some() { MASTER_EXIT_TIMEOUT } else { CLOSE_TIMEOUT };
                self.sentinel.close(limit).await;
                CLOSED.to_owned()
            }
        };
        self.report.send_replace(Some(Loss { at: Instant::now(), reason }));
        drop(socket);
    }

    /// The reason why the connection is lost; `None` if it is no longer needed.
    async fn watch(&mut self) -> Option<String> {
        let mut next_beat = Instant::now() + self.interval;
        loop {
            let work = tokio::select! {
                clean_up = self.clean_ups.recv() => match clean_up?.take(self.lease) {
                    Ok(script) => self.renewal(script),
                    Err(reason) => return Some(reason),
                },
                _ = self.sentinel.child.wait() => return Some("the connection ended".to_owned()),
                () = tokio::time::sleep_until(next_beat) => self.heartbeat(),
            };
            // One interval passed before the heartbeat: together they are the limit for noticing a loss.
            let limit = self.interval * (ssh::MISSED_KEEP_ALIVES - 1);
            match timeout(limit, self.sentinel.run(&work)).await {
                Ok(Ok(_)) => next_beat = Instant::now() + self.interval,
                Ok(Err(reason)) => return Some(reason),
                Err(_) => {
                    let after = self.interval * ssh::MISSED_KEEP_ALIVES;
                    return Some(format!("no sign of life for {} s", after.as_secs_f32()));
                }
            }
        }
    }

    /// A heartbeat, which renews the lease if it is time.
    fn heartbeat(&mut self) -> Work {
        match self.renew_at {
            Some(at) if at <= Instant::now() => self.renewal(clean_up::RENEW.to_owned()),
            _ => Work::Script(":".to_owned()),
        }
    }

    fn renewal(&mut self, script: String) -> Work {
        self.renew_at = Some(Instant::now() + self.lease / clean_up::RENEWALS);
        Work::Script(script)
    }
}
