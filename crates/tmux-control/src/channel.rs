//! Channels of `tmux wait-for`: sending a signal, and waiting for one.
//!
//! `wait-for` blocks the command queue of its client, so each wait runs in a `tmux` process of its
//! own. If that process is killed, tmux keeps its entry in the channel: the next signal goes to
//! that entry, and is lost if nothing else waits. A cancelled wait is therefore ended by a signal
//! of our own. That signal would wake all other waiters of the channel, so it is sent only if there
//! can be none: if no client is connected to the server but ours and those that are attached.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::ChildStdout;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::command::Command;
use crate::error::Error;
use crate::server::Server;
use crate::spawn::{TmuxProcess, is_no_server};
use crate::sync::within;

/// The line that the waiting process prints once the signal has come.
const SIGNALLED: &str = "signalled";

/// A wait that ends within this time received a signal sent before the wait began. tmux delivers
/// such a signal within 0.01 ms; the rest allows for a busy machine.
const EARLIER_SIGNAL_WINDOW: Duration = Duration::from_millis(50);

/// The shortest time to wait before cancelling: a signal sent earlier has arrived by then.
pub const MIN_CHANNEL_WAIT: Duration = Duration::from_millis(25);

/// How often other clients are counted before a cancelled wait is killed.
const MAX_CLIENT_COUNTS: u32 = 8;

/// The first pause between two counts; each further one is twice as long, one second in all. Most clients
/// run one command and disconnect, but a busy tmux closes their connections late.
const FIRST_COUNT_INTERVAL: Duration = Duration::from_millis(8);

/// The table of Unix sockets of Linux.
const SOCKETS_TABLE: &str = "/proc/net/unix";

/// How many waits may be in progress on one server: each is a process.
pub const MAX_CHANNEL_WAITS: u32 = 32;

/// The waits in progress on one server.
#[derive(Debug)]
pub(crate) struct ChannelWaits {
    /// One permit for each further wait that may begin.
    free: Arc<Semaphore>,
}

impl Default for ChannelWaits {
    fn default() -> Self {
        Self { free: Arc::new(Semaphore::new(MAX_CHANNEL_WAITS as usize)) }
    }
}

/// A signal that was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelSignal {
    /// Whether it was sent before the wait began.
    pub left_over: bool,
}

/// The state of the channel after a wait was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelOutcome {
    /// tmux has removed the entry of the wait.
    Removed,
    /// tmux has removed the entry: a signal came just before the cancellation.
    Signalled(ChannelSignal),
    /// tmux keeps the entry, which may swallow the next signal: other programs may be waiting, so
    /// it could not be signalled.
    Orphaned,
}

/// A wait for a signal. Dropping it cancels the wait in the background.
#[derive(Debug)]
pub struct ChannelWait {
    /// None once the wait has ended.
    process: Option<WaitProcess>,
}

/// The `tmux wait-for` process of one wait.
#[derive(Debug)]
struct WaitProcess {
    server: Server,
    channel: String,
    process: TmuxProcess,
    lines: Lines<BufReader<ChildStdout>>,
    /// The pid of the tmux server, which tells it from a later server on the same socket. Known
    /// once tmux runs the commands of this process.
    server_pid: Option<String>,
    begun: Instant,
    /// When the process printed [`SIGNALLED`].
    signalled: Option<Instant>,
    _permit: OwnedSemaphorePermit,
}

impl Server {
    /// Sends a signal. If no wait is in progress, tmux keeps one signal for the next wait.
    pub async fn signal_channel(&self, channel: &str) -> Result<(), Error> {
        self.run(signal(channel)).await.map(|_| ())
    }

    /// Begins to wait. A signal that is sent after this returns is received.
    pub async fn wait_for_channel(&self, channel: &str) -> Result<ChannelWait, Error> {
        let commands = [
            Command::query("display-message").arg("-p").arg("#{pid}"),
            Command::action("wait-for").arg("--").arg(channel),
            Command::query("display-message").arg("-p").arg(SIGNALLED),
        ];
        let permit = Arc::clone(&self.channel_waits().free)
            .try_acquire_owned()
            .map_err(|_| Error::TooManyWaits)?;
        let start = self.tmux_program().start_commands(&commands);
        self.connect().await?;
        let mut process = within(self.deadline(), "wait-for", start).await??;
        let Some(stdout) = process.child.stdout.take() else {
            return Err(Error::unexpected("wait-for", b"no output"));
        };
        let mut waiting = ChannelWait {
            process: Some(WaitProcess {
                server: self.clone(),
                channel: channel.to_owned(),
                process,
                lines: BufReader::new(stdout).lines(),
                server_pid: None,
                begun: Instant::now(),
                signalled: None,
                _permit: permit,
            }),
        };
        if let Some(process) = &mut waiting.process
            && let Err(error) = process.begin().await
        {
            waiting.process = None;
            return Err(error);
        }
        Ok(waiting)
    }

    /// Waits until every wait has ended, cancelled ones included, or the deadline has passed.
    pub async fn channel_waits_ended(&self) {
        let all = self.channel_waits().free.acquire_many(MAX_CHANNEL_WAITS);
        let _ = tokio::time::timeout(self.deadline(), all).await;
    }
}

impl ChannelWait {
    /// Waits for the signal. A tmux server that exits releases its waiters as if they were
    /// signalled; here that is an error. May be dropped and called again.
    pub async fn signal(&mut self) -> Result<ChannelSignal, Error> {
        let Some(process) = &mut self.process else {
            return Err(Error::Lost { command: "wait-for".to_owned() });
        };
        if process.signalled.is_none()
            && let Ok(Some(line)) = process.lines.next_line().await
            && line == SIGNALLED
        {
            process.signalled = Some(Instant::now());
        }
        let outcome = match process.signal().await {
            Some(signal) => Ok(signal),
            None => Err(process.no_server()),
        };
        self.process = None;
        outcome
    }

    /// Cancels the wait.
    pub async fn cancel(mut self) -> CancelOutcome {
        match self.process.take() {
            // In a task of its own, which completes even if this future is dropped.
            Some(process) => {
                tokio::spawn(process.cancel()).await.unwrap_or(CancelOutcome::Orphaned)
            }
            None => CancelOutcome::Removed,
        }
    }
}

impl Drop for ChannelWait {
    fn drop(&mut self) {
        if let (Some(process), Ok(runtime)) =
            (self.process.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(process.cancel());
        }
    }
}

impl WaitProcess {
    /// Waits until tmux has queued the wait in the channel.
    async fn begin(&mut self) -> Result<(), Error> {
        let after = self.server.deadline();
        let first = within(after, "wait-for", self.lines.next_line()).await?;
        if let Ok(Some(pid)) = first {
            self.server_pid = Some(pid);
            self.begun = Instant::now();
            return Ok(());
        }
        let mut stderr_text = String::new();
        if let Some(stderr) = &mut self.process.child.stderr {
            let _ = tokio::time::timeout(after, stderr.read_to_string(&mut stderr_text)).await;
        }
        if stderr_text.is_empty() || is_no_server(&stderr_text) {
            return Err(self.no_server());
        }
        let message = stderr_text.trim().to_owned();
        Err(Error::Refused { command: "wait-for".to_owned(), message })
    }

    fn no_server(&self) -> Error {
        self.server.tmux_program().no_server()
    }

    /// The signal, if one was received and the same tmux server still runs: a server that is
    /// exiting no longer replies.
    async fn signal(&self) -> Option<ChannelSignal> {
        let signalled = self.signalled?;
        let pid_query = Command::query("display-message").arg("-p").arg("#{pid}");
        let replies = self.server.spawned(&[pid_query]).await.ok()?;
        let pid = replies.first()?.text();
        (Some(pid.trim()) == self.server_pid.as_deref())
            .then(|| ChannelSignal { left_over: signalled - self.begun < EARLIER_SIGNAL_WINDOW })
    }

    /// Ends the process together with its entry in the channel: by a signal, if no other program
    /// can receive it. A signal from another program at the same moment is not lost: the process
    /// takes one of the two and tmux keeps the other. The entry must exist before the signal is
    /// sent, or tmux would keep that signal for the next wait.
    async fn cancel(mut self) -> CancelOutcome {
        if self.server_pid.is_none() && self.begin().await.is_err() {
            return CancelOutcome::Removed;
        }
        if self.signalled.is_some() {
            return self.signal().await.map_or(CancelOutcome::Removed, CancelOutcome::Signalled);
        }
        for count in 0..MAX_CLIENT_COUNTS {
            if count > 0 {
                tokio::time::sleep(FIRST_COUNT_INTERVAL * (1 << (count - 1))).await;
            }
            match waiting_clients(&self.server).await {
                Ok(Some(0 | 1)) => {
                    if self.server.run(signal(&self.channel)).await.is_err() {
                        break;
                    }
                    let _ = tokio::time::timeout(self.server.deadline(), self.process.child.wait())
                        .await;
                    return CancelOutcome::Removed;
                }
                Ok(Some(_)) => {}
                Err(error) if error.is_no_server() => return CancelOutcome::Removed,
                Ok(None) | Err(_) => break,
            }
        }
        self.server.tmux_program().kill(&mut self.process).await;
        CancelOutcome::Orphaned
    }
}

fn signal(channel: &str) -> Command {
    Command::action("wait-for").arg("-S").arg("--").arg(channel)
}

/// Counts the clients that are connected without being attached: only these can be waiting. `None`
/// where the system has no `/proc/net/unix`.
async fn waiting_clients(server: &Server) -> Result<Option<usize>, Error> {
    let queries = [
        Command::query("display-message").arg("-p").arg("#{socket_path}"),
        Command::query("list-clients").option("-F", "client"),
    ];
    let replies = server.spawned(&queries).await?;
    let printed: Vec<u8> = replies.into_iter().flat_map(|reply| reply.0).collect();
    let printed = String::from_utf8_lossy(&printed);
    let mut lines = printed.lines();
    let path = lines.next().unwrap_or_default();
    let attached = lines.count();
    let Some(table) = sockets_table(server).await? else { return Ok(None) };
    let connected = connections(&String::from_utf8_lossy(&table), path);
    // Fewer connections than attached clients: the sockets of another network namespace are hidden.
    Ok(connected.checked_sub(attached))
}

/// The table of all sockets of the system that tmux runs on, if it has one.
async fn sockets_table(server: &Server) -> Result<Option<Vec<u8>>, Error> {
    let Some(remote) = &server.tmux_program().remote else {
        return Ok(std::fs::read(SOCKETS_TABLE).ok());
    };
    let table = Box::pin(remote.run(&format!("cat {SOCKETS_TABLE}"))).await?;
    Ok((!table.is_empty()).then_some(table))
}

/// Counts the connections to a socket in the text of `/proc/net/unix`.
fn connections(table: &str, path: &str) -> usize {
    const CONNECTED: &str = "03";
    table
        .lines()
        .filter(|line| line.strip_suffix(path).is_some_and(|row| row.ends_with(' ')))
        .filter(|line| line.split_whitespace().nth(5) == Some(CONNECTED))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_per_socket_path() {
        let table = "\
Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 10 /tmp/s
0000000000000000: 00000003 00000000 00000000 0001 03 11 /tmp/s
0000000000000000: 00000003 00000000 00000000 0001 03 12 /tmp/s
0000000000000000: 00000003 00000000 00000000 0001 03 13 /other/tmp/s
0000000000000000: 00000003 00000000 00000000 0001 03 14
";
        assert_eq!(connections(table, "/tmp/s"), 2);
        assert_eq!(connections(table, "/tmp"), 0);
    }
}
