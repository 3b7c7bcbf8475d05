//! Takes the echo of what we typed out of lines.
//!
//! An echo is the typed text at the begin of a line or behind a prompt. Each is expected once; one
//! that is long enough not to be there by chance also twice, since a terminal echoes what is typed
//! ahead and the shell does so again when it comes to it. A line editor that breaks a text at the
//! edge of the screen by itself makes several lines of it.

use std::collections::HashMap;
use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use crate::run::TypedLine;

/// A longer text is not printed by chance.
const LONG: usize = 8;

/// The echoes that are still to come.
#[derive(Debug, Default)]
pub(super) struct Echo {
    expected: Vec<Expected>,
    /// The newest line that is known.
    newest: u64,
    /// How many columns a row has.
    width: usize,
}

#[derive(Debug)]
struct Expected {
    line: TypedLine,
    /// The lines it has begun in.
    seen: Vec<u64>,
    /// The lines that end before it does, each with how much of it has come by then. One that is
    /// being drawn anew still counts.
    broken: HashMap<u64, usize>,
}

impl Expected {
    /// How often it may still come.
    fn left(&self) -> usize {
        let most = if self.text().len() >= LONG { 2 } else { 1 };
        most - self.seen.len().min(most)
    }

    fn text(&self) -> &str {
        self.line.text.trim_end()
    }

    /// Where a line has all of it.
    fn all_in(&mut self, number: u64, line: &str) -> Option<Range<usize>> {
        let at = self.may_begin_in(number).then(|| place(line, self.text()))??;
        self.begins_in(number);
        Some(at..at + self.text().len())
    }

    /// Where a line has a part of it: what goes on below, or has not come yet.
    fn part_in(&mut self, number: u64, line: &str, row: Row) -> Option<Range<usize>> {
        let at = self.may_begin_in(number).then(|| begin(line, self.text()))??;
        let come = line.len() - at;
        match row.breaks(line, self.text().get(come..)?) {
            Some(spaces) => {
                self.broken.insert(number, come + spaces);
                self.begins_in(number);
            }
            None if row.is_whole => return None,
            None => {}
        }
        Some(at..line.len())
    }

    /// Where a line goes on with it.
    fn rest_in(&mut self, number: u64, line: &str, row: Row) -> Option<Range<usize>> {
        let come = *self.broken.get(&number.checked_sub(1)?)?;
        let rest = self.text().get(come..)?;
        if place(line, rest) == Some(0) {
            return Some(0..rest.len());
        }
        match row.breaks(line, rest.strip_prefix(line)?) {
            Some(spaces) => {
                self.broken.insert(number, come + line.len() + spaces);
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

/// What is known of where a line stands.
#[derive(Debug, Clone, Copy)]
struct Row {
    width: usize,
    is_whole: bool,
}

impl Row {
    /// Whether a line ends at the edge of the screen and a text goes on below: behind so many
    /// spaces, which are not kept at the end of a line.
    fn breaks(self, line: &str, rest: &str) -> Option<usize> {
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        let to_edge = line.width().checked_next_multiple_of(self.width)? - line.width();
        (!line.is_empty() && !rest.is_empty() && to_edge <= spaces).then_some(to_edge)
    }
}

impl Echo {
    /// Expects these lines, but for those that the rows of the screen show already. The first of
    /// them has this number.
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

    /// Expects only what is typed after these lines.
    pub(super) fn after(typed: impl IntoIterator<Item = TypedLine>, width: usize) -> Self {
        let newest = typed.into_iter().map(|line| line.number).max().unwrap_or_default();
        Self { expected: Vec::new(), newest, width }
    }

    /// Expects these lines too, as far as they are new or have grown.
    pub(super) fn expect(&mut self, typed: impl IntoIterator<Item = TypedLine>) {
        for line in typed {
            if line.number > self.newest {
                self.newest = line.number;
                self.expected.push(Expected { line, seen: Vec::new(), broken: HashMap::new() });
            } else if let Some(known) =
                self.expected.iter_mut().find(|known| known.line.number == line.number)
            {
                known.line = line;
            }
        }
    }

    /// Goes on in a terminal of another width.
    pub(super) fn go_on_in(&mut self, width: usize) {
        self.width = width;
    }

    /// A line without what is an echo in it. A line that has grown keeps its number.
    pub(super) fn strip(&mut self, number: u64, line: &str, is_whole: bool) -> String {
        let row = Row { width: self.width, is_whole };
        let expected = &mut self.expected;
        let found = (expected.iter_mut().find_map(|it| it.rest_in(number, line, row)))
            .or_else(|| expected.iter_mut().find_map(|it| it.all_in(number, line)))
            .or_else(|| expected.iter_mut().find_map(|it| it.part_in(number, line, row)));
        let mut rest = line.to_owned();
        if let Some(echo) = found {
            rest.replace_range(echo, "");
        }
        rest
    }
}

/// Where a line has a text that stands by itself.
fn place(line: &str, text: &str) -> Option<usize> {
    if text.is_empty() {
        return None;
    }
    line.match_indices(text).map(|(at, _)| at).find(|&at| {
        let after = line.get(at + text.len()..).unwrap_or_default();
        stands_alone(line, at) && after.chars().next().is_none_or(char::is_whitespace)
    })
}

/// Where the end of a line is the begin of a text.
fn begin(line: &str, text: &str) -> Option<usize> {
    line.char_indices()
        .map(|(at, _)| at)
        .find(|&at| stands_alone(line, at) && text.starts_with(line.get(at..).unwrap_or_default()))
}

/// Whether what begins here does not go on from a word before it.
fn stands_alone(line: &str, at: usize) -> bool {
    let before = line.get(..at).unwrap_or_default();
    before.chars().next_back().is_none_or(|c| !c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo(typed: &[&str], shown: &str) -> Echo {
        let line = |(number, text): (u64, &&str)| TypedLine { number, text: (*text).to_owned() };
        Echo::of((1..).zip(typed).map(line), 30, 0, shown)
    }

    #[test]
    fn what_was_typed_is_taken_out_wherever_the_reads_are_cut() {
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
    fn a_short_answer_is_expected_once() {
        let mut once = echo(&["y"], "Go on? ");
        assert_eq!(once.strip(0, "Go on? y", true), "Go on? ");
        assert_eq!(once.strip(1, "successfully", true), "successfully");
        assert_eq!(once.strip(2, "answer: y", true), "answer: y");
        let mut seen = echo(&["1"], "Choose: 1\n");
        assert_eq!(seen.strip(1, "exit code 1", true), "exit code 1");
    }

    #[test]
    fn what_is_typed_ahead_is_echoed_twice() {
        let mut ahead = echo(&["echo DONE"], "$ sleep 1\necho DONE\n");
        assert_eq!(ahead.strip(5, "$ echo DONE   12:00", true), "$    12:00");
        assert_eq!(ahead.strip(6, "echo DONE", true), "echo DONE");
        let mut twice = echo(&["echo DONE"], "");
        assert_eq!(twice.strip(1, "echo DONE", true), "");
        assert_eq!(twice.strip(2, "$ echo DONE", true), "$ ");
        assert_eq!(twice.strip(3, "$ echo DONE", true), "$ echo DONE");
    }

    #[test]
    fn what_only_has_it_inside_is_no_echo() {
        let mut echo = echo(&["make"], "");
        assert_eq!(echo.strip(0, "remake", true), "remake");
        assert_eq!(echo.strip(0, "maker", true), "maker");
        assert_eq!(echo.strip(0, "$ make", true), "$ ");
    }

    #[test]
    fn what_is_broken_at_the_edge_of_the_screen_is_one_echo() {
        // As fish shows it, word by word; the space before `right` would be in the last column.
        let typed = "a first long line of words; right here and FINISHED";
        let rows = ["$ a first long line of words;", "right here and FINISHED"];
        let mut broken = echo(&[typed], "");
        for (from, to) in [(8, 0), (29, 0), (29, 3), (29, 17), (29, 23)] {
            assert_eq!(broken.strip(0, &rows[0][..from], to > 0), "$ ", "{from}");
            assert_eq!(broken.strip(1, &rows[1][..to], false), "", "{to}");
        }
        assert_eq!(broken.strip(2, "FINISHED", false), "FINISHED");
        // A wait may begin anywhere in it.
        let mut halfway = echo(&[typed], &format!("{}\nright here", rows[0]));
        assert_eq!(halfway.strip(1, rows[1], false), "");
        // Drawing it again, the first row may be begun while the second is still there.
        assert_eq!(halfway.strip(0, "  a fi", false), "  ");
        assert_eq!(halfway.strip(1, rows[1], true), "");
        // A line that has more room does not go on below.
        let mut other = echo(&[typed], "");
        assert_eq!(other.strip(0, "$ a first long line", true), "$ a first long line");
        assert_eq!(other.strip(1, "of words right", true), "of words right");
    }
}
