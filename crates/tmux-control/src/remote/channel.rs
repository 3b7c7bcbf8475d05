//! A channel: one program on the other side with its own stdin and stdout, carried by a local process.
//!
//! Login shells may print before the program does. The first line of ours holds a random key, and all
//! before it is dropped. It is read byte by byte, so that the program's output is left in the pipe.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdout};

use crate::remote::script::{first_line, random_key};
use crate::remote::ssh;
use crate::spawn::{Carrier, start_carrier};

/// Most bytes that a login shell may print before our first line.
const MAX_NOISE_BYTES: usize = 256 * 1024;

/// How long a failed process may take to exit, and to say why.
const REASON_TIMEOUT: Duration = Duration::from_secs(1);

/// A program on the other side.
#[derive(Debug)]
pub(crate) struct Channel {
    /// The local process, with the program's input and output. Dropping it ends the channel.
    pub(crate) child: Child,
    /// The pid of the program on the other side.
    pub(crate) pid: u32,
}

impl Channel {
    /// Starts the local process and waits until `script` runs on the other side. The error is the reason
    /// for a failure. Without `stderr` later error output of both ends is discarded.
    pub(super) async fn open(
        carrier: &Carrier<'_>,
        script: &str,
        stderr: bool,
    ) -> Result<Self, String> {
        let key = random_key()?;
        let program = carrier.words.first().map_or("", String::as_str);
        let mut child = start_carrier(carrier)
            .map_err(|error| format!("`{program}` cannot be started: {error}"))?;
        let (Some(stdin), Some(stdout)) = (&mut child.stdin, &mut child.stdout) else {
            return Err(format!("`{program}` has no input or output"));
        };
        let line = first_line(&key, script);
        // If it reads nothing, its output ends, and its stderr holds the reason.
        let (_, first) =
            tokio::join!(stdin.write_all(line.as_bytes()), read_first_line(stdout, &key));
        match first {
            Ok(pid) => {
                if !stderr {
                    drop(child.stderr.take());
                }
                Ok(Self { child, pid })
            }
            Err(noise) => Err(failure(&mut child, &noise).await),
        }
    }
}

/// Reads up to the line with the key, and returns the pid behind it. The error is all that was read.
async fn read_first_line(stdout: &mut ChildStdout, key: &str) -> Result<u32, Vec<u8>> {
    let mut read = Vec::new();
    let mut line_start = 0;
    while read.len() < MAX_NOISE_BYTES {
        match stdout.read_u8().await {
            Ok(b'\n') => {
                let line = read.get(line_start..).unwrap_or_default();
                let pid = std::str::from_utf8(line)
                    .ok()
                    .and_then(|line| line.trim_end().strip_prefix(key))
                    .and_then(|pid| pid.trim_start().parse().ok());
                if let Some(pid) = pid {
                    return Ok(pid);
                }
                read.push(b'\n');
                line_start = read.len();
            }
            Ok(byte) => read.push(byte),
            Err(_) => break,
        }
    }
    Err(read)
}

/// The reason why a process ended before our line came: its error output, else the end of its output.
async fn failure(child: &mut Child, noise: &[u8]) -> String {
    let mut text = String::new();
    drop(child.stdin.take());
    let read = async {
        if let Some(stderr) = &mut child.stderr {
            let mut bytes = Vec::new();
            let _ = stderr.take(MAX_NOISE_BYTES as u64).read_to_end(&mut bytes).await;
            text = String::from_utf8_lossy(&bytes).into_owned();
        }
    };
    let _ = tokio::time::timeout(REASON_TIMEOUT, read).await;
    let exit = tokio::time::timeout(REASON_TIMEOUT, child.wait()).await;
    let printed = String::from_utf8_lossy(noise);
    ssh::reason(&text).or_else(|| ssh::last_line(&printed)).unwrap_or_else(|| match exit {
        Ok(Ok(status)) => format!("the connecting program ended without a message ({status})"),
        _ => "no POSIX `sh` answers there".to_owned(),
    })
}
