//! Throttle for notifications: the first passes at once, later ones keep a minimum interval.

use std::time::Duration;

use tokio::time::Instant;

/// Minimum time between two notifications.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// Limits the rate of notifications.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    last: Option<Instant>,
}

impl Throttle {
    /// Waits until the next notification may pass. If the future is dropped, none is counted.
    pub(super) async fn ready(&mut self) {
        if let Some(last) = self.last {
            tokio::time::sleep_until(last + MIN_INTERVAL).await;
        }
        self.last = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn notifications_keep_the_minimum_interval() {
        let begun = Instant::now();
        let mut throttle = Throttle::default();
        for count in 0..3 {
            throttle.ready().await;
            assert!(begun.elapsed() >= MIN_INTERVAL * count, "{count}: {:?}", begun.elapsed());
        }
        // A dropped wait does not count.
        assert!(throttle.ready().now_or_never().is_none());
        throttle.ready().await;
        assert!(begun.elapsed() >= MIN_INTERVAL * 3);
    }
}
