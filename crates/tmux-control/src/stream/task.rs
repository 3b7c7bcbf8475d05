//! The stream task: owns the stream client of one session and fills the rings of its panes.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::control::attach_lock::AttachLock;
use crate::control::connection::{ControlConnection, IoStep};
use crate::control::event::TmuxEvent;
use crate::control::line::ControlLine;
use crate::control::link::Timing;
use crate::control::reader::ControlItem;
use crate::error::Error;
use crate::id::{PaneId, SessionId};
use crate::server::WeakServer;
use crate::stream::queries::PendingQueries;
use crate::stream::{PaneSession, PaneStream, Ring, SharedRing, StreamEnd, SubscribeRequest};

/// The state of the task.
pub(super) struct StreamTask {
    attach_lock: AttachLock,
    timing: Timing,
    session: SessionId,
    server: WeakServer,
    rings: RingsByPane,
}

/// The rings to fill. A pane has two if it moved here from another session, with readers, and
/// already had readers here.
type RingsByPane = HashMap<PaneId, Vec<Arc<SharedRing>>>;

impl StreamTask {
    pub(super) fn new(
        attach_lock: AttachLock,
        timing: Timing,
        session: SessionId,
        server: WeakServer,
    ) -> Self {
        Self { attach_lock, timing, session, server, rings: HashMap::new() }
    }

    /// Runs until the session has had no reader for a while.
    pub(super) async fn run(mut self, mut requests: mpsc::UnboundedReceiver<SubscribeRequest>) {
        self.keep_attached(&mut requests).await;
        for shared in self.rings.values().flatten() {
            shared.update(|ring| ring.finish(StreamEnd::ServerGone));
        }
    }

    async fn keep_attached(&mut self, requests: &mut mpsc::UnboundedReceiver<SubscribeRequest>) {
        loop {
            match self.attach_lock.attach(self.session, true).await {
                Ok(mut connection) => {
                    let end = self.serve(&mut connection, requests).await;
                    self.attach_lock.detach(connection);
                    if end == ServeEnd::Idle {
                        return;
                    }
                }
                Err(error) => {
                    refuse_all(requests, &error);
                    tokio::time::sleep(self.timing.back_off).await;
                }
            }
            // The client was detached, or the session has ended: output may be missing.
            self.relocate(true).await;
            if self.rings.is_empty() && requests.is_empty() {
                return;
            }
        }
    }

    async fn serve(
        &mut self,
        connection: &mut ControlConnection,
        requests: &mut mpsc::UnboundedReceiver<SubscribeRequest>,
    ) -> ServeEnd {
        // Two rounds without a reader end the client: it should not stay in a person's session.
        let round = self.timing.idle / 2;
        let alarm = tokio::time::sleep(round);
        tokio::pin!(alarm);
        let mut was_unread = false;
        let mut queries = PendingQueries::default();
        loop {
            let mut moved = false;
            let rings = &self.rings;
            tokio::select! {
                request = requests.recv() => match request {
                    Some(request) => {
                        was_unread = false;
                        self.subscribe(request, connection, &mut queries);
                    }
                    None => return ServeEnd::Idle,
                },
                step = connection.step(|item| moved |= route(rings, &mut queries, item)) => {
                    if step == IoStep::Closed {
                        return ServeEnd::Closed;
                    }
                    // Under heavy output the readers must run before the ring overflows.
                    tokio::task::yield_now().await;
                    // tmux buffers the output of a pane that left until this client detaches.
                    if moved && self.relocate(false).await {
                        return ServeEnd::Closed;
                    }
                }
                () = &mut alarm => {
                    let unread = self.is_unread() && queries.is_empty();
                    if unread && was_unread {
                        return ServeEnd::Idle;
                    }
                    was_unread = unread;
                    alarm.as_mut().reset(Instant::now() + round);
                }
            }
        }
    }

    /// Begins to fill a pane's ring and hands out a reader that begins here, or where its queries
    /// are executed.
    fn subscribe(
        &mut self,
        request: SubscribeRequest,
        connection: &mut ControlConnection,
        pending: &mut PendingQueries,
    ) {
        let SubscribeRequest { pane, shared, queries, reply } = request;
        let reader = self.reader(pane, shared);
        if queries.is_empty() {
            let _ = reply.send(Ok((reader, Vec::new())));
        } else {
            connection.send(&pending.push(queries, reader, reply));
        }
    }

    /// A reader that begins here.
    fn reader(&mut self, pane: PaneId, moved: Option<Arc<SharedRing>>) -> PaneStream {
        let rings = self.rings.entry(pane).or_default();
        let shared = match (moved, rings.first()) {
            (None, Some(shared)) => Arc::clone(shared),
            (moved, _) => {
                let shared = moved.unwrap_or_else(|| Arc::new(SharedRing::new()));
                rings.push(Arc::clone(&shared));
                shared
            }
        };
        let mut reader = PaneStream { shared, position: 0, layout_changes: 0 };
        reader.skip_to_head();
        reader
    }

    /// Whether no reader is left.
    fn is_unread(&mut self) -> bool {
        self.drop_unread();
        self.rings.is_empty()
    }

    /// Drops the rings without readers.
    fn drop_unread(&mut self) {
        self.rings.retain(|_, rings| {
            rings.retain(|shared| Arc::strong_count(shared) > 1);
            !rings.is_empty()
        });
    }

    /// Queries which session each pane is in now, ends the rings of closed panes and hands over
    /// those of panes in another session. True if a pane has left this session. With `missed`, the
    /// rings that stay get a break.
    async fn relocate(&mut self, missed: bool) -> bool {
        self.drop_unread();
        if self.rings.is_empty() {
            return false;
        }
        let Some(server) = self.server.upgrade() else {
            return false;
        };
        let mut left = false;
        let mut stay = HashMap::new();
        for (pane, rings) in std::mem::take(&mut self.rings) {
            let now = server.row::<PaneSession>(&pane.to_string()).await;
            let stays = now.as_ref().is_ok_and(|now| now.session == self.session);
            for shared in &rings {
                match &now {
                    Ok(_) if stays && !missed => {}
                    Ok(_) => shared.update(Ring::mark_break),
                    Err(error) if error.is_not_found() => {
                        shared.update(|ring| ring.finish(StreamEnd::PaneGone));
                    }
                    Err(_) => shared.update(|ring| ring.finish(StreamEnd::ServerGone)),
                }
            }
            if stays {
                stay.insert(pane, rings);
            } else if now.is_ok() {
                left = true;
                rings.into_iter().for_each(|shared| server.adopt(pane, shared));
            }
        }
        self.rings = stay;
        left
    }
}

/// Refuses all waiting requests: no client could be attached.
fn refuse_all(requests: &mut mpsc::UnboundedReceiver<SubscribeRequest>, error: &Error) {
    while let Ok(request) = requests.try_recv() {
        let error =
            Error::Refused { command: "attach-session".to_owned(), message: error.to_string() };
        let _ = request.reply.send(Err(error));
    }
}

/// The reason why a stream client is no longer served.
#[derive(PartialEq, Eq)]
enum ServeEnd {
    /// No reader for a while, or every server handle is dropped.
    Idle,
    /// The client exited, or must be replaced.
    Closed,
}

/// Adds output to its rings, and replies to their queries. True if a pane may have moved.
fn route(rings: &RingsByPane, queries: &mut PendingQueries, item: ControlItem<'_>) -> bool {
    match item {
        ControlItem::Line(ControlLine::Output { pane, bytes }) => {
            for shared in rings.get(&pane).into_iter().flatten() {
                shared.update(|ring| ring.push(&bytes));
            }
            false
        }
        ControlItem::Line(line) => match TmuxEvent::from_line(&line) {
            Some(TmuxEvent::LayoutChanged(_)) => {
                rings.values().flatten().for_each(|shared| shared.note_layout_change());
                true
            }
            Some(TmuxEvent::WindowClosed(_) | TmuxEvent::SessionsChanged) => true,
            _ => false,
        },
        ControlItem::Reply(reply) => {
            queries.take_reply(reply);
            false
        }
        ControlItem::Garbage(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::server::Server;
    use crate::socket::Socket;
    use crate::spawn::Program;

    #[tokio::test]
    async fn moved_ring_is_filled_beside_the_existing_one() {
        let program = Program::new(Socket::Path("/nowhere".into()));
        let server = Server::new(program.clone());
        let attach_lock = AttachLock::new(program, Duration::ZERO);
        let mut task =
            StreamTask::new(attach_lock, Timing::default(), SessionId(0), server.downgrade());
        let here = task.reader(PaneId(1), None);
        let moved = task.reader(PaneId(1), Some(Arc::new(SharedRing::new())));
        let later = task.reader(PaneId(1), None);
        let output = ControlLine::Output { pane: PaneId(1), bytes: b"abc".as_slice().into() };
        route(&task.rings, &mut PendingQueries::default(), ControlItem::Line(output));
        for reader in [here, moved, later] {
            assert_eq!(reader.shared.ring().head(), 3);
        }
    }
}
