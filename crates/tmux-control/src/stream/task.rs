//! The stream task: owns the stream client of one session and fills the rings of its panes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::command::Command;
use crate::control::attach_lock::AttachLock;
use crate::control::connection::{ControlConnection, IoStep};
use crate::control::event::TmuxEvent;
use crate::control::line::ControlLine;
use crate::control::link::Timing;
use crate::control::reader::ControlItem;
use crate::delay::{AwaitPoint, pause_at};
use crate::error::Error;
use crate::format::Row;
use crate::id::{PaneId, SessionId};
use crate::server::{Server, TmuxReply, WeakServer};
use crate::stream::queries::PendingQueries;
use crate::stream::{PaneSession, PaneStream, Ring, SharedRing, StreamEnd, SubscribeRequest};

/// The state of the task.
pub(super) struct StreamTask {
    attach_lock: AttachLock,
    timing: Timing,
    session: SessionId,
    server: WeakServer,
    rings: RingsByPane,
    /// How often the client was read or written to. Subscribers tell from it whether it is stuck.
    steps: Arc<AtomicU64>,
}

/// The rings to fill. A pane has two if it moved here from another session, with readers, and
/// already had readers here.
type RingsByPane = HashMap<PaneId, Vec<Arc<SharedRing>>>;

/// The state of one connection.
#[derive(Default)]
struct ClientState {
    queries: PendingQueries,
    /// Panes whose output tmux has stopped to send here.
    paused: HashSet<PaneId>,
    /// Panes whose output tmux sends here although they have no reader.
    unread: HashSet<PaneId>,
    /// The session to which the client is attached, once tmux has reported one.
    session: Option<SessionId>,
    /// Set when a pane may have left the session or was closed.
    moved: bool,
    /// The panes whose sessions were asked for, and tmux's reply.
    places: Option<(HashSet<PaneId>, TmuxReply)>,
}

impl StreamTask {
    pub(super) fn new(
        attach_lock: AttachLock,
        timing: Timing,
        session: SessionId,
        server: WeakServer,
        steps: Arc<AtomicU64>,
    ) -> Self {
        Self { attach_lock, timing, session, server, rings: HashMap::new(), steps }
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
                    match end {
                        ServeEnd::Idle => return,
                        ServeEnd::Closed => {}
                        // A hook may switch each client that attaches.
                        ServeEnd::Switched => tokio::time::sleep(self.timing.back_off).await,
                    }
                }
                Err(error) => {
                    refuse_all(requests, &error);
                    tokio::time::sleep(self.timing.back_off).await;
                }
            }
            // The client was detached, or the session has ended: output may be missing.
            self.relocate_all().await;
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
        let mut client = ClientState::default();
        loop {
            let rings = &self.rings;
            tokio::select! {
                request = requests.recv() => match request {
                    Some(request) => {
                        was_unread = false;
                        self.subscribe(request, connection, &mut client);
                    }
                    None => return ServeEnd::Idle,
                },
                step = connection.step(|item| client.route(rings, item)) => {
                    if step == IoStep::Closed {
                        return ServeEnd::Closed;
                    }
                    self.steps.fetch_add(1, Ordering::Relaxed);
                    // Under heavy output the readers must run before the ring overflows.
                    tokio::task::yield_now().await;
                    pause_at(AwaitPoint::StreamStep).await;
                    if client.session.is_some_and(|session| session != self.session) {
                        return ServeEnd::Switched;
                    }
                    if std::mem::take(&mut client.moved) {
                        self.ask_places(connection, &mut client);
                    }
                    // tmux buffers the output of a pane that left until this client detaches.
                    if let Some((panes, reply)) = client.places.take()
                        && self.relocate_moved(&panes, &reply)
                    {
                        return ServeEnd::Closed;
                    }
                }
                () = &mut alarm => {
                    let unread = self.is_unread() && client.queries.is_empty();
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
        client: &mut ClientState,
    ) {
        let SubscribeRequest { pane, shared, queries, reply } = request;
        let reader = self.reader(pane, shared);
        if client.paused.remove(&pane) {
            // It was respawned while it was in another session; see `crate::respawn`.
            let state = format!("{pane}:continue");
            let resume = Command::action("refresh-client").option("-A", state);
            connection.send(&client.queries.push_unanswered(resume));
        }
        if queries.is_empty() {
            let _ = reply.send(Ok((reader, Vec::new())));
        } else {
            connection.send(&client.queries.push(queries, reader, reply));
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

    /// Asks in which sessions the panes are that are read here, with or without a reader. The query
    /// goes over this connection: another one would say that a pane is closed while its last output
    /// is still to be read here.
    fn ask_places(&mut self, connection: &mut ControlConnection, client: &mut ClientState) {
        let panes: HashSet<PaneId> = self.rings.keys().chain(&client.unread).copied().collect();
        self.drop_unread();
        if !panes.is_empty() {
            let query = places_query().option("-F", PaneSession::format());
            connection.send(&client.queries.push_places(query, panes));
        }
    }

    /// Relocates the rings of these panes, by the reply to [`StreamTask::ask_places`]. True if a pane
    /// has left this session, with or without a reader.
    fn relocate_moved(&mut self, asked: &HashSet<PaneId>, reply: &TmuxReply) -> bool {
        let Some(server) = self.server.upgrade() else { return false };
        let Ok(places) = PaneSession::parse_all("list-panes", &reply.0) else { return false };
        // A ring that came after the query is of a pane that tmux may not have had then.
        let asked_rings = self.rings.extract_if(|pane, _| asked.contains(pane)).collect();
        self.relocate(&server, asked_rings, &places, false);
        let places = PanePlaces { places: &places, session: self.session };
        asked.iter().any(|&pane| places.exist(pane) && !places.stay(pane))
    }

    /// Relocates all rings after the client was lost: those that stay get a break.
    async fn relocate_all(&mut self) {
        self.drop_unread();
        if self.rings.is_empty() {
            return;
        }
        let Some(server) = self.server.upgrade() else { return };
        let rings = std::mem::take(&mut self.rings);
        match server.rows::<PaneSession>(places_query()).await {
            Ok(places) => self.relocate(&server, rings, &places, true),
            Err(_) => {
                for shared in rings.values().flatten() {
                    shared.update(|ring| ring.finish(StreamEnd::ServerGone));
                }
            }
        }
    }

    /// Ends the rings of closed panes, hands over those of panes in another session, and goes on with
    /// the others. With `missed`, these get a break.
    fn relocate(
        &mut self,
        server: &Server,
        rings: RingsByPane,
        places: &[PaneSession],
        missed: bool,
    ) {
        let places = PanePlaces { places, session: self.session };
        for (pane, rings) in rings {
            let stays = places.stay(pane);
            let exists = places.exist(pane);
            for shared in &rings {
                match stays {
                    true if !missed => {}
                    _ if exists => shared.update(Ring::mark_break),
                    _ => shared.update(|ring| ring.finish(StreamEnd::PaneGone)),
                }
            }
            if stays {
                self.rings.insert(pane, rings);
            } else if exists {
                rings.into_iter().for_each(|shared| server.adopt(pane, shared));
            }
        }
    }
}

/// The sessions of all panes, as a stream task of one session sees them. A window can be linked into
/// several sessions.
struct PanePlaces<'a> {
    places: &'a [PaneSession],
    session: SessionId,
}

impl PanePlaces<'_> {
    fn exist(&self, pane: PaneId) -> bool {
        self.places.iter().any(|row| row.pane == pane)
    }

    fn stay(&self, pane: PaneId) -> bool {
        self.places.iter().any(|row| row.pane == pane && row.session == self.session)
    }
}

/// The query for the session of each pane.
fn places_query() -> Command {
    Command::query("list-panes").arg("-a")
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
    /// The client was switched to another session, as by a `switch-client` that names no client.
    Switched,
}

impl ClientState {
    /// Adds output to its rings, and replies to their queries.
    fn route(&mut self, rings: &RingsByPane, item: ControlItem<'_>) {
        match item {
            ControlItem::Line(ControlLine::Output { pane, bytes }) => match rings.get(&pane) {
                Some(rings) => {
                    rings.iter().for_each(|shared| shared.update(|ring| ring.push(&bytes)));
                }
                None => drop(self.unread.insert(pane)),
            },
            ControlItem::Line(ControlLine::Attached(session)) => self.session = Some(session),
            ControlItem::Line(ControlLine::PanePaused(pane)) => drop(self.paused.insert(pane)),
            ControlItem::Line(ControlLine::PaneContinued(pane)) => {
                self.paused.remove(&pane);
                // tmux has discarded the output that was not sent when the pane was paused.
                let rings = rings.get(&pane).into_iter().flatten();
                rings.for_each(|shared| shared.update(Ring::mark_break));
            }
            ControlItem::Line(line) => match TmuxEvent::from_line(&line) {
                Some(TmuxEvent::LayoutChanged(_)) => {
                    rings.values().flatten().for_each(|shared| shared.note_layout_change());
                    self.moved = true;
                }
                Some(TmuxEvent::WindowClosed(_) | TmuxEvent::SessionsChanged) => self.moved = true,
                _ => {}
            },
            ControlItem::Reply(reply) => {
                if let Some((mut panes, reply)) = self.queries.take_reply(reply) {
                    panes.extend(self.places.take().into_iter().flat_map(|(earlier, _)| earlier));
                    self.places = Some((panes, reply));
                }
            }
            ControlItem::Garbage(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::socket::Socket;
    use crate::spawn::Program;

    #[tokio::test]
    async fn moved_ring_is_filled_beside_the_existing_one() {
        let program = Program::new(Socket::Path("/nowhere".into()));
        let server = Server::new(program.clone());
        let attach_lock = AttachLock::new(program, Duration::ZERO, Arc::default());
        let steps = Arc::default();
        let mut task = StreamTask::new(
            attach_lock,
            Timing::default(),
            SessionId(0),
            server.downgrade(),
            steps,
        );
        let here = task.reader(PaneId(1), None);
        let moved = task.reader(PaneId(1), Some(Arc::new(SharedRing::new())));
        let later = task.reader(PaneId(1), None);
        let output = ControlLine::Output { pane: PaneId(1), bytes: b"abc".as_slice().into() };
        ClientState::default().route(&task.rings, ControlItem::Line(output));
        for reader in [here, moved, later] {
            assert_eq!(reader.shared.ring().head(), 3);
        }
    }
}
