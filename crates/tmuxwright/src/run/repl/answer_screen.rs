//! The screen on which an answer is followed, with its lines numbered from the prompt on.

use std::borrow::Cow;
use std::ops::Range;

use terminal::screen::{Screen, ScreenPlace};
use terminal::text::{expand_tabs, first_columns};
use unicode_width::UnicodeWidthStr;

use super::kept_lines::KeptLines;
use crate::run::cursor_row::CursorRow;

/// A screen of the pane's size.
pub(super) struct AnswerScreen {
    screen: Screen,
    /// Lines that can no longer change.
    final_lines: KeptLines,
}

impl AnswerScreen {
    /// A screen that shows the cursor's line where it is in the pane, below the rows above it: a line
    /// editor draws the rows of an open statement again.
    pub(super) fn at(cursor: &CursorRow, above: &[String]) -> Self {
        let [width, height, history] =
            [cursor.width, cursor.height, cursor.history].map(|it| it as usize);
        let wrapped_rows = cursor.wrapped.width() / width.max(1);
        let above = above.get(..above.len() - wrapped_rows.min(above.len())).unwrap_or_default();
        let place = ScreenPlace { width, height, row: 0, column: 0, history };
        let mut screen = Screen::for_output(&place);
        for (number, row) in above.iter().enumerate() {
            screen.feed(row.as_bytes(), &mut |_| {});
            // A row that is full is continued in the next one.
            let has_next = above.get(number + 1).is_some_and(|next| !next.is_empty());
            if row.width() < width || !has_next {
                screen.feed(b"\r\n", &mut |_| {});
            }
        }
        screen.feed(cursor.line().as_bytes(), &mut |_| {});
        Self { screen, final_lines: KeptLines::default() }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let Self { screen, final_lines, .. } = self;
        screen.feed(bytes, &mut |line| final_lines.push(line.to_owned()));
    }

    pub(super) fn resize(&mut self, width: usize, height: usize) {
        let Self { screen, final_lines, .. } = self;
        screen.resize(width, height, &mut |line| final_lines.push(line.to_owned()));
    }

    pub(super) fn width(&self) -> usize {
        self.screen.place().width
    }

    pub(super) fn in_alternate(&self) -> bool {
        self.screen.in_alternate()
    }

    /// Removes the mark that zsh and fish print behind output without an end: a sign, and blanks up to the
    /// margin.
    pub(super) fn trim_end_mark(&self, line: &mut String) {
        let text = line.trim_end();
        let is_full =
            line.width() > text.width() && line.width().is_multiple_of(self.width().max(1));
        if let Some(output) = text.strip_suffix(['%', '#', '⏎']).filter(|_| is_full) {
            line.truncate(output.len());
        }
    }

    /// The number of the cursor's line, and its text before the cursor.
    pub(super) fn cursor_line(&self) -> (usize, String) {
        let (lines, row) = (self.screen.visible_lines(), self.screen.before_cursor());
        let at_cursor = lines.iter().find_map(|line| {
            let row_start = line.cursor?.saturating_sub(row.len());
            Some((line.index, line.text.get(..row_start).unwrap_or_default()))
        });
        let (index, wrapped) = at_cursor.unwrap_or((lines.len(), ""));
        let row = format!("{wrapped}{}", up_to_column(&row, self.screen.place().column));
        (self.final_lines.end() + index, row)
    }

    /// Where the echo of an input ends that begins in the line `first`: the line, and the byte in it. A line
    /// editor that reaches the right margin may leave its row, so that output goes on in the same line, or
    /// may begin a line in the next row. `None` if the echo is not there, or has another form.
    pub(super) fn echo_end(&self, first: usize, echo: &str) -> Option<(usize, usize)> {
        let mut rest = echo;
        let width = self.width().max(1);
        for (number, line) in self.lines_from(first).take_while(|_| !echo.is_empty()) {
            if let Some(behind) = line.strip_prefix(rest) {
                let end = line.len() - behind.len();
                let columns = line.get(..end).unwrap_or_default().width();
                // Elsewhere in the row, blanks that were typed and erased may be left.
                let is_at_margin = columns > 0 && columns.is_multiple_of(width);
                return Some((number, if is_at_margin { end } else { line.len() }));
            }
            if line.is_empty() || !line.width().is_multiple_of(width) {
                return None;
            }
            rest = rest.strip_prefix(line.as_ref())?;
        }
        None
    }

    /// The same for an echo whose first columns are output, where the rest of it fills its rows: the end of those rows,
    /// behind which the answer has overwritten the echo. readline puts the last character of the input into their last
    /// column.
    pub(super) fn shifted_echo_end(
        &self,
        first: usize,
        echo: &str,
        output_columns: usize,
    ) -> Option<(usize, usize)> {
        let columns = echo.width().saturating_sub(output_columns);
        if columns == 0 || !columns.is_multiple_of(self.width().max(1)) {
            return None;
        }
        let head = first_columns(echo, columns - 1);
        let (number, line) = self.lines_from(first).next()?;
        line.starts_with(head.as_str()).then(|| (number, first_columns(&line, columns).len()))
    }

    /// The lines with these numbers, and whether some of them were not kept.
    pub(super) fn lines(&self, numbers: Range<usize>) -> (Vec<String>, bool) {
        let within = self.lines_from(numbers.start).take_while(|&(number, _)| number < numbers.end);
        let lines = within.map(|(_, line)| line.into_owned()).collect();
        (lines, numbers.start < self.final_lines.dropped())
    }

    /// The lines with this number and higher ones.
    fn lines_from(&self, first: usize) -> impl Iterator<Item = (usize, Cow<'_, str>)> {
        let final_lines = self.final_lines.from(first).map(|(number, line)| (number, line.into()));
        let pending = (self.final_lines.end()..).zip(self.screen.pending());
        final_lines.chain(
            pending
                .filter(move |&(number, _)| number >= first)
                .map(|(number, line)| (number, line.into())),
        )
    }
}

/// The text of a row up to the cursor's column. libedit moves the cursor behind its prompt by tabs, or
/// without writing.
fn up_to_column(row: &str, column: usize) -> String {
    let text = row.trim_end_matches([' ', '\t']);
    let columns = expand_tabs(text).width();
    format!("{text}{}", " ".repeat(column.saturating_sub(columns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_ends_at_the_cursors_column() {
        for (row, column, expected) in [
            ("(lldb)\t", 7, "(lldb) "),
            ("[10] pry(main)*", 18, "[10] pry(main)*   "),
            (">>> ", 4, ">>> "),
            ("漢 ", 3, "漢 "),
            ("a\tb>>> ", 13, "a\tb>>> "),
        ] {
            assert_eq!(up_to_column(row, column), expected, "{row:?}");
        }
    }
}
