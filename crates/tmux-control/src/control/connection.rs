//! A control client as a child process: queue lines, take what comes back.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::control::reader::{Answer, Item, Reader};
use crate::error::Error;
use crate::id::SessionId;
use crate::spawn::Program;

/// How much is read at once. One read of a busy pane fills it.
const READ_SIZE: usize = 64 * 1024;

/// How long a client may take to go by itself.
const LEAVING: Duration = Duration::from_millis(500);

/// A live control client. [`Connection::close`] ends it; one that is dropped is killed.
#[derive(Debug)]
pub(crate) struct Connection {
    child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    reader: Reader,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
}

/// What became of one [`Connection::turn`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Bytes were moved, in either direction.
    Moved,
    /// The client has gone.
    Closed,
}

impl Connection {
    /// Starts a client that is to attach to `session`.
    pub(crate) fn start(
        program: &Program,
        session: SessionId,
        output: bool,
    ) -> Result<Self, Error> {
        let mut child = program.control_client(session, output)?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::Lost { command: "attach-session".to_owned() });
        };
        Ok(Self {
            child,
            stdin,
            stdout,
            reader: Reader::default(),
            outgoing: Vec::new(),
            incoming: vec![0; READ_SIZE],
        })
    }

    /// Waits until tmux has said that the client is attached: its first reply.
    pub(crate) async fn confirmed(&mut self, deadline: Duration) -> Result<(), Error> {
        let command = || "attach-session".to_owned();
        let answer = tokio::time::timeout(deadline, self.first_answer())
            .await
            .map_err(|_| Error::Timeout { command: command(), after: deadline })?
            .ok_or_else(|| Error::Lost { command: command() })?;
        if answer.ok {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&answer.body).trim().to_owned();
        Err(Error::Refused { command: command(), message })
    }

    async fn first_answer(&mut self) -> Option<Answer> {
        let mut first = None;
        while first.is_none() {
            let turn = self
                .turn(|item| {
                    if let Item::Answer(answer) = item {
                        first.get_or_insert(answer);
                    }
                })
                .await;
            if turn == Turn::Closed {
                break;
            }
        }
        first
    }

    /// Ends the client as it wishes to be ended: its input closes, what it still has to say is
    /// taken, and it goes. One that does not is killed.
    pub(crate) async fn close(self) {
        let Self { mut child, stdin, mut stdout, mut incoming, .. } = self;
        drop(stdin);
        let going = async {
            while stdout.read(&mut incoming).await.is_ok_and(|count| count > 0) {}
            let _ = child.wait().await;
        };
        if tokio::time::timeout(LEAVING, going).await.is_err() {
            let _ = child.kill().await;
        }
    }

    /// Queues a line; [`Connection::turn`] writes it.
    pub(crate) fn send(&mut self, line: &str) {
        self.outgoing.extend_from_slice(line.as_bytes());
        self.outgoing.push(b'\n');
    }

    /// Reads or writes once, whichever is possible first. Writing never blocks reading, so a large
    /// command and a large reply cannot wait for one another. May be dropped at any time.
    pub(crate) async fn turn(&mut self, sink: impl FnMut(Item<'_>)) -> Turn {
        let Self { stdin, stdout, reader, outgoing, incoming, .. } = self;
        tokio::select! {
            read = stdout.read(incoming) => match read {
                Ok(count @ 1..) => {
                    reader.feed(incoming.get(..count).unwrap_or_default(), sink);
                    Turn::Moved
                }
                Ok(0) | Err(_) => Turn::Closed,
            },
            written = stdin.write(outgoing), if !outgoing.is_empty() => match written {
                Ok(count @ 1..) => {
                    outgoing.drain(..count);
                    Turn::Moved
                }
                Ok(0) | Err(_) => Turn::Closed,
            },
        }
    }
}
