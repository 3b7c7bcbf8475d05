//! The grid of a screen: rows, cursor and scroll region.

use std::collections::VecDeque;

use super::LineSink;
use super::row::{Row, tab_stop};
use super::terminal::{ScreenSize, WriteModes};

/// Maximum number of rows, the same as in tmux.
const MAX_HEIGHT: usize = 10_000;

/// The main or the alternate screen.
pub(super) struct Grid {
    pub(super) rows: VecDeque<Row>,
    /// Column at which text wraps to the next row.
    pub(super) width: usize,
    pub(super) row: usize,
    pub(super) column: usize,
    /// First row of the scroll region.
    pub(super) top: usize,
    /// Last row of the scroll region.
    pub(super) bottom: usize,
    /// Start of the line in the first row, if it has scrolled off.
    pub(super) scrolled_start: String,
    /// First row that changed since the last call of `changed_lines`.
    pub(super) first_changed: usize,
    /// Whether rows that scroll off become final lines. Those of the alternate screen do not.
    pub(super) keeps_history: bool,
    /// Number of rows above the screen that a taller screen shows again.
    pub(super) history: usize,
    /// Whether rows without text are left out: unknown ones, and those above the first text.
    pub(super) omits_blank_start: bool,
    /// Whether a row has scrolled off since the start or since the screen was cleared.
    pub(super) has_scrolled: bool,
    /// Whether the cursor was moved to the top left as such, and neither text nor a relative movement
    /// followed.
    pub(super) homed: bool,
}

impl Grid {
    pub(super) fn new(size: ScreenSize) -> Self {
        let height = size.height.clamp(1, MAX_HEIGHT);
        let width = size.width.max(1);
        Self {
            rows: (0..height).map(|_| Row::new(width)).collect(),
            width,
            row: 0,
            column: 0,
            top: 0,
            bottom: height - 1,
            scrolled_start: String::new(),
            first_changed: usize::MAX,
            keeps_history: true,
            history: 0,
            omits_blank_start: false,
            has_scrolled: false,
            homed: false,
        }
    }

    /// A grid whose cursor is in a row below others with unknown text.
    pub(super) fn below_unknown(size: ScreenSize, row: usize, column: usize) -> Self {
        let mut grid = Self::new(size);
        grid.move_to(row, column);
        let width = grid.width;
        grid.rows.iter_mut().take(grid.row).for_each(|row| *row = Row::unknown(width));
        grid
    }

    /// An empty grid for the alternate screen, of the same size and with the same cursor position.
    pub(super) fn alternate(&self) -> Self {
        let mut copy = Self { keeps_history: false, ..Self::new(self.size()) };
        copy.move_to(self.row, self.column);
        copy
    }

    pub(super) fn size(&self) -> ScreenSize {
        ScreenSize { width: self.width, height: self.rows.len() }
    }

    pub(super) fn last_row(&self) -> usize {
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

    /// Writes ASCII text, or one character, of `width` columns. It wraps at the end of the row, or, if
    /// wrapping is off, overwrites the last column.
    pub(super) fn put(&mut self, text: &str, width: usize, modes: WriteModes, sink: LineSink<'_>) {
        self.homed = false;
        let (mut text, mut width) = (text, width);
        while width > self.width.saturating_sub(self.column) {
            let is_ascii = text.is_ascii();
            if !modes.autowrap {
                return self.put_at_edge(text, is_ascii, modes.insert);
            }
            let room = if is_ascii { self.width.saturating_sub(self.column) } else { 0 };
            let (part, rest) = text.split_at(room);
            self.put_in_row(part, room, modes.insert);
            self.wrap(sink);
            (text, width) = (rest, width - room);
            if width > self.width && !is_ascii {
                return;
            }
        }
        self.put_in_row(text, width, modes.insert);
        if !modes.autowrap {
            self.column = self.column.min(self.width - 1);
        }
    }

    /// Writes ASCII text that is longer than the rest of the row, without wrapping.
    fn put_at_edge(&mut self, text: &str, is_ascii: bool, insert: bool) {
        let room = self.width.saturating_sub(self.column);
        if !is_ascii || room == 0 {
            return;
        }
        let (_, last) = text.split_at(text.len() - 1);
        let (first, _) = text.split_at(room - 1);
        self.put_in_row(first, first.len(), insert);
        self.put_in_row(last, 1, insert);
        self.column = self.width - 1;
    }

    fn put_in_row(&mut self, text: &str, width: usize, insert: bool) {
        if width == 0 {
            return;
        }
        self.note_change(self.row);
        let Some(row) = self.rows.get_mut(self.row) else { return };
        if insert {
            row.insert(self.column, width);
        }
        self.column = row.put(self.column, text, width);
    }

    /// Continues the line in the next row. The last row below a scroll region wraps into itself.
    fn wrap(&mut self, sink: LineSink<'_>) {
        self.column = 0;
        self.edit_row(|row, _| row.wrap());
        self.next_row(sink);
    }

    /// Notes that a row and those below it may have changed.
    pub(super) fn note_change(&mut self, row: usize) {
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

    /// Moves the cursor to a position of the screen, as `CSI H` does.
    pub(super) fn move_to_absolute(&mut self, row: usize, column: usize) {
        self.move_to(row, column);
        self.homed = true;
    }

    /// Places the cursor, also after the last column, where the next text wraps.
    pub(super) fn place_cursor(&mut self, row: usize, column: usize) {
        self.row = row.min(self.last_row());
        self.column = column.min(self.width);
    }

    /// Sets the width; the rows must have it.
    pub(super) fn set_width(&mut self, width: usize) {
        self.width = width;
    }

    pub(super) fn move_up(&mut self, count: usize) {
        self.homed = false;
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

    /// Moves back, also from the start of a row to the row that the line wraps from, as in tmux.
    pub(super) fn backspace(&mut self) {
        let above = self.row.checked_sub(1).filter(|_| self.column == 0);
        match above.filter(|&above| self.rows.get(above).is_some_and(Row::wraps)) {
            Some(above) => (self.row, self.column) = (above, self.width - 1),
            None => self.column = self.column.saturating_sub(1),
        }
    }

    pub(super) fn tab(&mut self) {
        self.edit_row(Row::append_tab);
        self.column = tab_stop(self.column, self.width);
    }

    pub(super) fn tab_back(&mut self, count: usize) {
        let stops = self.column.div_ceil(8).saturating_sub(count);
        self.move_to(self.row, stops.saturating_mul(8));
    }

    pub(super) fn clear_rows(&mut self, from: usize, to: usize) {
        self.note_change(from);
        self.rows.iter_mut().take(to).skip(from).for_each(Row::clear);
    }

    /// Whether erasing from the cursor on clears the screen, as `clear` does. A program that moves up
    /// to the first row and erases from there redraws its own text instead.
    pub(super) fn is_homed(&self) -> bool {
        self.homed && self.cursor() == (0, 0)
    }
}
