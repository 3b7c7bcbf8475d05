//! The link: the task that owns the control client for commands.
//!
//! Callers send a [`LinkRequest`] and receive its replies. The task attaches when there is work or
//! a subscriber to events, keeps the replies in order, gives each a deadline, reconnects with a
//! growing pause after failures, and detaches when idle: an attached client is visible in a
//! person's `tmux ls`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::Instant;

use crate::command::Command;
use crate::control::attach_lock::{AttachLock, Permit};
use crate::control::connection::{ControlConnection, IoStep};
use crate::control::event::TmuxEvent;
use crate::control::queue::{CommandSequence, ReplyQueue};
use crate::delay::{AwaitPoint, pause_at};
use crate::error::Error;
use crate::format::Row;
use crate::id::SessionId;
use crate::sync::lock;
use crate::version::Version;

/// The time limits of the control clients. Only tests need others than the defaults.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// How long a reply may take before the client counts as stuck.
    pub deadline: Duration,
    /// How long an unused client stays attached; six times as long before tmux 3.7, where attaching
    /// again is risky.
    pub idle: Duration,
    /// The first pause after a failure; it doubles with each further one.
    pub back_off: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(5),
            idle: Duration::from_secs(10),
            back_off: Duration::from_millis(100),
        }
    }
}

impl Timing {
    /// How long an unused client of a server of this version stays attached.
    pub(crate) fn idle_with(&self, version: Option<Version>) -> Duration {
        match version {
            Some(version) if version.can_crash_on_attach() => self.idle * 6,
            _ => self.idle,
        }
    }
}

/// The longest pause between two attempts to attach.
const MAX_BACK_OFF: Duration = Duration::from_secs(5);

/// The name under which the format is subscribed (`refresh-client -B`).
const SUBSCRIPTION: &str = "changes";

/// A request to the link.
#[derive(Debug)]
pub(crate) enum LinkRequest {
    /// Run commands.
    Run(CommandSequence),
    /// Attach to this session of our own rather than to another.
    Prefer(SessionId),
    /// The same, but stay if already attached to a session of our own.
    PreferAlso(SessionId),
    /// Detach from this session, which is about to be killed.
    Leave {
        session: SessionId,
        /// Dropped once the client no longer uses the session.
        left: oneshot::Sender<()>,
        /// Closed by the caller once the client may attach there again.
        released: oneshot::Sender<()>,
    },
    /// Subscribe to the value of this format; `None` ends the subscription.
    Subscribe(Option<String>),
}

crate::row! {
    /// A session that the link may attach to.
    pub(crate) SessionCandidate {
        id: SessionId = "session_id",
        attached: u32 = "session_attached",
        activity: u64 = "session_activity",
        version: String = "version",
    }
}

/// The state of the task.
pub(crate) struct Link {
    /// Shared with the server handle and the stream tasks.
    attach_lock: AttachLock,
    timing: Timing,
    requests: mpsc::UnboundedReceiver<LinkRequest>,
    events: broadcast::Sender<TmuxEvent>,
    /// Shared with the server handle, which reads it.
    version: Arc<Mutex<Option<Version>>>,
    /// Sessions of our own, the most preferred last.
    preferred: Vec<SessionId>,
    /// Sessions not to attach to, each until its channel is closed.
    avoided: Vec<(SessionId, oneshot::Sender<()>)>,
    /// The session of the current or last connection.
    session: Option<SessionId>,
    /// The subscribed format.
    subscribed_format: Option<String>,
    in_flight: ReplyQueue,
    /// The next sequence to send. It may wait for a permit; later requests then wait too.
    unsent: Option<CommandSequence>,
    failures: u32,
    retry_at: Instant,
}

impl Link {
    /// A link that is not connected yet.
    pub(crate) fn new(
        attach_lock: AttachLock,
        timing: Timing,
        requests: mpsc::UnboundedReceiver<LinkRequest>,
        events: broadcast::Sender<TmuxEvent>,
        version: Arc<Mutex<Option<Version>>>,
    ) -> Self {
        Self {
            attach_lock,
            timing,
            requests,
            events,
            version,
            preferred: Vec::new(),
            avoided: Vec::new(),
            session: None,
            subscribed_format: None,
            in_flight: ReplyQueue::new(timing.deadline),
            unsent: None,
            failures: 0,
            retry_at: Instant::now(),
        }
    }

    /// Runs until every sender of requests is dropped.
    pub(crate) async fn run(mut self) {
        while let Some(mut connection) = self.wait_for_work().await {
            let _ = self.events.send(TmuxEvent::Connected);
            if let Some(version) = *lock(&self.version) {
                tracing::info!("connected to tmux {version}");
            }
            let end = self.serve(&mut connection).await;
            let _ = self.events.send(TmuxEvent::Disconnected);
            self.in_flight.fail_all();
            if let Some(sequence) = self.unsent.take() {
                sequence.fail_unsent(Error::Lost { command: "attach-session".to_owned() });
            }
            self.attach_lock.detach(connection);
            match end {
                ConnectionEnd::Shutdown => return,
                ConnectionEnd::Released => {}
                ConnectionEnd::Broken => self.back_off(),
            }
        }
    }

    /// Waits for a command or a subscriber and attaches. `None` when every sender is dropped.
    async fn wait_for_work(&mut self) -> Option<ControlConnection> {
        loop {
            let subscribed = self.events.receiver_count() > 0;
            tokio::select! {
                request = self.requests.recv() => match request? {
                    LinkRequest::Prefer(session) => self.preferred.push(session),
                    LinkRequest::PreferAlso(session) => self.preferred.insert(0, session),
                    LinkRequest::Leave { session, released, .. } => self.avoid(session, released),
                    LinkRequest::Subscribe(format) => self.subscribed_format = format,
                    LinkRequest::Run(sequence) => match self.connect().await {
                        Ok(connection) => {
                            self.unsent = Some(sequence);
                            return Some(connection);
                        }
                        Err(error) => sequence.fail_unsent(error),
                    },
                },
                () = tokio::time::sleep_until(self.retry_at), if subscribed => {
                    match self.connect().await {
                        Ok(connection) => return Some(connection),
                        Err(_) if self.retry_at <= Instant::now() => self.back_off(),
                        Err(_) => {}
                    }
                }
            }
        }
    }

    /// Serves one connection until it ends.
    async fn serve(&mut self, connection: &mut ControlConnection) -> ConnectionEnd {
        let mut last_use = Instant::now();
        let mut detach = PendingDetach::default();
        let idle = self.timing.idle_with(*lock(&self.version));
        // Reset only when it fires, not for each command: that would wake the runtime twice.
        let alarm = tokio::time::sleep(self.timing.deadline.min(idle));
        tokio::pin!(alarm);
        if self.subscribed_format.is_some() {
            self.subscribe(connection);
        }
        loop {
            if let Some(sequence) = self.unsent.take_if(|sequence| !sequence.needs_permit()) {
                self.submit(connection, sequence, None);
            }
            if detach.when_idle && self.in_flight.is_empty() && self.unsent.is_none() {
                return ConnectionEnd::Released;
            }
            let mut trusted = true;
            tokio::select! {
                // Reading comes first: a command sent to a client that has exited is lost.
                biased;
                step = connection.step(|item| {
                    trusted &= self.in_flight.dispatch(item, &self.events);
                }) => {
                    if step == IoStep::Closed {
                        tracing::info!("tmux closed the connection");
                        return ConnectionEnd::Released;
                    }
                    if !trusted {
                        tracing::warn!("tmux sent an unexpected reply, reconnecting");
                        return ConnectionEnd::Broken;
                    }
                    self.failures = 0;
                    pause_at(AwaitPoint::LinkStep).await;
                }
                permit = self.attach_lock.permit(), if self.unsent.is_some() => {
                    if let Some(sequence) = self.unsent.take() {
                        self.submit(connection, sequence, Some(permit));
                    }
                }
                request = self.requests.recv(),
                    if self.unsent.is_none() && detach.left.is_none() =>
                {
                    match request {
                        None => return ConnectionEnd::Shutdown,
                        Some(LinkRequest::Run(sequence)) => {
                            last_use = Instant::now();
                            self.unsent = Some(sequence);
                        }
                        Some(request) => self.handle(request, connection, &mut detach),
                    }
                }
                () = &mut alarm => {
                    let now = Instant::now();
                    if self.in_flight.deadline().is_some_and(|deadline| deadline <= now) {
                        tracing::warn!("tmux sent no reply in time, reconnecting");
                        return ConnectionEnd::Broken;
                    }
                    if self.in_flight.is_empty() && last_use + idle <= now {
                        if self.events.receiver_count() == 0 {
                            tracing::info!("detached from tmux after {idle:?} without use");
                            return ConnectionEnd::Released;
                        }
                        last_use = now;
                    }
                    let next = self.in_flight.deadline().unwrap_or(last_use + idle);
                    alarm.as_mut().reset(next.min(now + self.timing.deadline));
                }
            }
        }
    }

    /// Handles a request while connected.
    fn handle(
        &mut self,
        request: LinkRequest,
        connection: &mut ControlConnection,
        detach: &mut PendingDetach,
    ) {
        match request {
            LinkRequest::Run(sequence) => self.unsent = Some(sequence),
            LinkRequest::Prefer(session) => {
                self.preferred.push(session);
                detach.when_idle = true;
            }
            LinkRequest::PreferAlso(session) => {
                detach.when_idle |= self.session.is_none_or(|at| !self.preferred.contains(&at));
                self.preferred.insert(0, session);
            }
            LinkRequest::Leave { session, left, released } => {
                self.avoid(session, released);
                if self.session == Some(session) {
                    detach.when_idle = true;
                    detach.left = Some(left);
                }
            }
            LinkRequest::Subscribe(format) => {
                self.subscribed_format = format;
                self.subscribe(connection);
            }
        }
    }

    fn submit(
        &mut self,
        connection: &mut ControlConnection,
        sequence: CommandSequence,
        permit: Option<Permit>,
    ) {
        let text: Vec<String> = sequence.commands.iter().map(Command::to_line).collect();
        connection.send(&text.join(" ; "));
        self.in_flight.push(sequence, permit);
    }

    /// Subscribes to the format, or ends the subscription if there is none.
    fn subscribe(&mut self, connection: &mut ControlConnection) {
        let subscription = match &self.subscribed_format {
            Some(format) => format!("{SUBSCRIPTION}::{format}"),
            None => SUBSCRIPTION.to_owned(),
        };
        let commands = vec![Command::query("refresh-client").option("-B", subscription)];
        let (reply, _) = oneshot::channel();
        self.submit(connection, CommandSequence { commands, reply }, None);
    }

    /// Attaches, unless the pause after a failure is not over.
    async fn connect(&mut self) -> Result<ControlConnection, Error> {
        if self.failures > 0 && Instant::now() < self.retry_at {
            return Err(Error::Lost { command: "attach-session".to_owned() });
        }
        let attached = self.attach().await;
        // Calls that wait for a stuck server must not each cost a deadline in turn.
        if let Err(Error::Timeout { .. } | Error::Lost { .. }) = attached {
            self.back_off();
        }
        attached
    }

    fn avoid(&mut self, session: SessionId, released: oneshot::Sender<()>) {
        self.preferred.retain(|ours| *ours != session);
        self.avoided.push((session, released));
    }

    /// Attaches where the client is least visible: to a session of our own, to one that a person is
    /// attached to already, or to the one used last.
    async fn attach(&mut self) -> Result<ControlConnection, Error> {
        let list = Command::query("list-sessions").option("-F", SessionCandidate::format());
        let reply = self.attach_lock.run_spawned(&[list]).await?;
        let sessions = SessionCandidate::parse_all("list-sessions", &reply)?;
        self.preferred.retain(|ours| sessions.iter().any(|session| session.id == *ours));
        self.avoided.retain(|(_, released)| !released.is_closed());
        let best = sessions
            .iter()
            .filter(|s| self.avoided.iter().all(|(avoided, _)| *avoided != s.id))
            .max_by_key(|s| {
                (self.preferred.iter().rposition(|ours| *ours == s.id), s.attached > 0, s.activity)
            })
            .ok_or_else(|| Error::Refused {
                command: "attach-session".to_owned(),
                message: "no sessions".to_owned(),
            })?;
        let version = Version::parse(&best.version);
        if !version.is_supported() {
            return Err(Error::TooOld { found: version.to_string() });
        }
        *lock(&self.version) = Some(version);
        self.session = Some(best.id);
        self.attach_lock.attach(best.id, false).await
    }

    fn back_off(&mut self) {
        let pause = self.timing.back_off * 2_u32.saturating_pow(self.failures.min(16));
        self.retry_at = Instant::now() + pause.min(MAX_BACK_OFF);
        self.failures = self.failures.saturating_add(1);
    }
}

/// Whether the client is about to detach.
#[derive(Debug, Default)]
struct PendingDetach {
    /// Detach once no reply is outstanding.
    when_idle: bool,
    /// Set while a caller of [`Server::leave`](crate::Server::leave) waits: no further request is
    /// taken. Dropped at the end of the connection, which notifies the caller.
    left: Option<oneshot::Sender<()>>,
}

/// The reason why a connection ended.
enum ConnectionEnd {
    /// Every server handle is dropped.
    Shutdown,
    /// It was idle, was detached, or its session or server ended: connect again when needed.
    Released,
    /// A reply was late or unexpected: pause before the next attempt.
    Broken,
}
