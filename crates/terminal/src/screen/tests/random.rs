//! Random input.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::input::State;
use super::{HEIGHT, Screen, lines};

const WHOLE: &[&str] = &[
    "\r",
    "\n",
    "\r\n",
    "\t",
    "\x08",
    "\x1b7",
    "\x1b8",
    "\x1bM",
    "\x1bD",
    "\x1b[4h",
    "\x1b[4l",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[J",
    "\x1b[K",
    "\x1b[1<2m",
    "\x1b]0;a\x07",
    "漢",
    "é",
    "\u{301}",
    "\u{85}",
    "🙂",
    "  ",
];

const TORN: &[&str] =
    &["\x1b(0", "\x1b(", "\x1b]0;a", "\x07", "\x1b\\", "\x1bkt", "\x1bPx", "\x18", "\x1b", "\x1b["];

/// Sequences and text, none of them broken.
fn whole_piece() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![Just(String::new()), (0u32..12).prop_map(|n| n.to_string())];
    let finals: Vec<char> = "ABCDEFGHIJKLMPSTXZ@`abdefmrsuhl".chars().collect();
    let csi = (number.clone(), number, select(finals))
        .prop_map(|(a, b, end)| format!("\x1b[{a};{b}{end}").into_bytes());
    prop_oneof![
        "[a-z]{1,12}".prop_map(String::into_bytes),
        csi,
        select(WHOLE).prop_map(|s| s.as_bytes().to_vec()),
    ]
}

fn whole_pieces() -> impl Strategy<Value = Vec<u8>> {
    vec(whole_piece(), 0..60).prop_map(|pieces| pieces.concat())
}

/// The same with what is broken, unfinished, or not even text.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => whole_piece(),
        2 => select(TORN).prop_map(|s| s.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 1..4),
    ];
    vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn where_the_reads_are_cut_makes_no_difference(bytes in pieces(), sizes in vec(1usize..9, 1..9)) {
        let mut screen = Screen::new(HEIGHT);
        let (mut seen, mut rest) = (Vec::new(), bytes.as_slice());
        for size in sizes.iter().cycle() {
            let (chunk, tail) = rest.split_at(rest.len().min(*size));
            screen.feed(chunk, &mut |line| seen.push(line.to_owned()));
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
        seen.extend(screen.pending());
        prop_assert_eq!(seen, lines(&bytes));
    }

    /// Else we would take for text what it takes for a sequence.
    #[test]
    fn we_and_the_parser_agree_where_text_is(bytes in pieces()) {
        #[derive(Default)]
        struct Spy(bool);
        impl vte::Perform for Spy {
            fn print(&mut self, _: char) {
                self.0 = true;
            }
        }
        let mut screen = Screen::new(HEIGHT);
        for byte in bytes {
            screen.feed(&[byte], &mut |_| {});
            let mut spy = Spy::default();
            screen.input.vte.advance(&mut spy, b"\x7f");
            let ours = matches!(screen.input.state, State::Ground | State::Skip { .. });
            prop_assert_eq!(spy.0, ours);
        }
    }

    /// Letters are kept as a string, Greek ones as cells; the edits are the same.
    #[test]
    fn strings_and_cells_behave_alike(bytes in whole_pieces()) {
        let plain = String::from_utf8(bytes).unwrap();
        let greek = |text: &str| text.replace('q', "θ").replace('w', "ω").replace('y', "υ");
        let expected: Vec<_> = lines(&plain).iter().map(|line| greek(line)).collect();
        prop_assert_eq!(lines(greek(&plain)), expected);
    }

    #[test]
    fn any_bytes_are_taken(bytes in prop_oneof![vec(any::<u8>(), 0..400), pieces()], height in 0usize..5) {
        let mut screen = Screen::new(height);
        screen.feed(&bytes, &mut |_| {});
        screen.before_cursor();
        screen.finish(&mut |_| {});
        prop_assert!(screen.pending().is_empty());
    }

    #[test]
    fn text_comes_out_as_it_went_in(text in vec("[ -~é漢🙂\t]{0,20}", 0..12)) {
        prop_assert_eq!(lines(text.iter().map(|line| format!("{line}\r\n")).collect::<String>()), text);
    }
}
