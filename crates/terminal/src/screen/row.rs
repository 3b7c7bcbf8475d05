//! The text of a row: a string while text is only appended, cells once it is edited in the middle.

use std::borrow::Cow;
use std::mem;

use super::cells::{self, MAX_CELL_MARKS, RowCells};

/// Maximum column to which the cursor can be moved beyond the text, and maximum length of a row in
/// which characters can be inserted or deleted. Without a width, this limits the work that a few
/// bytes can cause. No terminal is wider.
pub(super) const MAX_EDIT_COLUMNS: usize = 10_000;

/// Maximum length of a row that is converted to cells, which take much more memory than text. In a
/// longer row, overwriting has no effect.
const MAX_CELLS: usize = 1 << 20;

/// Maximum capacity of a buffer that is reused for the next row.
const MAX_REUSED_CAPACITY: usize = 4096;

/// The column to which a tab moves the cursor in a row of some width.
pub(super) fn tab_stop(column: usize, width: usize) -> usize {
    (column.saturating_add(8) & !7).min(width.saturating_sub(1)).max(column)
}

/// The content of a row, in the cheapest form that allows the edits so far.
enum RowText {
    /// Visible ASCII: the byte offset is the column.
    Ascii(String),
    /// Any text; it can only be appended to.
    Unicode { text: String, columns: usize },
    /// Any text; it can be edited at any column.
    Cells(RowCells),
}

/// A row of the screen.
pub(super) struct Row {
    content: RowText,
    /// Number of columns of the screen.
    width: usize,
    /// Whether text was overwritten or erased. Then blanks at the end are not text: progress bars are
    /// wiped with blanks.
    pub(super) rewritten: bool,
    /// Whether a line feed ended the row, which makes it a line even if it is empty.
    pub(super) ended: bool,
    /// Whether the line continues in the next row.
    wraps: bool,
    /// Number of columns that were in use before an edit shortened the text. If the line continues in
    /// the next row, they are blanks.
    used: usize,
    /// Whether the row has text from before the screen's start, which is not known.
    pub(super) unknown: bool,
}

impl Row {
    /// An empty row of a screen with this width.
    pub(super) fn new(width: usize) -> Self {
        Self {
            content: RowText::Ascii(String::new()),
            width,
            rewritten: false,
            ended: false,
            wraps: false,
            used: 0,
            unknown: false,
        }
    }

    /// A row with text of which nothing is known.
    pub(super) fn unknown(width: usize) -> Self {
        Self { unknown: true, ..Self::new(width) }
    }

    pub(super) fn columns(&self) -> usize {
        match &self.content {
            RowText::Ascii(text) => text.len(),
            RowText::Unicode { columns, .. } => *columns,
            RowText::Cells(cells) => cells.columns(),
        }
    }

    /// The visible text.
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

    /// The part of the line that is in this row: the visible text, and the blanks after it if the line
    /// continues in the next row.
    pub(super) fn line_text(&self) -> Cow<'_, str> {
        if !self.wraps {
            return self.text();
        }
        let text = self.whole_text();
        match self.used.saturating_sub(self.columns()) {
            0 => text,
            blanks => Cow::Owned(text.into_owned() + &" ".repeat(blanks)),
        }
    }

    /// Number of columns of the line that are in this row.
    pub(super) fn line_columns(&self) -> usize {
        self.columns().max(if self.wraps { self.used } else { 0 })
    }

    /// Whether nothing was written since the row was cleared.
    pub(super) fn is_unused(&self) -> bool {
        !self.unknown && self.used.max(self.columns()) == 0
    }

    /// The text with the blanks at its end.
    fn whole_text(&self) -> Cow<'_, str> {
        match &self.content {
            RowText::Ascii(text) | RowText::Unicode { text, .. } => Cow::Borrowed(text.as_str()),
            RowText::Cells(cells) => Cow::Owned(cells.text(usize::MAX)),
        }
    }

    /// The text before a column.
    pub(super) fn text_before(&self, column: usize) -> String {
        match &self.content {
            RowText::Ascii(text) => text.get(..column).unwrap_or(text).to_owned(),
            RowText::Unicode { text, .. } => {
                cells::text_before(text, column, self.width).to_owned()
            }
            RowText::Cells(cells) => cells.text(column),
        }
    }

    /// Whether the row counts as a line if no row below it has text.
    pub(super) fn is_line(&self) -> bool {
        self.ended || !self.is_blank()
    }

    fn is_blank(&self) -> bool {
        let columns = self.columns();
        columns == 0 || (self.rewritten && columns <= MAX_EDIT_COLUMNS && self.text().is_empty())
    }

    /// Whether the row has unknown text, and nothing was written there since.
    pub(super) fn is_untouched(&self) -> bool {
        self.unknown && !self.is_line()
    }

    /// Ends the row by a line feed.
    pub(super) fn end_line(&mut self) {
        self.ended = true;
    }

    /// Continues the line in the next row. A line whose beginning is unknown ends here instead.
    pub(super) fn wrap(&mut self) {
        self.ended |= self.unknown;
        self.wraps |= !self.unknown;
    }

    /// Ends the line here, because the next row is no longer its continuation.
    pub(super) fn unwrap_line(&mut self) {
        self.wraps = false;
    }

    pub(super) fn wraps(&self) -> bool {
        self.wraps
    }

    /// Makes the row empty, as if it were new.
    pub(super) fn clear(&mut self) {
        self.erase_all();
        self.unknown = false;
    }

    /// Erases the whole row. The line that began or continued here ends.
    pub(super) fn erase_all(&mut self) {
        self.clear_text();
        self.ended = false;
        self.wraps = false;
        self.used = 0;
    }

    fn clear_text(&mut self) {
        let mut buffer = match &mut self.content {
            RowText::Ascii(text) | RowText::Unicode { text, .. } => mem::take(text),
            RowText::Cells(_) => String::new(),
        };
        buffer.clear();
        buffer.shrink_to(MAX_REUSED_CAPACITY);
        self.content = RowText::Ascii(buffer);
        self.rewritten = false;
    }

    /// Writes visible ASCII, or one character, of `width` columns. Returns the column after it.
    pub(super) fn put(&mut self, column: usize, text: &str, width: usize) -> usize {
        let columns = self.columns();
        let column = column.min(columns.max(MAX_EDIT_COLUMNS));
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
        match &mut self.content {
            RowText::Ascii(line) => {
                let end = line.len().min(column + width);
                line.replace_range(column..end, text);
            }
            _ => self.edit_cells(|cells| cells.put(column, text, width)),
        }
    }

    /// Appends visible ASCII, or one character, of `width` columns.
    pub(super) fn append(&mut self, text: &str, width: usize) {
        match &mut self.content {
            RowText::Ascii(line) if text.is_ascii() => line.push_str(text),
            RowText::Ascii(line) => {
                let columns = line.len();
                self.content = RowText::Unicode { text: mem::take(line), columns };
                self.append(text, width);
            }
            RowText::Unicode { text: line, columns } => {
                line.push_str(text);
                *columns += width;
            }
            RowText::Cells(cells) => {
                cells.put(cells.columns(), text, width);
                if cells.is_overgrown() {
                    let columns = cells.columns();
                    self.content = RowText::Unicode { text: cells.text(usize::MAX), columns };
                }
            }
        }
    }

    /// Adds a combining mark to the character before a column, which may be a blank. In the first
    /// column the mark is lost.
    pub(super) fn add_mark(&mut self, column: usize, mark: char) {
        let column = column.min(self.columns().max(MAX_EDIT_COLUMNS));
        if column == 0 {
            return;
        }
        let blanks = column.saturating_sub(self.columns());
        self.append(&" ".repeat(blanks), blanks);
        let columns = self.columns();
        let at_end = column == columns;
        match &mut self.content {
            RowText::Ascii(line) if at_end => {
                let mut text = mem::take(line);
                text.push(mark);
                self.content = RowText::Unicode { text, columns };
            }
            RowText::Unicode { text, .. } if at_end => {
                if cells::marks_at_end(text) < MAX_CELL_MARKS {
                    text.push(mark);
                }
            }
            _ => {
                if self.make_editable(false) {
                    self.edit_cells(|cells| cells.add_mark(column, mark));
                }
            }
        }
    }

    /// Appends a tab if the column is at the end of the row: elsewhere a tab only moves the cursor.
    pub(super) fn append_tab(&mut self, column: usize) {
        if column != self.columns() {
            return;
        }
        let stop = tab_stop(column, self.width);
        match &mut self.content {
            RowText::Ascii(line) => {
                let mut text = mem::take(line);
                text.push('\t');
                self.content = RowText::Unicode { text, columns: stop };
            }
            RowText::Unicode { text, columns } => {
                text.push('\t');
                *columns = stop;
            }
            RowText::Cells(cells) => cells.append('\t', stop - column),
        }
    }

    /// Erases the columns from `from` to before `to`. A line that wraps here still does.
    pub(super) fn erase(&mut self, from: usize, to: usize) {
        let columns = self.columns();
        if to >= columns {
            self.truncate(from);
        } else if from < to && columns <= MAX_EDIT_COLUMNS && self.make_editable(true) {
            self.rewritten = true;
            match &mut self.content {
                RowText::Ascii(line) => line.replace_range(from..to, &" ".repeat(to - from)),
                _ => self.edit_cells(|cells| cells.blank(from, to)),
            }
        }
        if self.columns() == 0 {
            self.ended = false;
        }
    }

    fn truncate(&mut self, column: usize) {
        self.note_used(self.columns());
        if column == 0 {
            self.clear_text();
        } else if column < self.columns() && self.make_editable(true) {
            self.rewritten = true;
            match &mut self.content {
                RowText::Ascii(line) => line.truncate(column),
                _ => self.edit_cells(|cells| cells.truncate(column)),
            }
        }
    }

    /// Notes that the columns up to `columns` are in use, though they may be blank.
    fn note_used(&mut self, columns: usize) {
        self.used = self.used.max(columns);
    }

    /// Inserts blanks. Text that they push beyond the width is lost.
    pub(super) fn insert(&mut self, column: usize, count: usize) {
        let columns = self.columns();
        self.note_used(self.width);
        if column < columns && columns <= MAX_EDIT_COLUMNS && self.make_editable(true) {
            let count = count.min(MAX_EDIT_COLUMNS);
            self.rewritten = true;
            match &mut self.content {
                RowText::Ascii(line) => {
                    line.insert_str(column, &" ".repeat(count));
                    line.truncate(self.width);
                }
                _ => self.edit_cells(|cells| cells.insert(column, count)),
            }
        }
    }

    /// Deletes columns; the text after them moves to the left.
    pub(super) fn delete(&mut self, column: usize, count: usize) {
        let columns = self.columns();
        let end = column.saturating_add(count);
        self.note_used(columns.max(self.width.saturating_sub(count)));
        if end >= columns {
            self.erase(column, end);
        } else if columns <= MAX_EDIT_COLUMNS && self.make_editable(true) {
            self.rewritten = true;
            match &mut self.content {
                RowText::Ascii(line) => line.replace_range(column..end, ""),
                _ => self.edit_cells(|cells| cells.delete(column, end)),
            }
        }
    }

    /// Converts the row to cells if the edit needs them. Returns false if the row is too long for that.
    fn make_editable(&mut self, ascii_edit: bool) -> bool {
        let columns = self.columns();
        match &self.content {
            RowText::Ascii(_) if ascii_edit => true,
            RowText::Cells(_) => true,
            _ if columns > MAX_CELLS => false,
            RowText::Ascii(text) | RowText::Unicode { text, .. } => {
                self.content = RowText::Cells(RowCells::new(text, self.width));
                true
            }
        }
    }

    fn edit_cells(&mut self, edit: impl FnOnce(&mut RowCells)) {
        if let RowText::Cells(cells) = &mut self.content {
            edit(cells);
        }
    }
}

#[cfg(test)]
mod tests;
