//! Waiting helpers shared by the crate: a mutex lock that ignores poisoning, a deadline that ends in
//! [`Error::Timeout`], and one that is extended while a connection makes progress.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::Error;

/// Locks a mutex. Poisoning is ignored: every value guarded here is valid between two statements,
/// so a holder that panicked leaves nothing half done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for `work`, or fails with the timeout of `command` once `after` has passed.
pub(crate) async fn within<T>(
    after: Duration,
    command: &str,
    work: impl Future<Output = T>,
) -> Result<T, Error> {
    tokio::time::timeout(after, work)
        .await
        .map_err(|_| Error::Timeout { command: command.to_owned(), after })
}

/// How many periods a wait of [`while_progressing`] takes at most.
const MAX_PERIODS: u32 = 4;

/// Waits for `work`, for one more `period` whenever `progress` has changed within the last one: then the
/// connection is behind, not stuck. Without a change it fails with the timeout of `command`.
pub(crate) async fn while_progressing<T>(
    period: Duration,
    command: &str,
    progress: impl Fn() -> u64,
    work: impl Future<Output = T>,
) -> Result<T, Error> {
    tokio::pin!(work);
    for _ in 0..MAX_PERIODS {
        let before = progress();
        match within(period, command, work.as_mut()).await {
            Err(error) if progress() == before => return Err(error),
            Err(_) => {}
            done => return done,
        }
    }
    Err(Error::Behind { after: period * MAX_PERIODS })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::sync::oneshot;

    use super::*;

    const PERIOD: Duration = Duration::from_millis(1);

    #[tokio::test]
    async fn a_stuck_connection_times_out() {
        let never = std::future::pending::<()>();
        let waited = while_progressing(PERIOD, "x", || 7, never).await;
        assert!(matches!(waited, Err(Error::Timeout { after: PERIOD, .. })), "{waited:?}");
    }

    #[tokio::test]
    async fn a_busy_connection_gets_more_time() {
        let (done, work) = oneshot::channel();
        let done = Cell::new(Some(done));
        let asked = Cell::new(0);
        let progress = || {
            asked.set(asked.get() + 1);
            // Each period asks twice: this is the third one.
            if asked.get() == 5 {
                done.take().unwrap().send("late").unwrap();
            }
            asked.get()
        };
        let waited = while_progressing(PERIOD, "x", progress, work).await;
        assert_eq!(waited.unwrap(), Ok("late"));
    }

    #[tokio::test]
    async fn endless_output_ends_the_wait() {
        let asked = Cell::new(0);
        let progress = || {
            asked.set(asked.get() + 1);
            asked.get()
        };
        let waited = while_progressing(PERIOD, "x", progress, std::future::pending::<()>()).await;
        assert!(matches!(waited, Err(Error::Behind { .. })), "{waited:?}");
        assert_eq!(asked.get(), u64::from(2 * MAX_PERIODS));
    }
}
