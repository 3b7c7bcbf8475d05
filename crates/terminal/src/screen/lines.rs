//! Lines of a grid: rows, joined where text has wrapped.

use super::LineSink;
use super::grid::Grid;
use super::row::Row;

/// A line on a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenLine {
    /// Number of the line on the screen, from 0.
    pub index: usize,
    /// Text of the line. Blanks at its end are dropped if text was erased or overwritten.
    pub text: String,
    /// Byte offset of the cursor in `text`, if it is in this line.
    pub cursor: Option<usize>,
}

impl Grid {
    /// The lines down to the last row that has text or was ended by a line feed.
    pub(super) fn lines(&self) -> Vec<ScreenLine> {
        let mut lines = Vec::new();
        let mut line = ScreenLine { index: 0, text: self.scrolled_start.clone(), cursor: None };
        let (cursor_row, column) = self.cursor();
        let rows = self.rows.iter().rposition(Row::is_line).map_or(0, |last| last + 1);
        for (number, row) in self.rows.iter().take(rows).enumerate() {
            if number == cursor_row {
                line.cursor = Some(line.text.len() + row.text_before(column).len());
            }
            line.text.push_str(&if row.wraps() { row.whole_text() } else { row.text() });
            if !row.wraps() || number + 1 == rows {
                let next = ScreenLine { index: line.index + 1, text: String::new(), cursor: None };
                lines.push(std::mem::replace(&mut line, next));
            }
        }
        lines
    }

    /// The lines from the first that changed since the previous call; `None` if none did.
    pub(super) fn changed_lines(&mut self) -> Option<Vec<ScreenLine>> {
        let first_changed = std::mem::replace(&mut self.first_changed, usize::MAX);
        if first_changed == usize::MAX {
            return None;
        }
        let before = self.rows.iter().take(first_changed.min(self.rows.len()));
        let unchanged = before.filter(|row| !row.wraps()).count();
        Some(self.lines().into_iter().skip(unchanged).collect())
    }

    /// Passes the lines of the first rows, which are about to scroll off, to `sink`.
    pub(super) fn release_rows(&mut self, rows: usize, sink: LineSink<'_>) {
        self.unknown_rows = self.unknown_rows.saturating_sub(rows);
        let lines = self.rows.iter().rposition(Row::is_line).map_or(0, |last| last + 1);
        for row in self.rows.iter().take(rows.min(lines)) {
            if row.wraps() {
                self.scrolled_start.push_str(&row.whole_text());
            } else if self.scrolled_start.is_empty() {
                sink(&row.text());
            } else {
                self.scrolled_start.push_str(&row.text());
                sink(&std::mem::take(&mut self.scrolled_start));
            }
        }
    }
}
