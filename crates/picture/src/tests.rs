//! Tests of the parser, and of the SVG and HTML documents.

use super::cells::{Color, Grid, Style, Underline};
use super::*;

fn capture(text: &str) -> ScreenCapture<'_> {
    ScreenCapture {
        text: text.as_bytes(),
        columns: 10,
        rows: 3,
        cursor: None,
        tabs: "",
        wide_emoji: true,
        fg: "default",
        bg: "default",
    }
}

/// The text of the parsed grid, with a `·` for the second half of each wide cell.
fn text(capture: &ScreenCapture<'_>) -> String {
    let grid = Grid::parse(capture);
    let cells =
        grid.cells().map(|(_, _, cell)| if cell.width == 0 { "·".into() } else { cell.text() });
    cells.collect::<Vec<_>>().concat()
}

fn style(sgr: &str) -> Style {
    let text = format!("\u{1b}[{sgr}mx");
    Grid::parse(&capture(&text)).cells().next().unwrap().2.style
}

#[test]
fn characters_are_parsed_into_their_cells() {
    let table = [
        ("ab\ncd", "ab        cd                  "),
        ("漢x\n0123456789abc", "漢·x       0123456789          "),
        ("e\u{301}f漢\u{301}", "e\u{301}f漢·\u{301}                          "),
        ("a\tb", "a       b                     "),
        ("❤\u{fe0f}x", "❤\u{fe0f}·x                           "),
        ("\u{e}qx\u{f}q", "─│q                           "),
        ("\u{1b}[8mab漢\u{1b}[0mc", "    ·c                         "),
        ("1\n2\n3\n4", "1         2         3         "),
        ("\u{301}a\u{1b}]8;;x\u{1b}\\b\u{1b}[2Jc", "abc                           "),
    ];
    for (input, expected) in table {
        let got = text(&capture(input));
        let sorted = |text: &str| text.replace("·\u{301}", "\u{301}·");
        assert_eq!(sorted(&got), sorted(expected), "{input:?}");
    }
    assert!(text(&ScreenCapture { tabs: "4,9", ..capture("a\tb") }).starts_with("a   b"));
    assert!(
        text(&ScreenCapture { wide_emoji: false, ..capture("❤\u{fe0f}x") })
            .starts_with("❤\u{fe0f}x")
    );
    assert_eq!(text(&ScreenCapture { columns: 0, rows: 0, ..capture("ab") }), "");
}

#[test]
fn sgr_attributes_are_parsed() {
    let plain = Style::default();
    for (sgr, expected) in [
        ("1", Style { bold: true, ..plain }),
        ("1;2;22", plain),
        ("3;9;53", Style { italic: true, strikethrough: true, overline: true, ..plain }),
        ("5:3", Style { overline: true, ..plain }),
        ("4", Style { underline: Underline::Single, ..plain }),
        ("4:3", Style { underline: Underline::Curly, ..plain }),
        ("4:3;24", plain),
        ("4;4:0", plain),
        ("7;8;5", Style { reverse: true, hidden: true, ..plain }),
        ("31;102", Style { fg: Color::Index(1), bg: Color::Index(10), ..plain }),
        ("38;5;200;1", Style { fg: Color::Index(200), bold: true, ..plain }),
        ("48;2;1;2;3", Style { bg: Color::Rgb([1, 2, 3]), ..plain }),
        ("38:2::1:2:3", Style { fg: Color::Rgb([1, 2, 3]), ..plain }),
        ("38:2:1:2:3", Style { fg: Color::Rgb([1, 2, 3]), ..plain }),
        ("58:5:9", Style { underline_color: Color::Index(9), ..plain }),
        ("31;42;58;5;1;39;49;59", plain),
        ("38;5;900", plain),
        ("38", plain),
        ("1;0", plain),
        ("", plain),
    ] {
        assert_eq!(style(sgr), expected, "{sgr}");
    }
}

#[test]
fn columns_stay_aligned_in_documents() {
    let picture = Picture::new(&capture("ab漢─é\u{1b}[1;31m<&\u{1b}[0m"), Theme::Dark);
    let svg = picture.svg();
    for part in [
        "<text x=\"0\" y=\"12\" textLength=\"16\"",
        "<text x=\"16\" y=\"12\" textLength=\"16\"",
        "<use href=\"#u2500\" x=\"32\" y=\"0\"",
        "<text x=\"40\" y=\"12\" textLength=\"8\"",
        "font-weight=\"bold\">&lt;&amp;</text>",
    ] {
        assert!(svg.contains(part), "{part}\n{svg}");
    }
    let html = picture.html();
    let line = "ab<i class=w>漢</i><i class=\"d u2500\" style=width:1ch>─</i>é\
                <span class=s0>&lt;&amp;</span>";
    assert!(html.contains(line), "{html}");
}

#[test]
fn arbitrary_bytes_make_a_picture() {
    let mut seed = 1_u32;
    for _ in 0..30 {
        let bytes: Vec<u8> = (0..400)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let choices = [0x1b, b'[', b'm', b';', b'4', b':', b'\n', 0xe2, 0x94];
                let at = (seed >> 24) as usize;
                choices.get(at % 20).copied().unwrap_or((seed >> 16) as u8)
            })
            .collect();
        let cursor = Some(ScreenCursor { x: 9, y: 7, shape: CursorShape::Underline });
        let capture = ScreenCapture { text: &bytes, cursor, ..capture("") };
        let picture = Picture::new(&capture, Theme::Light);
        assert!(picture.png().unwrap().len() > 50);
        assert!(picture.svg().ends_with("</svg>\n") && picture.html().ends_with("</html>\n"));
    }
}

#[test]
fn png_of_an_empty_screen_is_an_error() {
    for (columns, rows) in [(0, 3), (10, 0)] {
        assert!(
            Picture::new(&ScreenCapture { columns, rows, ..capture("a") }, Theme::Dark)
                .png()
                .is_err()
        );
    }
}

#[test]
fn covered_text_is_in_no_format() {
    let find = |text: &str| {
        text.match_indices("hush").map(|(at, word)| at..at + word.len()).collect::<Vec<_>>()
    };
    // One secret is partly bold, one goes on in the next row, one begins above the screen.
    let capture = capture("sh 1 hu\u{1b}[1msh\u{1b}[0m\n01234567hu\nsh end");
    let mut picture = Picture::new(&capture, Theme::Dark);
    assert_eq!(picture.cover("above\n01234567hu\n", find), 3);
    let shown: String = picture.cells().map(|(_, _, cell, _)| cell.text()).collect();
    assert_eq!(shown, "** 1 **** 01234567**** end    ");
    assert!(!picture.svg().contains("hu") && !picture.html().contains("hu"));
}
