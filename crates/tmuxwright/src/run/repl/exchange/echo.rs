//! The echo of an input, and the row behind it.

use super::Exchange;

impl Exchange<'_> {
    /// Where the last input ends: the number of the line, and the byte in it.
    pub(super) fn input_end(&self) -> (usize, usize) {
        let echo_end = self.screen.echo_end(self.echo_line, &self.echo);
        echo_end.unwrap_or((self.input_line, usize::MAX))
    }

    /// Whether a row ends with the last line that was entered.
    pub(super) fn still_shows_input(&self, row: &str) -> bool {
        let entered = self.entered.trim();
        !entered.is_empty() && row.trim_end().ends_with(entered)
    }

    /// Whether the cursor is below the input, and the text before it in its row.
    pub(super) fn answer_row(&self) -> (bool, String) {
        let (line, row) = self.screen.cursor_line();
        match self.screen.echo_end(self.echo_line, &self.echo) {
            Some((end, at)) if line == end => {
                let answer = row.get(at..).unwrap_or_default().to_owned();
                (!answer.is_empty(), answer)
            }
            Some((end, _)) => (line > end, row),
            None => (line > self.input_line, row),
        }
    }
}
