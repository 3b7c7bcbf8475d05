//! Pieces and keys in all orders: what is entered is always judged, and never as something else.

use std::cell::RefCell;

use proptest::prelude::*;

use super::*;

/// What was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Line(String),
    Unknown,
}

/// Types all strokes and says what was judged on the way.
fn judged(strokes: impl IntoIterator<Item = Keystroke>) -> (TypedLine, Vec<Seen>) {
    judged_from(TypedLine::default(), strokes)
}

/// The same in a later call.
fn judged_from(
    line: TypedLine,
    strokes: impl IntoIterator<Item = Keystroke>,
) -> (TypedLine, Vec<Seen>) {
    let line = if line.is_cleared() { TypedLine::default() } else { line };
    let seen = RefCell::new(Vec::new());
    let line = line.after(strokes.into_iter(), |entered| {
        seen.borrow_mut().push(match entered {
            ShellLine::Known(line) => Seen::Line(line.to_owned()),
            ShellLine::Edited | ShellLine::Lost => Seen::Unknown,
        });
        Ok::<(), ()>(())
    });
    (line.unwrap(), seen.into_inner())
}

fn lines(texts: &[&str]) -> Vec<Seen> {
    texts.iter().map(|text| Seen::Line((*text).to_owned())).collect()
}

fn keys(names: &[&str]) -> Vec<Keystroke> {
    names.iter().map(|name| Keystroke::of_key(&Key::parse(name).unwrap())).collect()
}

#[test]
fn pieces_are_put_together_until_a_key_that_enters_them() {
    let pieces = [Keystroke::of_text("r").collect(), keys(&["m", "Space", "0x78"])].concat();
    for enter in ["Enter", "Return", "C-m", "C-j", "^M", "KPEnter", "0x0d", "0x0a", "C-o", "M-a"] {
        let (_, seen) = judged([pieces.clone(), keys(&[enter])].concat());
        assert_eq!(seen, lines(&["rm x"]), "{enter}");
    }
    let (line, seen) = judged(Keystroke::of_text("ls\nrm x\rpwd"));
    assert_eq!(seen, lines(&["ls", "rm x"]));
    assert_eq!(judged_from(line, keys(&["Enter"])).1, lines(&["pwd"]));
}

#[test]
fn a_line_that_was_edited_is_unknown_until_c_c() {
    for key in ["BSpace", "Left", "Up", "C-u", "C-w", "C-r", "0x08", "0x7f", "ö", "0xe2", "F1"] {
        let (line, seen) = judged([keys(&["x", key]), keys(&["r", "m", "Enter"])].concat());
        assert_eq!(seen, [Seen::Unknown], "{key}");
        let (line, seen) = judged_from(line, keys(&["C-c"]));
        assert!(line.is_cleared() && seen.is_empty(), "{key}");
        assert_eq!(judged_from(line, keys(&["r", "m", "Enter"])).1, lines(&["rm"]), "{key}");
    }
}

/// C-v lets a shell take the C-c after it as a character of the line.
#[test]
fn keys_that_may_change_the_next_one_leave_the_line_unknown_for_good() {
    for key in ["C-v", "C-q", "Escape", "M-9", "C-x", "0x1b", "S-Up", "C-Space", "0x16"] {
        let (line, seen) = judged(keys(&["a", key, "C-c", "l", "s"]));
        assert_eq!(seen, lines(&["a"]), "{key}");
        assert_eq!(judged_from(line, keys(&["Enter"])).1, [Seen::Unknown], "{key}");
    }
}

#[test]
fn where_nothing_is_typed_an_end_or_a_signal_changes_nothing() {
    let (line, seen) = judged([keys(&["C-d", "C-z"]), vec![Keystroke::Signal]].concat());
    assert_eq!((line, seen), (TypedLine::default(), vec![]));
    let (_, seen) = judged(keys(&["r", "m", "C-d"]));
    assert_eq!(seen, lines(&["rm"]), "a shell without a line editor enters it");
    let (line, _) = judged([keys(&["e"]), vec![Keystroke::Signal]].concat());
    assert_eq!(judged_from(line, keys(&["Enter"])).1, [Seen::Unknown]);
}

/// A shell may lose the first characters after C-c, and the rest would be another line.
#[test]
fn what_comes_at_once_after_c_c_is_not_counted_on() {
    let (_, seen) = judged(keys(&["C-c", "Enter", "C-d", "Z", "r", "m", "Enter"]));
    assert_eq!(seen, [Seen::Unknown]);
}

/// While bash looks for what may follow, C-c ends the search and not the line.
#[test]
fn after_a_completion_c_c_is_not_counted_on() {
    for key in ["Tab", "BTab", "C-i", "0x09"] {
        let (line, seen) = judged(keys(&["r", key, "C-c", "m"]));
        assert_eq!(seen, [], "{key}");
        assert_eq!(judged_from(line, keys(&["Enter"])).1, [Seen::Unknown], "{key}");
    }
}

/// Some line editors drop the line ends at the end of a paste.
#[test]
fn what_follows_a_paste_may_belong_to_its_last_line() {
    let (line, seen) = judged(Keystroke::of_paste("ls\nr\n", true));
    assert_eq!(seen, lines(&["ls", "r"]));
    assert_eq!(judged_from(line, keys(&["m", "Enter"])).1, lines(&["m", "rm"]));
    let (line, _) = judged(Keystroke::of_paste("r\n", false));
    assert_eq!(judged_from(line, keys(&["m", "Enter"])).1, lines(&["m"]));
}

#[test]
fn lines_that_end_in_a_backslash_are_judged_as_one_too() {
    assert_eq!(judged(Keystroke::of_text("r\\\nm x\n")).1, lines(&["r\\", "m x", "rm x"]));
    let seen = RefCell::new(Vec::new());
    let note = |entered: ShellLine<'_>| {
        seen.borrow_mut().push(format!("{entered:?}"));
        Ok::<(), ()>(())
    };
    judge_all("a\\\\\nr\\\nm", note).unwrap();
    let wanted = ["a\\\\", "r\\", "m", "rm"].map(|line| format!("{:?}", ShellLine::Known(line)));
    assert_eq!(seen.into_inner(), wanted);
}

/// A text as a random mixture of typing, keys, bytes and pastes.
fn in_pieces() -> impl Strategy<Value = (String, Vec<Vec<Keystroke>>)> {
    let piece = ("[ -~]{0,6}", 0..4u8);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| {
        let text = pieces.iter().map(|(text, _)| text.as_str()).collect();
        let strokes = pieces.iter().map(|(text, way)| match way {
            0 => Keystroke::of_text(text).collect(),
            1 => text
                .chars()
                .map(|c| Keystroke::of_key(&Key::parse(&c.to_string()).unwrap()))
                .collect(),
            2 => text.bytes().map(|byte| Keystroke::of_key(&Key::Byte(byte))).collect(),
            _ => Keystroke::of_paste(text, true).collect(),
        });
        (text, strokes.collect())
    })
}

proptest! {
    #[test]
    fn however_a_text_is_split_it_is_judged_the_same((text, pieces) in in_pieces()) {
        let mut line = TypedLine::default();
        for piece in pieces {
            let (next, seen) = judged_from(line, piece);
            prop_assert_eq!(seen, vec![]);
            line = next;
        }
        prop_assert_eq!(judged_from(line, keys(&["Enter"])).1, lines(&[&text]));
    }

    /// No mixture of keys lets a line through as something that was not typed since the last Enter.
    #[test]
    fn what_is_judged_was_typed_in_this_order(
        names in prop::collection::vec(
            prop::sample::select(vec!["r", "m", "x", "Enter", "BSpace", "C-c", "Escape", "C-v", "Up", "C-d"]),
            0..20,
        )
    ) {
        let (_, seen) = judged(keys(&names));
        // The line that stands typed; `None` if nobody knows.
        let mut since = Some(String::new());
        let (mut cleared, mut lost) = (false, false);
        let mut wanted = Vec::new();
        for name in names {
            let stands = since.clone().map_or(Seen::Unknown, Seen::Line);
            match name {
                "C-c" if !lost => (since, cleared) = (Some(String::new()), true),
                "C-c" => {}
                "Enter" | "C-d" if cleared => {}
                "C-d" if since.as_deref() == Some("") => {}
                "Enter" => {
                    wanted.push(stands);
                    since = since.map(|_| String::new());
                }
                "BSpace" | "Up" => (since, cleared) = (None, false),
                "Escape" | "C-v" | "C-d" => {
                    wanted.extend((!cleared).then_some(stands));
                    (since, cleared, lost) = (None, false, true);
                }
                other => {
                    since = since.filter(|_| !cleared).map(|line| line + other);
                    cleared = false;
                }
            }
        }
        prop_assert_eq!(seen, wanted);
    }
}
