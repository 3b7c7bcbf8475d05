//! Rows as lines: one that was too long for its row goes on in the next.

use super::Done;
use super::grid::Grid;
use super::row::Row;

/// A line on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Which of the screen's lines it is.
    pub index: usize,
    /// Its text, without blanks at the end.
    pub text: String,
    /// Where in the text the cursor is, if it is in this line.
    pub cursor: Option<usize>,
}

impl Grid {
    /// The lines: down to the last row that has text or was left by a line feed.
    pub(super) fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut line = Line { index: 0, text: self.carried.clone(), cursor: None };
        let (cursor_row, column) = self.cursor();
        let rows = self.rows.iter().rposition(Row::is_line).map_or(0, |last| last + 1);
        for (number, row) in self.rows.iter().take(rows).enumerate() {
            if number == cursor_row {
                line.cursor = Some(line.text.len() + row.before(column).len());
            }
            line.text.push_str(&if row.wraps() { row.whole_text() } else { row.text() });
            if !row.wraps() || number + 1 == rows {
                let next = Line { index: line.index + 1, text: String::new(), cursor: None };
                lines.push(std::mem::replace(&mut line, next));
            }
        }
        lines
    }

    /// Those from the first that was changed since this was last asked. `None` if nothing was.
    pub(super) fn fresh_lines(&mut self) -> Option<Vec<Line>> {
        let touched = std::mem::replace(&mut self.touched, usize::MAX);
        if touched == usize::MAX {
            return None;
        }
        let before = self.rows.iter().take(touched.min(self.rows.len()));
        let unchanged = before.filter(|row| !row.wraps()).count();
        Some(self.lines().into_iter().skip(unchanged).collect())
    }

    /// Lets go of the first rows.
    pub(super) fn let_go(&mut self, rows: usize, done: Done<'_>) {
        self.unknown = self.unknown.saturating_sub(rows);
        let lines = self.rows.iter().rposition(Row::is_line).map_or(0, |last| last + 1);
        for row in self.rows.iter().take(rows.min(lines)) {
            if row.wraps() {
                self.carried.push_str(&row.whole_text());
            } else if self.carried.is_empty() {
                done(&row.text());
            } else {
                self.carried.push_str(&row.text());
                done(&std::mem::take(&mut self.carried));
            }
        }
    }
}
