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
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_turn_is_at_once_and_the_others_are_apart() {
        let begun = Instant::now();
        let mut pace = Pace::default();
        let mut turns = Vec::new();
        for _ in 0..3 {
            pace.turn().await;
            turns.push(begun.elapsed().as_millis());
        }
        assert_eq!(turns, [0, 100, 200]);
        tokio::time::advance(PAUSE * 5).await;
        pace.turn().await;
        assert_eq!(begun.elapsed().as_millis(), 700);
    }
}
