//! Schedule of the probes for a program that waits for input. The kernel sends no event when a program
//! begins to read, so its state has to be probed.

use std::time::Duration;

use tokio::time::Instant;

use super::observation::ProgramState;

/// Times of the probes after the last output. A program that begins to wait has usually just printed
/// its question; the later probes catch those that have not.
const PROBE_DELAYS_MS: &[u64] = &[10, 25, 60, 150, 310, 450, 1_010, 1_300, 3_000];
/// Interval between all later probes.
const LATE_PROBE_INTERVAL: Duration = Duration::from_secs(10);

/// Time for a program to react to typed text. Before that its state does not count.
const REACTION_TIME: Duration = Duration::from_millis(100);

/// Time without output after which a program that reads keys counts as waiting for them: some read keys
/// while they work. The second value holds if it shows a prompt or uses the alternate screen.
const RAW_INPUT_QUIET: Duration = Duration::from_secs(1);
const RAW_PROMPT_QUIET: Duration = Duration::from_millis(300);

/// The probes of one pane and their results.
#[derive(Debug)]
pub(super) struct ProbeSchedule {
    since: Instant,
    next: usize,
    last: Option<ProgramState>,
    settled: Option<ProgramState>,
}

impl ProbeSchedule {
    /// Starts now, or when the program can have reacted to text typed just before.
    pub(super) fn begin(now: Instant, typed: Option<Instant>) -> Self {
        let since = typed.map_or(now, |typed| now.max(typed + REACTION_TIME));
        Self { since, next: 0, last: None, settled: None }
    }

    /// Starts again after output; earlier results no longer count.
    pub(super) fn reset(&mut self, now: Instant) {
        *self = Self { since: now, next: 0, last: None, settled: None };
    }

    /// Time of the next probe.
    pub(super) fn due(&self) -> Instant {
        match PROBE_DELAYS_MS.get(self.next) {
            Some(&after) => self.since + Duration::from_millis(after),
            None => {
                let more = u32::try_from(self.next - PROBE_DELAYS_MS.len() + 1).unwrap_or(u32::MAX);
                self.since + LATE_PROBE_INTERVAL.saturating_mul(more)
            }
        }
    }

    /// Records the result of a probe. A state counts once two probes in a row agree: a script that
    /// starts one program after another can be in any state for a moment.
    pub(super) fn record(&mut self, state: Option<ProgramState>) {
        self.next += 1;
        self.settled = state.filter(|_| self.last == state);
        self.last = state;
    }

    /// The state on which the last two probes agree.
    pub(super) fn settled(&self) -> Option<ProgramState> {
        self.settled
    }

    /// The state of a program that reads keys. `asks` is whether it shows a prompt.
    pub(super) fn raw_input(&self, now: Instant, asks: bool) -> ProgramState {
        let quiet = now.saturating_duration_since(self.since);
        let waits = quiet >= if asks { RAW_PROMPT_QUIET } else { RAW_INPUT_QUIET };
        if waits { ProgramState::Keys } else { ProgramState::Running }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_become_rare_and_count_when_they_agree() {
        let now = Instant::now();
        let mut probes = ProbeSchedule::begin(now, None);
        probes.record(Some(ProgramState::Line));
        assert_eq!(probes.settled(), None);
        probes.record(Some(ProgramState::Line));
        assert_eq!(probes.settled(), Some(ProgramState::Line));
        let mut last = probes.due();
        for _ in 0..20 {
            probes.record(Some(ProgramState::Running));
            assert!(probes.due() > last && probes.due() <= last + LATE_PROBE_INTERVAL);
            last = probes.due();
        }
        assert_eq!(probes.settled(), Some(ProgramState::Running));
        probes.reset(now);
        assert_eq!((probes.settled(), probes.due()), (None, now + Duration::from_millis(10)));
    }

    #[test]
    fn typed_text_delays_the_first_probe() {
        let now = Instant::now();
        assert!(ProbeSchedule::begin(now, Some(now)).due() > now + REACTION_TIME);
        let long_ago = now.checked_sub(Duration::from_secs(1));
        assert_eq!(
            ProbeSchedule::begin(now, long_ago).due(),
            ProbeSchedule::begin(now, None).due()
        );
    }
}
