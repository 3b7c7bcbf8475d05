//! Recordings of real tmux servers, parsed by the control-mode reader.
//!
//! Each directory below `tests/ref` holds the bytes that one control client received (`input`) and
//! the parsed items (`expected`). `BLESS=1` rewrites `expected`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use tmux_control::control::line::ControlLine;
use tmux_control::control::reader::{ControlItem, ControlReader};

fn cases() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ref");
    let mut cases: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    cases.sort();
    cases
}

/// An item on one line, with its bytes escaped.
fn show(item: &ControlItem<'_>) -> String {
    match item {
        ControlItem::Reply(reply) => {
            format!("Reply ours={} ok={} \"{}\"", reply.ours, reply.ok, reply.body.escape_ascii())
        }
        ControlItem::Line(ControlLine::Output { pane, bytes }) => {
            format!("Output {pane} \"{}\"", bytes.escape_ascii())
        }
        ControlItem::Line(ControlLine::Other(rest)) => format!("Other \"{}\"", rest.escape_ascii()),
        ControlItem::Line(line) => format!("{line:?}"),
        ControlItem::Garbage(line) => format!("Garbage \"{}\"", line.escape_ascii()),
    }
}

fn read<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> String {
    let mut reader = ControlReader::default();
    let mut shown = String::new();
    for chunk in chunks {
        reader.push(chunk, |item| {
            shown.push_str(&show(&item));
            shown.push('\n');
        });
    }
    shown
}

#[test]
fn recordings_parse_to_the_expected_items() {
    let cases = cases();
    assert!(cases.len() >= 4, "recordings are missing");
    for case in cases {
        let input = fs::read(case.join("input")).unwrap();
        let items = read(input.chunks(4096));
        assert_eq!(items, read(input.chunks(1)), "{}: read byte by byte", case.display());
        let file = case.join("expected");
        if env::var_os("BLESS").is_some() {
            fs::write(&file, &items).unwrap();
        }
        let expected = fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("{}: {error}; BLESS=1 writes it", file.display()));
        assert_eq!(items, expected, "{}", case.display());
    }
}

#[test]
fn recordings_hold_no_garbage() {
    for case in cases() {
        let input = fs::read(case.join("input")).unwrap();
        let items = read(std::iter::once(&input[..]));
        assert!(!items.contains("Garbage"), "{}:\n{items}", case.display());
        assert!(items.ends_with("Exit\n"), "{}:\n{items}", case.display());
    }
}
