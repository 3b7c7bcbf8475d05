//! Lines of an answer, of which the newest are kept.

use std::collections::VecDeque;

/// Limits of what is kept. A program may print without end.
const MAX_LINES: usize = 100_000;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Numbered lines, of which the newest are kept.
#[derive(Debug, Default)]
pub(super) struct KeptLines {
    lines: VecDeque<String>,
    bytes: usize,
    dropped: usize,
}

impl KeptLines {
    pub(super) fn push(&mut self, line: String) {
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.lines.len() > MAX_LINES || self.bytes > MAX_BYTES {
            let Some(oldest) = self.lines.pop_front() else { return };
            self.bytes -= oldest.len();
            self.dropped += 1;
        }
    }

    /// Number of the lines that were not kept.
    pub(super) fn dropped(&self) -> usize {
        self.dropped
    }

    /// The number of the next line.
    pub(super) fn end(&self) -> usize {
        self.dropped + self.lines.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }

    /// The kept lines with this number and higher ones.
    pub(super) fn from(&self, first: usize) -> impl Iterator<Item = (usize, &str)> {
        let skipped = first.saturating_sub(self.dropped).min(self.lines.len());
        (self.dropped + skipped..).zip(self.lines.range(skipped..).map(String::as_str))
    }

    /// The kept lines as one text.
    pub(super) fn joined(&self) -> String {
        let mut text = String::with_capacity(self.bytes + self.lines.len());
        for (number, line) in self.lines.iter().enumerate() {
            if number > 0 {
                text.push('\n');
            }
            text.push_str(line);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_lines_are_kept_within_the_limits() {
        let mut kept = KeptLines::default();
        for number in 0..MAX_LINES + 5 {
            kept.push(number.to_string());
        }
        assert_eq!((kept.dropped(), kept.end()), (5, MAX_LINES + 5));
        assert_eq!(kept.from(0).next(), Some((5, "5")));
        assert_eq!(kept.from(MAX_LINES + 4).count(), 1);
        assert_eq!(kept.from(MAX_LINES + 9).next(), None);
        kept.push("x".repeat(MAX_BYTES));
        assert_eq!((kept.iter().count(), kept.bytes), (1, MAX_BYTES));
        kept.push("one".to_owned());
        kept.push("two".to_owned());
        assert_eq!(kept.joined(), "one\ntwo");
    }
}
