//! When to look what a pane's program does, since nobody tells when it begins to read.

use std::time::Duration;

use tokio::time::Instant;

use super::moment::Doing;

/// How long after the last output: a program that begins to wait has mostly just printed something.
/// Later ones catch those that had not.
const CHECKS: &[u64] = &[10, 25, 60, 150, 310, 450, 1_010, 1_300, 3_000];
const LATER: Duration = Duration::from_secs(10);

/// How long a program may take to react to what was typed. Until then, what it did before says
/// nothing.
const REACTION: Duration = Duration::from_millis(100);

/// How long a program that reads keys must be silent to count as waiting for them: some read keys
/// while they work. Less if it shows a prompt or has taken over the screen.
const KEYS_QUIET: Duration = Duration::from_secs(1);
const ASKS_QUIET: Duration = Duration::from_millis(300);

/// The looks at one pane.
#[derive(Debug)]
pub(super) struct Looks {
    since: Instant,
    next: usize,
    last: Option<Doing>,
    settled: Option<Doing>,
}

impl Looks {
    /// Looks from now on. What was typed before may not have been read yet.
    pub(super) fn begin(now: Instant, typed: Option<Instant>) -> Self {
        let since = typed.map_or(now, |typed| now.max(typed + REACTION));
        Self { since, next: 0, last: None, settled: None }
    }

    /// Something was printed: what was seen no longer counts.
    pub(super) fn reset(&mut self, now: Instant) {
        *self = Self { since: now, next: 0, last: None, settled: None };
    }

    /// When to look next.
    pub(super) fn due(&self) -> Instant {
        match CHECKS.get(self.next) {
            Some(&after) => self.since + Duration::from_millis(after),
            None => {
                let more = u32::try_from(self.next - CHECKS.len() + 1).unwrap_or(u32::MAX);
                self.since + LATER.saturating_mul(more)
            }
        }
    }

    /// Notes what a look has shown. It counts when two in a row have shown the same: a script that
    /// starts one program after the other may look like anything for a moment.
    pub(super) fn saw(&mut self, doing: Option<Doing>) {
        self.next += 1;
        self.settled = doing.filter(|_| self.last == doing);
        self.last = doing;
    }

    /// What the program does, if that is certain.
    pub(super) fn settled(&self) -> Option<Doing> {
        self.settled
    }

    /// Whether a program that reads keys waits for them.
    pub(super) fn keys(&self, now: Instant, asks: bool) -> Doing {
        let quiet = now.saturating_duration_since(self.since);
        let waits = quiet >= if asks { ASKS_QUIET } else { KEYS_QUIET };
        if waits { Doing::Keys } else { Doing::Work }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_become_rare_and_count_when_they_agree() {
        let now = Instant::now();
        let mut looks = Looks::begin(now, None);
        looks.saw(Some(Doing::Line));
        assert_eq!(looks.settled(), None);
        looks.saw(Some(Doing::Line));
        assert_eq!(looks.settled(), Some(Doing::Line));
        let mut last = looks.due();
        for _ in 0..20 {
            looks.saw(Some(Doing::Work));
            assert!(looks.due() > last && looks.due() <= last + LATER);
            last = looks.due();
        }
        assert_eq!(looks.settled(), Some(Doing::Work));
        looks.reset(now);
        assert_eq!((looks.settled(), looks.due()), (None, now + Duration::from_millis(10)));
    }

    #[test]
    fn what_was_just_typed_is_given_time() {
        let now = Instant::now();
        assert!(Looks::begin(now, Some(now)).due() > now + REACTION);
        let long_ago = now.checked_sub(Duration::from_secs(1));
        assert_eq!(Looks::begin(now, long_ago).due(), Looks::begin(now, None).due());
    }
}
