//! A pane's raw output as it comes.
//!
//! tmux tells a control client only of panes in the session it is attached to, so there is one
//! stream client per session: opened with the first reader, shared by all, closed when the last has
//! been gone for a while. It always reads as fast as tmux writes; a reader that does not keep up
//! finds a gap in its ring and never slows down the pane's program.

pub mod ring;
mod task;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, mpsc, oneshot};

use crate::control::door::Door;
use crate::control::link::Timing;
use crate::error::Error;
use crate::id::{PaneId, SessionId};
use crate::server::Server;
use crate::stream::ring::{Chunk, End, Ring};
use crate::stream::task::Task;

/// How many bytes of one pane are kept for readers that lag.
const RING_SIZE: usize = 1024 * 1024;

/// A ring that one task fills and readers wait on.
#[derive(Debug)]
pub(crate) struct Shared {
    ring: Mutex<Ring>,
    changed: Notify,
}

impl Shared {
    fn new() -> Self {
        Self { ring: Mutex::new(Ring::new(RING_SIZE)), changed: Notify::new() }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Ring)) {
        change(&mut self.ring());
        self.changed.notify_waiters();
    }
}

/// A reader of one pane's output, from the moment it was opened.
#[derive(Debug)]
pub struct PaneStream {
    shared: Arc<Shared>,
    position: u64,
}

impl PaneStream {
    /// The next bytes, gap or end. May be dropped at any time without losing anything.
    pub async fn next(&mut self) -> Chunk {
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let found = self.shared.ring().read(self.position);
            match found {
                Some(chunk) => {
                    if let Chunk::Bytes { next, .. } | Chunk::Gap { next, .. } = chunk {
                        self.position = next;
                    }
                    return chunk;
                }
                None => changed.await,
            }
        }
    }

    /// How far this reader has come, in bytes since the pane was first followed.
    pub fn position(&self) -> u64 {
        self.position
    }
}

/// What a stream task can be asked for.
#[derive(Debug)]
struct Follow {
    pane: PaneId,
    /// The ring of a pane that comes from another session, with the readers it has.
    shared: Option<Arc<Shared>>,
    reply: oneshot::Sender<Result<PaneStream, Error>>,
}

/// All the stream clients of one tmux server.
#[derive(Debug)]
pub(crate) struct Hub {
    door: Door,
    timing: Timing,
    tasks: Mutex<HashMap<SessionId, mpsc::UnboundedSender<Follow>>>,
}

crate::row! {
    /// Where a pane is now.
    pub(crate) Place {
        pane: PaneId = "pane_id",
        session: SessionId = "session_id",
    }
}

impl Hub {
    pub(crate) fn new(door: Door, timing: Timing) -> Self {
        Self { door, timing, tasks: Mutex::new(HashMap::new()) }
    }

    /// Opens a reader; everything printed after the return is in it.
    pub(crate) async fn subscribe(
        &self,
        server: &Server,
        pane: PaneId,
        shared: Option<Arc<Shared>>,
    ) -> Result<PaneStream, Error> {
        let place: Place = server.row(&pane.to_string()).await?;
        self.subscribe_in(server, place.session, pane, shared).await
    }

    /// The same for a pane that is known to be in this session.
    pub(crate) async fn subscribe_in(
        &self,
        server: &Server,
        session: SessionId,
        pane: PaneId,
        shared: Option<Arc<Shared>>,
    ) -> Result<PaneStream, Error> {
        loop {
            let (reply, answer) = oneshot::channel();
            self.send(server, session, Follow { pane, shared: shared.clone(), reply });
            // No answer: the task was just leaving. The next try finds it gone and starts another.
            if let Ok(outcome) = answer.await {
                return outcome;
            }
        }
    }

    /// Hands the wish to the session's task, starting one where there is none.
    fn send(&self, server: &Server, session: SessionId, follow: Follow) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let follow = match tasks.get(&session) {
            Some(task) => match task.send(follow) {
                Ok(()) => return,
                Err(mpsc::error::SendError(follow)) => follow,
            },
            None => follow,
        };
        let (sender, receiver) = mpsc::unbounded_channel();
        let _ = sender.send(follow);
        tasks.insert(session, sender);
        let task = Task::new(self.door.clone(), self.timing, session, server.downgrade());
        tokio::spawn(task.run(receiver));
    }
}
