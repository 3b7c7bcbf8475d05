//! Tests of a row: which form its text has, and what that costs.

use super::*;

/// Cells take sixteen times the memory of text.
#[test]
fn row_becomes_cells_only_when_necessary() {
    let is_ascii = |row: &Row| matches!(row.content, RowText::Ascii(_));
    let is_cells = |row: &Row| matches!(row.content, RowText::Cells(_));
    let mut row = Row::new(usize::MAX);
    row.put(0, "ab", 2);
    row.put(1, "cd", 2);
    row.erase(2, usize::MAX);
    assert!(is_ascii(&row));
    row.add_mark(2, '\u{301}');
    assert!(!is_ascii(&row) && !is_cells(&row));
    row.clear();
    assert_eq!(row.put(0, "é", 1), 1);
    row.append_tab(1);
    row.add_mark(8, '\u{301}');
    assert!(!is_cells(&row));
    row.put(0, "x", 1);
    assert!(is_cells(&row));
    let long = "x".repeat(MAX_EDIT_COLUMNS);
    row.put(8, &long, MAX_EDIT_COLUMNS);
    assert!(is_cells(&row));
    row.put(8 + MAX_EDIT_COLUMNS, &long[..8], 8);
    assert!(is_cells(&row));
    row.put(16 + MAX_EDIT_COLUMNS, "x", 1);
    assert!(!is_cells(&row));
    assert_eq!(row.columns(), 17 + MAX_EDIT_COLUMNS);
    assert_eq!(row.text(), format!("x\t\u{301}{long}xxxxxxxxx"));
    row.erase(0, usize::MAX);
    row.put(0, "é", 1);
    assert!(!is_cells(&row));
}

#[test]
fn large_buffer_is_not_reused() {
    let mut row = Row::new(usize::MAX);
    row.put(0, &"x".repeat(100_000), 100_000);
    row.clear();
    let RowText::Ascii(buffer) = &row.content else { panic!("not ASCII") };
    assert!(buffer.is_empty() && buffer.capacity() <= MAX_REUSED_CAPACITY);
}
