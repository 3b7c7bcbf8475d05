//! Locking of mutexes that are held for a few instructions only.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. A panic of another holder is no reason to fail: no value here can be left half
/// changed, and the pipeline turns that panic into the error of its own call.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
