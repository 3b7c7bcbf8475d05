//! Private keys: many lines of base 64 between two that say what they are. Either may be missing.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::shapes::Candidate;

pub(super) const BEGIN: &str = r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----";
pub(super) const END: &str = r"-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----";

/// The shortest line that is taken for a part of a key by itself.
const MIN_KEY_LINE_CHARS: usize = 16;

/// The lines of a key and its end. Line ends may be written as in JSON, and each line may have a number
/// or a bar before it.
static BODY: LazyLock<Regex> = LazyLock::new(|| {
    let next = r"(?:\s|\\[nr])*(?:[0-9]{1,6}[:|\s]\s*|[>|#*│]\s*)?";
    let line = r"[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset): [^\n]*";
    let last = r"[A-Za-z0-9+/=]{1,15}";
    #[expect(clippy::expect_used, reason = "the pattern is a constant, and tests read it")]
    Regex::new(&format!(
        r"\A(?:{next}(?:{line}))*(?:(?:{next}{last})?{next}-----END [A-Z0-9 ]*-----)?"
    ))
    .expect("the pattern is wrong")
});

/// The rest of a key whose first line has been seen.
pub(super) fn behind(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let body = BODY.find(candidate.rest())?;
    (!body.is_empty()).then(|| candidate.behind(body.range()))
}

/// The lines of a key of which only the last line has been seen.
pub(super) fn before(candidate: &Candidate<'_>) -> Option<Range<usize>> {
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
