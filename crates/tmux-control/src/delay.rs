//! Random pauses at await points, so that tests meet the orders of events that a busy machine
//! produces. Only debug builds have them: a release build neither pauses nor reads the variable.

#[cfg(debug_assertions)]
pub(crate) use schedule::pause_at;

/// A release build does not pause.
#[cfg(not(debug_assertions))]
pub(crate) async fn pause_at(_: AwaitPoint) {}

/// A place where a task waits for tmux or for another task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum AwaitPoint {
    /// The link has read or written.
    LinkStep,
    /// A stream client has read or written.
    StreamStep,
    /// A caller has received its replies.
    Reply,
    /// A reader of a stream is woken.
    StreamReader,
}

#[cfg(debug_assertions)]
mod schedule {
    use std::hash::{DefaultHasher, Hash, Hasher};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use super::AwaitPoint;

    /// The environment variable with the seed. Without it there are no pauses.
    const SEED_VARIABLE: &str = "__TMUX_CONTROL_DELAYS";

    /// The longest pause, in milliseconds.
    const MAX_PAUSE: u64 = 30;

    /// One of so many visits pauses.
    const VISITS_PER_PAUSE: u64 = 8;

    /// How often each point was visited.
    static VISITS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

    /// Pauses for a time that follows from the seed, the point and the number of its visits.
    pub(crate) async fn pause_at(point: AwaitPoint) {
        static SEED: OnceLock<Option<u64>> = OnceLock::new();
        let seed = SEED.get_or_init(|| std::env::var(SEED_VARIABLE).ok()?.parse().ok());
        if let (Some(seed), Some(visits)) = (seed, VISITS.get(point as usize)) {
            let pause = pause_of(*seed, point, visits.fetch_add(1, Ordering::Relaxed));
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
        }
    }

    /// The pause of one visit. Points do not share a sequence: how often one is visited must not
    /// change the pauses of another.
    pub(super) fn pause_of(seed: u64, point: AwaitPoint, visit: u64) -> Duration {
        let mut hasher = DefaultHasher::new();
        (seed, point, visit).hash(&mut hasher);
        let random = hasher.finish();
        match random % VISITS_PER_PAUSE {
            0 => Duration::from_millis(random / VISITS_PER_PAUSE % MAX_PAUSE + 1),
            _ => Duration::ZERO,
        }
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_pauses() {
        let pauses = |seed, point| {
            (0..100).map(|visit| schedule::pause_of(seed, point, visit)).collect::<Vec<_>>()
        };
        let first = pauses(1, AwaitPoint::Reply);
        assert_eq!(first, pauses(1, AwaitPoint::Reply));
        assert_ne!(first, pauses(2, AwaitPoint::Reply));
        assert_ne!(first, pauses(1, AwaitPoint::LinkStep));
        assert!(first.iter().any(|pause| pause.is_zero()) && !first.iter().all(|p| p.is_zero()));
    }
}
