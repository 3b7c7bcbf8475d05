//! Queue of sent commands that wait for their replies, in order.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::{broadcast, oneshot};
use tokio::time::Instant;

use crate::command::Command;
use crate::control::attach_lock::Permit;
use crate::control::event::TmuxEvent;
use crate::control::reader::{ControlItem, ReplyBlock};
use crate::error::Error;

/// The reason why the link has no replies for a command sequence.
#[derive(Debug)]
pub(crate) enum LinkFailure {
    /// It was not sent; it may be run in another way.
    Unsent(Error),
    /// It was sent, but no reply came.
    NoReply(Error),
    /// tmux refused one of its commands.
    Refused(Error),
}

/// Commands sent on one line: tmux runs them without a break, up to the first that fails.
#[derive(Debug)]
pub(crate) struct CommandSequence {
    pub(crate) commands: Vec<Command>,
    pub(crate) reply: oneshot::Sender<Result<Vec<Vec<u8>>, LinkFailure>>,
}

impl CommandSequence {
    /// Whether it may make tmux send a notification.
    pub(crate) fn needs_permit(&self) -> bool {
        !self.commands.iter().all(Command::is_repeatable)
    }

    /// Reports to the caller that the sequence was not sent.
    pub(crate) fn fail_unsent(self, error: Error) {
        let _ = self.reply.send(Err(LinkFailure::Unsent(error)));
    }
}

/// A sequence that was sent, and the replies so far.
#[derive(Debug)]
struct Pending {
    sequence: CommandSequence,
    replies: Vec<Vec<u8>>,
    sent: Instant,
    _permit: Option<Permit>,
}

impl Pending {
    /// The command whose reply comes next.
    fn command(&self) -> String {
        self.sequence.commands.get(self.replies.len()).map_or("", Command::name).to_owned()
    }
}

/// All sequences in flight, the oldest first.
#[derive(Debug)]
pub(crate) struct ReplyQueue {
    pending: VecDeque<Pending>,
    /// The longest time for which tmux may send no reply while one is due.
    timeout: Duration,
    last_reply: Option<Instant>,
}

impl ReplyQueue {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { pending: VecDeque::new(), timeout, last_reply: None }
    }

    /// Adds a sequence; the permit is released with the last reply.
    pub(crate) fn push(&mut self, sequence: CommandSequence, permit: Option<Permit>) {
        let (replies, sent) = (Vec::new(), Instant::now());
        self.pending.push_back(Pending { sequence, replies, sent, _permit: permit });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// When the next reply is overdue. Each reply starts the time anew: tmux may need long for all that
    /// was sent before a sequence.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let sent = self.pending.front()?.sent;
        Some(self.last_reply.map_or(sent, |last| last.max(sent)) + self.timeout)
    }

    /// Assigns a reply to its sequence, or sends a notification to the subscribers. False if the
    /// item is not expected.
    pub(crate) fn dispatch(
        &mut self,
        item: ControlItem<'_>,
        events: &broadcast::Sender<TmuxEvent>,
    ) -> bool {
        match item {
            ControlItem::Garbage(_) => false,
            ControlItem::Line(line) => {
                if let Some(event) = TmuxEvent::from_line(&line) {
                    let _ = events.send(event);
                }
                true
            }
            ControlItem::Reply(ReplyBlock { ours: false, .. }) => true,
            ControlItem::Reply(ReplyBlock { ok, body, .. }) => {
                self.last_reply = Some(Instant::now());
                if ok { self.command_succeeded(body) } else { self.command_refused(&body) }
            }
        }
    }

    fn command_succeeded(&mut self, body: Vec<u8>) -> bool {
        let Some(pending) = self.pending.front_mut() else {
            return false;
        };
        pending.replies.push(body);
        if pending.replies.len() == pending.sequence.commands.len()
            && let Some(pending) = self.pending.pop_front()
        {
            let _ = pending.sequence.reply.send(Ok(pending.replies));
        }
        true
    }

    /// tmux drops the rest of a line whose command failed, so no more replies come for it.
    fn command_refused(&mut self, body: &[u8]) -> bool {
        let Some(pending) = self.pending.pop_front() else {
            return false;
        };
        let message = String::from_utf8_lossy(body).trim().to_owned();
        let error = Error::Refused { command: pending.command(), message };
        let _ = pending.sequence.reply.send(Err(LinkFailure::Refused(error)));
        true
    }

    /// Fails all sequences in flight: the connection is gone.
    pub(crate) fn fail_all(&mut self) {
        let is_overdue = self.deadline().is_some_and(|deadline| deadline <= Instant::now());
        for pending in self.pending.drain(..) {
            let command = pending.command();
            let error = match is_overdue {
                true => Error::Timeout { command, after: self.timeout },
                false => Error::Lost { command },
            };
            let _ = pending.sequence.reply.send(Err(LinkFailure::NoReply(error)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reply_starts_the_timeout_anew() {
        let mut queue = ReplyQueue::new(Duration::from_secs(5));
        let (events, _) = broadcast::channel(1);
        assert_eq!(queue.deadline(), None);
        for _ in 0..3 {
            let (reply, _) = oneshot::channel();
            let commands = vec![Command::query("display-message")];
            queue.push(CommandSequence { commands, reply }, None);
        }
        let sent = Instant::now();
        for left in [2, 1] {
            let block = ReplyBlock { ours: true, ok: true, body: Vec::new() };
            assert!(queue.dispatch(ControlItem::Reply(block), &events));
            assert_eq!(queue.pending.len(), left);
            assert!(queue.deadline() >= Some(sent + queue.timeout));
        }
    }
}
