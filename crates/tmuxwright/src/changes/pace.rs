//! How often something may be told.

use std::time::Duration;

use tokio::time::Instant;

/// The least time between two turns.
const PAUSE: Duration = Duration::from_millis(100);

/// Turns of which the first is at once and the others are apart.
#[derive(Debug, Default)]
pub(super) struct Pace {
    last: Option<Instant>,
}

impl Pace {
    /// Waits until it may be told again. Dropped before, it counts for nothing.
    pub(super) async fn turn(&mut self) {
        if let Some(last) = self.last {
            tokio::time::sleep_until(last + PAUSE).await;
        }
        self.last = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn turns_are_apart() {
        let begun = Instant::now();
        let mut pace = Pace::default();
        for turns in 0..3 {
            pace.turn().await;
            assert!(begun.elapsed() >= PAUSE * turns, "{turns}: {:?}", begun.elapsed());
        }
        // A turn that nobody waited for is still to come.
        assert!(pace.turn().now_or_never().is_none());
        pace.turn().await;
        assert!(begun.elapsed() >= PAUSE * 3);
    }
}
