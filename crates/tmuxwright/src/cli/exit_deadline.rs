//! The deadline for exiting: a thread that receives the signals, and ends the process when clean-up
//! takes too long.
//!
//! It has a runtime of its own, so that it works while the main one is blocked. It logs nothing, because
//! stderr may be a full pipe.

use std::io;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use futures::future::{pending, select_all};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

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
        let signals = Signals::register(&runtime)?;
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

/// The signals that ask a process to end.
struct Signals(Vec<(SignalKind, Signal)>);

impl Signals {
    fn register(runtime: &Runtime) -> io::Result<Self> {
        let _context = runtime.enter();
        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        kinds.into_iter().map(|kind| Ok((kind, signal(kind)?))).collect::<io::Result<_>>().map(Self)
    }

    /// The number of the next signal.
    async fn next(&mut self) -> i32 {
        let any = self.0.iter_mut().map(|(kind, stream)| {
            Box::pin(async move {
                match stream.recv().await {
                    Some(()) => kind.as_raw_value(),
                    None => pending().await,
                }
            })
        });
        select_all(any).await.0
    }
}
