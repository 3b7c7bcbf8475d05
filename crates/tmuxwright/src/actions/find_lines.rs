//! Lines of a text that match a pattern, and the terminal rows in which lines begin.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};
use regex::{Regex, RegexBuilder};

use crate::contract::{ToolError, not_empty};

/// Characters shown of a line.
const MAX_LINE_CHARS: usize = 1000;

/// Characters of a longer line shown before the match.
const CHARS_BEFORE_MATCH: usize = 100;

/// A pattern that is matched against each line by itself.
pub(crate) struct LinePattern {
    regex: Regex,
    /// Whether each line must be searched separately, since the pattern has anchors of the whole text
    /// (`\A`, `\z`) or flags that could turn multi-line mode off.
    line_by_line: bool,
}

/// A line that matches.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineMatch {
    /// Its number, from 0.
    pub(crate) index: usize,
    /// Byte range of the line in the text.
    pub(crate) place: Range<usize>,
    /// Byte range of the match in the text.
    pub(crate) hit: Range<usize>,
}

/// Number of matching lines, and the wanted ones among them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LineMatches {
    pub(crate) count: usize,
    pub(crate) lines: Vec<LineMatch>,
}

impl LineMatches {
    fn add(&mut self, wanted: &Range<usize>, line: impl FnOnce() -> LineMatch) {
        if wanted.contains(&self.count) {
            self.lines.push(line());
        }
        self.count += 1;
    }
}

impl LinePattern {
    /// Compiles a pattern from the arguments of a tool.
    pub(crate) fn new(pattern: &str, regex: bool, case: bool) -> Result<Self, ToolError> {
        not_empty("pattern", pattern, "give text to find")?;
        if !regex && pattern.contains('\n') {
            return Err(ToolError::invalid_argument("`pattern` contains a newline")
                .hint("each line is searched by itself: give text from one line"));
        }
        let text = if regex { pattern.to_owned() } else { regex::escape(pattern) };
        let built = RegexBuilder::new(&text).case_insensitive(!case).multi_line(true).build();
        let built = built.map_err(|error| {
            ToolError::invalid_argument(format!("`pattern`: {error}"))
                .hint("correct it, or leave out `regex` to find it literally")
        })?;
        let has_text_anchor = pattern.contains("\\A") || pattern.contains("\\z");
        let has_flags = pattern.contains("(?") && pattern.contains('-');
        Ok(Self { regex: built, line_by_line: regex && (has_text_anchor || has_flags) })
    }

    /// Counts the lines that match and returns those whose number among the matches is in `wanted`.
    /// Empty lines at the end do not count.
    pub(crate) fn find(&self, text: &str, wanted: &Range<usize>) -> LineMatches {
        let mut found = LineMatches::default();
        let text = text.trim_end_matches([' ', '\n']);
        let unsearched = if self.line_by_line {
            Some((0, 0))
        } else {
            self.find_in_whole_text(text, wanted, &mut found)
        };
        if let Some((from, index)) = unsearched {
            self.find_line_by_line(text, from, index, wanted, &mut found);
        }
        found
    }

    /// Searches the text as a whole, several times faster than line by line. Stops at a match that spans
    /// lines, and returns the position and number of the line where it begins.
    fn find_in_whole_text(
        &self,
        text: &str,
        wanted: &Range<usize>,
        found: &mut LineMatches,
    ) -> Option<(usize, usize)> {
        let (mut from, mut index) = (0, 0);
        while from < text.len() {
            let hit = self.regex.find_at(text, from)?;
            let between = text.get(from..hit.start()).unwrap_or_default().as_bytes();
            index += memchr_iter(b'\n', between).count();
            let start = memrchr(b'\n', between).map_or(from, |at| from + at + 1);
            let end = end_of_line(text, start);
            if hit.end() > end {
                // Each further match could span to the end of the text: quadratic time.
                return Some((start, index));
            }
            found.add(wanted, || LineMatch { index, place: start..end, hit: hit.range() });
            from = end + 1;
            index += 1;
        }
        None
    }

    fn find_line_by_line(
        &self,
        text: &str,
        mut from: usize,
        mut index: usize,
        wanted: &Range<usize>,
        found: &mut LineMatches,
    ) {
        while from < text.len() {
            let end = end_of_line(text, from);
            if let Some(hit) = self.regex.find(text.get(from..end).unwrap_or_default()) {
                let hit = from + hit.start()..from + hit.end();
                found.add(wanted, || LineMatch { index, place: from..end, hit });
            }
            from = end + 1;
            index += 1;
        }
    }
}

fn end_of_line(text: &str, from: usize) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    memchr(b'\n', rest).map_or(text.len(), |at| from + at)
}

/// Removes blanks at the ends of lines.
pub(crate) fn without_trailing_blanks(text: &str) -> Cow<'_, str> {
    if !text.contains(" \n") {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        kept.push_str(line.trim_end_matches([' ', '\n']));
        if line.ends_with('\n') {
            kept.push('\n');
        }
    }
    Cow::Owned(kept)
}

/// The terminal row in which each line begins, and the number of all rows, if each line takes the fewest
/// rows possible at this width.
pub(crate) fn counted_rows(text: &str, width: usize) -> (Vec<usize>, usize) {
    let mut row = 0;
    let starts = text
        .split_terminator('\n')
        .map(|line| {
            let start = row;
            row += rows_of(line, width);
            start
        })
        .collect();
    (starts, row)
}

fn rows_of(line: &str, width: usize) -> usize {
    // The width of other characters depends on tmux, so one row is the safe minimum.
    if line.is_ascii() { line.len().div_ceil(width).max(1) } else { 1 }
}

/// The terminal row in which each line begins, found by comparison with the same text captured with
/// wrapped rows `apart`. `None` if the texts differ.
pub(crate) fn aligned_rows(joined: &str, apart: &str) -> Option<Vec<usize>> {
    let mut starts = Vec::new();
    let mut rest = joined;
    let mut begins = true;
    for (number, row) in apart.split_terminator('\n').enumerate() {
        if begins {
            starts.push(number);
        }
        rest = rest.strip_prefix(row)?;
        let next = rest.strip_prefix('\n');
        begins = next.is_some();
        rest = next.unwrap_or(rest);
    }
    rest.is_empty().then_some(starts)
}

/// A line; of a long one, the part around the byte `hit`.
pub(crate) fn part_around(line: &str, hit: usize) -> String {
    if line.chars().nth(MAX_LINE_CHARS).is_none() {
        return line.to_owned();
    }
    let skipped = line
        .get(..hit)
        .map_or(0, |before| before.chars().count())
        .saturating_sub(CHARS_BEFORE_MATCH);
    let mut shown: String = line.chars().skip(skipped).take(MAX_LINE_CHARS).collect();
    if skipped > 0 {
        shown.insert(0, '…');
    }
    if line.chars().nth(skipped + MAX_LINE_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: &str, regex: bool, text: &str) -> Vec<(usize, String)> {
        let pattern = LinePattern::new(pattern, regex, false).unwrap();
        let found = pattern.find(text, &(0..usize::MAX));
        assert_eq!(found.count, found.lines.len());
        found.lines.into_iter().map(|line| (line.index, text[line.place].to_owned())).collect()
    }

    fn indexes(pattern: &str, text: &str) -> Vec<usize> {
        find(pattern, true, text).into_iter().map(|(index, _)| index).collect()
    }

    #[test]
    fn matching_lines_are_whole_and_numbered() {
        let text = "one\n\nTWO (2)\ntwo two\nend";
        assert_eq!(find("two", false, text), [(2, "TWO (2)".into()), (3, "two two".into())]);
        assert_eq!(find("(2)", false, text), [(2, "TWO (2)".into())]);
        assert_eq!(find("(2)", true, text), [(2, "TWO (2)".into())]);
        assert_eq!(find("d", false, text), [(4, "end".into())]);
        assert_eq!(find("x", false, text), []);
    }

    #[test]
    fn patterns_match_each_line_by_itself() {
        let text = "one\n\ntwo\n three\nfour four\n\n\n";
        for (pattern, lines) in [
            ("^", &[0, 1, 2, 3, 4][..]),
            ("$", &[0, 1, 2, 3, 4]),
            ("^$", &[1]),
            (".*", &[0, 1, 2, 3, 4]),
            ("x*", &[0, 1, 2, 3, 4]),
            ("o", &[0, 2, 4]),
            ("e$", &[0, 3]),
            ("\\Af", &[4]),
            ("o\\z", &[2]),
            ("(?-m)^t", &[2]),
            ("\\s", &[3, 4]),
            ("e\\s*t", &[]),
            ("o\\s+t|four", &[4]),
            ("(?s)one.*three", &[]),
            ("(?s)t.*", &[2, 3]),
            ("[^q]+", &[0, 2, 3, 4]),
            ("\n", &[]),
            ("\\bf", &[4]),
        ] {
            assert_eq!(indexes(pattern, text), lines, "{pattern}");
        }
        assert!(indexes(".*", "\n\n").is_empty());
    }

    #[test]
    fn all_matches_are_counted_and_wanted_ones_kept() {
        let found = LinePattern::new("x", false, true).unwrap().find("x\ny\nx\nx\nx", &(1..3));
        assert_eq!(found.count, 4);
        assert_eq!(found.lines.iter().map(|line| line.index).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(found.lines[0].place, 4..5);
    }

    #[test]
    fn spanning_patterns_take_linear_time() {
        let text = "line\n".repeat(200_000);
        let begun = std::time::Instant::now();
        assert_eq!(indexes("(?s)line.*", &text).len(), 200_000);
        assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
    }

    #[test]
    fn blanks_at_line_ends_are_removed() {
        assert_eq!(without_trailing_blanks("a  \n  b\n   \nc "), "a\n  b\n\nc");
        assert!(matches!(without_trailing_blanks("a\nb"), Cow::Borrowed("a\nb")));
    }

    #[test]
    fn rows_are_counted_by_width() {
        assert_eq!(counted_rows("ab\n\nabcdefgh\nabcdefghi\nx\n", 4), (vec![0, 1, 2, 4, 7], 8));
        assert_eq!(counted_rows("漢漢漢\nx\n", 5), (vec![0, 1], 2));
        assert_eq!(counted_rows("", 4), (vec![], 0));
    }

    #[test]
    fn rows_are_aligned_with_unjoined_text() {
        let joined = "ab\nabcd  ef\n\nx\n";
        assert_eq!(aligned_rows(joined, "ab\nabcd\n  ef\n\nx\n"), Some(vec![0, 1, 3, 4]));
        assert_eq!(aligned_rows(joined, "ab\nabcd\n"), None);
        assert_eq!(aligned_rows(joined, "other\n"), None);
    }

    #[test]
    fn invalid_patterns_are_refused() {
        let error =
            |pattern, regex| LinePattern::new(pattern, regex, false).err().unwrap().to_string();
        assert!(error("", false).contains("empty"));
        assert!(error("a\nb", false).contains("newline"));
        assert!(error("(", true).contains("unclosed group"));
    }
}
