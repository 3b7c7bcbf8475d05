//! Queries sent on a stream's own connection.
//!
//! tmux sends their replies after all output that it had processed by then and before all later
//! output, so the replies describe the pane exactly at the stream's position.

use std::collections::{HashSet, VecDeque};

use tokio::sync::oneshot;

use crate::command::Command;
use crate::control::reader::ReplyBlock;
use crate::error::Error;
use crate::id::PaneId;
use crate::server::TmuxReply;
use crate::stream::{OpenedStream, PaneStream};

/// The queries in flight, the oldest first.
#[derive(Default)]
pub(super) struct PendingQueries(VecDeque<PendingQuery>);

/// The commands of one line, and their replies so far.
struct PendingQuery {
    commands: Vec<Command>,
    replies: Vec<TmuxReply>,
    use_of: ReplyUse,
}

/// The use of the replies to a query.
enum ReplyUse {
    /// They are handed out with a reader.
    Reader(PaneStream, oneshot::Sender<Result<OpenedStream, Error>>),
    /// They say in which sessions these panes are.
    Places(HashSet<PaneId>),
    /// None.
    Dropped,
}

impl PendingQueries {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a query. Returns the line to send.
    pub(super) fn push(
        &mut self,
        commands: Vec<Command>,
        reader: PaneStream,
        reply: oneshot::Sender<Result<OpenedStream, Error>>,
    ) -> String {
        let line: Vec<String> = commands.iter().map(Command::to_line).collect();
        let use_of = ReplyUse::Reader(reader, reply);
        self.0.push_back(PendingQuery { commands, replies: Vec::new(), use_of });
        line.join(" ; ")
    }

    /// Adds a command whose reply nobody waits for. Returns the line to send.
    pub(super) fn push_unanswered(&mut self, command: Command) -> String {
        self.push_one(command, ReplyUse::Dropped)
    }

    /// Adds a query for the sessions of these panes, whose reply [`PendingQueries::take_reply`] returns.
    /// Returns the line to send.
    pub(super) fn push_places(&mut self, command: Command, panes: HashSet<PaneId>) -> String {
        self.push_one(command, ReplyUse::Places(panes))
    }

    fn push_one(&mut self, command: Command, use_of: ReplyUse) -> String {
        let line = command.to_line();
        self.0.push_back(PendingQuery { commands: vec![command], replies: Vec::new(), use_of });
        line
    }

    /// Takes the reply to the next command. After the last one a reader is handed out, at the
    /// current position. Returns the reply to a query for the sessions of panes, with these panes.
    pub(super) fn take_reply(&mut self, block: ReplyBlock) -> Option<(HashSet<PaneId>, TmuxReply)> {
        let query = self.0.front_mut().filter(|_| block.ours)?;
        let ReplyBlock { ok, body, .. } = block;
        let refusal = match query.commands.get(query.replies.len()) {
            // tmux drops the rest of a line whose command failed.
            Some(refused) if !ok => Some(Error::Refused {
                command: refused.name().to_owned(),
                message: String::from_utf8_lossy(&body).trim().to_owned(),
            }),
            _ => None,
        };
        query.replies.push(TmuxReply(body));
        if refusal.is_none() && query.replies.len() < query.commands.len() {
            return None;
        }
        let PendingQuery { mut replies, use_of, .. } = self.0.pop_front()?;
        match use_of {
            ReplyUse::Reader(mut reader, reply) => {
                reader.skip_to_head();
                let _ = reply.send(match refusal {
                    None => Ok((reader, replies)),
                    Some(refusal) => Err(refusal),
                });
                None
            }
            ReplyUse::Places(panes) => {
                replies.pop().filter(|_| refusal.is_none()).map(|reply| (panes, reply))
            }
            ReplyUse::Dropped => None,
        }
    }
}
