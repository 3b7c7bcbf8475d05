//! A tmux server as the rest of the program sees it: send commands, hear events, read panes.
//!
//! Whether a command goes through the control client or through a spawned `tmux` is decided here
//! and nowhere else.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::{broadcast, mpsc, oneshot};

use crate::channel::Waiters;
use crate::command::Command;
use crate::control::door::{Door, Permit};
use crate::control::event::Event;
use crate::control::link::{Link, Request, Timing};
use crate::control::queue::{Failure, Line};
use crate::error::Error;
use crate::format::Row;
use crate::id::{PaneId, SessionId};
use crate::spawn::Program;
use crate::stream::ring::End;
use crate::stream::{Hub, PaneStream, Shared};
use crate::version::Version;

/// How many events may wait for a slow listener before the oldest are dropped.
const EVENT_BACKLOG: usize = 256;

/// What a command printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply(pub Vec<u8>);

impl Reply {
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
    door: Door,
    requests: mpsc::UnboundedSender<Request>,
    events: broadcast::Sender<Event>,
    version: Arc<Mutex<Option<Version>>>,
    streams: Hub,
    waiters: Waiters,
}

impl Server {
    /// A handle that has not spoken to tmux yet. Needs a Tokio runtime.
    pub fn new(program: Program) -> Self {
        Self::with_timing(program, Timing::default())
    }

    /// The same with other deadlines.
    pub fn with_timing(program: Program, timing: Timing) -> Self {
        let (requests, receiver) = mpsc::unbounded_channel();
        let (events, _) = broadcast::channel(EVENT_BACKLOG);
        let version = Arc::new(Mutex::new(None));
        let door = Door::new(program.clone(), timing.deadline);
        let link = Link::new(door.clone(), timing, receiver, events.clone(), Arc::clone(&version));
        tokio::spawn(link.run());
        let streams = Hub::new(door.clone(), timing);
        let waiters = Waiters::default();
        let inner = Inner { program, timing, door, requests, events, version, streams, waiters };
        Self { inner: Arc::new(inner) }
    }

    /// Where the server's socket is.
    pub fn socket_path(&self) -> PathBuf {
        self.inner.program.socket.path()
    }

    /// The tmux program that is used.
    pub fn program(&self) -> &OsString {
        &self.inner.program.path
    }

    /// Runs one command. Several calls at the same time are sent without waiting for one another
    /// and answered in order.
    pub async fn run(&self, command: Command) -> Result<Reply, Error> {
        let mut replies = self.sequence(vec![command]).await?;
        Ok(replies.pop().unwrap_or(Reply(Vec::new())))
    }

    /// Runs commands without a break between them, up to the first that fails.
    ///
    /// Through a spawned `tmux` the outputs of commands that change something cannot be told apart:
    /// all of it counts as the first command's.
    pub async fn sequence(&self, commands: Vec<Command>) -> Result<Vec<Reply>, Error> {
        self.submit(commands)?.await
    }

    /// Runs commands one after the other, each by itself, in one round trip. Returns the first
    /// error, if there was any; all are tried.
    pub async fn run_all(&self, commands: Vec<Command>) -> Result<(), Error> {
        let mut waiting = Vec::with_capacity(commands.len());
        for command in commands {
            waiting.push(self.submit(vec![command])?);
        }
        let mut outcome = Ok(());
        for answer in waiting {
            let answered = answer.await.map(|_| ());
            outcome = outcome.and(answered);
        }
        outcome
    }

    /// Sends commands right now, so that they come before whatever is sent later; the answer is
    /// waited for in the future that is returned.
    fn submit(
        &self,
        commands: Vec<Command>,
    ) -> Result<impl Future<Output = Result<Vec<Reply>, Error>> + Send, Error> {
        for command in &commands {
            command.check()?;
        }
        let answer = if commands.iter().any(Command::needs_own_process) {
            None
        } else {
            let (reply, answer) = oneshot::channel();
            let request = Request::Run(Line { commands: commands.clone(), reply });
            self.inner.requests.send(request).ok().map(|()| answer)
        };
        let server = self.clone();
        Ok(async move {
            let outcome = match answer {
                Some(answer) => answer.await.ok(),
                None => None,
            };
            server.settle(&commands, outcome).await
        })
    }

    /// Turns what the link said into an answer, asking a spawned `tmux` where it had none.
    async fn settle(
        &self,
        commands: &[Command],
        outcome: Option<Result<Vec<Vec<u8>>, Failure>>,
    ) -> Result<Vec<Reply>, Error> {
        match outcome {
            Some(Ok(replies)) => Ok(replies.into_iter().map(Reply).collect()),
            Some(Err(Failure::Refused(error))) => Err(error),
            Some(Err(Failure::NoAnswer(error))) => {
                if commands.iter().all(Command::is_repeatable) {
                    self.spawned(commands).await
                } else {
                    Err(error)
                }
            }
            Some(Err(Failure::Unavailable(error))) => {
                let hopeless = matches!(error, Error::Missing { .. } | Error::TooOld { .. })
                    || (error.is_no_server() && !commands.iter().any(starts_a_server));
                if hopeless { Err(error) } else { self.spawned(commands).await }
            }
            None => self.spawned(commands).await,
        }
    }

    /// Runs commands in a process of their own, without attaching to anything.
    pub async fn spawned(&self, commands: &[Command]) -> Result<Vec<Reply>, Error> {
        if commands.len() > 1 && commands.iter().all(Command::is_repeatable) {
            return self.spawned_apart(commands).await;
        }
        let output = self.inner.door.spawned(commands).await?;
        let mut replies = vec![Reply(output)];
        replies.resize(commands.len().max(1), Reply(Vec::new()));
        Ok(replies)
    }

    /// Runs commands that only ask, with a line between their outputs that none of them can print.
    async fn spawned_apart(&self, commands: &[Command]) -> Result<Vec<Reply>, Error> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let line = format!("{}.{} ends here", std::process::id(), now.as_nanos());
        let between = Command::query("display-message").arg("-p").arg(&line);
        let mut all = Vec::with_capacity(commands.len() * 2);
        for command in commands {
            all.extend([command.clone(), between.clone()]);
        }
        let output = self.inner.door.spawned(&all).await?;
        let line = format!("{line}\n");
        let mut rest = output.as_slice();
        let mut replies = Vec::with_capacity(commands.len());
        while let Some(at) = memchr::memmem::find(rest, line.as_bytes()) {
            let (reply, tail) = rest.split_at(at);
            replies.push(Reply(reply.to_vec()));
            rest = tail.get(line.len()..).unwrap_or_default();
        }
        if replies.len() != commands.len() {
            return Err(Error::unexpected("display-message", &output));
        }
        Ok(replies)
    }

    /// Runs a listing command and reads its rows; the format is added.
    pub async fn rows<R: Row>(&self, command: Command) -> Result<Vec<R>, Error> {
        let name = command.name();
        let reply = self.run(command.option("-F", R::format())).await?;
        R::parse_all(name, &reply.0)
    }

    /// The command that prints one row for one object. For an object that is gone it prints empty
    /// values instead of failing.
    pub fn row_query<R: Row>(target: &str) -> Command {
        Command::query("display-message").arg("-p").option("-t", target).arg(R::format())
    }

    /// Expands one row for one object, which must exist.
    pub async fn row<R: Row>(&self, target: &str) -> Result<R, Error> {
        let reply = self.run(Self::row_query::<R>(target)).await?;
        if reply.0.starts_with(b";") {
            return Err(Error::Refused {
                command: "display-message".to_owned(),
                message: format!("can't find {target}"),
            });
        }
        R::parse_all("display-message", &reply.0)?.pop().ok_or_else(|| Error::Unexpected {
            command: "display-message".to_owned(),
            detail: "no row".to_owned(),
        })
    }

    /// The version of the running server, or of the program when none runs.
    pub async fn version(&self) -> Result<Version, Error> {
        match self.known_version() {
            Some(version) => Ok(version),
            None => self.inner.program.version(self.inner.timing.deadline).await,
        }
    }

    /// The version of the running server, if it has been asked.
    pub(crate) fn known_version(&self) -> Option<Version> {
        *self.inner.version.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens to what happens on the server. While anybody listens, the client stays connected.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        let receiver = self.inner.events.subscribe();
        // A request, even one that asks nothing, wakes the link so that it sees the listener.
        let (reply, _) = oneshot::channel();
        let commands = vec![Command::query("refresh-client")];
        let _ = self.inner.requests.send(Request::Run(Line { commands, reply }));
        receiver
    }

    /// Has tmux look once a second whether a format says something else than before, and tell those
    /// who listen: [`Event::ValueChanged`]. It is also told once for a new format and after each
    /// [`Event::Connected`]. There is one such format; none ends it.
    pub fn compare(&self, format: Option<String>) {
        let _ = self.inner.requests.send(Request::Compare(format));
    }

    /// Says which session is our own, so that the client does not sit in a person's.
    pub fn prefer(&self, session: SessionId) {
        let _ = self.inner.requests.send(Request::Prefer(session));
    }

    /// Says the same of one more; a client that sits in one of our own stays there.
    pub fn prefer_also(&self, session: SessionId) {
        let _ = self.inner.requests.send(Request::PreferAlso(session));
    }

    /// Takes our client out of a session that is about to end, so that nobody's command is lost with
    /// it. It keeps out while what is returned lives.
    pub async fn leave(&self, session: SessionId) -> Away {
        let (left, out) = oneshot::channel();
        let (over, here) = oneshot::channel();
        let _ = self.inner.requests.send(Request::Leave(session, left, over));
        let _ = out.await;
        Away { _here: here }
    }

    /// Follows everything that a pane's program prints from now on.
    pub async fn stream(&self, pane: PaneId) -> Result<PaneStream, Error> {
        self.inner.streams.subscribe(self, pane, None).await
    }

    /// The same for a pane that is known to be in this session, one question less.
    pub async fn stream_in(&self, session: SessionId, pane: PaneId) -> Result<PaneStream, Error> {
        let (stream, _) = self.stream_from(session, pane, Vec::new()).await?;
        Ok(stream)
    }

    /// The same with queries whose answers tell of the server exactly where the stream begins: with
    /// all that was printed before, and nothing of what the stream will bring.
    pub async fn stream_from(
        &self,
        session: SessionId,
        pane: PaneId,
        queries: Vec<Command>,
    ) -> Result<(PaneStream, Vec<Reply>), Error> {
        for query in &queries {
            query.check()?;
        }
        self.inner.streams.subscribe_in(self, session, pane, None, queries).await
    }

    /// Waits until all that a pane has printed by now can be read from its stream.
    pub async fn catch_up(&self, session: SessionId, pane: PaneId) -> Result<(), Error> {
        // What was just printed may reach tmux in the same moment as a question and be read after
        // it; but not after the second one.
        for _ in 0..2 {
            let nothing = Command::query("display-message").args(["-p", ""]);
            self.stream_from(session, pane, vec![nothing]).await?;
        }
        Ok(())
    }

    /// Goes on filling a ring whose pane has moved to another session.
    pub(crate) fn adopt(&self, pane: PaneId, shared: Arc<Shared>) {
        let server = self.clone();
        tokio::spawn(async move {
            let kept = Arc::clone(&shared);
            if server.inner.streams.subscribe(&server, pane, Some(shared)).await.is_err() {
                kept.change(|ring| ring.finish(End::PaneGone));
            }
        });
    }

    /// The tmux program on this server.
    pub(crate) fn tmux_program(&self) -> &Program {
        &self.inner.program
    }

    /// Waits until no client is coming in, and keeps them out.
    pub(crate) async fn permit(&self, command: &str) -> Result<Permit, Error> {
        let after = self.deadline();
        tokio::time::timeout(after, self.inner.door.permit())
            .await
            .map_err(|_| Error::Timeout { command: command.to_owned(), after })
    }

    /// How long an answer may take.
    pub(crate) fn deadline(&self) -> Duration {
        self.inner.timing.deadline
    }

    /// Those who wait for signals.
    pub(crate) fn waiters(&self) -> &Waiters {
        &self.inner.waiters
    }

    /// A handle that does not keep the connection alive.
    pub(crate) fn downgrade(&self) -> WeakServer {
        WeakServer(Arc::downgrade(&self.inner))
    }
}

/// Keeps our client out of a session. See [`Server::leave`].
#[must_use]
#[derive(Debug)]
pub struct Away {
    /// The other end sees whether it is still there.
    _here: oneshot::Receiver<()>,
}

/// A [`Server`] that may be gone.
#[derive(Debug, Clone)]
pub(crate) struct WeakServer(Weak<Inner>);

impl WeakServer {
    pub(crate) fn upgrade(&self) -> Option<Server> {
        self.0.upgrade().map(|inner| Server { inner })
    }
}

fn starts_a_server(command: &Command) -> bool {
    matches!(command.name(), "new-session" | "start-server")
}
