//! A pane's raw output as it comes.
//!
//! tmux tells a control client only of panes in the session it is attached to, so there is one
//! stream client per session: opened with the first reader, shared by all, closed when the last has
//! been gone for a while. It always reads as fast as tmux writes; a reader that does not keep up
//! finds a gap in its ring and never slows down the pane's program.

mod questions;
pub mod ring;
mod task;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, mpsc, oneshot};

use crate::command::Command;
use crate::control::door::Door;
use crate::control::link::Timing;
use crate::error::Error;
use crate::id::{PaneId, SessionId};
use crate::server::{Reply, Server};
use crate::stream::ring::{Chunk, End, Ring};
use crate::stream::task::Task;

/// How many bytes of one pane are kept for readers that lag.
const RING_SIZE: usize = 1024 * 1024;

/// A ring that one task fills and readers wait on.
#[derive(Debug)]
pub(crate) struct Shared {
    ring: Mutex<Ring>,
    changed: Notify,
    /// How often windows of its session were arranged anew, and the position when it was last.
    layouts: AtomicU64,
    arranged_at: AtomicU64,
}

impl Shared {
    fn new() -> Self {
        Self {
            ring: Mutex::new(Ring::new(RING_SIZE)),
            changed: Notify::new(),
            layouts: AtomicU64::new(0),
            arranged_at: AtomicU64::new(0),
        }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells readers that the pane may have another size now.
    fn rearrange(&self) {
        self.arranged_at.store(self.ring().head(), Ordering::Relaxed);
        self.layouts.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Ring)) {
        change(&mut self.ring());
        self.changed.notify_waiters();
    }
}

/// What has come, without saying what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// Output, or a gap in it.
    Output,
    /// Windows of the pane's session were arranged anew.
    Rearranged,
    /// Nothing more will come.
    End(End),
}

/// A reader of one pane's output, from the moment it was opened. A clone reads by itself, from where
/// the first one is.
#[derive(Debug, Clone)]
pub struct PaneStream {
    shared: Arc<Shared>,
    position: u64,
    /// How many arrangements it has been told of.
    layouts: u64,
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

    /// Waits until windows of the pane's session were arranged anew: it may have another size from
    /// this position on. May be dropped at any time.
    pub async fn rearranged(&mut self) -> u64 {
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let layouts = self.shared.layouts.load(Ordering::Relaxed);
            if std::mem::replace(&mut self.layouts, layouts) != layouts {
                return self.shared.arranged_at.load(Ordering::Relaxed);
            }
            changed.await;
        }
    }

    /// Waits until something has come and skips it, for a reader that only wants to know that it did.
    /// May be dropped at any time.
    pub async fn news(&mut self) -> News {
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let (head, end) = {
                let ring = self.shared.ring();
                (ring.head(), ring.end())
            };
            if std::mem::replace(&mut self.position, head) != head {
                return News::Output;
            }
            let layouts = self.shared.layouts.load(Ordering::Relaxed);
            if std::mem::replace(&mut self.layouts, layouts) != layouts {
                return News::Rearranged;
            }
            match end {
                Some(end) => return News::End(end),
                None => changed.await,
            }
        }
    }

    /// How far this reader has come, in bytes since the pane was first followed.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether the other one reads the same bytes, so that positions can be compared.
    pub fn is_beside(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Skips everything that has come until now.
    fn go_to_head(&mut self) {
        self.position = self.shared.ring().head();
        self.layouts = self.shared.layouts.load(Ordering::Relaxed);
    }
}

/// What a stream task can be asked for.
#[derive(Debug)]
struct Follow {
    pane: PaneId,
    /// The ring of a pane that comes from another session, with the readers it has.
    shared: Option<Arc<Shared>>,
    /// What to ask of tmux at the very place where the reader begins.
    questions: Vec<Command>,
    reply: oneshot::Sender<Result<Begun, Error>>,
}

/// A new reader, and the answers to what was asked where it begins.
type Begun = (PaneStream, Vec<Reply>);

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
        let (stream, _) =
            self.subscribe_in(server, place.session, pane, shared, Vec::new()).await?;
        Ok(stream)
    }

    /// The same for a pane that is known to be in this session, with questions to ask there.
    pub(crate) async fn subscribe_in(
        &self,
        server: &Server,
        session: SessionId,
        pane: PaneId,
        shared: Option<Arc<Shared>>,
        questions: Vec<Command>,
    ) -> Result<Begun, Error> {
        let begin = async {
            loop {
                let (reply, answer) = oneshot::channel();
                let (shared, questions) = (shared.clone(), questions.clone());
                self.send(server, session, Follow { pane, shared, questions, reply });
                // No answer: the task was just leaving, or its client went. The next try finds
                // another.
                if let Ok(outcome) = answer.await {
                    return outcome;
                }
            }
        };
        // One deadline for a client to come, one for it to answer.
        let after = self.timing.deadline * 2;
        tokio::time::timeout(after, begin)
            .await
            .unwrap_or_else(|_| Err(Error::Timeout { command: "attach-session".to_owned(), after }))
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
