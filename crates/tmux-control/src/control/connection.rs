//! A control client (`tmux -C`) as a child process: sends lines, receives replies and
//! notifications.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::control::reader::{ControlItem, ControlReader, ReplyBlock};
use crate::error::Error;
use crate::id::SessionId;
use crate::remote::{LossReceiver, lost_reason};
use crate::spawn::{Program, TmuxProcess};
use crate::sync::within;

/// How many bytes one read takes at most. The output of a busy pane fills it.
const READ_BYTES: usize = 64 * 1024;

/// Size of the pipe through which tmux sends output, the most that Linux grants everyone. While any client
/// does not follow a pane, tmux goes on to read the pane when this pipe is full, and copies all that waits
/// for it with each further read. Measured with every core busy and a flood: a reply came after 1.8 to
/// 4.3 s with the usual 64 KiB, after 0.01 to 0.04 s with 1 MiB.
#[cfg(target_os = "linux")]
const OUTPUT_PIPE_BYTES: usize = 1024 * 1024;

/// How long a client may take to detach, before it is killed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The command that ends a client. Closing its input would end it too, but tmux (3.2a to 3.7c) then
/// skips the output that is to be sent to the client before it discards what is queued for it. If
/// the pane prints and the client is written to in between, tmux reads beyond its buffer and exits.
/// After a command it discards the queue before it handles further events.
const DETACH: &str = "detach-client";

/// A running control client. [`ControlConnection::close`] ends it; dropping it kills it.
#[derive(Debug)]
pub(crate) struct ControlConnection {
    child: Child,
    /// Its pid as tmux sees it.
    pid: Option<u32>,
    /// Receives the loss of the connection to another system. A command in between, such as `docker exec`,
    /// need not end then.
    lost: Option<LossReceiver>,
    stdin: ChildStdin,
    stdout: ChildStdout,
    reader: ControlReader,
    /// Lines not yet written.
    outgoing: Vec<u8>,
    /// The buffer for one read.
    incoming: Vec<u8>,
}

/// The result of one [`ControlConnection::step`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IoStep {
    /// Bytes were read or written.
    Progress,
    /// The client has closed its end.
    Closed,
}

impl ControlConnection {
    /// Starts a client that attaches to `session`.
    pub(crate) async fn start(
        program: &Program,
        session: SessionId,
        output: bool,
    ) -> Result<Self, Error> {
        let lost = match &program.remote {
            Some(remote) => Some(Box::pin(remote.loss()).await?),
            None => None,
        };
        let TmuxProcess { mut child, pid } = program.control_client(session, output).await?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::Lost { command: "attach-session".to_owned() });
        };
        if output {
            enlarge_pipe(&stdout);
        }
        Ok(Self {
            child,
            pid,
            lost,
            stdin,
            stdout,
            reader: ControlReader::default(),
            outgoing: Vec::new(),
            incoming: vec![0; READ_BYTES],
        })
    }

    /// The client's process id, as tmux reports it.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Waits until the client is attached: tmux then sends its first reply.
    pub(crate) async fn wait_until_attached(&mut self, deadline: Duration) -> Result<(), Error> {
        let command = "attach-session";
        let reply = within(deadline, command, self.first_reply())
            .await?
            .ok_or_else(|| Error::Lost { command: command.to_owned() })?;
        if reply.ok {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&reply.body).trim().to_owned();
        Err(Error::Refused { command: command.to_owned(), message })
    }

    async fn first_reply(&mut self) -> Option<ReplyBlock> {
        let mut first = None;
        while first.is_none() {
            let step = self
                .step(|item| {
                    if let ControlItem::Reply(reply) = item {
                        first.get_or_insert(reply);
                    }
                })
                .await;
            if step == IoStep::Closed {
                break;
            }
        }
        first
    }

    /// Ends the client gracefully: detaches it, discards its remaining output and waits for its
    /// exit. After [`EXIT_TIMEOUT`] it is killed.
    pub(crate) async fn close(mut self) {
        self.send(DETACH);
        let exit = async {
            while self.step(|_| {}).await != IoStep::Closed {}
            let _ = self.child.wait().await;
        };
        if tokio::time::timeout(EXIT_TIMEOUT, exit).await.is_err() {
            let _ = self.child.kill().await;
        }
    }

    /// Queues a line; [`ControlConnection::step`] writes it.
    pub(crate) fn send(&mut self, line: &str) {
        self.outgoing.extend_from_slice(line.as_bytes());
        self.outgoing.push(b'\n');
    }

    /// Reads or writes once, whichever is possible first. Writing never blocks reading, so a large
    /// command and a large reply cannot deadlock. Cancel safe.
    pub(crate) async fn step(&mut self, sink: impl FnMut(ControlItem<'_>)) -> IoStep {
        let Self { stdin, stdout, lost, reader, outgoing, incoming, .. } = self;
        tokio::select! {
            () = wait_for_loss(lost) => IoStep::Closed,
            read = stdout.read(incoming) => match read {
                Ok(count @ 1..) => {
                    reader.push(incoming.get(..count).unwrap_or_default(), sink);
                    IoStep::Progress
                }
                Ok(0) | Err(_) => IoStep::Closed,
            },
            written = stdin.write(outgoing), if !outgoing.is_empty() => {
                match written {
                    Ok(count @ 1..) => drop(outgoing.drain(..count)),
                    // The client has exited. Its last output is still to be read: only the end of
                    // its output ends the connection.
                    Ok(0) | Err(_) => outgoing.clear(),
                }
                IoStep::Progress
            }
        }
    }
}

/// Waits until the connection to another system is lost; for ever if the client is local.
async fn wait_for_loss(lost: &mut Option<LossReceiver>) {
    match lost {
        Some(lost) => drop(lost_reason(lost).await),
        None => std::future::pending().await,
    }
}

/// Enlarges a pipe, if the system allows it. A pipe of the usual size works too.
#[cfg(target_os = "linux")]
fn enlarge_pipe(pipe: &ChildStdout) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, OUTPUT_PIPE_BYTES);
}

/// Only Linux lets a program choose the size of a pipe.
#[cfg(not(target_os = "linux"))]
fn enlarge_pipe(_: &ChildStdout) {}
