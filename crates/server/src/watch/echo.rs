//! Takes the echo of what we typed out of lines.
//!
//! An echo is the typed text at the begin of a line or behind a prompt. Each is expected once; one
//! that is long enough not to be there by chance also twice, since a terminal echoes what is typed
//! ahead and the shell does so again when it comes to it.

use crate::run::TypedLine;

/// A longer text is not printed by chance.
const LONG: usize = 8;

/// The echoes that are still to come.
#[derive(Debug, Default)]
pub(super) struct Echo {
    expected: Vec<Expected>,
    /// The newest line that is known.
    newest: u64,
}

#[derive(Debug)]
struct Expected {
    line: TypedLine,
    /// The lines it has come in.
    seen: Vec<u64>,
    /// Whether it was there from the start.
    was_there: bool,
}

impl Expected {
    /// How often it may still come.
    fn left(&self) -> usize {
        let most = if self.line.text.trim_end().len() >= LONG { 2 } else { 1 };
        most - (usize::from(self.was_there) + self.seen.len()).min(most)
    }

    fn text(&self) -> &str {
        self.line.text.trim_end()
    }
}

impl Echo {
    /// Expects these lines, but for those that the screen shows already.
    pub(super) fn of(typed: impl IntoIterator<Item = TypedLine>, shown: &str) -> Self {
        let mut echo = Self::default();
        echo.expect(typed);
        let mut rows: Vec<&str> = shown.lines().collect();
        for expected in &mut echo.expected {
            if let Some(row) = rows.iter().position(|row| place(row, expected.text()).is_some()) {
                rows.remove(row);
                expected.was_there = true;
            }
        }
        echo
    }

    /// Expects only what is typed after these lines.
    pub(super) fn after(typed: impl IntoIterator<Item = TypedLine>) -> Self {
        let newest = typed.into_iter().map(|line| line.number).max().unwrap_or_default();
        Self { expected: Vec::new(), newest }
    }

    /// Expects these lines too, as far as they are new or have grown.
    pub(super) fn expect(&mut self, typed: impl IntoIterator<Item = TypedLine>) {
        for line in typed {
            if line.number > self.newest {
                self.newest = line.number;
                self.expected.push(Expected { line, seen: Vec::new(), was_there: false });
            } else if let Some(known) =
                self.expected.iter_mut().find(|known| known.line.number == line.number)
            {
                known.line = line;
            }
        }
    }

    /// A line without what is an echo in it. A line that has grown keeps its number.
    pub(super) fn strip(&mut self, number: u64, line: &str, is_whole: bool) -> String {
        let found = self.expected.iter_mut().find_map(|expected| {
            let again = expected.seen.contains(&number);
            if !again && expected.left() == 0 {
                return None;
            }
            let at = place(line, expected.text())?;
            if !again {
                expected.seen.push(number);
            }
            Some(at..at + expected.text().len())
        });
        // Of the last line, the begin of an echo may be all that has come yet.
        let found = found.or_else(|| {
            let waiting = self.expected.iter().filter(|expected| expected.left() > 0);
            let cut = |expected: &Expected| begin(line, expected.text());
            waiting.filter_map(cut).min().filter(|_| !is_whole).map(|at| at..line.len())
        });
        match found {
            None => line.to_owned(),
            Some(range) => {
                let mut rest = line.to_owned();
                rest.replace_range(range, "");
                rest
            }
        }
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
        Echo::of((1..).zip(typed).map(line), shown)
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
        assert_eq!(seen.strip(0, "exit code 1", true), "exit code 1");
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
}
