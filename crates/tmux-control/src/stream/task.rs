//! The task that owns one session's stream client.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::control::connection::{Connection, Turn};
use crate::control::door::Door;
use crate::control::event::Event;
use crate::control::line::Line;
use crate::control::link::Timing;
use crate::control::reader::Item;
use crate::error::Error;
use crate::id::{PaneId, SessionId};
use crate::server::WeakServer;
use crate::stream::questions::Questions;
use crate::stream::{End, Follow, PaneStream, Place, Ring, Shared};

pub(super) struct Task {
    door: Door,
    timing: Timing,
    session: SessionId,
    server: WeakServer,
    panes: Panes,
}

/// The rings to fill. A pane has more than one when it came from another session, with readers,
/// and had been followed here already.
type Panes = HashMap<PaneId, Vec<Arc<Shared>>>;

impl Task {
    pub(super) fn new(door: Door, timing: Timing, session: SessionId, server: WeakServer) -> Self {
        Self { door, timing, session, server, panes: HashMap::new() }
    }

    /// Runs until nobody has read from this session for a while.
    pub(super) async fn run(mut self, mut wishes: mpsc::UnboundedReceiver<Follow>) {
        self.work(&mut wishes).await;
        for shared in self.panes.values().flatten() {
            shared.change(|ring| ring.finish(End::ServerGone));
        }
    }

    async fn work(&mut self, wishes: &mut mpsc::UnboundedReceiver<Follow>) {
        loop {
            match self.door.enter(self.session, true).await {
                Ok(mut connection) => {
                    let why = self.serve(&mut connection, wishes).await;
                    self.door.leave(connection);
                    if why == Why::Idle {
                        return;
                    }
                }
                Err(error) => {
                    refuse(wishes, &error);
                    tokio::time::sleep(self.timing.back_off).await;
                }
            }
            // Somebody detached the client, or the session is gone. Whoever still reads must know
            // that something may be missing.
            self.relocate(true).await;
            if self.panes.is_empty() && wishes.is_empty() {
                return;
            }
        }
    }

    async fn serve(
        &mut self,
        connection: &mut Connection,
        wishes: &mut mpsc::UnboundedReceiver<Follow>,
    ) -> Why {
        // Two rounds without a reader are enough: a person's session is not ours to stay in.
        let round = self.timing.idle / 2;
        let alarm = tokio::time::sleep(round);
        tokio::pin!(alarm);
        let mut was_unread = false;
        let mut questions = Questions::default();
        loop {
            let mut moved = false;
            let panes = &self.panes;
            tokio::select! {
                wish = wishes.recv() => match wish {
                    Some(follow) => {
                        was_unread = false;
                        self.follow(follow, connection, &mut questions);
                    }
                    None => return Why::Idle,
                },
                turn = connection.turn(|item| moved |= route(panes, &mut questions, item)) => {
                    if turn == Turn::Closed {
                        return Why::Closed;
                    }
                    // A flood must not fill the ring before its readers have had a turn.
                    tokio::task::yield_now().await;
                    // For a pane that has left, tmux keeps all it prints until this client goes.
                    if moved && self.relocate(false).await {
                        return Why::Closed;
                    }
                }
                () = &mut alarm => {
                    let unread = self.is_unread() && questions.is_empty();
                    if unread && was_unread {
                        return Why::Idle;
                    }
                    was_unread = unread;
                    alarm.as_mut().reset(Instant::now() + round);
                }
            }
        }
    }

    /// Starts to collect a pane's output and hands out a reader that begins here, or where its
    /// questions are answered.
    fn follow(&mut self, follow: Follow, connection: &mut Connection, questions: &mut Questions) {
        let asked = follow.questions;
        let (reader, reply) = (self.reader(follow.pane, follow.shared), follow.reply);
        if asked.is_empty() {
            let _ = reply.send(Ok((reader, Vec::new())));
        } else {
            connection.send(&questions.ask(asked, reader, reply));
        }
    }

    /// A reader that begins here.
    fn reader(&mut self, pane: PaneId, moved: Option<Arc<Shared>>) -> PaneStream {
        let rings = self.panes.entry(pane).or_default();
        let shared = match (moved, rings.first()) {
            (None, Some(shared)) => Arc::clone(shared),
            (moved, _) => {
                let shared = moved.unwrap_or_else(|| Arc::new(Shared::new()));
                rings.push(Arc::clone(&shared));
                shared
            }
        };
        let mut reader = PaneStream { shared, position: 0, layouts: 0 };
        reader.go_to_head();
        reader
    }

    /// Whether nobody reads anything.
    fn is_unread(&mut self) -> bool {
        self.forget_unread();
        self.panes.is_empty()
    }

    /// Drops the rings that nobody reads any more.
    fn forget_unread(&mut self) {
        self.panes.retain(|_, rings| {
            rings.retain(|shared| Arc::strong_count(shared) > 1);
            !rings.is_empty()
        });
    }

    /// Looks where the panes are now: some may be gone, some in another session. True if one has
    /// left this session.
    async fn relocate(&mut self, missed: bool) -> bool {
        self.forget_unread();
        if self.panes.is_empty() {
            return false;
        }
        let Some(server) = self.server.upgrade() else {
            return false;
        };
        let mut left = false;
        let mut stay = HashMap::new();
        for (pane, rings) in std::mem::take(&mut self.panes) {
            let place = server.row::<Place>(&pane.to_string()).await;
            let stays = place.as_ref().is_ok_and(|place| place.session == self.session);
            for shared in &rings {
                match &place {
                    Ok(_) if stays && !missed => {}
                    Ok(_) => shared.change(Ring::mark_break),
                    Err(error) if error.is_not_found() => {
                        shared.change(|ring| ring.finish(End::PaneGone));
                    }
                    Err(_) => shared.change(|ring| ring.finish(End::ServerGone)),
                }
            }
            if stays {
                stay.insert(pane, rings);
            } else if place.is_ok() {
                left = true;
                rings.into_iter().for_each(|shared| server.adopt(pane, shared));
            }
        }
        self.panes = stay;
        left
    }
}

/// Answers everybody who waits for a client that cannot be had.
fn refuse(wishes: &mut mpsc::UnboundedReceiver<Follow>, error: &Error) {
    while let Ok(follow) = wishes.try_recv() {
        let error =
            Error::Refused { command: "attach-session".to_owned(), message: error.to_string() };
        let _ = follow.reply.send(Err(error));
    }
}

#[derive(PartialEq, Eq)]
enum Why {
    Idle,
    Closed,
}

/// Puts output into its ring and answers where they belong. True if the item means that a pane may
/// have moved.
fn route(panes: &Panes, questions: &mut Questions, item: Item<'_>) -> bool {
    match item {
        Item::Line(Line::Output { pane, bytes }) => {
            for shared in panes.get(&pane).into_iter().flatten() {
                shared.change(|ring| ring.push(&bytes));
            }
            false
        }
        Item::Line(line) => match Event::from_line(&line) {
            Some(Event::LayoutChanged(_)) => {
                panes.values().flatten().for_each(|shared| shared.rearrange());
                true
            }
            Some(Event::WindowClosed(_) | Event::SessionsChanged) => true,
            _ => false,
        },
        Item::Answer(answer) => {
            questions.answer(answer);
            false
        }
        Item::Garbage(_) => false,
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
    async fn a_pane_that_comes_with_readers_keeps_them_beside_those_it_has_here() {
        let program = Program::new(Socket::Path("/nowhere".into()));
        let server = Server::new(program.clone());
        let door = Door::new(program, Duration::ZERO);
        let mut task = Task::new(door, Timing::default(), SessionId(0), server.downgrade());
        let here = task.reader(PaneId(1), None);
        let moved = task.reader(PaneId(1), Some(Arc::new(Shared::new())));
        let beside = task.reader(PaneId(1), None);
        let output = Line::Output { pane: PaneId(1), bytes: b"abc".as_slice().into() };
        route(&task.panes, &mut Questions::default(), Item::Line(output));
        for reader in [here, moved, beside] {
            assert_eq!(reader.shared.ring().head(), 3);
        }
    }
}
