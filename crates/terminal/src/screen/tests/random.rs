//! Tests of the screen with random input.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::input::State;
use super::{HEIGHT, Screen, lines};

const COMPLETE: &[&str] = &[
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

const INCOMPLETE: &[&str] =
    &["\x1b(0", "\x1b(", "\x1b]0;a", "\x07", "\x1b\\", "\x1bkt", "\x1bPx", "\x18", "\x1b", "\x1b["];

/// Text, or a complete sequence.
fn complete_piece() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![Just(String::new()), (0u32..12).prop_map(|n| n.to_string())];
    let finals: Vec<char> = "ABCDEFGHIJKLMPSTXZ@`abdefmrsuhl".chars().collect();
    let csi = (number.clone(), number, select(finals))
        .prop_map(|(a, b, end)| format!("\x1b[{a};{b}{end}").into_bytes());
    prop_oneof![
        "[a-z]{1,12}".prop_map(String::into_bytes),
        csi,
        select(COMPLETE).prop_map(|s| s.as_bytes().to_vec()),
    ]
}

fn complete_pieces() -> impl Strategy<Value = Vec<u8>> {
    vec(complete_piece(), 0..60).prop_map(|pieces| pieces.concat())
}

/// Text and sequences, also incomplete ones, and invalid bytes.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => complete_piece(),
        2 => select(INCOMPLETE).prop_map(|s| s.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 1..4),
    ];
    vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn read_boundaries_make_no_difference(bytes in pieces(), sizes in vec(1usize..9, 1..9)) {
        let mut screen = Screen::new(HEIGHT);
        let (mut got, mut rest) = (Vec::new(), bytes.as_slice());
        for size in sizes.iter().cycle() {
            let (chunk, tail) = rest.split_at(rest.len().min(*size));
            screen.feed(chunk, &mut |line| got.push(line.to_owned()));
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
        got.extend(screen.pending());
        prop_assert_eq!(got, lines(&bytes));
    }

    /// Otherwise bytes of a sequence could be taken for text.
    #[test]
    fn state_agrees_with_vte(bytes in pieces()) {
        #[derive(Default)]
        struct PrintProbe(bool);
        impl vte::Perform for PrintProbe {
            fn print(&mut self, _: char) {
                self.0 = true;
            }
        }
        let mut screen = Screen::new(HEIGHT);
        for byte in bytes {
            screen.feed(&[byte], &mut |_| {});
            let mut probe = PrintProbe::default();
            screen.input.vte.advance(&mut probe, b"\x7f");
            let is_ground = matches!(screen.input.state, State::Ground | State::String { .. });
            prop_assert_eq!(probe.0, is_ground);
        }
    }

    /// ASCII letters are stored as a string, Greek ones as cells; edits have the same effect.
    #[test]
    fn strings_and_cells_behave_alike(bytes in complete_pieces()) {
        let ascii = String::from_utf8(bytes).unwrap();
        let greek = |text: &str| text.replace('q', "θ").replace('w', "ω").replace('y', "υ");
        let expected: Vec<_> = lines(&ascii).iter().map(|line| greek(line)).collect();
        prop_assert_eq!(lines(greek(&ascii)), expected);
    }

    #[test]
    fn arbitrary_bytes_are_accepted(bytes in prop_oneof![vec(any::<u8>(), 0..400), pieces()], height in 0usize..5) {
        let mut screen = Screen::new(height);
        screen.feed(&bytes, &mut |_| {});
        screen.before_cursor();
        screen.finish(&mut |_| {});
        prop_assert!(screen.pending().is_empty());
    }

    #[test]
    fn plain_lines_are_unchanged(text in vec("[ -~é漢🙂\t]{0,20}", 0..12)) {
        prop_assert_eq!(lines(text.iter().map(|line| format!("{line}\r\n")).collect::<String>()), text);
    }
}
