//! The handle on a tmux server: run commands, subscribe to events, stream pane output.
//!
//! Whether a command goes through the control client or through a spawned `tmux` is decided here
//! and nowhere else.

use std::ffi::OsString;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::{broadcast, mpsc, oneshot};

use crate::channel::ChannelWaits;
use crate::command::Command;
use crate::control::attach_lock::{AttachLock, Permit};
use crate::control::event::TmuxEvent;
use crate::control::link::{Link, LinkRequest, Timing};
use crate::control::queue::{CommandSequence, LinkFailure};
use crate::delay::{AwaitPoint, pause_at};
use crate::error::Error;
use crate::format::Row;
use crate::id::{PaneId, SessionId};
use crate::socket::Socket;
use crate::spawn::Program;
use crate::stream::ring::StreamEnd;
use crate::stream::{PaneStream, SharedRing, StreamHub};
use crate::sync::{lock, within};
use crate::version::Version;

/// How many events are kept for a slow subscriber before the oldest are dropped.
const EVENT_BACKLOG: usize = 256;

/// The output of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TmuxReply(pub Vec<u8>);

impl TmuxReply {
    /// The output as text, invalid UTF-8 replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

/// A handle on one tmux server, cheap to clone. The server need not be running.
#[derive(Debug, Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    program: Program,
    timing: Timing,
    /// Shared with the link and the stream tasks.
    attach_lock: AttachLock,
    /// To the link, which ends when this is dropped.
    requests: mpsc::UnboundedSender<LinkRequest>,
    events: broadcast::Sender<TmuxEvent>,
    /// Set by the link when it attaches.
    version: Arc<Mutex<Option<Version>>>,
    streams: StreamHub,
    channel_waits: ChannelWaits,
}

impl Server {
    /// A handle that is not connected yet. Needs a Tokio runtime.
    pub fn new(program: Program) -> Self {
        Self::with_timing(program, Timing::default())
    }

    /// The same with other deadlines.
    pub fn with_timing(program: Program, timing: Timing) -> Self {
        let (requests, receiver) = mpsc::unbounded_channel();
        let (events, _) = broadcast::channel(EVENT_BACKLOG);
        let version = Arc::new(Mutex::new(None));
        let attach_lock = AttachLock::new(program.clone(), timing.deadline, Arc::clone(&version));
        let link =
            Link::new(attach_lock.clone(), timing, receiver, events.clone(), Arc::clone(&version));
        tokio::spawn(link.run());
        let streams = StreamHub::new(attach_lock.clone(), timing);
        let inner = Inner {
            program,
            timing,
            attach_lock,
            requests,
            events,
            version,
            streams,
            channel_waits: ChannelWaits::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// A handle on the tmux server with another socket, by the same program.
    #[must_use]
    pub fn beside(&self, socket: Socket) -> Self {
        let program = Program { socket, ..self.inner.program.clone() };
        Self::with_timing(program, self.inner.timing)
    }

    /// The tmux program with the arguments that lead to this server, for scripts on its system. It starts no
    /// server.
    pub fn program_words(&self) -> Vec<String> {
        let Program { path, socket, .. } = &self.inner.program;
        let mut words = vec![path.to_string_lossy().into_owned(), "-u".to_owned(), "-N".to_owned()];
        words.extend(socket.args());
        words
    }

    /// The tmux program that is used.
    pub fn program(&self) -> &OsString {
        &self.inner.program.path
    }

    /// Runs one command. Commands of concurrent calls are sent without waiting for one another and
    /// their replies come in order.
    pub async fn run(&self, command: Command) -> Result<TmuxReply, Error> {
        let mut replies = self.sequence(vec![command]).await?;
        Ok(replies.pop().unwrap_or(TmuxReply(Vec::new())))
    }

    /// Runs commands without a break between them, up to the first that fails.
    ///
    /// Through a spawned `tmux`, if one of the commands changes something, their outputs cannot be
    /// told apart: all of it is in the first reply.
    pub async fn sequence(&self, commands: Vec<Command>) -> Result<Vec<TmuxReply>, Error> {
        self.submit(commands)?.await
    }

    /// Runs all commands in order and in one round trip, even if one fails. Returns the first
    /// error.
    pub async fn run_all(&self, commands: Vec<Command>) -> Result<(), Error> {
        self.run_lines(commands.into_iter().map(|command| vec![command]).collect()).await
    }

    /// The same for sequences, each of which ends with its first command that fails.
    pub(crate) async fn run_lines(&self, lines: Vec<Vec<Command>>) -> Result<(), Error> {
        let mut submitted = Vec::with_capacity(lines.len());
        for line in lines {
            submitted.push(self.submit(line)?);
        }
        let mut outcome = Ok(());
        for replies in submitted {
            let result = replies.await.map(|_| ());
            outcome = outcome.and(result);
        }
        outcome
    }

    /// Sends commands at once, before all that are sent later. The returned future waits for the
    /// replies.
    fn submit(
        &self,
        commands: Vec<Command>,
    ) -> Result<impl Future<Output = Result<Vec<TmuxReply>, Error>> + Send, Error> {
        for command in &commands {
            command.check()?;
        }
        let replies = if commands.iter().any(Command::needs_own_process) {
            None
        } else {
            let (reply, replies) = oneshot::channel();
            let sequence = CommandSequence { commands: commands.clone(), reply };
            self.inner.requests.send(LinkRequest::Run(sequence)).ok().map(|()| replies)
        };
        let server = self.clone();
        Ok(async move {
            let outcome = match replies {
                Some(replies) => replies.await.ok(),
                None => None,
            };
            pause_at(AwaitPoint::Reply).await;
            server.settle(&commands, outcome).await
        })
    }

    /// Turns the outcome of the link into replies. Runs the commands in a spawned `tmux` if the
    /// link could not and repeating them is safe.
    async fn settle(
        &self,
        commands: &[Command],
        outcome: Option<Result<Vec<Vec<u8>>, LinkFailure>>,
    ) -> Result<Vec<TmuxReply>, Error> {
        match outcome {
            Some(Ok(replies)) => Ok(replies.into_iter().map(TmuxReply).collect()),
            Some(Err(LinkFailure::Refused(error))) => Err(error),
            Some(Err(LinkFailure::NoReply(error))) => {
                if commands.iter().all(Command::is_repeatable) {
                    self.spawned(commands).await
                } else {
                    Err(error)
                }
            }
            Some(Err(LinkFailure::Unsent(error))) => {
                let hopeless = error.is_permanent()
                    || (error.is_no_server() && !commands.iter().any(Command::starts_a_server));
                if hopeless { Err(error) } else { self.spawned(commands).await }
            }
            None => self.spawned(commands).await,
        }
    }

    /// Runs commands in a `tmux` process of their own, without a control client.
    pub async fn spawned(&self, commands: &[Command]) -> Result<Vec<TmuxReply>, Error> {
        if commands.len() > 1 && commands.iter().all(Command::is_repeatable) {
            return self.spawned_queries(commands).await;
        }
        let output = self.inner.attach_lock.run_spawned(commands).await?;
        let mut replies = vec![TmuxReply(output)];
        replies.resize(commands.len().max(1), TmuxReply(Vec::new()));
        Ok(replies)
    }

    /// Runs queries in one process, with a unique separator line after the output of each.
    async fn spawned_queries(&self, commands: &[Command]) -> Result<Vec<TmuxReply>, Error> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let separator = format!("{}.{} ends here", std::process::id(), now.as_nanos());
        let print_separator = Command::query("display-message").arg("-p").arg(&separator);
        let mut all = Vec::with_capacity(commands.len() * 2);
        for command in commands {
            all.extend([command.clone(), print_separator.clone()]);
        }
        let output = self.inner.attach_lock.run_spawned(&all).await?;
        let separator = format!("{separator}\n");
        let mut rest = output.as_slice();
        let mut replies = Vec::with_capacity(commands.len());
        while let Some(at) = memchr::memmem::find(rest, separator.as_bytes()) {
            let (reply, tail) = rest.split_at(at);
            replies.push(TmuxReply(reply.to_vec()));
            rest = tail.get(separator.len()..).unwrap_or_default();
        }
        if replies.len() != commands.len() {
            return Err(Error::unexpected("display-message", &output));
        }
        Ok(replies)
    }

    /// Runs a listing command with the row's format (`-F`) and parses its rows.
    pub async fn rows<R: Row>(&self, command: Command) -> Result<Vec<R>, Error> {
        let name = command.name();
        let reply = self.run(command.option("-F", R::format())).await?;
        R::parse_all(name, &reply.0)
    }

    /// The command that prints one row for one object. For an object that does not exist it prints
    /// empty values instead of failing.
    pub fn row_query<R: Row>(target: &str) -> Command {
        Command::query("display-message").arg("-p").option("-t", target).arg(R::format())
    }

    /// Reads one row for one object, which must exist.
    pub async fn row<R: Row>(&self, target: &str) -> Result<R, Error> {
        let reply = self.run(Self::row_query::<R>(target)).await?;
        if reply.0.starts_with(b";") {
            return Err(Error::Refused {
                command: "display-message".to_owned(),
                message: format!("can't find {target}"),
            });
        }
        R::parse_one("display-message", &reply.0)
    }

    /// The version of the running server, or of the program if the server's is not known.
    pub async fn version(&self) -> Result<Version, Error> {
        match self.known_version() {
            Some(version) => Ok(version),
            None => self.inner.program.version(self.inner.timing.deadline).await,
        }
    }

    /// The version of the running server, if the link has attached to it.
    pub(crate) fn known_version(&self) -> Option<Version> {
        *lock(&self.inner.version)
    }

    /// Subscribes to the events of the server. While there is a subscriber, the control client
    /// stays attached.
    pub fn events(&self) -> broadcast::Receiver<TmuxEvent> {
        let receiver = self.inner.events.subscribe();
        // Any request wakes the link, so that it notices the subscriber.
        let (reply, _) = oneshot::channel();
        let commands = vec![Command::query("refresh-client")];
        let sequence = CommandSequence { commands, reply };
        let _ = self.inner.requests.send(LinkRequest::Run(sequence));
        receiver
    }

    /// Subscribes to the value of a format: tmux expands it once a second, and every change is an
    /// [`TmuxEvent::SubscriptionChanged`]. That event also comes once for a new format and after
    /// each [`TmuxEvent::Connected`]. There is at most one format; `None` ends the subscription.
    pub fn subscribe_format(&self, format: Option<String>) {
        let _ = self.inner.requests.send(LinkRequest::Subscribe(format));
    }

    /// Names our own session: the control client attaches there rather than to a person's session.
    pub fn prefer(&self, session: SessionId) {
        let _ = self.inner.requests.send(LinkRequest::Prefer(session));
    }

    /// Names one more session of our own. A control client that is attached to one of ours stays.
    pub fn prefer_also(&self, session: SessionId) {
        let _ = self.inner.requests.send(LinkRequest::PreferAlso(session));
    }

    /// Detaches the control client from a session that is about to be killed, so that no command in
    /// flight is lost with it. It does not attach there again while the returned value lives.
    pub async fn leave(&self, session: SessionId) -> LeaveGuard {
        let (left, client_left) = oneshot::channel();
        let (released, alive) = oneshot::channel();
        let _ = self.inner.requests.send(LinkRequest::Leave { session, left, released });
        let _ = client_left.await;
        LeaveGuard { _alive: alive }
    }

    /// Streams the output of a pane's program from now on.
    pub async fn stream(&self, pane: PaneId) -> Result<PaneStream, Error> {
        self.inner.streams.subscribe(self, pane, None).await
    }

    /// Like [`Server::stream`] for a pane that is known to be in this session; saves a query.
    pub async fn stream_in(&self, session: SessionId, pane: PaneId) -> Result<PaneStream, Error> {
        let (stream, _) = self.stream_from(session, pane, Vec::new()).await?;
        Ok(stream)
    }

    /// Like [`Server::stream_in`], with queries that tmux executes exactly where the stream begins:
    /// their replies reflect all output before that position and none after it.
    pub async fn stream_from(
        &self,
        session: SessionId,
        pane: PaneId,
        queries: Vec<Command>,
    ) -> Result<(PaneStream, Vec<TmuxReply>), Error> {
        for query in &queries {
            query.check()?;
        }
        self.inner.streams.subscribe_in(self, session, pane, None, queries).await
    }

    /// Continues to fill the ring of a pane that has moved to another session.
    pub(crate) fn adopt(&self, pane: PaneId, shared: Arc<SharedRing>) {
        let server = self.clone();
        tokio::spawn(async move {
            let kept = Arc::clone(&shared);
            if server.inner.streams.subscribe(&server, pane, Some(shared)).await.is_err() {
                kept.update(|ring| ring.finish(StreamEnd::PaneGone));
            }
        });
    }

    /// The tmux program with the socket of this server.
    pub(crate) fn tmux_program(&self) -> &Program {
        &self.inner.program
    }

    /// Waits until no control client is attaching. None attaches while the permit is held.
    pub(crate) async fn permit(&self, command: &str) -> Result<Permit, Error> {
        within(self.deadline(), command, self.inner.attach_lock.permit()).await
    }

    /// How long a reply may take.
    pub(crate) fn deadline(&self) -> Duration {
        self.inner.timing.deadline
    }

    /// The waits on channels of this server.
    pub(crate) fn channel_waits(&self) -> &ChannelWaits {
        &self.inner.channel_waits
    }

    /// The lock under which control clients attach.
    pub(crate) fn attach_lock(&self) -> &AttachLock {
        &self.inner.attach_lock
    }

    /// A handle that does not keep the link alive.
    pub(crate) fn downgrade(&self) -> WeakServer {
        WeakServer(Arc::downgrade(&self.inner))
    }
}

/// Keeps the control client out of a session until it is dropped. See [`Server::leave`].
#[must_use]
#[derive(Debug)]
pub struct LeaveGuard {
    /// Dropping it closes the channel, which the link checks before it attaches.
    _alive: oneshot::Receiver<()>,
}

/// A [`Server`] handle that may have been dropped.
#[derive(Debug, Clone)]
pub(crate) struct WeakServer(Weak<Inner>);

impl WeakServer {
    pub(crate) fn upgrade(&self) -> Option<Server> {
        self.0.upgrade().map(|inner| Server { inner })
    }
}
