//! Channels: a signal that anybody can send with `tmux wait-for -S`, and waiting for one.
//!
//! A command that waits blocks the queue of its client, so each has a process of its own. When that
//! process ends, tmux keeps its place: the next signal goes there, and if nobody else waits, nobody
//! hears it. So a wait that is given up is ended by a signal of our own. That would wake everybody
//! else who waits there, so it is done only when nobody else can be waiting: when no client is
//! connected but ours and those that are attached.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout};
use tokio::sync::{OwnedRwLockReadGuard, RwLock};
use tokio::time::Instant;

use crate::command::Command;
use crate::error::Error;
use crate::server::Server;
use crate::spawn::is_no_server;

/// What the waiting process prints when the signal has come.
const HEARD: &str = "heard";

/// A wait that ends so soon after its beginning had its signal before. It would end at once, within
/// 0.01 ms; the rest is for a busy machine.
const AT_ONCE: Duration = Duration::from_millis(50);

/// The shortest time after which a wait can be given up without missing a signal that is there.
pub const SHORTEST: Duration = Duration::from_millis(25);

/// How often it is looked whether somebody else waits, and the pause between: most clients are gone
/// after a moment.
const LOOKS: u32 = 10;
const LOOK_AGAIN: Duration = Duration::from_millis(15);

/// Everybody who waits; whoever wants to know that nobody does any more takes it alone.
pub(crate) type Waiters = Arc<RwLock<()>>;

/// A signal that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal {
    /// Whether it was sent before anybody waited for it.
    pub left_over: bool,
}

/// What a wait that was given up leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Nothing.
    Nothing,
    /// Nothing: the signal has just come.
    Heard(Signal),
    /// A place that takes the next signal, since somebody else may be waiting.
    Place,
}

/// A wait for a signal. When it is dropped, it is given up.
#[derive(Debug)]
pub struct Waiting {
    place: Option<Place>,
}

/// The process that waits, and what is needed to clear up behind it.
#[derive(Debug)]
struct Place {
    server: Server,
    channel: String,
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// The process of the tmux server, which another may follow on the same socket. Known from
    /// when tmux has made the place.
    server_pid: Option<String>,
    begun: Instant,
    /// When it printed that the signal came.
    heard: Option<Instant>,
    _here: OwnedRwLockReadGuard<()>,
}

impl Server {
    /// Sends a signal. If nobody waits, tmux keeps one for the next who does.
    pub async fn signal_channel(&self, channel: &str) -> Result<(), Error> {
        self.run(signal(channel)).await.map(|_| ())
    }

    /// Begins to wait: a signal that is sent after this returns is heard.
    pub async fn wait_for_channel(&self, channel: &str) -> Result<Waiting, Error> {
        let commands = [
            Command::query("display-message").arg("-p").arg("#{pid}"),
            Command::action("wait-for").arg("--").arg(channel),
            Command::query("display-message").arg("-p").arg(HEARD),
        ];
        let here = Arc::clone(self.waiters()).read_owned().await;
        let mut process = self.tmux_program().process_for(&commands)?;
        process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            process.spawn().map_err(|source| self.tmux_program().start_error(source))?;
        let Some(stdout) = child.stdout.take() else {
            return Err(Error::unexpected("wait-for", b"no output"));
        };
        let mut waiting = Waiting {
            place: Some(Place {
                server: self.clone(),
                channel: channel.to_owned(),
                child,
                lines: BufReader::new(stdout).lines(),
                server_pid: None,
                begun: Instant::now(),
                heard: None,
                _here: here,
            }),
        };
        if let Some(place) = &mut waiting.place
            && let Err(error) = place.begin().await
        {
            waiting.place = None;
            return Err(error);
        }
        Ok(waiting)
    }

    /// Ends when nobody waits any more and everything is cleared up.
    pub async fn nobody_waits(&self) {
        let _ = tokio::time::timeout(self.deadline(), self.waiters().write()).await;
    }
}

impl Waiting {
    /// The signal. A server that ends lets all who wait go, as if there were one; that is an error
    /// here. May be asked again when it was not waited for to the end.
    pub async fn signal(&mut self) -> Result<Signal, Error> {
        let Some(place) = &mut self.place else {
            return Err(Error::Lost { command: "wait-for".to_owned() });
        };
        if place.heard.is_none()
            && let Ok(Some(line)) = place.lines.next_line().await
            && line == HEARD
        {
            place.heard = Some(Instant::now());
        }
        let outcome = match place.signal().await {
            Some(signal) => Ok(signal),
            None => Err(place.no_server()),
        };
        self.place = None;
        outcome
    }

    /// Stops waiting.
    pub async fn give_up(mut self) -> Left {
        match self.place.take() {
            // In a task, so that it is done even if nobody waits for this either.
            Some(place) => tokio::spawn(place.leave()).await.unwrap_or(Left::Place),
            None => Left::Nothing,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let (Some(place), Ok(runtime)) =
            (self.place.take(), tokio::runtime::Handle::try_current())
        {
            runtime.spawn(place.leave());
        }
    }
}

impl Place {
    /// Waits until tmux has made the place.
    async fn begin(&mut self) -> Result<(), Error> {
        let after = self.server.deadline();
        let first = tokio::time::timeout(after, self.lines.next_line()).await;
        let first = first.map_err(|_| Error::Timeout { command: "wait-for".to_owned(), after })?;
        if let Ok(Some(pid)) = first {
            self.server_pid = Some(pid);
            self.begun = Instant::now();
            return Ok(());
        }
        let mut said = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            let _ = tokio::time::timeout(after, stderr.read_to_string(&mut said)).await;
        }
        if said.is_empty() || is_no_server(&said) {
            return Err(self.no_server());
        }
        Err(Error::Refused { command: "wait-for".to_owned(), message: said.trim().to_owned() })
    }

    fn no_server(&self) -> Error {
        Error::NoServer { socket: self.server.socket_path().display().to_string() }
    }

    /// The signal that was heard, if the server that was waited on is still there: one that is
    /// ending answers no more.
    async fn signal(&self) -> Option<Signal> {
        let heard = self.heard?;
        let ask = Command::query("display-message").arg("-p").arg("#{pid}");
        let replies = self.server.spawned(&[ask]).await.ok()?;
        let pid = replies.first()?.text();
        (Some(pid.trim()) == self.server_pid.as_deref())
            .then(|| Signal { left_over: heard - self.begun < AT_ONCE })
    }

    /// Ends the process so that its place goes with it: by a signal, if nobody else can hear it. A
    /// signal of somebody else's that comes at the same time is kept by tmux, since the process takes
    /// only one of the two. Waits for the place first: signalled in vain, tmux would keep a signal
    /// that nobody sent.
    async fn leave(mut self) -> Left {
        if self.server_pid.is_none() && self.begin().await.is_err() {
            return Left::Nothing;
        }
        if self.heard.is_some() {
            return self.signal().await.map_or(Left::Nothing, Left::Heard);
        }
        for look in 0..LOOKS {
            if look > 0 {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            match waiting_clients(&self.server).await {
                Ok(Some(0 | 1)) => {
                    if self.server.run(signal(&self.channel)).await.is_err() {
                        break;
                    }
                    let _ = tokio::time::timeout(self.server.deadline(), self.child.wait()).await;
                    return Left::Nothing;
                }
                Ok(Some(_)) => {}
                Err(error) if error.is_no_server() => return Left::Nothing,
                Ok(None) | Err(_) => break,
            }
        }
        let _ = self.child.kill().await;
        Left::Place
    }
}

fn signal(channel: &str) -> Command {
    Command::action("wait-for").arg("-S").arg("--").arg(channel)
}

/// How many clients are connected without being attached: only those can wait. `None` where the
/// system does not tell.
async fn waiting_clients(server: &Server) -> Result<Option<usize>, Error> {
    let ask = [
        Command::query("display-message").arg("-p").arg("#{socket_path}"),
        Command::query("list-clients").option("-F", "client"),
    ];
    let printed: Vec<u8> = server.spawned(&ask).await?.into_iter().flat_map(|r| r.0).collect();
    let printed = String::from_utf8_lossy(&printed);
    let mut printed = printed.lines();
    let path = printed.next().unwrap_or_default();
    let attached = printed.count();
    let Ok(table) = std::fs::read("/proc/net/unix") else { return Ok(None) };
    let connected = connections(&String::from_utf8_lossy(&table), path);
    // Fewer than are attached: the server's sockets cannot be seen from here.
    Ok(connected.checked_sub(attached))
}

/// The connections to a socket, as `/proc/net/unix` lists them.
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
    fn connections_are_counted_by_their_socket() {
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
