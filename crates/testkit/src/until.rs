//! Waiting for a fact instead of for time to pass.

use std::time::{Duration, Instant};

/// How long a fact may take on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(3);

/// Calls `look` until it finds something, and fails the test naming `what` if it never does.
pub fn wait_until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(PATIENCE, look).unwrap_or_else(|| panic!("waited {PATIENCE:?} in vain: {what}"))
}

/// The same for looks that have to be awaited.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain: {what}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// Looks again and again for as long as `limit`.
pub(crate) fn within<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if start.elapsed() >= limit {
            return None;
        }
        #[expect(clippy::disallowed_methods, reason = "the one pause between two looks")]
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_goes_on_until_something_is_found() {
        let mut looks = 0;
        let found = wait_until("the third look", || {
            looks += 1;
            (looks == 3).then_some("here")
        });
        assert_eq!((found, looks), ("here", 3));
    }

    #[test]
    fn looking_ends_when_nothing_comes() {
        assert_eq!(within(PAUSE * 2, || None::<()>), None);
    }

    #[tokio::test]
    async fn an_awaited_look_is_repeated_too() {
        let mut looks = 0;
        let found = until("the third look", async || {
            looks += 1;
            (looks == 3).then_some("here")
        });
        assert_eq!(found.await, "here");
    }
}
