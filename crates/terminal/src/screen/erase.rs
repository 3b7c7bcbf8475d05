//! Erasing and deleting text in a grid, and which lines that ends.
//!
//! The rules are those of tmux: a line goes on in the next row until that row is cleared as a whole.

use super::LineSink;
use super::grid::Grid;
use super::row::Row;

impl Grid {
    /// `CSI J`: erases from the cursor on (0), up to it (1), or the whole screen (2).
    pub(super) fn erase_screen(&mut self, part: usize, sink: LineSink<'_>) {
        let below = self.row + 1;
        match part {
            0 => {
                match self.column {
                    0 => self.clear_row(sink),
                    _ => self.edit_at_cursor(|row, column| row.erase(column, usize::MAX)),
                }
                if below < self.rows.len() {
                    self.clear_rows(below, self.rows.len());
                    self.end_line_above(below, sink);
                }
            }
            1 => {
                if self.row > 0 {
                    self.clear_rows(0, self.row);
                    self.end_line_above(0, sink);
                }
                match self.column + 1 >= self.width {
                    true => self.clear_row(sink),
                    false => self.edit_row(|row, column| row.erase(0, column + 1)),
                }
            }
            2 => {
                self.clear_rows(0, self.rows.len());
                self.end_line_above(0, sink);
            }
            _ => {}
        }
    }

    /// `CSI K`: erases from the cursor on (0), up to it (1), or the whole row (2).
    pub(super) fn erase_row(&mut self, part: usize, sink: LineSink<'_>) {
        let is_whole = match part {
            0 => self.column == 0,
            1 => self.column + 1 >= self.width,
            2 => true,
            _ => return,
        };
        let is_unused = self.rows.get(self.row).is_some_and(Row::is_unused);
        match part {
            _ if is_whole && is_unused => self.edit_row(|row, _| row.erase(0, usize::MAX)),
            _ if is_whole => self.clear_row(sink),
            0 => self.edit_at_cursor(|row, column| row.erase(column, usize::MAX)),
            _ => self.edit_row(|row, column| row.erase(0, column + 1)),
        }
    }

    /// `CSI X`: erases characters from the cursor on.
    pub(super) fn erase_chars(&mut self, count: usize, sink: LineSink<'_>) {
        if self.column == 0 && count >= self.width {
            return self.clear_row(sink);
        }
        self.edit_at_cursor(|row, column| row.erase(column, column.saturating_add(count)));
    }

    /// `CSI P`: deletes characters from the cursor on.
    pub(super) fn delete_chars(&mut self, count: usize, sink: LineSink<'_>) {
        match self.column == 0 && count >= self.width {
            true => self.clear_row(sink),
            false => self.edit_at_cursor(|row, column| row.delete(column, count)),
        }
    }

    /// Edits the cursor's row from the cursor on. After the last column there is nothing to edit.
    pub(super) fn edit_at_cursor(&mut self, edit: impl FnOnce(&mut Row, usize)) {
        if self.column < self.width {
            self.edit_row(edit);
        }
    }

    /// Clears the cursor's row.
    fn clear_row(&mut self, sink: LineSink<'_>) {
        self.edit_row(|row, _| row.erase_all());
        self.end_line_above(self.row, sink);
    }

    /// Ends the line in the row above another one, which is no longer its continuation. Above the first
    /// row, the line has scrolled off.
    pub(super) fn end_line_above(&mut self, row: usize, sink: LineSink<'_>) {
        match row.checked_sub(1) {
            None => self.end_scrolled_line(sink),
            Some(above) if self.rows.get(above).is_some_and(Row::wraps) => {
                self.note_change(above);
                self.rows.get_mut(above).into_iter().for_each(Row::unwrap_line);
            }
            Some(_) => {}
        }
    }
}
