//! Cutting a row of text at a column.

use unicode_width::UnicodeWidthChar;

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
    fn row_is_cut_at_a_column() {
        assert_eq!(first_columns("$ echo", 2), "$ ");
        assert_eq!(first_columns("$", 2), "$ ");
        assert_eq!(first_columns("漢字> x", 6), "漢字> ");
        assert_eq!(first_columns("", 0), "");
    }
}
