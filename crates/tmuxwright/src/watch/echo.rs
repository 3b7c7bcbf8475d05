//! Removal of the echo of typed text from output lines.
//!
//! An echo is the typed text at the beginning of a line or after a prompt. Each is expected once. A text
//! that is too long to be printed by chance is expected twice, because the terminal echoes text that is
//! typed ahead, and the shell echoes it again when it reads it. A line editor that breaks a text at the
//! edge of the screen makes several lines of one echo.

use std::collections::HashMap;
use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use crate::run::TypedLine;

/// Length from which a text is not printed by chance.
const MIN_DISTINCTIVE_BYTES: usize = 8;

/// The echoes that are expected in one pane.
#[derive(Debug, Default)]
pub(super) struct EchoFilter {
    expected: Vec<ExpectedEcho>,
    /// Number of the newest typed line that is known.
    newest: u64,
    /// Columns of the terminal.
    width: usize,
}

/// The echo of one typed line.
#[derive(Debug)]
struct ExpectedEcho {
    line: TypedLine,
    /// Numbers of the output lines in which it has begun.
    seen: Vec<u64>,
    /// Output lines that end before the echo does, each with the part of it shown up to there. A line
    /// that is being redrawn still counts.
    broken: HashMap<u64, usize>,
}

impl ExpectedEcho {
    /// Number of times it may still appear.
    fn left(&self) -> usize {
        let max = if self.text().len() >= MIN_DISTINCTIVE_BYTES { 2 } else { 1 };
        max - self.seen.len().min(max)
    }

    fn text(&self) -> &str {
        self.line.text.trim_end()
    }

    /// The range of a whole echo in a line.
    fn find_whole(&mut self, number: u64, line: &str) -> Option<Range<usize>> {
        let at = self.may_begin_in(number).then(|| find_standalone(line, self.text()))??;
        self.begins_in(number);
        Some(at..at + self.text().len())
    }

    /// The range of a partial echo at the end of a line: the rest is in the next line, or not printed yet.
    fn find_part(&mut self, number: u64, line: &str, row: RowGeometry) -> Option<Range<usize>> {
        let at = self.may_begin_in(number).then(|| find_prefix_at_end(line, self.text()))??;
        let shown = line.len() - at;
        match row.breaks(line, self.text().get(shown..)?) {
            Some(spaces) => {
                self.broken.insert(number, shown + spaces);
                self.begins_in(number);
            }
            None if row.is_whole => return None,
            None => {}
        }
        Some(at..line.len())
    }

    /// The range in which a line continues the echo of the line before.
    fn find_rest(&mut self, number: u64, line: &str, row: RowGeometry) -> Option<Range<usize>> {
        let shown = *self.broken.get(&number.checked_sub(1)?)?;
        let rest = self.text().get(shown..)?;
        if find_standalone(line, rest) == Some(0) {
            return Some(0..rest.len());
        }
        match row.breaks(line, rest.strip_prefix(line)?) {
            Some(spaces) => {
                self.broken.insert(number, shown + line.len() + spaces);
            }
            None if row.is_whole => return None,
            None => {}
        }
        Some(0..line.len())
    }

    fn may_begin_in(&self, number: u64) -> bool {
        self.left() > 0 || self.seen.contains(&number)
    }

    fn begins_in(&mut self, number: u64) {
        if !self.seen.contains(&number) {
            self.seen.push(number);
        }
    }
}

/// The geometry of a line on the screen.
#[derive(Debug, Clone, Copy)]
struct RowGeometry {
    width: usize,
    is_whole: bool,
}

impl RowGeometry {
    /// Whether a line ends at the edge of the screen and `rest` continues in the next one. Returns the
    /// number of spaces between, which are not kept at the end of a line.
    fn breaks(self, line: &str, rest: &str) -> Option<usize> {
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        let to_edge = line.width().checked_next_multiple_of(self.width)? - line.width();
        (!line.is_empty() && !rest.is_empty() && to_edge <= spaces).then_some(to_edge)
    }
}

impl EchoFilter {
    /// Expects these typed lines, without those whose echo is already in the rows of the screen. `first` is
    /// the number of the first row.
    pub(super) fn of(
        typed: impl IntoIterator<Item = TypedLine>,
        width: usize,
        first: u64,
        rows: &str,
    ) -> Self {
        let mut echo = Self { width, ..Self::default() };
        echo.expect(typed);
        for (number, row) in (first..).zip(rows.lines()) {
            echo.strip(number, row.trim_end(), true);
        }
        echo
    }

    /// Expects only lines typed after the one with this number.
    pub(super) fn after(newest: u64, width: usize) -> Self {
        Self { expected: Vec::new(), newest, width }
    }

    /// Expects these lines too, if they are new or have become longer.
    pub(super) fn expect(&mut self, typed: impl IntoIterator<Item = TypedLine>) {
        for line in typed {
            if line.number > self.newest {
                self.newest = line.number;
                self.expected.push(ExpectedEcho { line, seen: Vec::new(), broken: HashMap::new() });
            } else if let Some(known) =
                self.expected.iter_mut().find(|known| known.line.number == line.number)
            {
                known.line = line;
            }
        }
    }

    /// Continues in a terminal of another width.
    pub(super) fn set_width(&mut self, width: usize) {
        self.width = width;
    }

    /// Removes the echo from a line. A line that has become longer keeps its number.
    pub(super) fn strip(&mut self, number: u64, line: &str, is_whole: bool) -> String {
        let row = RowGeometry { width: self.width, is_whole };
        let expected = &mut self.expected;
        let found = (expected.iter_mut().find_map(|it| it.find_rest(number, line, row)))
            .or_else(|| expected.iter_mut().find_map(|it| it.find_whole(number, line)))
            .or_else(|| {
                // The longest part: a single letter at the end can be the beginning of another line.
                let mut parts: Vec<&mut ExpectedEcho> = expected.iter_mut().collect();
                parts.sort_by_cached_key(|it| find_prefix_at_end(line, it.text()));
                parts.into_iter().find_map(|it| it.find_part(number, line, row))
            });
        let mut rest = line.to_owned();
        if let Some(echo) = found {
            rest.replace_range(echo, "");
        }
        rest
    }
}

/// The offset of a text in a line, with no word character before it and white space after it.
fn find_standalone(line: &str, text: &str) -> Option<usize> {
    if text.is_empty() {
        return None;
    }
    line.match_indices(text).map(|(at, _)| at).find(|&at| {
        let after = line.get(at + text.len()..).unwrap_or_default();
        is_word_start(line, at) && after.chars().next().is_none_or(char::is_whitespace)
    })
}

/// The offset at which the end of a line is the beginning of a text.
fn find_prefix_at_end(line: &str, text: &str) -> Option<usize> {
    line.char_indices()
        .map(|(at, _)| at)
        .find(|&at| is_word_start(line, at) && text.starts_with(line.get(at..).unwrap_or_default()))
}

/// Whether no letter or digit precedes this offset.
fn is_word_start(line: &str, at: usize) -> bool {
    let before = line.get(..at).unwrap_or_default();
    before.chars().next_back().is_none_or(|c| !c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo(typed: &[&str], shown: &str) -> EchoFilter {
        let line = |(number, text): (u64, &&str)| TypedLine { number, text: (*text).to_owned() };
        EchoFilter::of((1..).zip(typed).map(line), 30, 0, shown)
    }

    #[test]
    fn echo_is_removed_at_any_read_boundary() {
        let mut echo = echo(&["echo FINISHED"], "$ ");
        for (line, left) in [
            ("$ e", "$ "),
            ("$ echo FIN", "$ "),
            ("$ echo FINISHED", "$ "),
            ("FINISHED", "FINISHED"),
        ] {
            assert_eq!(echo.strip(u64::from(line == "FINISHED"), line, false), left);
        }
        assert_eq!(echo.strip(0, "$ echo FINISHED", true), "$ ");
    }

    #[test]
    fn short_text_is_expected_once() {
        let mut once = echo(&["y"], "Go on? ");
        assert_eq!(once.strip(0, "Go on? y", true), "Go on? ");
        assert_eq!(once.strip(1, "successfully", true), "successfully");
        assert_eq!(once.strip(2, "answer: y", true), "answer: y");
        let mut seen = echo(&["1"], "Choose: 1\n");
        assert_eq!(seen.strip(1, "exit code 1", true), "exit code 1");
    }

    #[test]
    fn text_typed_ahead_is_expected_twice() {
        let mut ahead = echo(&["echo DONE"], "$ sleep 1\necho DONE\n");
        assert_eq!(ahead.strip(5, "$ echo DONE   12:00", true), "$    12:00");
        assert_eq!(ahead.strip(6, "echo DONE", true), "echo DONE");
        let mut twice = echo(&["echo DONE"], "");
        assert_eq!(twice.strip(1, "echo DONE", true), "");
        assert_eq!(twice.strip(2, "$ echo DONE", true), "$ ");
        assert_eq!(twice.strip(3, "$ echo DONE", true), "$ echo DONE");
    }

    #[test]
    fn longest_part_of_an_echo_is_removed() {
        let mut echo = echo(&["echo earlier", "true of three words too; echo LATER"], "");
        assert_eq!(echo.strip(0, "$ true of three words too; ech", true), "$ ");
        assert_eq!(echo.strip(1, "o LATER", true), "");
        assert_eq!(echo.strip(2, "LATER", true), "LATER");
    }

    #[test]
    fn part_of_a_word_is_not_an_echo() {
        let mut echo = echo(&["make"], "");
        assert_eq!(echo.strip(0, "remake", true), "remake");
        assert_eq!(echo.strip(0, "maker", true), "maker");
        assert_eq!(echo.strip(0, "$ make", true), "$ ");
    }

    #[test]
    fn echo_broken_at_the_screen_edge_is_removed() {
        // As fish breaks it, by words; the space before `right` would be in the last column.
        let typed = "a first long line of words; right here and FINISHED";
        let rows = ["$ a first long line of words;", "right here and FINISHED"];
        let mut broken = echo(&[typed], "");
        for (from, to) in [(8, 0), (29, 0), (29, 3), (29, 17), (29, 23)] {
            assert_eq!(broken.strip(0, &rows[0][..from], to > 0), "$ ", "{from}");
            assert_eq!(broken.strip(1, &rows[1][..to], false), "", "{to}");
        }
        assert_eq!(broken.strip(2, "FINISHED", false), "FINISHED");
        // A watch may begin in the middle of it.
        let mut halfway = echo(&[typed], &format!("{}\nright here", rows[0]));
        assert_eq!(halfway.strip(1, rows[1], false), "");
        // During a redraw, the first row is begun while the second is still there.
        assert_eq!(halfway.strip(0, "  a fi", false), "  ");
        assert_eq!(halfway.strip(1, rows[1], true), "");
        // A line that does not reach the edge does not continue in the next.
        let mut other = echo(&[typed], "");
        assert_eq!(other.strip(0, "$ a first long line", true), "$ a first long line");
        assert_eq!(other.strip(1, "of words right", true), "of words right");
    }
}
