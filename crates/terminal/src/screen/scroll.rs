//! Scrolling a grid or a region of it, and inserting and deleting rows.
//!
//! The rules for lines that wrap are those of tmux: a region that scrolls up leaves them alone; rows
//! that move otherwise end the line above the place that they come from, and above the place that
//! they go to.

use std::mem;

use super::LineSink;
use super::grid::Grid;
use super::row::Row;

impl Grid {
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

    /// Moves down in the same column, which may be the one after the last.
    pub(super) fn next_row(&mut self, sink: LineSink<'_>) {
        if self.row == self.bottom {
            self.scroll_up(1, sink);
        } else {
            self.row = self.last_row().min(self.row + 1);
        }
    }

    pub(super) fn reverse_line_feed(&mut self, sink: LineSink<'_>) {
        self.homed = false;
        if self.row == self.top {
            self.scroll_down(1, sink);
        } else {
            self.row = self.row.saturating_sub(1);
        }
    }

    /// Scrolls up. Rows that leave the region become final lines, as they become history in tmux.
    pub(super) fn scroll_up(&mut self, count: usize, sink: LineSink<'_>) {
        let (top, bottom) = (self.top, self.bottom);
        let count = count.min(bottom + 1 - top);
        self.release_rows(top, count, sink);
        if top == 0 && bottom == self.last_row() {
            self.first_changed = self.first_changed.saturating_sub(count);
            for _ in 0..count {
                let Some(mut row) = self.rows.pop_front() else { break };
                row.clear();
                self.rows.push_back(row);
            }
            return;
        }
        self.note_change(top);
        if !self.keeps_history {
            self.end_line_above(top, sink);
        }
        if let Some(region) = self.rows.make_contiguous().get_mut(top..=bottom) {
            region.rotate_left(count);
        }
        self.clear_rows(bottom + 1 - count, bottom + 1);
    }

    /// Scrolls down. The line that begins in the first row of the region ends there.
    pub(super) fn scroll_down(&mut self, count: usize, sink: LineSink<'_>) {
        let (top, end) = (self.top, self.bottom + 1);
        if top + 1 == end {
            return;
        }
        let count = count.min(end - top);
        self.end_line_above(top + 1, sink);
        self.shift_rows(top + count, top, end - top - count);
        self.clear_rows(top, top + count);
        self.end_line_above(top, sink);
    }

    /// Inserts empty rows at the cursor. Outside the scroll region, those that do not fit are not
    /// cleared, as in tmux.
    pub(super) fn insert_rows(&mut self, count: usize, sink: LineSink<'_>) {
        let (row, end) = (self.row, self.end_of_moved_rows());
        let count = count.min(end - row);
        let kept = end - row - count;
        self.move_rows(row + count, row, kept, sink);
        if self.is_in_region() {
            self.clear_lines(row + kept, row + count, sink);
        }
    }

    pub(super) fn delete_rows(&mut self, count: usize, sink: LineSink<'_>) {
        let (row, end) = (self.row, self.end_of_moved_rows());
        let count = count.min(end - row);
        let kept = end - row - count;
        self.move_rows(row, row + count, kept, sink);
        self.clear_lines(row + kept, row + count, sink);
    }

    fn is_in_region(&self) -> bool {
        (self.top..=self.bottom).contains(&self.row)
    }

    /// The row after the last one that moves when rows are inserted or deleted at the cursor. Outside
    /// the scroll region, that is the end of the screen, as in tmux.
    fn end_of_moved_rows(&self) -> usize {
        if self.is_in_region() { self.bottom + 1 } else { self.rows.len() }
    }

    /// Moves rows, and ends the lines that no longer continue.
    fn move_rows(&mut self, to: usize, from: usize, count: usize, sink: LineSink<'_>) {
        if count == 0 || from == to {
            return;
        }
        self.end_line_above(to, sink);
        self.shift_rows(to, from, count);
        if !(to..to + count).contains(&from) {
            self.end_line_above(from, sink);
        }
    }

    /// Moves rows; those that they leave behind are empty.
    fn shift_rows(&mut self, to: usize, from: usize, count: usize) {
        self.note_change(to.min(from));
        let mut shift = |index| {
            let empty = Row::new(self.width);
            let row = self.rows.get_mut(from + index).map(|row| mem::replace(row, empty));
            if let (Some(place), Some(row)) = (self.rows.get_mut(to + index), row) {
                *place = row;
            }
        };
        match to > from {
            true => (0..count).rev().for_each(&mut shift),
            false => (0..count).for_each(&mut shift),
        }
    }

    /// Clears the rows from `from` to before `to`, and ends the line above them. tmux ends that line
    /// also if there is nothing to clear because `to` is less.
    fn clear_lines(&mut self, from: usize, to: usize, sink: LineSink<'_>) {
        if from != to {
            self.clear_rows(from, to);
            self.end_line_above(from, sink);
        }
    }
}
