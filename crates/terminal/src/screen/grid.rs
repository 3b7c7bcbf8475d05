//! Rows and a cursor.

use std::collections::VecDeque;

use super::Done;
use super::charset::Charset;
use super::row::{Row, next_stop};
use super::terminal::Size;

/// The tallest terminal; tmux allows no taller one either.
const TALLEST: usize = 10_000;

/// What `ESC 7` remembers.
#[derive(Default, Clone, Copy)]
struct Saved {
    row: usize,
    column: usize,
    charset: Charset,
}

/// A screen full of rows.
pub(super) struct Grid {
    pub(super) rows: VecDeque<Row>,
    /// Where text goes on in the next row.
    width: usize,
    row: usize,
    column: usize,
    /// The first and the last row of the part that scrolls.
    top: usize,
    bottom: usize,
    saved: Saved,
    /// The begin of a line whose end is the first row.
    pub(super) carried: String,
    /// The first row that was changed since somebody looked.
    pub(super) touched: usize,
    /// How many rows at the top were there before: what they hold is not known, and so each is a
    /// line of its own.
    pub(super) unknown: usize,
}

impl Grid {
    pub(super) fn new(size: Size) -> Self {
        let height = size.height.clamp(1, TALLEST);
        Self {
            rows: (0..height).map(|_| Row::default()).collect(),
            width: size.width.max(1),
            row: 0,
            column: 0,
            top: 0,
            bottom: height - 1,
            saved: Saved::default(),
            carried: String::new(),
            touched: usize::MAX,
            unknown: 0,
        }
    }

    /// An empty grid of this size, with the cursor where it is here.
    pub(super) fn blank_copy(&self) -> Self {
        let mut copy = Self::new(self.size());
        copy.go(self.row, self.column);
        copy
    }

    pub(super) fn size(&self) -> Size {
        Size { width: self.width, height: self.rows.len() }
    }

    fn last(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    pub(super) fn before_cursor(&self) -> String {
        self.rows.get(self.row).map_or_else(String::new, |row| row.before(self.column))
    }

    pub(super) fn cursor_row(&self) -> usize {
        self.row
    }

    pub(super) fn cursor(&self) -> (usize, usize) {
        (self.row, self.column)
    }

    /// Changes the cursor's row.
    pub(super) fn edit(&mut self, change: impl FnOnce(&mut Row, usize)) {
        self.touch(self.row);
        if let Some(row) = self.rows.get_mut(self.row) {
            change(row, self.column);
        }
    }

    /// Writes plain text or one character, which takes so many columns. It goes on in the next row
    /// where this one ends.
    pub(super) fn put(&mut self, text: &str, width: usize, insert: bool, done: Done<'_>) {
        let (mut text, mut width) = (text, width);
        while width > self.width.saturating_sub(self.column) {
            let room = if text.is_ascii() { self.width.saturating_sub(self.column) } else { 0 };
            let (part, rest) = text.split_at(room);
            self.put_in_row(part, room, insert);
            self.wrap(done);
            (text, width) = (rest, width - room);
            if width > self.width && !text.is_ascii() {
                return;
            }
        }
        self.put_in_row(text, width, insert);
    }

    fn put_in_row(&mut self, text: &str, width: usize, insert: bool) {
        self.touch(self.row);
        let Some(row) = self.rows.get_mut(self.row) else { return };
        if insert {
            row.insert(self.column, width);
        }
        self.column = row.put(self.column, text, width);
    }

    /// Goes on in the next row.
    fn wrap(&mut self, done: Done<'_>) {
        let is_known = self.row >= self.unknown;
        self.edit(|row, _| if is_known { row.wrap() } else { row.leave() });
        self.next_row(done);
        self.column = 0;
    }

    /// Notes that this row and those below may have changed.
    fn touch(&mut self, row: usize) {
        self.touched = self.touched.min(row);
    }

    /// Adds a character without a width to the one before the cursor.
    pub(super) fn mark(&mut self, mark: char) {
        self.edit(|row, column| row.mark(column, mark));
    }

    pub(super) fn go(&mut self, row: usize, column: usize) {
        self.row = row.min(self.last());
        self.column = column.min(self.width - 1);
    }

    pub(super) fn up(&mut self, count: usize) {
        let highest = if self.row >= self.top { self.top } else { 0 };
        self.go(self.row.saturating_sub(count).max(highest), self.column);
    }

    pub(super) fn down(&mut self, count: usize) {
        let lowest = if self.row <= self.bottom { self.bottom } else { self.last() };
        self.go(self.row.saturating_add(count).min(lowest), self.column);
    }

    pub(super) fn carriage_return(&mut self) {
        self.column = 0;
    }

    pub(super) fn back(&mut self) {
        self.column = self.column.saturating_sub(1);
    }

    pub(super) fn tab(&mut self) {
        self.edit(Row::tab);
        self.tab_forward(1);
    }

    pub(super) fn tab_forward(&mut self, count: usize) {
        let stops = count.saturating_sub(1).saturating_mul(8);
        self.go(self.row, next_stop(self.column).saturating_add(stops));
    }

    pub(super) fn tab_back(&mut self, count: usize) {
        let stops = self.column.div_ceil(8).saturating_sub(count);
        self.go(self.row, stops.saturating_mul(8));
    }

    pub(super) fn save(&mut self, charset: Charset) {
        self.saved = Saved { row: self.row, column: self.column, charset };
    }

    pub(super) fn restore(&mut self) -> Charset {
        let Saved { row, column, charset } = self.saved;
        self.go(row, column);
        charset
    }

    /// Sets the part that scrolls: from row `top` to before row `end`, where 0 is the screen's.
    pub(super) fn set_region(&mut self, top: usize, end: usize) {
        let bottom = if end == 0 { self.last() } else { self.last().min(end - 1) };
        if top < bottom {
            (self.top, self.bottom) = (top, bottom);
            self.go(0, 0);
        }
    }

    pub(super) fn reset_region(&mut self) {
        (self.top, self.bottom) = (0, self.last());
    }

    pub(super) fn line_feed(&mut self, done: Done<'_>) {
        self.edit(|row, _| row.leave());
        self.next_row(done);
    }

    fn next_row(&mut self, done: Done<'_>) {
        if self.row == self.bottom {
            self.scroll_up(1, done);
        } else {
            self.go(self.row + 1, self.column);
        }
    }

    pub(super) fn reverse_line_feed(&mut self) {
        if self.row == self.top {
            self.scroll_down(1);
        } else {
            self.go(self.row.saturating_sub(1), self.column);
        }
    }

    /// Scrolls, and lets go of the lines at the top. Those above a region of the lower screen are
    /// not at the top, so what scrolls off such a region is lost.
    pub(super) fn scroll_up(&mut self, count: usize, done: Done<'_>) {
        if self.top == 0 {
            self.let_go(count.min(self.bottom + 1), done);
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

    /// Removes rows from `from` on; empty ones come in at the end of the region.
    fn remove_rows(&mut self, from: usize, count: usize) {
        let count = count.min(self.bottom + 1 - from);
        if from == 0 && self.bottom == self.last() {
            self.touched = self.touched.saturating_sub(count);
            for _ in 0..count {
                let Some(mut row) = self.rows.pop_front() else { break };
                row.clear();
                self.rows.push_back(row);
            }
            return;
        }
        self.touch(from);
        if let Some(part) = self.rows.make_contiguous().get_mut(from..=self.bottom) {
            part.rotate_left(count);
        }
        self.clear_rows(self.bottom + 1 - count, self.bottom + 1);
    }

    /// Adds empty rows at `from`; those at the end of the region are lost.
    fn add_rows(&mut self, from: usize, count: usize) {
        let count = count.min(self.bottom + 1 - from);
        if let Some(part) = self.rows.make_contiguous().get_mut(from..=self.bottom) {
            part.rotate_right(count);
        }
        self.clear_rows(from, from + count);
    }

    fn clear_rows(&mut self, from: usize, to: usize) {
        self.touch(from);
        self.rows.iter_mut().take(to).skip(from).for_each(Row::clear);
    }

    /// `CSI J`: below, above, or all.
    pub(super) fn erase_screen(&mut self, what: usize) {
        match what {
            0 => self.clear_rows(self.row + 1, self.rows.len()),
            1 => self.clear_rows(0, self.row),
            2 => self.clear_rows(0, self.rows.len()),
            _ => return,
        }
        self.erase_row(what);
    }

    /// `CSI K`: to the right, to the left, or all.
    pub(super) fn erase_row(&mut self, what: usize) {
        self.edit(|row, column| match what {
            0 => row.erase(column, usize::MAX),
            1 => row.erase(0, column.saturating_add(1)),
            2 => row.erase(0, usize::MAX),
            _ => {}
        });
    }
}
