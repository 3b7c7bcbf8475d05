//! Tests of the screen without a width: tables of bytes and the resulting lines.

mod oracle;
mod random;
mod width;

use super::*;

const HEIGHT: usize = 4;

/// The final and pending lines of a screen of four rows after some bytes.
fn lines(bytes: impl AsRef<[u8]>) -> Vec<String> {
    let mut screen = Screen::new(HEIGHT);
    let mut lines = Vec::new();
    screen.feed(bytes.as_ref(), &mut |line| lines.push(line.to_owned()));
    lines.extend(screen.pending());
    lines
}

fn check(table: &[(&str, &[&str])]) {
    for (bytes, expected) in table {
        assert_eq!(lines(bytes), *expected, "{bytes:?}");
    }
}

#[test]
fn lines_end_at_last_text_or_line_feed() {
    check(&[
        ("", &[]),
        ("one\r\ntwo\r\n", &["one", "two"]),
        ("no newline", &["no newline"]),
        ("\r\n", &[""]),
        ("a\r\n\r\n\r\n", &["a", "", ""]),
        ("1\r\n2\r\n3\r\n4\r\n5\r\n6", &["1", "2", "3", "4", "5", "6"]),
        ("\r\n\r\n\r\n\r\n\r\n\r\n", &["", "", "", "", "", ""]),
        // Moving the cursor makes no lines, writing there does.
        ("a\x1b[2B", &["a"]),
        ("a\x1b[2B\rb", &["a", "", "b"]),
        ("a\x1b[9Bb", &["a", "", "", " b"]),
    ]);
}

#[test]
fn control_characters_take_effect() {
    check(&[
        ("a\nb", &["a", " b"]),
        ("a\x0bb\x0cc", &["a", " b", "  c"]),
        ("ab\x08c", &["ac"]),
        ("\x08\x08a\x08\x08\x08b", &["b"]),
        ("a\x07\x00\x7f\x05b", &["ab"]),
        ("a\x1bDb\x1bEc", &["a", " b", "c"]),
        ("a\r\nb\x1bMc", &["ac", "b"]),
        ("a\r\nb\x1bM\x1bMc", &[" c", "a", "b"]),
        // A control inside a sequence takes effect; a cancelled sequence does not.
        ("ab\x1b[\r1Cc", &["ac"]),
        ("ab\x1b[1\x18Dc", &["abDc"]),
        ("ab\x1b[1\x1b[Dc", &["ac"]),
    ]);
}

#[test]
fn overwritten_text_is_gone() {
    check(&[
        ("10%\r50%\rdone\r\n", &["done"]),
        ("100%\rok", &["ok0%"]),
        ("loading\r\x1b[Kok\r\n", &["ok"]),
        ("loading\r\x1b[2Kok  \r\n", &["ok  "]),
        ("abc\x1b[2D\x1b[K", &["a"]),
        ("abc\x1b[2D\x1b[1K", &["  c"]),
        ("abcdef\x1b[3G\x1b[2P", &["abef"]),
        ("abcdef\x1b[3G\x1b[99P", &["ab"]),
        ("abcdef\x1b[3G\x1b[2@", &["ab  cdef"]),
        ("abcdef\x1b[3G\x1b[2X", &["ab  ef"]),
        ("abcdef\x1b[3G\x1b[9X", &["ab"]),
        ("acd\x1b[2G\x1b[4hb\x1b[4l\x1b[Gx", &["xbcd"]),
        ("éabcd\x1b[3G\x1b[2X", &["éa  d"]),
        ("éabcd\x1b[3G\x1b[1K", &["   cd"]),
    ]);
}

#[test]
fn only_the_character_just_printed_is_repeated() {
    check(&[
        ("-\x1b[4b.\x1b[b", &["-----.."]),
        ("é\x1b[2b", &["ééé"]),
        ("-\r\n\x1b[4b", &["-"]),
        ("-\x1b[m\x1b[4b", &["-"]),
        ("-\x1b[C\x1b[4b", &["-"]),
        ("-\x1b7\x1b[4b", &["-"]),
        ("-\x1b[b\x1b[b", &["--"]),
        ("-\x1b]0;title\x07\x1b[b", &["-"]),
        ("-\x1bPq\x1b\\\x1b[b", &["-"]),
    ]);
}

#[test]
fn trailing_blanks_stay_unless_text_was_rewritten() {
    check(&[
        ("a  \r\n", &["a  "]),
        ("a  \r\r\n", &["a  "]),
        ("a  \x1b[K\r\n  ", &["a  ", "  "]),
        ("long text\rshort    ", &["short"]),
        ("é long text\rshort      ", &["short"]),
        ("ab  cd\x1b[2D\x1b[K", &["ab"]),
        ("a\x1b[20C", &["a"]),
        ("a\x1b[3Cb", &["a   b"]),
        // A progress bar that was wiped with blanks is not a line.
        ("a\r\nbar\r   \r", &["a"]),
    ]);
}

#[test]
fn cursor_moves_take_effect() {
    check(&[
        ("a\r\nb\r\nc\x1b[2Ax", &["ax", "b", "c"]),
        ("a\r\nb\x1b[99Ax", &["ax", "b"]),
        ("a\x1b[Bb\x1b[2Cc", &["a", " b  c"]),
        ("abc\x1b[2Dx", &["axc"]),
        ("abc\x1b[99Dx", &["xbc"]),
        ("abc\x1b[Ex\x1b[Fy", &["ybc", "x"]),
        ("abc\x1b[2Gx\x1b[3`y", &["axy"]),
        ("\x1b[2;3Hx\x1b[1;1fy\x1b[Hz", &["z", "  x"]),
        ("a\x1b[3db", &["a", "", " b"]),
        ("ab\x1b7cd\x1b8x", &["abxd"]),
        // Without a saved position, or after a reset, that is the top left.
        ("ab\r\ncd\x1b8x", &["xb", "cd"]),
        ("ab\x1b7\x1bc\r\ncd\x1b8x", &["ab", "x", "cd"]),
        // Both screens have the same saved position.
        ("ab\x1b7cd\x1b[?1049hfull\x1b7\x1b[?1049l\x1b8x", &["abcd    x"]),
        ("ab\x1b7cd\x1b[?1049h\x1b8\x1b[?47lx", &["abxd"]),
        ("ab\x1b[scd\x1b[ux", &["abxd"]),
        ("a\tb\tc\x1b[2Zd", &["a\td\tc"]),
        // tmux does not know these movements.
        ("a\x1b[eb\x1b[2ac\x1b[2Id\x1b[?1048he\x1b[?1048lf", &["abcdef"]),
    ]);
}

#[test]
fn erased_lines_are_gone() {
    check(&[
        ("a\r\nb\r\nc\x1b[2;1H\x1b[J", &["a"]),
        ("a\r\nb\r\nc\x1b[1A\x1b[1J", &["", "", "c"]),
        ("a\x1b[3J", &["a"]),
        ("abc\r\nd\x1b[1;2H\x1b[J", &["a"]),
        // Progress displays of several lines erase upwards, or downwards.
        ("a\r\n1\r\n2\x1b[2K\x1b[A\x1b[2K\r", &["a"]),
        ("a\r\n1\r\n\r\n\x1b[2A\x1b[2K\x1b[B\x1b[2K\x1b[Ab", &["a", "b"]),
        ("a\r\n\x1b[K\r\nb", &["a", "", "b"]),
        ("\x1b[4Hstatus\x1b[Ha\r\n\x1b7\x1b[4H\x1b[K\x1b8", &["a"]),
    ]);
}

#[test]
fn lines_of_a_cleared_screen_are_kept() {
    check(&[
        ("a\r\nb\r\n\x1b[H\x1b[2J\x1b[3Jx\r\n", &["a", "b", "x"]),
        ("a\r\nb\r\n\x1b[2J\x1b[Hx", &["a", "b", "x"]),
        ("1\r\n2\r\n3\r\n4\r\n5\x1b[H\x1b[J\x1b[3Jx", &["1", "2", "3", "4", "5", "x"]),
        ("a\r\nb\x1bcc", &["a", "b", "c"]),
        // A display that is redrawn in the first row is not a cleared screen.
        ("1\r\n2\x1b[A\r\x1b[J3", &["3"]),
        ("\x1b[H1\r\x1b[J2\r\x1b[J3", &["3"]),
        ("1\r\n2\x1b[2;1H\x1bM\r\x1b[J3", &["3"]),
        ("a\x1b[?1049hvim\x1b[2J\x1b[?1049l", &["a"]),
    ]);
}

#[test]
fn rows_are_inserted_deleted_and_scrolled() {
    check(&[
        ("a\r\nb\r\nc\x1b[2H\x1b[L", &["a", "", "b", "c"]),
        ("a\r\nb\r\nc\r\nd\x1b[2H\x1b[2L", &["a", "", "", "b"]),
        ("a\r\nb\r\nc\x1b[H\x1b[M", &["b", "c"]),
        ("a\r\nb\r\nc\x1b[H\x1b[99M", &[]),
        ("a\r\nb\r\nc\x1b[2H\x1b[M", &["a", "c"]),
        ("a\r\nb\r\nc\r\nd\x1b[2H\x1b[99L", &["a"]),
        // Text that scrolls off the top or a region is a line, an unused row is not.
        ("a\r\nb\x1b[Sc", &["a", "b", " c"]),
        ("\x1b[Sa", &["a"]),
        ("a\x1b[Tb", &[" b", "a"]),
        ("a\r\nbbb\r\nc\r\nd\x1b[2;3r\x1b[3H\nx", &["bbb", "a", "c", "x", "d"]),
        ("a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[2H\x1bMx", &["a", "x", "b", "d"]),
        ("a\r\nb\x1b[2;3r\x1b[3Hc\x1b[9Ax\x1b[9By", &["a", "bx", "c y"]),
        ("a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[4H\x1b[Mx\n\ny", &["a", "b", "c", "xy"]),
        // A status line below a scroll region, as apt shows it.
        ("\x1b[4Hst\x1b[1;3r1\r\n2\r\n3\r\n4\r\n5", &["1", "2", "3", "4", "5", "st"]),
        ("a\r\nb\x1b[3;3r\x1b[3;2rc", &["a", "bc"]),
    ]);
}

#[test]
fn tabs_stay_tabs_unless_overwritten() {
    check(&[
        ("a\tb\r\n\tc\t\td\t\r\n", &["a\tb", "\tc\t\td\t"]),
        ("1234567\tx\r12345678", &["12345678x"]),
        ("a\tb\rx", &["x\tb"]),
        ("a\tb\x1b[3Gx", &["a x     b"]),
        ("a\tb\x1b[2Gx", &["ax      b"]),
        ("a\tb\x1b[3G\x1b[K", &["a"]),
        ("a\tb\r\x1b[@", &[" a       b"]),
        ("ab\tc\r\x1b[P", &["b      c"]),
        ("0123456789ab\r\tx", &["01234567x9ab"]),
        ("é\tb\r\tx", &["é\tx"]),
        ("é\tb\rx\t\x1b[C\tc", &["x\tb\tc"]),
    ]);
}

#[test]
fn wide_characters_take_two_columns() {
    check(&[
        ("漢字", &["漢字"]),
        ("漢字\rab", &["ab字"]),
        ("漢字\ra", &["a 字"]),
        ("漢字\x1b[2Ga", &[" a字"]),
        ("abcd\r漢", &["漢cd"]),
        ("a漢\x1b[2G\x1b[P", &["a"]),
        ("a漢b\x1b[2G\x1b[Px", &["axb"]),
        ("🙂\x08\x08ab", &["ab"]),
        ("👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}", &["👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}"]),
        ("e\u{301}a\rx\x1b[Cy", &["xay"]),
        ("ea\re\x1b[C\u{301}", &["ea\u{301}"]),
        ("ea\x08\u{301}", &["e\u{301}a"]),
        ("漢字\r\x1b[2C\u{301}", &["漢\u{301}字"]),
        // A mark belongs to the column before it, which may be blank; in the first column it is lost.
        ("\u{301}a\x1b[2C\u{301}", &["a  \u{301}"]),
        ("a\r\n\x1b[2C\u{301}\x1b[K", &["a", "  \u{301}"]),
        ("a\u{85}\u{9b}b", &["ab"]),
    ]);
}

#[test]
fn special_graphics_become_line_drawing_characters() {
    check(&[
        ("\x1b(0lqk\x1b(B q\r\n\x1b(0mqj", &["┌─┐ q", "└─┘"]),
        ("\x1b)0q\x0eq\x0fq", &["q─q"]),
        ("\x1b7\x1b(0x\x1b8x\x1b(0x\x1b[2b\x1b(Bx", &["x│││x"]),
        ("\x1b(0_`~A0", &["\u{a0}◆·A0"]),
    ]);
}

#[test]
fn colors_titles_and_modes_are_dropped() {
    check(&[
        ("\x1b[1;31mred\x1b[0m \x1b[38:2::1:2:3mx", &["red x"]),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", &["alink"]),
        ("\x1bPq#0;2;0✜0\x07;0\x1b\\a\x1b_x\x1b\\b\x1b^x\x1b\\c\x1bXx\x1b\\d", &["abcd"]),
        ("\x1bktitle\x1b\\a\x1bktitle\x07b\x1bkti\x18c", &["abc"]),
        ("\x1b]0;x\x1b[31my", &["y"]),
        ("\x1b[?25l\x1b[?2004ha\x1b[>1u\x1b[<ub\x1b=\x1b>\x1b#8c\x1b[?1$p", &["abc"]),
        ("\x1b[1<2mx\x1b(%cy\x1b(Pz\x1b(ka\x1b([b", &["xyzab"]),
        ("b\r\x1b[4h\x1b[!q\x1b[!pa", &["ab"]),
        ("b\r\x1b[20ha", &["a"]),
    ]);
    // A title that exceeds the limit ends there.
    let long = format!("\x1bk{}text", "t".repeat(4096));
    assert_eq!(lines(&long), ["text"]);
    let mut screen = Screen::new(HEIGHT);
    long.bytes().for_each(|byte| screen.feed(&[byte], &mut |_| {}));
    assert_eq!(screen.pending(), ["text"]);
}

#[test]
fn invalid_utf8_becomes_replacement_characters() {
    let table: [(&[u8], &[&str]); 6] = [
        (b"a\xffb", &["a\u{fffd}b"]),
        (b"a\xe2\x82b", &["a\u{fffd}b"]),
        (b"a\xe2\x82\r\n\xf0\x9f\x98\x1b[mb", &["a\u{fffd}", "\u{fffd}b"]),
        (b"\x80\xc0", &["\u{fffd}\u{fffd}"]),
        (b"a\xe2\x82", &["a"]),
        (b"\x1b\xe2\x1b[\xe9mx", &["x"]),
    ];
    for (bytes, expected) in table {
        assert_eq!(lines(bytes), expected, "{bytes:?}");
    }
    let mut last = Vec::new();
    let mut screen = Screen::new(1);
    screen.feed(b"a\xe2\x82", &mut |_| {});
    screen.finish(&mut |line| last.push(line.to_owned()));
    assert_eq!(last, ["a\u{fffd}"]);
}

#[test]
fn alternate_screen_leaves_no_lines() {
    let mut screen = Screen::new(HEIGHT);
    let mut done = Vec::new();
    let mut feed = |bytes: &str, screen: &mut Screen| {
        screen.feed(bytes.as_bytes(), &mut |line| done.push(line.to_owned()));
    };
    feed("one\r\ntw", &mut screen);
    assert!(!screen.in_alternate() && !screen.had_alternate());
    feed("\x1b[?1049h\x1b[H1\r\n2\r\n3\r\n4\r\n5\x1b[2Svim\x1b7", &mut screen);
    assert!(screen.in_alternate() && screen.had_alternate());
    assert_eq!(screen.before_cursor(), " vim");
    assert_eq!(screen.pending(), ["one", "tw"]);
    feed("\x1b[?1049l", &mut screen);
    assert!(!screen.in_alternate() && screen.had_alternate());
    feed("o\r\n\x1b[?25;47hx\x1b[?47l\x1b[?1047hy\x1b[?1047l", &mut screen);
    assert_eq!(screen.pending(), ["one", "two"]);
    feed("\x1b[?1049h\x1bc", &mut screen);
    assert!(screen.in_alternate() && screen.had_alternate());
    assert_eq!(done, [""; 0]);
}

#[test]
fn echoed_replies_are_not_output() {
    check(&[
        ("\x1b[6n^[[4;2Rdone", &["done"]),
        ("\x1b[6nask^[[4;2Rdone", &["askdone"]),
        ("\x1b[c\x1b[6n^[[?1;2c^[[4;2R\r\ndone", &["", "done"]),
        ("\x1b]11;?\x07^[]11;rgb:0000/0000/0000^[\\x", &["x"]),
        // A program may print such text itself.
        ("^[[4;2R", &["^[[4;2R"]),
        ("\x1b[6n^[[4;2R^[[4;2R", &["^[[4;2R"]),
    ]);
    let mut screen = Screen::new(HEIGHT);
    for part in ["\x1b[6nask^", "[[4", ";2", "Rdone"] {
        screen.feed(part.as_bytes(), &mut |_| {});
    }
    assert_eq!(screen.pending(), ["askdone"]);
}

#[test]
fn terminal_queries_are_noticed() {
    for query in [
        "\x1b[c",
        "\x1b[>c",
        "\x1b[6n",
        "\x1b[?6n",
        "\x1b[?25$p",
        "\x1b[4$p",
        "\x1b[>q",
        "\x1b]11;?\x07",
        "\x1b]4;1;?\x1b\\",
        "\x1b]52;c;?\x07",
        "\x1bP+q544e\x1b\\",
        "\x1bP$qm\x1b\\",
    ] {
        let mut screen = Screen::new(HEIGHT);
        for byte in query.bytes() {
            screen.feed(&[byte], &mut |_| {});
        }
        screen.feed(b"\x1bc", &mut |_| {});
        assert!(screen.was_queried(), "{query:?}");
    }
    let long = format!("\x1b]0;{}?\x07", "a;".repeat(50));
    for other in
        ["\x1b[2q", "\x1b[!p", "\x1b]11;?\x18", "\x1b]0;why?\x07", "\x1bPq+q\x1b\\", long.as_str()]
    {
        let mut screen = Screen::new(HEIGHT);
        screen.feed(other.as_bytes(), &mut |_| {});
        assert!(!screen.was_queried(), "{other:?}");
    }
}

#[test]
fn cursor_row_and_text_before_it_are_known() {
    let mut screen = Screen::new(HEIGHT);
    for (bytes, before, row) in [
        ("a\r\nName: ", "Name: ", 1),
        ("\x1b[3D", "Nam", 1),
        ("\rö\tx\x1b[3G", "öa", 1),
        ("\x1b[2K漢\t字\x1b[3C", "  漢\t字", 1),
        ("\x1b[2K\r漢e\u{301}x\x08", "漢e\u{301}", 1),
        ("\x1b[1;9H", "a", 0),
    ] {
        screen.feed(bytes.as_bytes(), &mut |_| {});
        let cursor = (screen.before_cursor(), screen.cursor_row());
        assert_eq!(cursor, (before.to_owned(), row), "{bytes:?}");
    }
}

#[test]
fn lines_become_final_by_scrolling_and_at_finish() {
    let mut screen = Screen::new(0);
    let mut done = Vec::new();
    screen.feed(b"1\r\n2\r\n\x1b(0\x1b[4hx\xe2", &mut |line| done.push(line.to_owned()));
    assert_eq!(done, ["1", "2"]);
    screen.finish(&mut |line| done.push(line.to_owned()));
    assert_eq!(done, ["1", "2", "│\u{fffd}"]);
    assert!(screen.pending().is_empty());
    screen.feed(b"x", &mut |_| {});
    assert_eq!(screen.pending(), ["x"]);
}

#[test]
fn few_bytes_cannot_cause_much_work() {
    let longest = |bytes: String| lines(bytes).iter().map(String::len).max();
    assert_eq!(longest("\x1b[999999999Cx".into()), Some(10_001));
    assert_eq!(longest("x\x1b[999999999b\x1b[999999999b".into()), Some(10_000));
    assert_eq!(longest("x\x1b[999999999@\x1b[Dy\r\x1b[9999@\x1b[9999@".into()), Some(19_999));
    // A column far to the right is limited in the next row, and in a row that was erased.
    let long = "x".repeat(1_000_000);
    assert_eq!(lines(format!("{long}\nx"))[1].len(), 10_001);
    assert_eq!(longest(format!("{long}\x1b[2Kx")), Some(10_001));
    assert_eq!(longest(format!("e{}", "\u{301}".repeat(1000))), Some(65));
    assert_eq!(longest(format!("e \x08{}", "\u{301}".repeat(1000))), Some(66));
    check(&[
        ("a\x1b[999999999L\x1b[999999999M\x1b[999999999S\x1b[999999999Tb", &[" b"]),
        ("a\x1b[1;999999999r\x1b[999999999;999999999r\x1b[999999999Bb", &["a", "", "", "b"]),
        ("a\x1b[999999999Z\x1b[999999999P\x1b[999999999X", &[]),
        ("a\x1b[99999999999G\x1b[999999999D\x1b[1K", &[]),
    ]);
    let mut screen = Screen::new(HEIGHT);
    screen.feed(b"\x1b]0;", &mut |_| {});
    (0..100).for_each(|_| screen.feed(&[b'x'; 1000], &mut |_| {}));
    assert!(screen.input.string.len() < 100);
    // Cells take more memory than text: a row that grows becomes text again, a huge one stays text.
    assert_eq!(lines(format!("é\r{long}"))[0], long);
    assert_eq!(lines(format!("é{long}{long}\rx"))[0], format!("é{long}{long}"));
}
