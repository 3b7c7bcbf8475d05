//! Times of the probes for a program that waits for input. The kernel sends no event when a program begins
//! to read, so its state has to be probed.

use std::time::Duration;

use tokio::time::Instant;

/// Times of the probes after the last output or input. A program that begins to wait has usually just
/// printed its question; the later probes catch those that have not.
const PROBE_DELAYS_MS: &[u64] = &[10, 25, 60, 150, 310, 450, 1_000, 3_000];
/// Interval between all later probes.
const LATE_PROBE_INTERVAL: Duration = Duration::from_secs(5);

/// The probes of one pane and the states that they found.
#[derive(Debug)]
pub(crate) struct ProbeSchedule<S> {
    since: Instant,
    next: usize,
    last: Option<S>,
    settled: Option<S>,
}

impl<S: Copy + PartialEq> ProbeSchedule<S> {
    /// Starts at a moment.
    pub(crate) fn new(now: Instant) -> Self {
        Self { since: now, next: 0, last: None, settled: None }
    }

    /// Starts again after output or input; earlier results no longer count.
    pub(crate) fn reset(&mut self, now: Instant) {
        *self = Self::new(now);
    }

    /// Time of the next probe.
    pub(crate) fn due(&self) -> Instant {
        match PROBE_DELAYS_MS.get(self.next) {
            Some(&after) => self.since + Duration::from_millis(after),
            None => {
                let more = u32::try_from(self.next - PROBE_DELAYS_MS.len() + 1).unwrap_or(u32::MAX);
                self.since + LATE_PROBE_INTERVAL.saturating_mul(more)
            }
        }
    }

    /// Time since the last output or input.
    pub(crate) fn quiet(&self) -> Duration {
        self.since.elapsed()
    }

    /// Records the state that a probe found; `None` if it found none. A state counts once two probes in a
    /// row agree: a script that starts one program after another can be in any state for a moment.
    pub(crate) fn record(&mut self, state: Option<S>) {
        self.next += 1;
        self.settled = state.filter(|_| self.last == state);
        self.last = state;
    }

    /// The state on which the last two probes agree.
    pub(crate) fn settled(&self) -> Option<S> {
        self.settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_become_rare_and_count_when_they_agree() {
        let now = Instant::now();
        let mut probes = ProbeSchedule::new(now);
        probes.record(Some(1));
        assert_eq!(probes.settled(), None);
        probes.record(Some(1));
        assert_eq!(probes.settled(), Some(1));
        let mut last = probes.due();
        for _ in 0..20 {
            probes.record(Some(2));
            assert!(probes.due() > last && probes.due() <= last + LATE_PROBE_INTERVAL);
            last = probes.due();
        }
        assert_eq!(probes.settled(), Some(2));
        probes.reset(now);
        assert_eq!((probes.settled(), probes.due()), (None, now + Duration::from_millis(10)));
    }
}
