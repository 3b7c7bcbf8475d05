//! Queries sent on a stream's own connection.
//!
//! tmux sends their replies after all output that it had processed by then and before all later
//! output, so the replies describe the pane exactly at the stream's position.

use std::collections::VecDeque;

use tokio::sync::oneshot;

use crate::command::Command;
use crate::control::reader::ReplyBlock;
use crate::error::Error;
use crate::server::TmuxReply;
use crate::stream::{OpenedStream, PaneStream};

/// The queries in flight, the oldest first.
#[derive(Default)]
pub(super) struct PendingQueries(VecDeque<PendingQuery>);

/// The commands of one line, and their replies so far.
struct PendingQuery {
    commands: Vec<Command>,
    replies: Vec<TmuxReply>,
    /// The reader that is handed out with the replies, and to whom.
    answer: Option<(PaneStream, oneshot::Sender<Result<OpenedStream, Error>>)>,
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
        let answer = Some((reader, reply));
        self.0.push_back(PendingQuery { commands, replies: Vec::new(), answer });
        line.join(" ; ")
    }

    /// Adds a command whose reply nobody waits for. Returns the line to send.
    pub(super) fn push_unanswered(&mut self, command: Command) -> String {
        let line = command.to_line();
        let query = PendingQuery { commands: vec![command], replies: Vec::new(), answer: None };
        self.0.push_back(query);
        line
    }

    /// Takes the reply to the next command. After the last one the reader is handed out, at the
    /// current position.
    pub(super) fn take_reply(&mut self, block: ReplyBlock) {
        let Some(query) = self.0.front_mut().filter(|_| block.ours) else { return };
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
            return;
        }
        let Some(PendingQuery { replies, answer: Some((mut reader, reply)), .. }) =
            self.0.pop_front()
        else {
            return;
        };
        reader.skip_to_head();
        let _ = reply.send(match refusal {
            None => Ok((reader, replies)),
            Some(refusal) => Err(refusal),
        });
    }
}
