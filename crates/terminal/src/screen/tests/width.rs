//! Tests of a screen with a width that continues a running terminal.

use super::super::{Screen, ScreenLine, ScreenPlace, ScreenState};

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
        // A blank in the last column stays a blank.
        ("abcdxy\x1b[A\x1b[5G ", vec!["abcd y"]),
        ("abcdef\x1b[9Cg", vec!["abcdef   g"]),
        // A backspace moves back to the row above if the line wraps there.
        ("abcdef\x08\x08\x08X", vec!["abcXef"]),
        ("abcde\r\nf\x08\x08X", vec!["abcde", "X"]),
        // After the last column there is nothing to erase, and a line feed stays there.
        ("abcde\x1b[Kf", vec!["abcdef"]),
        ("abcde\x1b[X\x1b[P\x1b[@f", vec!["abcdef"]),
        ("abcde\nf", vec!["abcde", "f"]),
        ("abcde\r\x1b[2@", vec!["  abc"]),
        ("漢字e\r\x1b[2@", vec!["  漢"]),
        // A tab ends at the last column.
        ("abc\tX\tYZ", vec!["abc\tX\tYZ"]),
        ("abc\t\tXY", vec!["abc\t\tXY"]),
        ("abc\tX\r\x1b[3CY", vec!["abcYX"]),
        // A repeated character stops at the last column.
        ("abc-\x1b[9b\r\nx", vec!["abc--", "x"]),
        ("abcd-\x1b[9bx", vec!["abcd-x"]),
        // A movement to another row stays after the last column.
        ("abcde\x1b[3dx", vec!["abcde", "", "x"]),
        // Without wrapping, the last column is overwritten.
        ("\x1b[?7labcdefgh\x1b[?7hi", vec!["abcdi"]),
        ("\x1b[?7labcd漢\x1b[?7h", vec!["abcd"]),
    ] {
        assert_eq!(lines(&state(0, ""), bytes).0, expected, "{bytes:?}");
    }
    let long = "0123456789".repeat(5);
    let (all, scrolled_off) = lines(&state(0, ""), &format!("{long}\r\n1\r\n2\r\n3\r\n4"));
    assert_eq!(all, [long.as_str(), "1", "2", "3", "4"]);
    assert_eq!(scrolled_off, 1);
}

/// By the rules of tmux: clearing a whole row that was used ends the line above it, other edits of a
/// row do not.
#[test]
fn clearing_a_row_ends_the_line_above() {
    for (bytes, expected) in [
        ("abcdefg\r\x1b[Kx", vec!["abcde", "x"]),
        ("abcdefg\x1b[2Kx", vec!["abcde", "  x"]),
        ("abcdefghij\x1b[1Kx", vec!["abcde", "x"]),
        ("abcdefg\r\x1b[Jx", vec!["abcde", "x"]),
        ("abcdefg\r\x1b[5Xx", vec!["abcde", "x"]),
        ("abcdefg\r\x1b[9Px", vec!["abcde", "x"]),
        ("abcdefg\x1b[A\x1b[Jx", vec!["abx"]),
        ("abcdefg\x1b[A\x1b[J\x1b[Bx", vec!["ab", "  x"]),
        ("abcdefghijk\x1b[A\x1b[1Jx", vec!["", " xhijk"]),
        // A line that begins above the screen ends there as well.
        (
            "1\r\n2\r\n3\r\nabcdefghijklmnopqrstu\x1b[H\x1b[Kx",
            vec!["1", "2", "3", "abcde", "x", "klmnopqrstu"],
        ),
        // Erasing a part of a row leaves blanks, and the line continues after them.
        ("abcdefg\x1b[A\x1b[K", vec!["ab   fg"]),
        ("abcdefg\x1b[A\x1b[Kx", vec!["abx  fg"]),
        ("abcdefg\x1b[A\x1b[1K", vec!["   defg"]),
        ("abcdefg\x1b[A\r\x1b[4X\x1b[4C\x1b[X", vec!["     fg"]),
        ("abcdefg\x1b[A\r\x1b[2P", vec!["cde  fg"]),
        ("abcdefg\x1b[A\r\x1b[2@", vec!["  abcfg"]),
        ("abcdefg\r\x1b[2P\x1b[K", vec!["abcde"]),
        // Text that fills a row again is not followed by blanks.
        ("abcdefg\x1b[A\r\x1b[K12345\r\n6", vec!["12345", "6g"]),
    ] {
        assert_eq!(lines(&state(0, ""), bytes).0, expected, "{bytes:?}");
    }
}

/// By the rules of tmux: a region that scrolls up keeps the lines as they wrap, rows that move otherwise
/// end the lines above the places where they come from and go to.
#[test]
fn moving_rows_ends_the_lines_around_them() {
    for (bytes, expected) in [
        ("abcdefg\x1b[T", vec!["", "abcde", "fg"]),
        ("x\r\nabcdefg\x1b[2T", vec!["", "", "x", "abcde"]),
        ("x\r\nabcdefg\x1b[T\x1b[3;1H\x08y", vec!["", "x", "ybcdefg"]),
        ("abcdefg\x1b[H\x1bM", vec!["", "abcde", "fg"]),
        ("abcdefghijk\x1b[2H\x1b[L", vec!["abcde", "", "fghij", "k"]),
        ("abcdefghijk\x1b[2H\x1b[M", vec!["abcde", "k"]),
        ("abcdefghijk\x1b[H\x1b[M", vec!["fghijk"]),
        // A region that scrolls up: the line above it and the line at its end continue.
        ("abcdefghijk\x1b[2;3r\x1b[3H\nx", vec!["fghijabcdek", "x"]),
        ("abcdefghijklmnop\x1b[1;3r\x1b[3H\nx", vec!["abcdefghijklmnox", "p"]),
        // Below a region, the last row wraps into itself.
        ("\x1b[1;3r\x1b[4Habcdefg\x1b[r\x1b[4H\n", vec!["", "", "", "fgcde"]),
        ("\x1b[1;3r\x1b[4Habcdefg\x1b[r\x1b[4H\nx", vec!["", "", "", "fgcdex"]),
        // Below a region, too many rows to insert have no effect.
        ("a\r\nb\r\nc\r\nd\x1b[1;2r\x1b[3H\x1b[L", vec!["a", "b", "", "c"]),
        ("a\r\nb\r\nc\r\nd\x1b[1;2r\x1b[3H\x1b[2L", vec!["a", "b", "c", "d"]),
        // A line that has scrolled off without its end.
        (
            "1\r\n2\r\n3\r\nabcdefghijklmnopqrstu\x1b[H\x1bMx",
            vec!["1", "2", "3", "abcde", "x", "fghij", "klmnopqrst"],
        ),
        (
            "1\r\n2\r\n3\r\nabcdefghijklmnopqrstu\x1b[H\x1b[Mx",
            vec!["1", "2", "3", "abcde", "xlmnopqrstu"],
        ),
        ("1\r\n2\r\n3\r\nabcdefghij\x1b[9S\x1b[Hx", vec!["1", "2", "3", "abcdefghij", "x"]),
        ("abcdefg\x1b[2H\x1b[2X\x1b[2S\x1b[Hx", vec!["abcde", "x"]),
    ] {
        assert_eq!(lines(&state(0, ""), bytes).0, expected, "{bytes:?}");
    }
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

/// Lines of a screen of 5 columns that changes its size after the first bytes.
fn resized(before: &str, width: usize, height: usize, after: &str) -> Vec<String> {
    let place = ScreenPlace { width: 5, height: 4, row: 0, column: 0, history: 0 };
    let mut screen = Screen::for_output(&place);
    let mut lines = Vec::new();
    screen.feed(before.as_bytes(), &mut |line| lines.push(line.to_owned()));
    screen.resize(width, height, &mut |line| lines.push(line.to_owned()));
    screen.feed(after.as_bytes(), &mut |line| lines.push(line.to_owned()));
    lines.extend(screen.pending());
    lines
}

#[test]
fn lines_are_wrapped_anew_at_another_width() {
    for (before, width, height, after, expected) in [
        ("abcdefgh", 3, 4, "i\x1b[AX", vec!["abcdeXghi"]),
        ("abcdefgh", 3, 4, "\x1b[AX", vec!["abcdeXgh"]),
        ("abcdefgh", 20, 4, "\rX", vec!["Xbcdefgh"]),
        ("abcdefgh\r", 20, 4, "X", vec!["abcdeXgh"]),
        ("ab漢字", 3, 4, "\rX\x1b[A\rY", vec!["abY X"]),
        ("1\r\n2\r\n3", 5, 2, "\x1b[9AX", vec!["1", "2X", "3"]),
        ("1\r\n2\r\n3\x1b[A", 5, 2, "X", vec!["1", "2X"]),
        ("12345678\r\n2\r\n3", 2, 4, "X", vec!["12345678", "2", "3X"]),
        ("12345678\r\n2\r\n3", 2, 2, "\x1b[9AX", vec!["12345678", "2X", "3"]),
    ] {
        let lines = resized(before, width, height, after);
        assert_eq!(lines, expected, "{before:?} {width}x{height} {after:?}");
    }
}

/// Rows that a taller screen shows again are final, and can be overwritten without a trace.
#[test]
fn taller_screen_moves_the_cursor_down() {
    let many = "1\r\n2\r\n3\r\n4\r\n5\r\n6";
    assert_eq!(resized(many, 5, 6, "\r\n7\r\n8"), ["1", "2", "3", "4", "5", "6", "7", "8"]);
    assert_eq!(resized(many, 5, 6, "\x1b[6;1H6\x1b[3;1H3"), ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(resized(many, 5, 9, "\r\n7"), ["1", "2", "3", "4", "5", "6", "7"]);
}

#[test]
fn older_text_is_not_part_of_the_output() {
    let lines = |row, bytes: &str| {
        let place = ScreenPlace { width: 5, height: 4, row, column: 0, history: 9 };
        let mut screen = Screen::for_output(&place);
        let mut lines = Vec::new();
        screen.feed(bytes.as_bytes(), &mut |line| lines.push(line.to_owned()));
        lines.extend(screen.pending());
        lines
    };
    assert_eq!(lines(3, "a\r\nb\r\n\r\nc"), ["a", "b", "", "c"]);
    assert_eq!(lines(2, "\r\na"), ["", "a"]);
    assert_eq!(lines(3, "a\x1b[H\x1b[Jb\r\n\r\nc"), ["a", "b", "", "c"]);
    assert_eq!(lines(3, "\x1b7\x1b[Hclock\x1b8a"), ["clock", "a"]);
    assert_eq!(lines(3, "\x1b[2Ja"), ["a"]);
    assert_eq!(lines(0, "\x1b[3;1Ha"), ["a"]);
}
