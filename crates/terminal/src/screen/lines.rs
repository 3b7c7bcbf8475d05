//! Lines of a grid: rows, joined where text has wrapped.

use super::LineSink;
use super::grid::Grid;
use super::replies;
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
        let rows = self.text_rows();
        let mut at_start = !self.has_scrolled;
        for (number, row) in self.rows.iter().take(rows).enumerate() {
            if self.omits(row, at_start) {
                continue;
            }
            at_start = false;
            if number == cursor_row {
                line.cursor = Some(line.text.len() + row.text_before(column).len());
            }
            line.text.push_str(&row.line_text());
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

    /// Passes the lines of `count` rows, which are about to scroll off, to `sink`.
    pub(super) fn release_rows(&mut self, from: usize, count: usize, sink: LineSink<'_>) {
        if !self.keeps_history {
            return;
        }
        self.history = self.history.saturating_add(count);
        let end = self.text_rows().min(from + count);
        for index in from..end {
            let Some(row) = self.rows.get(index) else { break };
            if self.omits(row, !self.has_scrolled) {
                continue;
            }
            self.has_scrolled = true;
            if row.wraps() {
                self.scrolled_start.push_str(&row.line_text());
            } else if self.scrolled_start.is_empty() {
                sink(&row.text());
            } else {
                self.scrolled_start.push_str(&row.text());
                self.end_scrolled_line(sink);
            }
        }
        // Rows without text follow the line.
        if end < from + count {
            self.end_scrolled_line(sink);
        }
    }

    /// Ends the line that has scrolled off without its end.
    pub(super) fn end_scrolled_line(&mut self, sink: LineSink<'_>) {
        if !self.scrolled_start.is_empty() {
            sink(&std::mem::take(&mut self.scrolled_start));
        }
    }

    /// Clears the screen. Its lines become final, as they become history in tmux.
    pub(super) fn clear(&mut self, sink: LineSink<'_>) {
        self.release_rows(0, self.rows.len(), sink);
        self.end_scrolled_line(sink);
        self.clear_rows(0, self.rows.len());
        self.history = 0;
        self.has_scrolled = false;
    }

    /// Takes back the beginning of an echoed reply in front of the cursor, if `text` completes it. Returns
    /// the length of the reply's part in `text`.
    pub(super) fn take_back_reply(&mut self, text: &str) -> Option<usize> {
        let before = self.before_cursor();
        let begin = before.find("^[").or_else(|| before.rfind('^'))?;
        let begun = before.get(begin..)?;
        let reply = replies::find(&format!("{begun}{text}")).filter(|reply| reply.start == 0)?;
        let length = reply.end.checked_sub(begun.len())?;
        let (row, column) = self.cursor();
        self.move_to(row, column.saturating_sub(begun.len()));
        self.edit_row(|row, column| row.erase(column, usize::MAX));
        Some(length)
    }

    /// Number of rows down to the last one that is a line. The first row is one if a line that begins
    /// above the screen continues there.
    fn text_rows(&self) -> usize {
        let rows = self.rows.iter().rposition(Row::is_line).map_or(0, |last| last + 1);
        rows.max(usize::from(!self.scrolled_start.is_empty()))
    }

    /// Whether a row is not part of the output: the text there is from before, or, above the first
    /// text, there is none.
    fn omits(&self, row: &Row, at_start: bool) -> bool {
        self.omits_blank_start && (row.is_untouched() || (at_start && !row.is_line()))
    }
}
