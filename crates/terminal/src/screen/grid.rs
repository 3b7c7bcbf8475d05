//! The grid of a screen: rows, cursor and scroll region.

use std::collections::VecDeque;

use super::LineSink;
use super::charset::Charset;
use super::row::{Row, next_tab_stop};
use super::terminal::ScreenSize;

/// Maximum number of rows, the same as in tmux.
const MAX_HEIGHT: usize = 10_000;

/// The state that `ESC 7` saves.
#[derive(Default, Clone, Copy)]
struct SavedCursor {
    row: usize,
    column: usize,
    charset: Charset,
}

/// The main or the alternate screen.
pub(super) struct Grid {
    pub(super) rows: VecDeque<Row>,
    /// Column at which text wraps to the next row.
    width: usize,
    row: usize,
    column: usize,
    /// First row of the scroll region.
    top: usize,
    /// Last row of the scroll region.
    bottom: usize,
    saved: SavedCursor,
    /// Start of the line in the first row, if it has scrolled off.
    pub(super) scrolled_start: String,
    /// First row that changed since the last call of `changed_lines`.
    pub(super) first_changed: usize,
    /// Number of rows at the top whose text is from before the start and unknown. Each is a line of
    /// its own.
    pub(super) unknown_rows: usize,
}

impl Grid {
    pub(super) fn new(size: ScreenSize) -> Self {
        let height = size.height.clamp(1, MAX_HEIGHT);
        Self {
            rows: (0..height).map(|_| Row::default()).collect(),
            width: size.width.max(1),
            row: 0,
            column: 0,
            top: 0,
            bottom: height - 1,
            saved: SavedCursor::default(),
            scrolled_start: String::new(),
            first_changed: usize::MAX,
            unknown_rows: 0,
        }
    }

    /// An empty grid of the same size with the same cursor position.
    pub(super) fn blank_copy(&self) -> Self {
        let mut copy = Self::new(self.size());
        copy.move_to(self.row, self.column);
        copy
    }

    pub(super) fn size(&self) -> ScreenSize {
        ScreenSize { width: self.width, height: self.rows.len() }
    }

    fn last_row(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    pub(super) fn before_cursor(&self) -> String {
        self.rows.get(self.row).map_or_else(String::new, |row| row.text_before(self.column))
    }

    pub(super) fn cursor_row(&self) -> usize {
        self.row
    }

    pub(super) fn cursor(&self) -> (usize, usize) {
        (self.row, self.column)
    }

    /// Edits the cursor's row; the second argument of `edit` is the cursor's column.
    pub(super) fn edit_row(&mut self, edit: impl FnOnce(&mut Row, usize)) {
        self.note_change(self.row);
        if let Some(row) = self.rows.get_mut(self.row) {
            edit(row, self.column);
        }
    }

    /// Writes ASCII text, or one character, of `width` columns. It wraps at the end of the row.
    pub(super) fn put(&mut self, text: &str, width: usize, insert: bool, sink: LineSink<'_>) {
        let (mut text, mut width) = (text, width);
        while width > self.width.saturating_sub(self.column) {
            let room = if text.is_ascii() { self.width.saturating_sub(self.column) } else { 0 };
            let (part, rest) = text.split_at(room);
            self.put_in_row(part, room, insert);
            self.wrap(sink);
            (text, width) = (rest, width - room);
            if width > self.width && !text.is_ascii() {
                return;
            }
        }
        self.put_in_row(text, width, insert);
    }

    fn put_in_row(&mut self, text: &str, width: usize, insert: bool) {
        self.note_change(self.row);
        let Some(row) = self.rows.get_mut(self.row) else { return };
        if insert {
            row.insert(self.column, width);
        }
        self.column = row.put(self.column, text, width);
    }

    /// Continues the line in the next row.
    fn wrap(&mut self, sink: LineSink<'_>) {
        let is_known = self.row >= self.unknown_rows;
        self.edit_row(|row, _| if is_known { row.wrap() } else { row.end_line() });
        self.next_row(sink);
        self.column = 0;
    }

    /// Notes that a row and those below it may have changed.
    fn note_change(&mut self, row: usize) {
        self.first_changed = self.first_changed.min(row);
    }

    /// Adds a combining mark to the character before the cursor.
    pub(super) fn add_mark(&mut self, mark: char) {
        self.edit_row(|row, column| row.add_mark(column, mark));
    }

    pub(super) fn move_to(&mut self, row: usize, column: usize) {
        self.row = row.min(self.last_row());
        self.column = column.min(self.width - 1);
    }

    pub(super) fn move_up(&mut self, count: usize) {
        let highest = if self.row >= self.top { self.top } else { 0 };
        self.move_to(self.row.saturating_sub(count).max(highest), self.column);
    }

    pub(super) fn move_down(&mut self, count: usize) {
        let lowest = if self.row <= self.bottom { self.bottom } else { self.last_row() };
        self.move_to(self.row.saturating_add(count).min(lowest), self.column);
    }

    pub(super) fn carriage_return(&mut self) {
        self.column = 0;
    }

    pub(super) fn backspace(&mut self) {
        self.column = self.column.saturating_sub(1);
    }

    pub(super) fn tab(&mut self) {
        self.edit_row(Row::append_tab);
        self.tab_forward(1);
    }

    pub(super) fn tab_forward(&mut self, count: usize) {
        let stops = count.saturating_sub(1).saturating_mul(8);
        self.move_to(self.row, next_tab_stop(self.column).saturating_add(stops));
    }

    pub(super) fn tab_back(&mut self, count: usize) {
        let stops = self.column.div_ceil(8).saturating_sub(count);
        self.move_to(self.row, stops.saturating_mul(8));
    }

    pub(super) fn save(&mut self, charset: Charset) {
        self.saved = SavedCursor { row: self.row, column: self.column, charset };
    }

    pub(super) fn restore(&mut self) -> Charset {
        let SavedCursor { row, column, charset } = self.saved;
        self.move_to(row, column);
        charset
    }

    /// Sets the scroll region to the rows from `top` to before `end`; an `end` of 0 is the screen's.
    pub(super) fn set_scroll_region(&mut self, top: usize, end: usize) {
        let bottom = if end == 0 { self.last_row() } else { self.last_row().min(end - 1) };
        if top < bottom {
            (self.top, self.bottom) = (top, bottom);
            self.move_to(0, 0);
        }
    }

    pub(super) fn reset_scroll_region(&mut self) {
        (self.top, self.bottom) = (0, self.last_row());
    }

    pub(super) fn line_feed(&mut self, sink: LineSink<'_>) {
        self.edit_row(|row, _| row.end_line());
        self.next_row(sink);
    }

    fn next_row(&mut self, sink: LineSink<'_>) {
        if self.row == self.bottom {
            self.scroll_up(1, sink);
        } else {
            self.move_to(self.row + 1, self.column);
        }
    }

    pub(super) fn reverse_line_feed(&mut self) {
        if self.row == self.top {
            self.scroll_down(1);
        } else {
            self.move_to(self.row.saturating_sub(1), self.column);
        }
    }

    /// Scrolls up. Rows that leave the top of the screen become final lines; rows that leave a region
    /// below other rows are lost.
    pub(super) fn scroll_up(&mut self, count: usize, sink: LineSink<'_>) {
        if self.top == 0 {
            self.release_rows(count.min(self.bottom + 1), sink);
        }
        self.remove_rows(self.top, count);
    }

    pub(super) fn scroll_down(&mut self, count: usize) {
        self.add_rows(self.top, count);
    }

    pub(super) fn insert_rows(&mut self, count: usize) {
        if (self.top..=self.bottom).contains(&self.row) {
            self.add_rows(self.row, count);
        }
    }

    pub(super) fn delete_rows(&mut self, count: usize) {
        if (self.top..=self.bottom).contains(&self.row) {
            self.remove_rows(self.row, count);
        }
    }

    /// Removes rows at `from`, and adds empty ones at the end of the region.
    fn remove_rows(&mut self, from: usize, count: usize) {
        let count = count.min(self.bottom + 1 - from);
        if from == 0 && self.bottom == self.last_row() {
            self.first_changed = self.first_changed.saturating_sub(count);
            for _ in 0..count {
                let Some(mut row) = self.rows.pop_front() else { break };
                row.clear();
                self.rows.push_back(row);
            }
            return;
        }
        self.note_change(from);
        if let Some(part) = self.rows.make_contiguous().get_mut(from..=self.bottom) {
            part.rotate_left(count);
        }
        self.clear_rows(self.bottom + 1 - count, self.bottom + 1);
    }

    /// Adds empty rows at `from`, and removes as many at the end of the region.
    fn add_rows(&mut self, from: usize, count: usize) {
        let count = count.min(self.bottom + 1 - from);
        if let Some(part) = self.rows.make_contiguous().get_mut(from..=self.bottom) {
            part.rotate_right(count);
        }
        self.clear_rows(from, from + count);
    }

    fn clear_rows(&mut self, from: usize, to: usize) {
        self.note_change(from);
        self.rows.iter_mut().take(to).skip(from).for_each(Row::clear);
    }

    /// `CSI J`: erases below the cursor (0), above it (1), or the whole screen (2).
    pub(super) fn erase_screen(&mut self, part: usize) {
        match part {
            0 => self.clear_rows(self.row + 1, self.rows.len()),
            1 => self.clear_rows(0, self.row),
            2 => self.clear_rows(0, self.rows.len()),
            _ => return,
        }
        self.erase_row(part);
    }

    /// `CSI K`: erases right of the cursor (0), left of it (1), or the whole row (2).
    pub(super) fn erase_row(&mut self, part: usize) {
        self.edit_row(|row, column| match part {
            0 => row.erase(column, usize::MAX),
            1 => row.erase(0, column.saturating_add(1)),
            2 => row.erase(0, usize::MAX),
            _ => {}
        });
    }
}
