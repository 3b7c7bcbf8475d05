//! A terminal that has a width, and where it begins in the middle of things.

use super::super::{Line, Place, Screen};

fn place(row: usize, before: &str) -> Place {
    Place { width: 5, height: 4, row, before: before.to_owned(), alternate: false }
}

/// The lines that bytes leave, and the index of the first that has not scrolled off.
fn lines(place: &Place, bytes: &str) -> (Vec<String>, usize) {
    let mut screen = Screen::at(place);
    let mut lines = Vec::new();
    screen.feed(bytes.as_bytes(), &mut |line| lines.push(line.to_owned()));
    let gone = lines.len();
    lines.extend(screen.pending());
    (lines, gone)
}

fn fresh(screen: &mut Screen, bytes: &str) -> Vec<(usize, String, Option<usize>)> {
    screen.feed(bytes.as_bytes(), &mut |_| {});
    let of = |Line { index, text, cursor }| (index, text, cursor);
    screen.fresh_lines().into_iter().flatten().map(of).collect()
}

#[test]
fn what_is_too_long_for_a_row_is_still_one_line() {
    for (bytes, expected) in [
        ("abcde", vec!["abcde"]),
        ("abcdefgh", vec!["abcdefgh"]),
        ("abcdefghijkl\r\nx", vec!["abcdefghijkl", "x"]),
        ("abcde\r\nfg", vec!["abcde", "fg"]),
        ("abcd漢字x", vec!["abcd漢字x"]),
        // A carriage return goes back to the start of the row, not of the line.
        ("abcdef\rX", vec!["abcdeX"]),
        // What line editors print to have the terminal go on in the next row.
        ("abcde \rfgh", vec!["abcdefgh"]),
        ("abcdefg\x1b[A\x1b[K", vec!["ab", "fg"]),
        // A blank in the last column is a blank.
        ("abcdxy\x1b[A\x1b[5G ", vec!["abcd y"]),
        ("abcdef\x1b[9Cg", vec!["abcdef   g"]),
        ("abcdef\x08\x08\x08X", vec!["abcdeX"]),
    ] {
        assert_eq!(lines(&place(0, ""), bytes).0, expected, "{bytes:?}");
    }
    let long = "0123456789".repeat(5);
    let (all, gone) = lines(&place(0, ""), &format!("{long}\r\n1\r\n2\r\n3\r\n4"));
    assert_eq!(all, [long.as_str(), "1", "2", "3", "4"]);
    assert_eq!(gone, 1);
}

#[test]
fn a_terminal_begins_where_its_cursor_is() {
    let (all, gone) = lines(&place(2, "$ "), "ls\r\na\r\nb\r\nc");
    assert_eq!((all, gone), (["", "", "$ ls", "a", "b", "c"].map(String::from).to_vec(), 2));
    let alternate = Place { alternate: true, ..place(1, "ab") };
    let mut screen = Screen::at(&alternate);
    assert_eq!(fresh(&mut screen, "c"), [(1, "abc".to_owned(), Some(3))]);
    assert!(screen.in_alternate() && screen.pending().is_empty());
    assert_eq!(fresh(&mut screen, "\x1b[?1049lx").len(), 1);
}

#[test]
fn only_what_changed_is_fresh() {
    let line = |index, text: &str, cursor| (index, text.to_owned(), cursor);
    let mut screen = Screen::at(&place(0, "$ "));
    assert_eq!(fresh(&mut screen, ""), []);
    assert_eq!(fresh(&mut screen, "a"), [line(0, "$ a", Some(3))]);
    assert_eq!(fresh(&mut screen, "\r\nbc"), [line(0, "$ a", None), line(1, "bc", Some(2))]);
    assert_eq!(fresh(&mut screen, "\x1b[D"), []);
    assert_eq!(fresh(&mut screen, "defghi"), [line(1, "bdefghi", Some(7))]);
    assert_eq!(fresh(&mut screen, "\x1b[A\x1b[GX"), [line(1, "Xdefghi", Some(1))]);
    assert_eq!(fresh(&mut screen, "\x1b[4;1Hz"), [line(2, "z", Some(1))]);
    assert_eq!(fresh(&mut screen, "\r\ny"), [line(1, "z", None), line(2, "y", Some(1))]);
    screen.feed(b"\x07\x1b]0;title\x07", &mut |_| {});
    assert_eq!(screen.bells(), 1);
}
