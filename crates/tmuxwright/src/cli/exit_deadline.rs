//! The deadline for exiting: a thread that receives the signals, and ends the process when clean-up
//! takes too long.
//!
//! It has a runtime of its own, so that it works while the main one is blocked. It logs nothing, because
//! stderr may be a full pipe.

use std::io;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::signals::Signals;

/// Time for clean-up that waits for tmux, which may not answer.
const CLEANUP_LIMIT: Duration = Duration::from_millis(1300);

/// Time after which the process exits in any state. Two seconds, less the grace period at the end of
/// input.
const EXIT_LIMIT: Duration = Duration::from_millis(1600);

/// The deadline of this process.
#[derive(Debug)]
pub(super) struct ExitDeadline {
    /// When shutdown began; shared with the thread.
    begun: Arc<OnceLock<Instant>>,
}

impl ExitDeadline {
    /// Starts the thread. The first signal cancels `stop`. Once `stop` is cancelled, the time is limited;
    /// a second signal ends the process at once. If there was no signal, the process then exits with
    /// `unfinished`.
    pub(super) fn start(stop: CancellationToken, unfinished: i32) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let signals = runtime.block_on(async { Signals::new() })?;
        let begun = Arc::new(OnceLock::new());
        let shared = Arc::clone(&begun);
        thread::Builder::new()
            .name("exit-deadline".to_owned())
            .spawn(move || runtime.block_on(exit_in_time(signals, stop, unfinished, shared)))?;
        Ok(Self { begun })
    }

    /// The moment at which clean-up must stop waiting for tmux.
    pub(super) fn cleanup_end(&self) -> Instant {
        *self.begun.get_or_init(Instant::now) + CLEANUP_LIMIT
    }
}

async fn exit_in_time(
    mut signals: Signals,
    stop: CancellationToken,
    unfinished: i32,
    begun: Arc<OnceLock<Instant>>,
) {
    let code = tokio::select! {
        number = signals.next() => 128 + number,
        () = stop.cancelled() => unfinished,
    };
    let begun = *begun.get_or_init(Instant::now);
    stop.cancel();
    let code = tokio::select! {
        number = signals.next() => 128 + number,
        () = sleep_until(begun + EXIT_LIMIT) => code,
    };
    std::process::exit(code);
}
