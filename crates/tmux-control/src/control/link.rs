//! The task that owns the control client for commands.
//!
//! Callers send a [`Request`] and get its answer back. The task connects when there is work (or
//! somebody listens for events), keeps the answers in order, gives each a deadline, reconnects with
//! a growing pause after failures, and lets the client go when it has been idle: while attached it
//! can be seen in a person's `tmux ls`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::Instant;

use crate::command::Command;
use crate::control::connection::{Connection, Turn};
use crate::control::door::{Door, Permit};
use crate::control::event::Event;
use crate::control::queue::{Line, Queue};
use crate::error::Error;
use crate::format::Row;
use crate::id::SessionId;
use crate::version::Version;

/// How the link behaves; the defaults suit everybody but tests.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// How long a reply may take before the client counts as stuck.
    pub deadline: Duration,
    /// How long an unused client is kept; longer where coming again is risky.
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
    /// How long an unused client of a server of this version is kept.
    pub(crate) fn idle_with(&self, version: Option<Version>) -> Duration {
        match version {
            Some(version) if version.has_fragile_greeting() => self.idle * 6,
            _ => self.idle,
        }
    }
}

const LONGEST_BACK_OFF: Duration = Duration::from_secs(5);

/// What tmux calls the format that it compares for us.
const COMPARED: &str = "changes";

/// What the task can be asked for.
#[derive(Debug)]
pub(crate) enum Request {
    /// Run commands.
    Run(Line),
    /// Stay attached to this session rather than to a person's.
    Prefer(SessionId),
    /// The same, unless it is attached to such a session already.
    PreferAlso(SessionId),
    /// Keep out of this session, which is about to end. The first is dropped when that is so, the
    /// second is closed when it need not be so any more.
    Leave(SessionId, oneshot::Sender<()>, oneshot::Sender<()>),
    /// Have tmux tell when this format says something else; none to end that.
    Compare(Option<String>),
}

crate::row! {
    /// What decides where to attach.
    pub(crate) Probe {
        id: SessionId = "session_id",
        attached: u32 = "session_attached",
        activity: u64 = "session_activity",
        version: String = "version",
    }
}

/// The task's state.
pub(crate) struct Link {
    door: Door,
    timing: Timing,
    requests: mpsc::UnboundedReceiver<Request>,
    events: broadcast::Sender<Event>,
    version: Arc<Mutex<Option<Version>>>,
    /// Sessions of our own, the best last.
    preferred: Vec<SessionId>,
    /// Sessions to keep out of, until the other end is closed.
    avoided: Vec<(SessionId, oneshot::Sender<()>)>,
    /// Where it is attached.
    at: Option<SessionId>,
    compared: Option<String>,
    pending: Queue,
    /// A line that cannot be sent while another client is coming in; those behind it wait too.
    waiting: Option<Line>,
    failures: u32,
    retry_at: Instant,
}

impl Link {
    /// A link that is not connected yet.
    pub(crate) fn new(
        door: Door,
        timing: Timing,
        requests: mpsc::UnboundedReceiver<Request>,
        events: broadcast::Sender<Event>,
        version: Arc<Mutex<Option<Version>>>,
    ) -> Self {
        Self {
            door,
            timing,
            requests,
            events,
            version,
            preferred: Vec::new(),
            avoided: Vec::new(),
            at: None,
            compared: None,
            pending: Queue::default(),
            waiting: None,
            failures: 0,
            retry_at: Instant::now(),
        }
    }

    /// Runs until nobody can send requests any more.
    pub(crate) async fn run(mut self) {
        while let Some(mut connection) = self.disconnected().await {
            let _ = self.events.send(Event::Connected);
            if let Some(version) = *self.version.lock().unwrap_or_else(PoisonError::into_inner) {
                tracing::info!("connected to tmux {version}");
            }
            let ended = self.connected(&mut connection).await;
            let _ = self.events.send(Event::Disconnected);
            self.pending.fail_all(self.timing.deadline);
            if let Some(line) = self.waiting.take() {
                line.cannot_be_sent(Error::Lost { command: "attach-session".to_owned() });
            }
            self.door.leave(connection);
            match ended {
                Ended::Finished => return,
                Ended::LetGo => {}
                Ended::Broken => self.back_off(),
            }
        }
    }

    /// Waits for a reason to connect. `None` when there will be none.
    async fn disconnected(&mut self) -> Option<Connection> {
        loop {
            let listening = self.events.receiver_count() > 0;
            tokio::select! {
                request = self.requests.recv() => match request? {
                    Request::Prefer(session) => self.preferred.push(session),
                    Request::PreferAlso(session) => self.preferred.insert(0, session),
                    Request::Leave(session, _, over) => self.avoid(session, over),
                    Request::Compare(format) => self.compared = format,
                    Request::Run(line) => match self.connect().await {
                        Ok(connection) => {
                            self.waiting = Some(line);
                            return Some(connection);
                        }
                        Err(error) => line.cannot_be_sent(error),
                    },
                },
                () = tokio::time::sleep_until(self.retry_at), if listening => {
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
    async fn connected(&mut self, connection: &mut Connection) -> Ended {
        let mut last_use = Instant::now();
        let mut leaving = Leaving::default();
        let idle =
            self.timing.idle_with(*self.version.lock().unwrap_or_else(PoisonError::into_inner));
        // Set again only when it rings, never for each command: that would wake the runtime twice.
        let alarm = tokio::time::sleep(self.timing.deadline.min(idle));
        tokio::pin!(alarm);
        if self.compared.is_some() {
            self.compare(connection);
        }
        loop {
            if let Some(line) = self.waiting.take_if(|line| !line.needs_permit()) {
                self.submit(connection, line, None);
            }
            if leaving.when_quiet && self.pending.is_empty() && self.waiting.is_none() {
                return Ended::LetGo;
            }
            let mut trusted = true;
            tokio::select! {
                // Reading comes first: what is sent into a client that has gone is lost.
                biased;
                turn = connection.turn(|item| trusted &= self.pending.take(item, &self.events)) => {
                    if turn == Turn::Closed {
                        tracing::info!("tmux closed the connection");
                        return Ended::LetGo;
                    }
                    if !trusted {
                        tracing::warn!("tmux sent an answer nobody asked for, reconnecting");
                        return Ended::Broken;
                    }
                    self.failures = 0;
                }
                permit = self.door.permit(), if self.waiting.is_some() => {
                    if let Some(line) = self.waiting.take() {
                        self.submit(connection, line, Some(permit));
                    }
                }
                request = self.requests.recv(), if self.waiting.is_none() && leaving.now.is_none() => {
                    match request {
                        None => return Ended::Finished,
                        Some(Request::Run(line)) => {
                            last_use = Instant::now();
                            self.waiting = Some(line);
                        }
                        Some(wish) => self.take_wish(wish, connection, &mut leaving),
                    }
                }
                () = &mut alarm => {
                    let now = Instant::now();
                    if self.pending.deadline().is_some_and(|deadline| deadline <= now) {
                        tracing::warn!("tmux gave no answer in time, reconnecting");
                        return Ended::Broken;
                    }
                    if self.pending.is_empty() && last_use + idle <= now {
                        if self.events.receiver_count() == 0 {
                            tracing::info!("left tmux: nothing to do for {idle:?}");
                            return Ended::LetGo;
                        }
                        last_use = now;
                    }
                    let next = self.pending.deadline().unwrap_or(last_use + idle);
                    alarm.as_mut().reset(next.min(now + self.timing.deadline));
                }
            }
        }
    }

    /// Takes what somebody wants of the connection beside an answer.
    fn take_wish(&mut self, wish: Request, connection: &mut Connection, leaving: &mut Leaving) {
        match wish {
            Request::Run(line) => self.waiting = Some(line),
            Request::Prefer(session) => {
                self.preferred.push(session);
                leaving.when_quiet = true;
            }
            Request::PreferAlso(session) => {
                leaving.when_quiet |= self.at.is_none_or(|at| !self.preferred.contains(&at));
                self.preferred.insert(0, session);
            }
            Request::Leave(session, left, over) => {
                self.avoid(session, over);
                if self.at == Some(session) {
                    leaving.when_quiet = true;
                    leaving.now = Some(left);
                }
            }
            Request::Compare(format) => {
                self.compared = format;
                self.compare(connection);
            }
        }
    }

    fn submit(&mut self, connection: &mut Connection, line: Line, permit: Option<Permit>) {
        let text: Vec<String> = line.commands.iter().map(Command::to_line).collect();
        connection.send(&text.join(" ; "));
        self.pending.push(line, Instant::now() + self.timing.deadline, permit);
    }

    /// Tells tmux what to compare, or that nothing is any more.
    fn compare(&mut self, connection: &mut Connection) {
        let wish = match &self.compared {
            Some(format) => format!("{COMPARED}::{format}"),
            None => COMPARED.to_owned(),
        };
        let commands = vec![Command::query("refresh-client").option("-B", wish)];
        let (reply, _) = oneshot::channel();
        self.submit(connection, Line { commands, reply }, None);
    }

    /// Attaches, unless tmux is to be left in peace for now.
    async fn connect(&mut self) -> Result<Connection, Error> {
        if self.failures > 0 && Instant::now() < self.retry_at {
            return Err(Error::Lost { command: "attach-session".to_owned() });
        }
        let attached = self.attach().await;
        // A server that does not answer must not cost each waiting call a deadline in turn.
        if let Err(Error::Timeout { .. } | Error::Lost { .. }) = attached {
            self.back_off();
        }
        attached
    }

    fn avoid(&mut self, session: SessionId, over: oneshot::Sender<()>) {
        self.preferred.retain(|ours| *ours != session);
        self.avoided.push((session, over));
    }

    /// Attaches where we are seen least: to a session of our own, to one where a person is attached
    /// already, or to the one used last.
    async fn attach(&mut self) -> Result<Connection, Error> {
        let probe = Command::query("list-sessions").option("-F", Probe::format());
        let reply = self.door.spawned(&[probe]).await?;
        let sessions = Probe::parse_all("list-sessions", &reply)?;
        self.preferred.retain(|ours| sessions.iter().any(|session| session.id == *ours));
        self.avoided.retain(|(_, over)| !over.is_closed());
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
        *self.version.lock().unwrap_or_else(PoisonError::into_inner) = Some(version);
        self.at = Some(best.id);
        self.door.enter(best.id, false).await
    }

    fn back_off(&mut self) {
        let pause = self.timing.back_off * 2_u32.saturating_pow(self.failures.min(16));
        self.retry_at = Instant::now() + pause.min(LONGEST_BACK_OFF);
        self.failures = self.failures.saturating_add(1);
    }
}

/// Whether a connection is to be given up.
#[derive(Debug, Default)]
struct Leaving {
    /// Once nothing is on its way.
    when_quiet: bool,
    /// While somebody waits for that, nothing more is sent; it is dropped when it is so.
    now: Option<oneshot::Sender<()>>,
}

/// How a connection came to its end.
enum Ended {
    /// Nobody needs the link any more.
    Finished,
    /// It was idle, the session or server went, or someone detached it: connect again when needed.
    LetGo,
    /// It stopped making sense: give tmux some rest.
    Broken,
}
