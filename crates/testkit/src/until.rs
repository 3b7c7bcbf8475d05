//! Polling until a condition holds, instead of sleeping for a fixed time.

use std::fmt::Debug;
use std::time::{Duration, Instant};

/// Limit of every wait in a test. Long enough for the slowest machine: a test that passes never
/// waits for it to pass.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(60);

/// The pause between two polls.
const POLL_INTERVAL: Duration = Duration::from_millis(3);

/// Calls `poll` until it returns a value. Fails the test after some time with `condition`, a
/// sentence such as "the shell shows its prompt".
pub fn wait_until<T>(condition: &str, poll: impl FnMut() -> Option<T>) -> T {
    within(MAX_WAIT, poll).unwrap_or_else(|| panic!("not within {MAX_WAIT:?}: {condition}"))
}

/// Calls `poll` until it returns `expected`. Fails the test after some time with both values.
pub fn wait_until_equal<T: PartialEq + Debug>(
    context: &str,
    mut poll: impl FnMut() -> T,
    expected: &T,
) {
    let mut last = None;
    let found = within(MAX_WAIT, || {
        let value = last.insert(poll());
        (*value == *expected).then_some(())
    });
    if found.is_none() {
        assert_eq!(last.as_ref(), Some(expected), "not within {MAX_WAIT:?}: {context}");
    }
}

/// [`wait_until`] for polls that are awaited.
pub async fn until<T>(condition: &str, poll: impl AsyncFnMut() -> Option<T>) -> T {
    awaited(poll).await.unwrap_or_else(|| panic!("not within {MAX_WAIT:?}: {condition}"))
}

/// Awaits `poll` until it returns a value that is `wanted`. Fails the test after some time with the last
/// value, which says what went wrong.
pub async fn until_it_is<T: Debug>(
    condition: &str,
    mut poll: impl AsyncFnMut() -> T,
    wanted: impl Fn(&T) -> bool,
) -> T {
    let mut last = None;
    let found = awaited(async || {
        let value = poll().await;
        if wanted(&value) {
            return Some(value);
        }
        last = Some(value);
        None
    })
    .await;
    found
        .unwrap_or_else(|| panic!("not within {MAX_WAIT:?}: {condition}; the last value: {last:?}"))
}

/// Awaits `poll` until it returns a value; `None` after [`MAX_WAIT`].
async fn awaited<T>(mut poll: impl AsyncFnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        if let Some(value) = poll().await {
            return Some(value);
        }
        if start.elapsed() >= MAX_WAIT {
            return None;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Calls `poll` until it returns a value; `None` after `limit`.
pub(crate) fn within<T>(limit: Duration, mut poll: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        if let Some(value) = poll() {
            return Some(value);
        }
        if start.elapsed() >= limit {
            return None;
        }
        #[expect(clippy::disallowed_methods, reason = "the one pause between two polls")]
        std::thread::sleep(POLL_INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polling_ends_with_the_first_value() {
        let mut polls = 0;
        let value = wait_until("the third poll", || {
            polls += 1;
            (polls == 3).then_some("value")
        });
        assert_eq!((value, polls), ("value", 3));
    }

    #[test]
    fn polling_ends_with_the_expected_value() {
        let mut polls = 0;
        let count = || {
            polls += 1;
            polls
        };
        wait_until_equal("the third poll", count, &3);
        assert_eq!(polls, 3);
    }

    #[test]
    fn polling_ends_at_its_limit() {
        assert_eq!(within(POLL_INTERVAL * 2, || None::<()>), None);
    }

    #[tokio::test]
    async fn an_awaited_poll_is_repeated() {
        let mut polls = 0;
        let value = until("the third poll", async || {
            polls += 1;
            (polls == 3).then_some("value")
        });
        assert_eq!(value.await, "value");
    }
}
