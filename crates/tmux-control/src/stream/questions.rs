//! Questions asked on a stream's own connection. tmux puts the answer behind all the output that it
//! has taken into account and before all that it has not, so it tells of the pane exactly where the
//! stream stands.

use std::collections::VecDeque;

use tokio::sync::oneshot;

use crate::command::Command;
use crate::control::reader::Answer;
use crate::error::Error;
use crate::server::Reply;
use crate::stream::{Begun, PaneStream};

/// The questions on their way, in order.
#[derive(Default)]
pub(super) struct Questions(VecDeque<Asked>);

struct Asked {
    commands: Vec<Command>,
    answers: Vec<Reply>,
    reader: PaneStream,
    reply: oneshot::Sender<Result<Begun, Error>>,
}

impl Questions {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes what is asked. Returns the line to send.
    pub(super) fn ask(
        &mut self,
        commands: Vec<Command>,
        reader: PaneStream,
        reply: oneshot::Sender<Result<Begun, Error>>,
    ) -> String {
        let line: Vec<String> = commands.iter().map(Command::to_line).collect();
        self.0.push_back(Asked { commands, answers: Vec::new(), reader, reply });
        line.join(" ; ")
    }

    /// Takes the next answer. The last one sends the reader off, from here on.
    pub(super) fn answer(&mut self, answer: Answer) {
        let Some(asked) = self.0.front_mut().filter(|_| answer.ours) else { return };
        let Answer { ok, body, .. } = answer;
        let refusal = match asked.commands.get(asked.answers.len()) {
            // tmux drops the rest of a line whose command failed.
            Some(refused) if !ok => Some(Error::Refused {
                command: refused.name().to_owned(),
                message: String::from_utf8_lossy(&body).trim().to_owned(),
            }),
            _ => None,
        };
        asked.answers.push(Reply(body));
        if refusal.is_none() && asked.answers.len() < asked.commands.len() {
            return;
        }
        let Some(Asked { answers, mut reader, reply, .. }) = self.0.pop_front() else { return };
        reader.go_to_head();
        let _ = reply.send(match refusal {
            None => Ok((reader, answers)),
            Some(refusal) => Err(refusal),
        });
    }
}
