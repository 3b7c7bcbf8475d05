//! Tests of a screen with a width that continues a running terminal.

use super::super::{Screen, ScreenLine, ScreenState};

fn state(row: usize, before: &str) -> ScreenState {
    ScreenState { width: 5, height: 4, row, before: before.to_owned(), alternate: false }
}

/// The lines after some bytes, and the number of those that have scrolled off.
fn lines(state: &ScreenState, bytes: &str) -> (Vec<String>, usize) {
    let mut screen = Screen::from_state(state);
    let mut lines = Vec::new();
    screen.feed(bytes.as_bytes(), &mut |line| lines.push(line.to_owned()));
    let scrolled_off = lines.len();
    lines.extend(screen.pending());
    (lines, scrolled_off)
}

fn fresh(screen: &mut Screen, bytes: &str) -> Vec<(usize, String, Option<usize>)> {
    screen.feed(bytes.as_bytes(), &mut |_| {});
    let of = |ScreenLine { index, text, cursor }| (index, text, cursor);
    screen.changed_lines().into_iter().flatten().map(of).collect()
}

#[test]
fn wrapped_rows_are_one_line() {
    for (bytes, expected) in [
        ("abcde", vec!["abcde"]),
        ("abcdefgh", vec!["abcdefgh"]),
        ("abcdefghijkl\r\nx", vec!["abcdefghijkl", "x"]),
        ("abcde\r\nfg", vec!["abcde", "fg"]),
        ("abcd漢字x", vec!["abcd漢字x"]),
        // A carriage return moves to the start of the row, not of the line.
        ("abcdef\rX", vec!["abcdeX"]),
        // ScreenLine editors print a blank and a carriage return to force the wrap.
        ("abcde \rfgh", vec!["abcdefgh"]),
        ("abcdefg\x1b[A\x1b[K", vec!["ab", "fg"]),
        // A blank in the last column stays a blank.
        ("abcdxy\x1b[A\x1b[5G ", vec!["abcd y"]),
        ("abcdef\x1b[9Cg", vec!["abcdef   g"]),
        ("abcdef\x08\x08\x08X", vec!["abcdeX"]),
    ] {
        assert_eq!(lines(&state(0, ""), bytes).0, expected, "{bytes:?}");
    }
    let long = "0123456789".repeat(5);
    let (all, scrolled_off) = lines(&state(0, ""), &format!("{long}\r\n1\r\n2\r\n3\r\n4"));
    assert_eq!(all, [long.as_str(), "1", "2", "3", "4"]);
    assert_eq!(scrolled_off, 1);
}

#[test]
fn screen_continues_at_the_cursor() {
    let (all, scrolled_off) = lines(&state(2, "$ "), "ls\r\na\r\nb\r\nc");
    assert_eq!(
        (all, scrolled_off),
        (["", "", "$ ls", "a", "b", "c"].map(String::from).to_vec(), 2)
    );
    let alternate = ScreenState { alternate: true, ..state(1, "ab") };
    let mut screen = Screen::from_state(&alternate);
    assert_eq!(fresh(&mut screen, "c"), [(1, "abc".to_owned(), Some(3))]);
    assert!(screen.in_alternate() && screen.pending().is_empty());
    assert_eq!(fresh(&mut screen, "\x1b[?1049lx").len(), 1);
}

#[test]
fn changed_lines_start_at_the_first_change() {
    let line = |index, text: &str, cursor| (index, text.to_owned(), cursor);
    let mut screen = Screen::from_state(&state(0, "$ "));
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
