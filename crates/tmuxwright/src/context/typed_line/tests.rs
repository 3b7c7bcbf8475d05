//! Tests of typed lines: every submitted line is checked, with exactly the text that was typed.

use std::cell::RefCell;

use proptest::prelude::*;

use super::*;

/// A checked line.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Line(String),
    Unknown,
}

/// The line after these keystrokes, and the lines that were checked.
fn checked(strokes: impl IntoIterator<Item = Keystroke>) -> (TypedLine, Vec<Seen>) {
    checked_from(TypedLine::default(), strokes)
}

/// The same for keystrokes of a later call.
fn checked_from(
    line: TypedLine,
    strokes: impl IntoIterator<Item = Keystroke>,
) -> (TypedLine, Vec<Seen>) {
    let line = if line.is_cleared() { TypedLine::default() } else { line };
    let seen = RefCell::new(Vec::new());
    let line = line.after(strokes.into_iter(), |submitted| {
        seen.borrow_mut().push(match submitted {
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
    names.iter().map(|name| Keystroke::of_key(&TmuxKey::parse(name).unwrap())).collect()
}

#[test]
fn pieces_are_assembled_until_a_key_submits_them() {
    let pieces = [Keystroke::of_text("r").collect(), keys(&["m", "Space", "0x78"])].concat();
    for enter in ["Enter", "Return", "C-m", "C-j", "^M", "KPEnter", "0x0d", "0x0a", "C-o", "M-a"] {
        let (_, seen) = checked([pieces.clone(), keys(&[enter])].concat());
        assert_eq!(seen, lines(&["rm x"]), "{enter}");
    }
    let (line, seen) = checked(Keystroke::of_text("ls\nrm x\rpwd"));
    assert_eq!(seen, lines(&["ls", "rm x"]));
    assert_eq!(checked_from(line, keys(&["Enter"])).1, lines(&["pwd"]));
}

#[test]
fn edited_line_is_unknown_until_c_c() {
    for key in ["BSpace", "Left", "Up", "C-u", "C-w", "C-r", "0x08", "0x7f", "PPage"] {
        let (line, seen) = checked([keys(&["x", key]), keys(&["r", "m", "Enter"])].concat());
        assert_eq!(seen, [Seen::Unknown], "{key}");
        let (line, seen) = checked_from(line, keys(&["C-c"]));
        assert!(line.is_cleared() && seen.is_empty(), "{key}");
        assert_eq!(checked_from(line, keys(&["r", "m", "Enter"])).1, lines(&["rm"]), "{key}");
    }
}

/// After C-v a shell inserts C-c into the line.
#[test]
fn unpredictable_keys_leave_the_line_unknown() {
    let control = ["C-v", "C-q", "Escape", "M-9", "C-x", "0x1b", "S-Up", "C-Space", "0x16"];
    for key in control.into_iter().chain(["Tab", "BTab", "C-i", "0x09", "F1", "ö", "0x85", "0xe2"])
    {
        let (line, seen) = checked(keys(&["a", key, "C-c", "l", "s"]));
        assert_eq!(seen, lines(&["a"]), "{key}");
        assert_eq!(checked_from(line, keys(&["Enter"])).1, [Seen::Unknown], "{key}");
    }
}

#[test]
fn key_of_a_program_leaves_the_line_unknown() {
    let strokes = [keys(&["x", "Up"]), vec![Keystroke::ProgramKey], keys(&["C-c", "l"])].concat();
    let (line, seen) = checked(strokes);
    assert_eq!(seen, []);
    assert_eq!(checked_from(line, keys(&["Enter"])).1, [Seen::Unknown]);
}

#[test]
fn empty_line_ignores_end_and_signal() {
    let (line, seen) = checked([keys(&["C-d", "C-z"]), vec![Keystroke::Signal]].concat());
    assert_eq!((line, seen), (TypedLine::default(), vec![]));
    let (_, seen) = checked(keys(&["r", "m", "C-d"]));
    assert_eq!(seen, lines(&["rm"]), "a shell without a line editor submits it");
    let (line, _) = checked([keys(&["e"]), vec![Keystroke::Signal]].concat());
    assert_eq!(checked_from(line, keys(&["Enter"])).1, [Seen::Unknown]);
}

/// A shell may lose the first characters after C-c, so the line would be another one.
#[test]
fn text_right_after_c_c_is_unknown() {
    let (_, seen) = checked(keys(&["C-c", "Enter", "C-d", "Z", "r", "m", "Enter"]));
    assert_eq!(seen, [Seen::Unknown]);
}

/// Some line editors drop line ends at the end of a paste.
#[test]
fn text_after_a_paste_may_continue_its_line() {
    let (line, seen) = checked(Keystroke::of_paste("ls\nr\n", true));
    assert_eq!(seen, lines(&["ls", "r"]));
    assert_eq!(checked_from(line, keys(&["m", "Enter"])).1, lines(&["m", "rm"]));
    let (line, _) = checked(Keystroke::of_paste("r\n", false));
    assert_eq!(checked_from(line, keys(&["m", "Enter"])).1, lines(&["m"]));
}

#[test]
fn lines_joined_by_backslash_are_checked_together() {
    assert_eq!(checked(Keystroke::of_text("r\\\nm x\n")).1, lines(&["r\\", "m x", "rm x"]));
    let seen = RefCell::new(Vec::new());
    let note = |submitted: ShellLine<'_>| {
        seen.borrow_mut().push(format!("{submitted:?}"));
        Ok::<(), ()>(())
    };
    check_all("a\\\\\nr\\\nm", note).unwrap();
    let wanted = ["a\\\\", "r\\", "m", "rm"].map(|line| format!("{:?}", ShellLine::Known(line)));
    assert_eq!(seen.into_inner(), wanted);
}

/// A text, and its keystrokes as a random mixture of typing, keys, bytes and pastes.
fn in_pieces() -> impl Strategy<Value = (String, Vec<Vec<Keystroke>>)> {
    let piece = ("[ -~]{0,6}", 0..4u8);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| {
        let text = pieces.iter().map(|(text, _)| text.as_str()).collect();
        let strokes = pieces.iter().map(|(text, way)| match way {
            0 => Keystroke::of_text(text).collect(),
            1 => text
                .chars()
                .map(|c| Keystroke::of_key(&TmuxKey::parse(&c.to_string()).unwrap()))
                .collect(),
            2 => text.bytes().map(|byte| Keystroke::of_key(&TmuxKey::Byte(byte))).collect(),
            _ => Keystroke::of_paste(text, true).collect(),
        });
        (text, strokes.collect())
    })
}

proptest! {
    #[test]
    fn text_typed_in_pieces_is_checked_as_one((text, pieces) in in_pieces()) {
        let mut line = TypedLine::default();
        for piece in pieces {
            let (next, seen) = checked_from(line, piece);
            prop_assert_eq!(seen, vec![]);
            line = next;
        }
        prop_assert_eq!(checked_from(line, keys(&["Enter"])).1, lines(&[&text]));
    }

    /// No mixture of keys passes a line that differs from the text typed since the last Enter.
    #[test]
    fn checked_text_was_typed_in_this_order(
        names in prop::collection::vec(
            prop::sample::select(vec!["r", "m", "x", "Enter", "BSpace", "C-c", "Escape", "C-v", "Up", "C-d"]),
            0..20,
        )
    ) {
        let (_, seen) = checked(keys(&names));
        // The typed line; `None` if it is unknown.
        let mut since = Some(String::new());
        let (mut cleared, mut lost) = (false, false);
        let mut wanted = Vec::new();
        for name in names {
            let typed = since.clone().map_or(Seen::Unknown, Seen::Line);
            match name {
                "C-c" if !lost => (since, cleared) = (Some(String::new()), true),
                "C-c" => {}
                "Enter" | "C-d" if cleared => {}
                "C-d" if since.as_deref() == Some("") => {}
                "Enter" => {
                    wanted.push(typed);
                    since = since.map(|_| String::new());
                }
                "BSpace" | "Up" => (since, cleared) = (None, false),
                "Escape" | "C-v" | "C-d" => {
                    wanted.extend((!cleared).then_some(typed));
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
