//! PEM private keys: base64 lines between a `BEGIN` and an `END` line, one of which may be missing.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::shapes::Candidate;

pub(super) const BEGIN: &str =
    r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}";
pub(super) const END: &str = r"-{4,5} ?END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}";

/// The line of a PuTTY key that gives the number of its private lines.
pub(super) const PUTTY: &str = r"Private-Lines: [0-9]{1,3}";

/// A shorter line counts as part of a key only at its end.
const MIN_KEY_LINE_CHARS: usize = 16;

/// The lines of a key and its end line. Line breaks may be JSON escapes, and each line may follow a line
/// number or a bar.
static BODY: LazyLock<Regex> = LazyLock::new(|| {
    let next = r"(?:\s|\\[nr])*(?:[0-9]{1,6}[:|\s]\s*|[>|#*│]\s*)?";
    let line = r"[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset): [^\n]*";
    let last = r"[A-Za-z0-9+/=]{1,15}";
    #[expect(clippy::expect_used, reason = "the pattern is a constant, and tests compile it")]
    Regex::new(&format!(
        r"\A(?:{next}(?:{line}))*(?:(?:{next}{last})?{next}-{{4,5}} ?END [A-Z0-9 ]*-{{4,5}})?"
    ))
    .expect("the pattern is wrong")
});

/// The rest of a key behind its first line.
pub(super) fn after_begin(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let body = BODY.find(candidate.rest())?;
    (!body.is_empty()).then(|| candidate.range_behind(body.range()))
}

/// The lines behind the number of private lines.
pub(super) fn putty_lines(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let number: usize = candidate.head().rsplit(' ').next()?.parse().ok()?;
    let lines =
        candidate.rest().strip_prefix('\r').unwrap_or(candidate.rest()).strip_prefix('\n')?;
    let length: usize = lines.split_inclusive('\n').take(number).map(str::len).sum();
    let end = lines.get(..length)?.trim_end().len() + candidate.rest().len() - lines.len();
    (number > 0).then(|| candidate.range_behind(0..end))
}

/// The lines of a key before its last line, if the first line is missing.
pub(super) fn before_end(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let before = candidate.text.get(candidate.from..candidate.at.start)?;
    let mut start = candidate.at.start;
    for line in before.split_inclusive('\n').rev() {
        let word = line.split_whitespace().next_back().unwrap_or_default();
        let is_last = start == candidate.at.start;
        let is_key = word.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
        if !is_key || (word.len() < MIN_KEY_LINE_CHARS && !is_last) {
            break;
        }
        start -= line.len();
    }
    let lines = candidate.text.get(start..candidate.at.start)?;
    (lines.trim().len() >= MIN_KEY_LINE_CHARS).then_some(start..candidate.at.start)
}
