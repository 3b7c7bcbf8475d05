//! Waiting helpers shared by the crate: a mutex lock that ignores poisoning, and a deadline that
//! ends in [`Error::Timeout`].

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
