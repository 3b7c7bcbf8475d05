//! Change of a grid's size, by the rules of tmux: lines are wrapped anew, and a taller screen shows rows
//! of the history again.

use std::mem;

use super::LineSink;
use super::cells;
use super::grid::Grid;
use super::row::Row;
use super::terminal::ScreenSize;

impl Grid {
    /// Changes the size. Rows that leave the screen at the top become final lines. Those that come back
    /// there are final already, so their text counts as unknown.
    pub(super) fn resize(&mut self, size: ScreenSize, sink: LineSink<'_>) {
        let (width, height) = (size.width.max(1), size.height.max(1));
        self.resize_height(height, sink);
        if width != self.size().width {
            self.reflow(width);
            self.fit_height(height, sink);
        }
        self.reset_scroll_region();
        self.first_changed = 0;
    }

    /// A lower screen loses rows below the cursor first, then rows at the top.
    fn resize_height(&mut self, height: usize, sink: LineSink<'_>) {
        let surplus = self.rows.len().saturating_sub(height);
        let below = self.rows.len() - 1 - self.cursor_row();
        self.rows.truncate(self.rows.len() - surplus.min(below));
        self.fit_height(height, sink);
    }

    /// Removes rows at the top, or adds rows of the history there and empty ones at the bottom.
    fn fit_height(&mut self, height: usize, sink: LineSink<'_>) {
        let (width, (row, column)) = (self.size().width, self.cursor());
        let surplus = self.rows.len().saturating_sub(height);
        let missing = height.saturating_sub(self.rows.len());
        self.release_rows(0, surplus, sink);
        self.rows.drain(..surplus);
        let shown_again = missing.min(self.history);
        self.history -= shown_again;
        (0..shown_again).for_each(|_| self.rows.push_front(Row::unknown(width)));
        self.rows.resize_with(height, || Row::new(width));
        match (row + shown_again).checked_sub(surplus) {
            Some(row) => self.place_cursor(row, column),
            None => self.place_cursor(0, 0),
        }
    }

    /// Wraps all lines at another width.
    fn reflow(&mut self, width: usize) {
        let (cursor_row, column) = self.cursor();
        let old: Vec<Row> = mem::take(&mut self.rows).into();
        let mut rows = Vec::with_capacity(old.len());
        let mut cursor = (0, 0);
        let mut number = 0;
        for line in old.chunk_by(|row, _| row.wraps()) {
            let first = rows.len();
            rows.extend(Row::rewrap(line, width));
            if let Some((before, [row, ..])) =
                cursor_row.checked_sub(number).and_then(|at| line.split_at_checked(at))
            {
                let before: usize = before.iter().map(Row::line_columns).sum();
                let place = (column < row.columns()).then_some(before + column);
                cursor = find_place(&rows, first, place);
            }
            number += line.len();
        }
        self.rows = rows.into();
        self.set_width(width);
        self.place_cursor(cursor.0, cursor.1);
    }
}

impl Row {
    /// The rows that a line takes at another width. `rows` are those that it takes now.
    fn rewrap(rows: &[Self], width: usize) -> Vec<Self> {
        let rewritten = rows.iter().any(|row| row.rewritten);
        let (ended, unknown) = rows.last().map_or((false, false), |row| (row.ended, row.unknown));
        let new = || {
            let mut row = Self::new(width);
            row.rewritten = rewritten;
            row
        };
        let mut wrapped = vec![];
        let mut last = new();
        for row in rows {
            for c in row.line_text().chars() {
                let mut columns = cells::char_width(c, last.columns(), width);
                if last.columns() + columns > width {
                    last.wrap();
                    wrapped.push(mem::replace(&mut last, new()));
                    columns = cells::char_width(c, 0, width);
                }
                last.append_char(c, columns);
            }
        }
        (last.ended, last.unknown) = (ended, unknown);
        wrapped.push(last);
        wrapped
    }

    /// Appends a character of `columns` columns; one without any belongs to the character before it.
    fn append_char(&mut self, c: char, columns: usize) {
        match columns {
            0 if c != '\t' => self.add_mark(self.columns(), c),
            _ if c == '\t' => self.append_tab(self.columns()),
            _ => self.append(c.encode_utf8(&mut [0; 4]), columns),
        }
    }
}

/// Row and column of a place in the line that consists of the rows from `first` on: so many columns
/// from its start, or its end.
fn find_place(rows: &[Row], first: usize, place: Option<usize>) -> (usize, usize) {
    let last = rows.len().saturating_sub(1);
    let mut left = place.unwrap_or(usize::MAX);
    for (number, row) in rows.iter().enumerate().skip(first) {
        if number == last || left < row.columns() {
            return (number, left.min(row.columns()));
        }
        left -= row.columns();
    }
    (last, 0)
}
