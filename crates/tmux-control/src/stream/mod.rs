//! Streams: the raw output of panes, as it arrives.
//!
//! tmux sends a control client only the output of the session it is attached to, so there is one
//! stream client per session: started with the first reader, shared by all, detached some time
//! after the last reader is dropped. It always reads as fast as tmux writes. A slow reader finds a
//! gap in its ring and never slows down the pane's program.

mod catch_up;
mod queries;
pub mod ring;
mod task;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::{Notify, mpsc, oneshot};

use crate::command::Command;
use crate::control::attach_lock::AttachLock;
use crate::control::link::Timing;
use crate::delay::{AwaitPoint, pause_at};
use crate::error::Error;
use crate::id::{PaneId, SessionId};
use crate::server::{Server, TmuxReply};
use crate::stream::ring::{Chunk, Ring, StreamEnd};
use crate::stream::task::StreamTask;
use crate::sync::{lock, while_progressing};

/// How many bytes of one pane are kept for slow readers.
const RING_BYTES: usize = 1024 * 1024;

/// The ring of one pane: filled by the stream task of the pane's session, read by any number of
/// [`PaneStream`]s.
#[derive(Debug)]
pub(crate) struct SharedRing {
    ring: Mutex<Ring>,
    /// Notified after every change of the other fields.
    changed: Notify,
    /// How many layout changes there were in the session.
    layout_changes: AtomicU64,
    /// The position at the last layout change.
    layout_changed_at: AtomicU64,
}

impl SharedRing {
    fn new() -> Self {
        Self {
            ring: Mutex::new(Ring::new(RING_BYTES)),
            changed: Notify::new(),
            layout_changes: AtomicU64::new(0),
            layout_changed_at: AtomicU64::new(0),
        }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        lock(&self.ring)
    }

    /// Notifies the readers that the pane may have another size from this position on.
    fn note_layout_change(&self) {
        {
            // No output comes between the two.
            let ring = self.ring();
            self.layout_changed_at.store(ring.head(), Ordering::Relaxed);
            self.layout_changes.fetch_add(1, Ordering::Relaxed);
        }
        self.changed.notify_waiters();
    }

    /// Changes the ring and notifies the readers.
    pub(crate) fn update(&self, update: impl FnOnce(&mut Ring)) {
        update(&mut self.ring());
        self.changed.notify_waiters();
    }
}

/// A change of a stream, without the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamChange {
    /// Output, or a gap in it.
    Output,
    /// The layout of a window in the pane's session changed.
    Layout,
    /// The stream has ended.
    End(StreamEnd),
}

/// The next item of a pane's stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamItem {
    /// Output, a gap in it, or the end.
    Chunk(Chunk),
    /// The layout of a window in the pane's session changed: from here on the pane may have another size.
    Layout,
}

/// A reader of one pane's output, from the moment it was opened. A clone starts at the position of
/// the original and then reads independently.
#[derive(Debug, Clone)]
pub struct PaneStream {
    shared: Arc<SharedRing>,
    position: u64,
    /// How many layout changes this reader has seen.
    layout_changes: u64,
}

impl PaneStream {
    /// The next bytes, gap or end. Cancel safe.
    pub async fn next(&mut self) -> Chunk {
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let found = self.shared.ring().read(self.position);
            match found {
                Some(chunk) => {
                    self.position = chunk.next().unwrap_or(self.position);
                    return chunk;
                }
                None => {
                    changed.await;
                    pause_at(AwaitPoint::StreamReader).await;
                }
            }
        }
    }

    /// The next bytes, gap or end before the position of another reader. `None` once this reader is
    /// there, or if the other one reads another ring.
    pub fn next_before(&mut self, other: &Self) -> Option<Chunk> {
        if !self.shares_ring_with(other) || self.position >= other.position {
            return None;
        }
        let chunk = self.shared.ring().read_up_to(self.position, other.position)?;
        self.position = chunk.next().unwrap_or(self.position);
        Some(chunk)
    }

    /// The next chunk or layout change. A chunk ends at the last layout change, so that what the pane's
    /// program printed after it comes after it. Cancel safe.
    pub async fn next_item(&mut self) -> StreamItem {
        loop {
            let shared = Arc::clone(&self.shared);
            let changed = shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            match self.read_item() {
                Some(item) => return item,
                None => {
                    changed.await;
                    pause_at(AwaitPoint::StreamReader).await;
                }
            }
        }
    }

    fn read_item(&mut self) -> Option<StreamItem> {
        let ring = self.shared.ring();
        let count = self.shared.layout_changes.load(Ordering::Relaxed);
        let mut limit = u64::MAX;
        if self.layout_changes != count {
            limit = self.shared.layout_changed_at.load(Ordering::Relaxed);
            if self.position >= limit {
                self.layout_changes = count;
                return Some(StreamItem::Layout);
            }
        }
        let chunk = ring.read_up_to(self.position, limit)?;
        drop(ring);
        self.position = chunk.next().unwrap_or(self.position);
        Some(StreamItem::Chunk(chunk))
    }

    /// Waits for the next change and skips the output, for a reader that does not need the bytes.
    /// Cancel safe.
    pub async fn changed(&mut self) -> StreamChange {
        loop {
            let changed = self.shared.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let (head, end) = {
                let ring = self.shared.ring();
                (ring.head(), ring.end())
            };
            if std::mem::replace(&mut self.position, head) != head {
                return StreamChange::Output;
            }
            let count = self.shared.layout_changes.load(Ordering::Relaxed);
            if std::mem::replace(&mut self.layout_changes, count) != count {
                return StreamChange::Layout;
            }
            match end {
                Some(end) => return StreamChange::End(end),
                None => changed.await,
            }
        }
    }

    /// The position of this reader, in bytes since the first reader of the pane was opened.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whether both read the same ring, so that their positions can be compared.
    pub fn shares_ring_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Skips all output and layout changes so far.
    fn skip_to_head(&mut self) {
        self.position = self.shared.ring().head();
        self.layout_changes = self.shared.layout_changes.load(Ordering::Relaxed);
    }
}

impl Server {
    /// Ends all streams before the process exits. A client that is killed while tmux sends it output
    /// can crash the tmux server; see `control::connection`.
    pub async fn close_streams(&self) {
        let _ = self.run_all(self.attach_lock().close_streams()).await;
    }
}

/// A request to a stream task: open a reader of a pane.
#[derive(Debug)]
struct SubscribeRequest {
    pane: PaneId,
    /// The ring to go on filling, if the pane has moved here from another session with its readers.
    shared: Option<Arc<SharedRing>>,
    /// Queries that tmux executes exactly where the reader begins.
    queries: Vec<Command>,
    reply: oneshot::Sender<Result<OpenedStream, Error>>,
}

/// A new reader, and the replies to the queries sent with the request.
type OpenedStream = (PaneStream, Vec<TmuxReply>);

/// The stream tasks of one tmux server, one per session that is read.
#[derive(Debug)]
pub(crate) struct StreamHub {
    attach_lock: AttachLock,
    timing: Timing,
    /// The handles of tasks that have ended stay until the next request replaces them.
    tasks: Mutex<HashMap<SessionId, TaskHandle>>,
}

/// The stream task of a session, as its subscribers see it.
#[derive(Debug)]
struct TaskHandle {
    requests: mpsc::UnboundedSender<SubscribeRequest>,
    /// How often the task has read from its client or written to it.
    steps: Arc<AtomicU64>,
}

crate::row! {
    /// The session that a pane is in.
    pub(crate) PaneSession {
        pane: PaneId = "pane_id",
        session: SessionId = "session_id",
    }
}

impl StreamHub {
    pub(crate) fn new(attach_lock: AttachLock, timing: Timing) -> Self {
        Self { attach_lock, timing, tasks: Mutex::new(HashMap::new()) }
    }

    /// Opens a reader. It receives all output after the return.
    pub(crate) async fn subscribe(
        &self,
        server: &Server,
        pane: PaneId,
        shared: Option<Arc<SharedRing>>,
    ) -> Result<PaneStream, Error> {
        let PaneSession { session, .. } = server.row(&pane.to_string()).await?;
        let (stream, _) = self.subscribe_in(server, session, pane, shared, Vec::new()).await?;
        Ok(stream)
    }

    /// Opens a reader of a pane that is known to be in this session, and runs queries where it
    /// begins.
    pub(crate) async fn subscribe_in(
        &self,
        server: &Server,
        session: SessionId,
        pane: PaneId,
        shared: Option<Arc<SharedRing>>,
        queries: Vec<Command>,
    ) -> Result<OpenedStream, Error> {
        let opened = async {
            loop {
                let (reply, outcome) = oneshot::channel();
                let (shared, queries) = (shared.clone(), queries.clone());
                self.send(server, session, SubscribeRequest { pane, shared, queries, reply });
                // A dropped sender: the task was ending, or its client exited. Send it again.
                if let Ok(outcome) = outcome.await {
                    return outcome;
                }
            }
        };
        // One deadline for the client to attach, one for its replies. These come behind all output that
        // tmux has for the client.
        let period = self.timing.deadline * 2;
        while_progressing(period, "attach-session", || self.steps(session), opened).await?
    }

    /// How often the current task of a session has read from its client or written to it.
    fn steps(&self, session: SessionId) -> u64 {
        lock(&self.tasks).get(&session).map_or(0, |task| task.steps.load(Ordering::Relaxed))
    }

    /// Sends the request to the session's task. Starts a task if none is running.
    fn send(&self, server: &Server, session: SessionId, request: SubscribeRequest) {
        let mut tasks = lock(&self.tasks);
        let request = match tasks.get(&session) {
            Some(task) => match task.requests.send(request) {
                Ok(()) => return,
                Err(mpsc::error::SendError(request)) => request,
            },
            None => request,
        };
        let (requests, receiver) = mpsc::unbounded_channel();
        let _ = requests.send(request);
        let steps = Arc::new(AtomicU64::new(0));
        tasks.insert(session, TaskHandle { requests, steps: Arc::clone(&steps) });
        let attach_lock = self.attach_lock.clone();
        let task = StreamTask::new(attach_lock, self.timing, session, server.downgrade(), steps);
        tokio::spawn(task.run(receiver));
    }
}
