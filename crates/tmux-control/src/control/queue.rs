//! The lines that were sent and wait for their answers, in order.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::{broadcast, oneshot};
use tokio::time::Instant;

use crate::command::Command;
use crate::control::door::Permit;
use crate::control::event::Event;
use crate::control::reader::{Answer, Item};
use crate::error::Error;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It was not sent; another way may be tried.
    Unavailable(Error),
    /// It was sent, and no answer came.
    NoAnswer(Error),
    /// tmux answered: no.
    Refused(Error),
}

/// Commands for one line: they run without a break, up to the first that fails.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) commands: Vec<Command>,
    pub(crate) reply: oneshot::Sender<Result<Vec<Vec<u8>>, Failure>>,
}

impl Line {
    /// Whether it may make tmux announce something.
    pub(crate) fn needs_permit(&self) -> bool {
        !self.commands.iter().all(Command::is_repeatable)
    }

    /// Tells the asker to try another way.
    pub(crate) fn cannot_be_sent(self, error: Error) {
        let _ = self.reply.send(Err(Failure::Unavailable(error)));
    }
}

/// A line that was sent and the answers that have come so far.
#[derive(Debug)]
struct Pending {
    line: Line,
    answers: Vec<Vec<u8>>,
    deadline: Instant,
    _permit: Option<Permit>,
}

impl Pending {
    /// The command whose answer comes next.
    fn command(&self) -> String {
        self.line.commands.get(self.answers.len()).map_or("", Command::name).to_owned()
    }
}

/// All the lines on their way.
#[derive(Debug, Default)]
pub(crate) struct Queue(VecDeque<Pending>);

impl Queue {
    /// Adds a line; the permit is given back with the last answer.
    pub(crate) fn push(&mut self, line: Line, deadline: Instant, permit: Option<Permit>) {
        self.0.push_back(Pending { line, answers: Vec::new(), deadline, _permit: permit });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// When the oldest line should have been answered.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.0.front().map(|pending| pending.deadline)
    }

    /// Puts an item where it belongs. False if it belongs nowhere.
    pub(crate) fn take(&mut self, item: Item<'_>, events: &broadcast::Sender<Event>) -> bool {
        match item {
            Item::Garbage(_) => false,
            Item::Line(line) => {
                if let Some(event) = Event::from_line(&line) {
                    let _ = events.send(event);
                }
                true
            }
            Item::Answer(Answer { ours: false, .. }) => true,
            Item::Answer(Answer { ok: true, body, .. }) => self.succeeded(body),
            Item::Answer(Answer { ok: false, body, .. }) => self.refused(&body),
        }
    }

    fn succeeded(&mut self, body: Vec<u8>) -> bool {
        let Some(pending) = self.0.front_mut() else {
            return false;
        };
        pending.answers.push(body);
        if pending.answers.len() == pending.line.commands.len()
            && let Some(pending) = self.0.pop_front()
        {
            let _ = pending.line.reply.send(Ok(pending.answers));
        }
        true
    }

    /// tmux drops the rest of a line whose command failed, so no more answers come for it.
    fn refused(&mut self, body: &[u8]) -> bool {
        let Some(pending) = self.0.pop_front() else {
            return false;
        };
        let message = String::from_utf8_lossy(body).trim().to_owned();
        let error = Error::Refused { command: pending.command(), message };
        let _ = pending.line.reply.send(Err(Failure::Refused(error)));
        true
    }

    /// Answers everybody who still waits: the connection is gone.
    pub(crate) fn fail_all(&mut self, after: Duration) {
        for pending in self.0.drain(..) {
            let command = pending.command();
            let error = if pending.deadline <= Instant::now() {
                Error::Timeout { command, after }
            } else {
                Error::Lost { command }
            };
            let _ = pending.line.reply.send(Err(Failure::NoAnswer(error)));
        }
    }
}
