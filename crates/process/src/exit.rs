//! Waiting for the exit of a process that is not a child.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::{os, rustix_pid};

/// Interval of the checks where the system cannot report the exit.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Waits until the process has exited; returns at once if it does not exist.
pub async fn exited(pid: u32) {
    let reported = match rustix_pid(pid).map(os::exit_handle) {
        None | Some(Err(Errno::SRCH)) => return,
        Some(Ok(handle)) => until_readable(handle).await.is_ok(),
        // Linux before 5.3, a sandbox that forbids the call, or too many open files.
        Some(Err(_)) => false,
    };
    if !reported {
        poll_until_gone(pid).await;
    }
}

/// The same by checking at intervals.
pub(super) async fn poll_until_gone(pid: u32) {
    while os::is_alive(pid) {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

async fn until_readable(file: OwnedFd) -> io::Result<()> {
    #[expect(
        deprecated,
        reason = "its successor is unsafe code, and an `OwnedFd` meets its condition"
    )]
    let file = AsyncFd::with_interest(file, Interest::READABLE)?;
    file.readable().await.map(drop)
}
