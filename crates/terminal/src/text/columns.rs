//! Columns of a row of text: tabs as blanks, and cutting at a column.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// Columns from one tab stop to the next.
const TAB_COLUMNS: usize = 8;

/// A row with blanks in place of its tabs, up to the next tab stop.
pub fn expand_tabs(row: &str) -> Cow<'_, str> {
    if !row.contains('\t') {
        return Cow::Borrowed(row);
    }
    let (mut text, mut column) = (String::new(), 0);
    for c in row.chars() {
        let width = match c {
            '\t' => TAB_COLUMNS - column % TAB_COLUMNS,
            c => c.width().unwrap_or(0),
        };
        match c {
            '\t' => text.extend(std::iter::repeat_n(' ', width)),
            c => text.push(c),
        }
        column += width;
    }
    Cow::Owned(text)
}

/// The text in the first `columns` columns of a row, padded with spaces if the row is shorter.
pub fn first_columns(row: &str, columns: usize) -> String {
    let mut width = 0;
    let mut text = String::new();
    for c in row.chars() {
        let char_width = c.width().unwrap_or(0);
        if width + char_width > columns {
            break;
        }
        width += char_width;
        text.push(c);
    }
    text.extend(std::iter::repeat_n(' ', columns.saturating_sub(width)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_end_at_tab_stops() {
        assert_eq!(expand_tabs("a\tb漢\tc"), "a       b漢     c");
        assert_eq!(expand_tabs("1234567\t8\t"), "1234567 8       ");
        assert_eq!(expand_tabs("no tab"), "no tab");
    }

    #[test]
    fn row_is_cut_at_a_column() {
        assert_eq!(first_columns("$ echo", 2), "$ ");
        assert_eq!(first_columns("$", 2), "$ ");
        assert_eq!(first_columns("漢字> x", 6), "漢字> ");
        assert_eq!(first_columns("", 0), "");
    }
}
