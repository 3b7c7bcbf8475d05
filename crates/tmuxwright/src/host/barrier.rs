//! A barrier in a pane's output: a mark of ours, written to the pane's terminal behind all that its
//! programs have printed. A terminal passes output on in order, so whoever sees the mark come by on the
//! stream has seen everything before it, however busy the machine is.
//!
//! For a pane whose programs are not printing: the mark would break a sequence that is half written.

use std::time::Duration;

use memchr::memmem;
use process::Processes;
use tmux_control::stream::PaneStream;
use tmux_control::stream::ring::Chunk;

use crate::random;

/// Random bytes in a mark.
const KEY_BYTES: usize = 12;
/// Pause before a full terminal is tried again.
const FULL_TERMINAL_PAUSE: Duration = Duration::from_millis(2);

/// Reads the stream up to a mark that is written now to the terminal of process `pid`. False if there
/// can be no mark: the terminal cannot be opened, or the stream ends.
pub(crate) async fn pass(processes: &Processes, pid: u32, stream: &mut PaneStream) -> bool {
    let Ok(key) = random::hex(KEY_BYTES) else { return false };
    // tmux ignores the sequence. One that a program has left open is ended first.
    let mark = format!("\x1b\\\x1b]7771;{key}\x1b\\");
    loop {
        match processes.write_to_terminal(pid, mark.as_bytes()).await {
            Ok(()) => break,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                tokio::time::sleep(FULL_TERMINAL_PAUSE).await;
            }
            Err(_) => return false,
        }
    }
    let mut tail = Vec::new();
    loop {
        match stream.next().await {
            Chunk::Bytes { bytes, .. } => {
                tail.extend_from_slice(&bytes);
                if memmem::find(&tail, key.as_bytes()).is_some() {
                    return true;
                }
                tail.drain(..tail.len().saturating_sub(key.len()));
            }
            Chunk::Gap { .. } => tail.clear(),
            Chunk::End(_) => return false,
        }
    }
}
