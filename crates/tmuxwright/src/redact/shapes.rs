//! The search for secrets: one regular expression finds where a secret of any shape may begin.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::Secret;
use super::table::{BESIDE, Shape, WORDS, shapes};

/// A place where a secret may begin.
pub(super) struct Candidate<'a> {
    /// The whole text.
    pub(super) text: &'a str,
    /// The range that the pattern matches.
    pub(super) at: Range<usize>,
    /// End of the preceding secret; text before it is not searched again.
    pub(super) from: usize,
}

impl<'a> Candidate<'a> {
    /// The text that the pattern matches.
    pub(super) fn head(&self) -> &'a str {
        self.text.get(self.at.clone()).unwrap_or_default()
    }

    /// The text behind the match.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at.end..).unwrap_or_default()
    }

    /// The range in the whole text of a range in [`rest`](Self::rest).
    pub(super) fn range_behind(&self, part: Range<usize>) -> Range<usize> {
        self.at.end + part.start..self.at.end + part.end
    }
}

/// One regular expression for all beginnings, with a group for each shape.
static BEGINNINGS: LazyLock<Regex> = LazyLock::new(|| {
    let groups = |lists: &[&[Shape]]| {
        let all = lists.iter().copied().flatten();
        all.map(|shape| format!("({})", shape.pattern)).collect::<Vec<_>>().join("|")
    };
    let (words, beside) = (groups(WORDS), groups(BESIDE));
    #[expect(clippy::expect_used, reason = "the patterns are constants, and tests compile them")]
    Regex::new(&format!("(?:^|[^0-9A-Za-z_.~-])(?:{words})|{beside}")).expect("a pattern is wrong")
});

/// The secrets in a text. Each beginning is decided once, and text within a secret is not searched, so
/// the time is linear.
pub(super) fn find(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    let (mut from, mut at) = (0, 0);
    // A secret ahead, whose beginning stands apart from it: `curl … -u me:SECRET`.
    let mut ahead: Option<Range<usize>> = None;
    let mut places = BEGINNINGS.capture_locations();
    while BEGINNINGS.captures_read_at(&mut places, text, at).is_some() {
        let candidate =
            shapes().zip(1..).find_map(|(shape, group)| Some((shape, places.get(group)?)));
        let Some((Shape { kind, range, .. }, (start, end))) = candidate else { break };
        if let Some(secret) = ahead.take_if(|secret| start >= secret.start) {
            at = at.max(secret.end);
            continue;
        }
        let candidate = Candidate { text, at: start..end, from };
        // The last character may be the one that has to stand before another beginning.
        let last = candidate.head().char_indices().next_back().map_or(0, |(at, _)| at);
        at = if last == 0 { end } else { start + last };
        let Some(range) = range(&candidate) else { continue };
        if range.start <= end {
            at = range.end.max(end);
        } else {
            let first = ahead.as_ref().map_or(range.start, |other| other.start.min(range.start));
            ahead = Some(first..ahead.map_or(range.end, |other| other.end.max(range.end)));
        }
        from = from.max(range.end);
        found.push(Secret { range, kind });
    }
    found
}
