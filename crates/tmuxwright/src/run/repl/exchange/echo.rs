//! The echo of an input, and the row behind it.

use unicode_width::UnicodeWidthStr;

use super::Exchange;
use crate::run::repl::prompts::RowIs;

impl Exchange<'_> {
    /// Where the last input ends: the number of the line, and the byte in it.
    pub(super) fn input_end(&self) -> (usize, usize) {
        self.echo_end().unwrap_or((self.input_line, usize::MAX))
    }

    /// Where the echo of the last input ends. A line editor does not know of output without an end before its prompt,
    /// and leaves its row where the input alone would reach the right margin.
    fn echo_end(&self) -> Option<(usize, usize)> {
        let (first, echo) = (self.echo_line, self.echo.as_str());
        let shifted = || match self.prompts.judge(&self.input_row) {
            RowIs::Prompt(at @ 1..) => {
                let output = self.input_row.get(..at).unwrap_or_default();
                self.screen.shifted_echo_end(first, echo, output.width())
            }
            _ => None,
        };
        self.screen.echo_end(first, echo).or_else(shifted)
    }

    /// Whether a row ends with the last line that was entered.
    pub(super) fn still_shows_input(&self, row: &str) -> bool {
        let entered = self.entered.trim();
        !entered.is_empty() && row.trim_end().ends_with(entered)
    }

    /// Whether the cursor is below the input, and the text before it in its row.
    pub(super) fn answer_row(&self) -> (bool, String) {
        let (line, row) = self.screen.cursor_line();
        match self.echo_end() {
            Some((end, at)) if line == end => {
                let answer = row.get(at..).unwrap_or_default().to_owned();
                (!answer.is_empty(), answer)
            }
            Some((end, _)) => (line > end, row),
            None => (line > self.input_line, row),
        }
    }
}
