//! A row as one cell per column, for edits among wide characters, tabs and combining marks.

use std::{iter, mem};

use unicode_width::UnicodeWidthChar;

use super::row::{MAX_EDIT_COLUMNS, tab_stop};

/// Limit of combining marks per cell; no script needs so many.
pub(super) const MAX_CELL_MARKS: usize = 32;

enum Cell {
    Char(char),
    /// A character with combining marks.
    Cluster(Box<str>),
    /// A further column of the character before it.
    Filler,
}

const BLANK: Cell = Cell::Char(' ');

/// The cells of a row.
pub(super) struct RowCells {
    cells: Vec<Cell>,
    /// Width of the row.
    width: usize,
    /// Number of columns when the cells were made.
    initial_columns: usize,
}

impl RowCells {
    pub(super) fn new(text: &str, width: usize) -> Self {
        let cells = Vec::with_capacity(text.len());
        let mut cells = Self { cells, width, initial_columns: 0 };
        for c in text.chars() {
            cells.append(c, char_width(c, cells.columns(), width));
        }
        cells.initial_columns = cells.columns();
        cells
    }

    /// Whether so much was appended that the row should become text again. The limit grows with the
    /// row, so that repeated conversion does not cost more than writing it.
    pub(super) fn is_overgrown(&self) -> bool {
        self.columns() > 2 * self.initial_columns + MAX_EDIT_COLUMNS
    }

    pub(super) fn columns(&self) -> usize {
        self.cells.len()
    }

    /// The text before a column.
    pub(super) fn text(&self, column: usize) -> String {
        let mut text = String::with_capacity(self.cells.len());
        for cell in self.cells.iter().take(column) {
            match cell {
                Cell::Char(c) => text.push(*c),
                Cell::Cluster(cluster) => text.push_str(cluster),
                Cell::Filler => {}
            }
        }
        text
    }

    /// Writes visible ASCII, or one character, at a column in the row or directly after it.
    pub(super) fn put(&mut self, column: usize, text: &str, width: usize) {
        self.split(column);
        self.split(column + width);
        let char_width = if text.is_ascii() { 1 } else { width };
        let new = text.chars().flat_map(|c| cells_of(c, char_width));
        let end = self.cells.len().min(column + width);
        self.cells.splice(column.min(end)..end, new);
    }

    /// Appends a character of `width` columns. Without any, it belongs to the character before it.
    pub(super) fn append(&mut self, c: char, width: usize) {
        match width {
            0 => self.add_mark(self.columns(), c),
            _ => self.cells.extend(cells_of(c, width)),
        }
    }

    /// Adds a combining mark to the character before a column.
    pub(super) fn add_mark(&mut self, column: usize, mark: char) {
        let mut before = self.cells.iter_mut().take(column).rev();
        let Some(cell) = before.find(|cell| !is_filler(cell)) else { return };
        let mut text = match cell {
            Cell::Char(c) => c.to_string(),
            Cell::Cluster(cluster) => mem::take(cluster).into(),
            Cell::Filler => return,
        };
        if marks_at_end(&text) < MAX_CELL_MARKS {
            text.push(mark);
        }
        *cell = Cell::Cluster(text.into());
    }

    /// Replaces columns by blanks.
    pub(super) fn blank(&mut self, from: usize, to: usize) {
        self.split(from);
        self.split(to);
        self.cells.iter_mut().take(to).skip(from).for_each(|cell| *cell = BLANK);
    }

    pub(super) fn truncate(&mut self, column: usize) {
        self.split(column);
        self.cells.truncate(column);
    }

    /// Inserts blanks. Text that they push beyond the width is lost.
    pub(super) fn insert(&mut self, column: usize, count: usize) {
        self.split(column);
        self.expand_tabs(column);
        self.cells.splice(column..column, (0..count).map(|_| BLANK));
        if self.columns() > self.width {
            self.truncate(self.width);
        }
    }

    /// Deletes columns.
    pub(super) fn delete(&mut self, from: usize, to: usize) {
        self.split(from);
        self.split(to);
        self.expand_tabs(to);
        self.cells.drain(from..to);
    }

    /// Replaces the tabs from a column on by blanks, because they are about to move off their stops.
    fn expand_tabs(&mut self, column: usize) {
        let mut in_tab = false;
        for cell in self.cells.iter_mut().skip(column) {
            in_tab = match cell {
                Cell::Filler => in_tab,
                Cell::Char(c) => *c == '\t',
                Cell::Cluster(cluster) => cluster.starts_with('\t'),
            };
            if in_tab {
                *cell = BLANK;
            }
        }
    }

    /// Replaces a character that extends across the left edge of a column by blanks.
    fn split(&mut self, column: usize) {
        if !self.cells.get(column).is_some_and(is_filler) {
            return;
        }
        let before = self.cells.iter().take(column).rev();
        let start = column.saturating_sub(1 + before.take_while(|cell| is_filler(cell)).count());
        let mut cells = self.cells.iter_mut().skip(start);
        if let Some(first) = cells.next() {
            *first = BLANK;
        }
        cells.take_while(|cell| is_filler(cell)).for_each(|cell| *cell = BLANK);
    }
}

fn is_filler(cell: &Cell) -> bool {
    matches!(cell, Cell::Filler)
}

/// The cells that a character takes.
fn cells_of(c: char, width: usize) -> impl Iterator<Item = Cell> {
    iter::once(Cell::Char(c)).chain((1..width).map(|_| Cell::Filler))
}

/// The width of a character that starts at a column of a row. A tab ends at the last column at the
/// latest; there it takes none.
pub(super) fn char_width(c: char, column: usize, row_width: usize) -> usize {
    match c {
        '\t' => tab_stop(column, row_width) - column,
        _ => c.width().unwrap_or(0),
    }
}

/// The number of combining marks of the last character, up to [`MAX_CELL_MARKS`].
pub(super) fn marks_at_end(text: &str) -> usize {
    text.chars().rev().take(MAX_CELL_MARKS).take_while(|c| c.width() == Some(0)).count()
}

/// The part of a row's text before a column.
pub(super) fn text_before(text: &str, column: usize, row_width: usize) -> &str {
    let mut at = 0;
    let after = text.char_indices().find(|&(_, c)| {
        let width = char_width(c, at, row_width);
        let is_after = width > 0 && at >= column;
        at += width;
        is_after
    });
    after.and_then(|(index, _)| text.get(..index)).unwrap_or(text)
}
