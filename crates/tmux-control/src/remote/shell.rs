//! Lasting shells: a `sh` on the other side that runs scripts one after the other over one channel.
//! A channel of its own for each would cost 155 ms on loopback.

use std::time::Duration;

use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::remote::channel::Channel;
use crate::remote::script::{quote, random_key};

/// Most bytes that one script may print.
const MAX_OUTPUT_BYTES: usize = 64 * 1024 * 1024;

/// How many bytes one read takes at most.
const READ_BYTES: usize = 64 * 1024;

/// What a lasting shell is asked to run.
#[derive(Debug, Clone)]
pub(super) enum Work {
    /// A script, in the shell itself.
    Script(String),
    /// A command in a subshell, with this text and a line end as its input.
    Command {
        /// The input.
        input: String,
        /// The command.
        command: String,
    },
}

/// The result of a script or command on the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteOutput {
    /// Its exit status.
    pub status: i32,
    /// Its output.
    pub stdout: Vec<u8>,
    /// Its error output; empty for a script.
    pub stderr: Vec<u8>,
}

/// A lasting shell.
#[derive(Debug)]
pub(super) struct Shell {
    pub(super) child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    /// Begins every mark.
    key: String,
    /// How many scripts were sent.
    count: u64,
}

impl Shell {
    /// Takes the channel of a shell that runs [`LASTING`](super::script::LASTING).
    pub(super) fn new(channel: Channel) -> Result<Self, String> {
        let mut child = channel.child;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the channel has no input or output".to_owned());
        };
        Ok(Self { child, stdin, stdout, key: random_key()?, count: 0 })
    }

    /// Whether its process still runs.
    pub(super) fn is_open(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Runs something and waits for its end. If this fails or is dropped, the shell must not be used again:
    /// its output would be that of an earlier script.
    pub(super) async fn run(&mut self, work: &Work) -> Result<RemoteOutput, String> {
        self.count += 1;
        let mark = format!("{}.{}", self.key, self.count);
        let line = match work {
            Work::Script(script) => format!("__run {mark} {}\n", quote(script)),
            Work::Command { input, command } => {
                format!("__command {mark} {} {}\n", quote(input), quote(command))
            }
        };
        if line.contains('\0') {
            return Err("the script holds a NUL byte".to_owned());
        }
        let (_, output) = tokio::join!(
            self.stdin.write_all(line.as_bytes()),
            read_output(&mut self.stdout, &mark)
        );
        output
    }

    /// Ends the shell by the end of its input; past the limit it is killed.
    pub(super) async fn close(mut self, limit: Duration) {
        drop(self.stdin);
        // Output of a background process must not block it.
        let mut rest = Vec::new();
        let end = async {
            let _ = self.stdout.take(MAX_OUTPUT_BYTES as u64).read_to_end(&mut rest).await;
            let _ = self.child.wait().await;
        };
        let _ = tokio::time::timeout(limit, end).await;
    }
}

/// Reads the output up to its end. It may hold any bytes, and need not end with a line end.
async fn read_output(stdout: &mut ChildStdout, mark: &str) -> Result<RemoteOutput, String> {
    let begin = format!("\n{mark} ");
    let end = format!("\n{mark}\n");
    let mut read = Vec::new();
    let (mut searched, mut found) = (0, None);
    loop {
        if found.is_none() {
            let unsearched = read.get(searched..).unwrap_or_default();
            found = memmem::find(unsearched, begin.as_bytes()).map(|at| searched + at);
            // The mark may have come in part.
            searched = read.len().saturating_sub(begin.len());
        }
        if let Some(at) = found
            && read.ends_with(end.as_bytes())
        {
            return split(&read, at, begin.len(), end.len())
                .ok_or_else(|| "the shell there sent an unreadable reply".to_owned());
        }
        if read.len() > MAX_OUTPUT_BYTES {
            return Err(format!("the output has more than {MAX_OUTPUT_BYTES} bytes"));
        }
        read.reserve(READ_BYTES);
        match stdout.read_buf(&mut read).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return Err("the shell there has ended".to_owned()),
        }
    }
}

/// Splits what was read at the first mark, which begins at `at`.
fn split(read: &[u8], at: usize, begin: usize, end: usize) -> Option<RemoteOutput> {
    let rest = read.get(at + begin..)?;
    let line_end = memchr::memchr(b'\n', rest)?;
    let status = std::str::from_utf8(rest.get(..line_end)?).ok()?.parse().ok()?;
    let stderr = rest.get(line_end + 1..rest.len().checked_sub(end)?)?;
    Some(RemoteOutput { status, stdout: read.get(..at)?.to_vec(), stderr: stderr.to_vec() })
}
