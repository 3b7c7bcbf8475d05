//! Text by columns.

use unicode_width::UnicodeWidthChar;

/// The part of a row that takes up the first columns, blanks included.
pub fn first_columns(row: &str, columns: usize) -> String {
    let mut width = 0;
    let mut text = String::new();
    for c in row.chars() {
        let wide = c.width().unwrap_or(0);
        if width + wide > columns {
            break;
        }
        width += wide;
        text.push(c);
    }
    text.extend(std::iter::repeat_n(' ', columns.saturating_sub(width)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_cut_at_a_column() {
        assert_eq!(first_columns("$ echo", 2), "$ ");
        assert_eq!(first_columns("$", 2), "$ ");
        assert_eq!(first_columns("漢字> x", 6), "漢字> ");
        assert_eq!(first_columns("", 0), "");
    }
}
