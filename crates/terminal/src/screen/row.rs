//! One row: a string while text is only added to it, cells once it is edited in the middle.

use std::borrow::Cow;
use std::mem;

use super::cells::{self, Cells, MARKS};

/// How far right of its text a row can be written, and how long it can be to have characters
/// inserted or deleted: without a width, something has to bound what a few bytes can make us do.
/// No terminal is wider.
pub(super) const REACH: usize = 10_000;

/// The longest row that is made into cells, which take much more room than text. What would be
/// written over a longer one is lost.
const LONGEST_CELLS: usize = 1 << 20;

/// A larger buffer is not kept for the next row.
const KEPT_BUFFER: usize = 4096;

/// The column that a tab leads to.
pub(super) fn next_stop(column: usize) -> usize {
    column.saturating_add(8) & !7
}

enum Line {
    /// Visible ASCII: the column is the index.
    Plain(String),
    /// Anything, only ever added to.
    Text { text: String, columns: usize },
    /// Anything.
    Cells(Cells),
}

/// A row of the screen.
pub(super) struct Row {
    line: Line,
    /// Whether something was written over or erased. Then blanks at the end say nothing: progress
    /// bars wipe with blanks.
    rewritten: bool,
    /// Whether the cursor went on from here by a line feed, so this is a line even if empty.
    left: bool,
    /// Whether its text was too long for it and goes on in the next row.
    wraps: bool,
}

impl Default for Row {
    fn default() -> Self {
        Self { line: Line::Plain(String::new()), rewritten: false, left: false, wraps: false }
    }
}

impl Row {
    pub(super) fn columns(&self) -> usize {
        match &self.line {
            Line::Plain(text) => text.len(),
            Line::Text { columns, .. } => *columns,
            Line::Cells(cells) => cells.columns(),
        }
    }

    /// The text, as it is seen.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self.whole_text() {
            text if !self.rewritten => text,
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_end_matches(' ')),
            Cow::Owned(mut text) => {
                text.truncate(text.trim_end_matches(' ').len());
                Cow::Owned(text)
            }
        }
    }

    /// The text with the blanks at its end.
    pub(super) fn whole_text(&self) -> Cow<'_, str> {
        match &self.line {
            Line::Plain(text) | Line::Text { text, .. } => Cow::Borrowed(text.as_str()),
            Line::Cells(cells) => Cow::Owned(cells.text(usize::MAX)),
        }
    }

    /// The text before a column.
    pub(super) fn before(&self, column: usize) -> String {
        match &self.line {
            Line::Plain(text) => text.get(..column).unwrap_or(text).to_owned(),
            Line::Text { text, .. } => cells::before(text, column).to_owned(),
            Line::Cells(cells) => cells.text(column),
        }
    }

    /// Whether there is a line here, if nothing follows.
    pub(super) fn is_line(&self) -> bool {
        self.left || !self.is_blank()
    }

    fn is_blank(&self) -> bool {
        let columns = self.columns();
        columns == 0 || (self.rewritten && columns <= REACH && self.text().is_empty())
    }

    /// The cursor goes on to the next row.
    pub(super) fn leave(&mut self) {
        self.left = true;
    }

    /// The text goes on in the next row.
    pub(super) fn wrap(&mut self) {
        self.wraps = true;
    }

    pub(super) fn wraps(&self) -> bool {
        self.wraps
    }

    /// Makes it a new row.
    pub(super) fn clear(&mut self) {
        self.empty();
        self.left = false;
    }

    fn empty(&mut self) {
        let mut buffer = match &mut self.line {
            Line::Plain(text) | Line::Text { text, .. } => mem::take(text),
            Line::Cells(_) => String::new(),
        };
        buffer.clear();
        buffer.shrink_to(KEPT_BUFFER);
        self.line = Line::Plain(buffer);
        self.rewritten = false;
        self.wraps = false;
    }

    /// Writes visible ASCII, or one character, of so many columns. Returns the column after it.
    pub(super) fn put(&mut self, column: usize, text: &str, width: usize) -> usize {
        let columns = self.columns();
        let column = column.min(columns.max(REACH));
        if column < columns {
            self.replace(column, text, width);
        } else {
            if column > columns {
                self.append(&" ".repeat(column - columns), column - columns);
            }
            self.append(text, width);
        }
        column + width
    }

    fn replace(&mut self, column: usize, text: &str, width: usize) {
        if !self.make_editable(text.is_ascii()) {
            return;
        }
        self.rewritten = true;
        match &mut self.line {
            Line::Plain(line) => {
                let end = line.len().min(column + width);
                line.replace_range(column..end, text);
            }
            _ => self.with_cells(|cells| cells.put(column, text, width)),
        }
    }

    fn append(&mut self, text: &str, width: usize) {
        match &mut self.line {
            Line::Plain(line) if text.is_ascii() => line.push_str(text),
            Line::Plain(line) => {
                let columns = line.len();
                self.line = Line::Text { text: mem::take(line), columns };
                self.append(text, width);
            }
            Line::Text { text: line, columns } => {
                line.push_str(text);
                *columns += width;
            }
            Line::Cells(cells) => {
                cells.put(cells.columns(), text, width);
                if cells.is_overgrown() {
                    let columns = cells.columns();
                    self.line = Line::Text { text: cells.text(usize::MAX), columns };
                }
            }
        }
    }

    /// Adds a character without a width to the one before the column; without one it is lost, as
    /// in any terminal.
    pub(super) fn mark(&mut self, column: usize, mark: char) {
        let columns = self.columns();
        if column == 0 || column > columns {
            return;
        }
        let at_end = column == columns;
        match &mut self.line {
            Line::Plain(line) if at_end => {
                let mut text = mem::take(line);
                text.push(mark);
                self.line = Line::Text { text, columns };
            }
            Line::Text { text, .. } if at_end => {
                if cells::marks_at_end(text) < MARKS {
                    text.push(mark);
                }
            }
            _ => {
                if self.make_editable(false) {
                    self.with_cells(|cells| cells.mark(column, mark));
                }
            }
        }
    }

    /// Writes a tab if it would be the row's last character: elsewhere it only moves the cursor.
    pub(super) fn tab(&mut self, column: usize) {
        if column != self.columns() {
            return;
        }
        let stop = next_stop(column);
        match &mut self.line {
            Line::Plain(line) => {
                let mut text = mem::take(line);
                text.push('\t');
                self.line = Line::Text { text, columns: stop };
            }
            Line::Text { text, columns } => {
                text.push('\t');
                *columns = stop;
            }
            Line::Cells(cells) => cells.put_wide('\t', stop - column),
        }
    }

    /// Erases the columns from `from` to before `to`.
    pub(super) fn erase(&mut self, from: usize, to: usize) {
        let columns = self.columns();
        if to >= columns {
            self.truncate(from);
        } else if from < to && columns <= REACH && self.make_editable(true) {
            self.rewritten = true;
            match &mut self.line {
                Line::Plain(line) => line.replace_range(from..to, &" ".repeat(to - from)),
                _ => self.with_cells(|cells| cells.blank(from, to)),
            }
        }
        if self.columns() == 0 {
            self.left = false;
        }
    }

    fn truncate(&mut self, column: usize) {
        self.wraps = false;
        if column == 0 {
            self.empty();
        } else if column < self.columns() && self.make_editable(true) {
            self.rewritten = true;
            match &mut self.line {
                Line::Plain(line) => line.truncate(column),
                _ => self.with_cells(|cells| cells.truncate(column)),
            }
        }
    }

    /// Inserts blanks.
    pub(super) fn insert(&mut self, column: usize, count: usize) {
        let columns = self.columns();
        if column < columns && columns <= REACH && self.make_editable(true) {
            let count = count.min(REACH);
            self.rewritten = true;
            match &mut self.line {
                Line::Plain(line) => line.insert_str(column, &" ".repeat(count)),
                _ => self.with_cells(|cells| cells.insert(column, count)),
            }
        }
    }

    /// Deletes columns; what follows moves to the left.
    pub(super) fn delete(&mut self, column: usize, count: usize) {
        let columns = self.columns();
        let end = column.saturating_add(count);
        if end >= columns {
            self.erase(column, end);
        } else if columns <= REACH && self.make_editable(true) {
            self.rewritten = true;
            match &mut self.line {
                Line::Plain(line) => line.replace_range(column..end, ""),
                _ => self.with_cells(|cells| cells.delete(column, end)),
            }
        }
    }

    /// Makes cells if the edit needs them, and if there may be so many.
    fn make_editable(&mut self, plain_edit: bool) -> bool {
        let columns = self.columns();
        match &self.line {
            Line::Plain(_) if plain_edit => true,
            Line::Cells(_) => true,
            _ if columns > LONGEST_CELLS => false,
            Line::Plain(text) | Line::Text { text, .. } => {
                self.line = Line::Cells(Cells::new(text));
                true
            }
        }
    }

    fn with_cells(&mut self, change: impl FnOnce(&mut Cells)) {
        if let Line::Cells(cells) = &mut self.line {
            change(cells);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells take sixteen times the room.
    #[test]
    fn a_row_is_cells_only_while_it_has_to_be() {
        let is_plain = |row: &Row| matches!(row.line, Line::Plain(_));
        let is_cells = |row: &Row| matches!(row.line, Line::Cells(_));
        let mut row = Row::default();
        row.put(0, "ab", 2);
        row.put(1, "cd", 2);
        row.erase(2, usize::MAX);
        assert!(is_plain(&row));
        row.mark(2, '\u{301}');
        assert!(!is_plain(&row) && !is_cells(&row));
        row.clear();
        assert_eq!(row.put(0, "é", 1), 1);
        row.tab(1);
        row.mark(8, '\u{301}');
        assert!(!is_cells(&row));
        row.put(0, "x", 1);
        assert!(is_cells(&row));
        let long = "x".repeat(REACH);
        row.put(8, &long, REACH);
        assert!(is_cells(&row));
        row.put(8 + REACH, &long[..8], 8);
        assert!(is_cells(&row));
        row.put(16 + REACH, "x", 1);
        assert!(!is_cells(&row));
        assert_eq!(row.columns(), 17 + REACH);
        assert_eq!(row.text(), format!("x\t\u{301}{long}xxxxxxxxx"));
        row.erase(0, usize::MAX);
        row.put(0, "é", 1);
        assert!(!is_cells(&row));
    }

    #[test]
    fn a_large_buffer_is_let_go() {
        let mut row = Row::default();
        row.put(0, &"x".repeat(100_000), 100_000);
        row.clear();
        let Line::Plain(buffer) = &row.line else { panic!("not plain") };
        assert!(buffer.is_empty() && buffer.capacity() <= KEPT_BUFFER);
    }
}
