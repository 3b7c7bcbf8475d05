//! The signals that ask a process to end. Without a handler they end it at once, and its files stay.

use std::future::pending;
use std::io;

use futures::future::select_all;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM, SIGINT and SIGHUP, as a stream.
pub(super) struct Signals(Vec<(SignalKind, Signal)>);

impl Signals {
    /// Handles the signals from now on. Needs a Tokio runtime.
    pub(super) fn new() -> io::Result<Self> {
        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        kinds.into_iter().map(|kind| Ok((kind, signal(kind)?))).collect::<io::Result<_>>().map(Self)
    }

    /// The number of the next signal.
    pub(super) async fn next(&mut self) -> i32 {
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
