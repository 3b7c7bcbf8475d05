//! Comparison of the screen with avt, another terminal emulator, on random and on recorded output.
//!
//! Where avt and tmux differ, the screen follows tmux, and the comparison leaves the case out:
//!
//! - After the last column, avt moves and edits as if the cursor were in it. Both get a carriage return
//!   before such a sequence.
//! - A backspace at the start of a wrapped row moves to the row above in tmux only.
//! - Rows that scroll off a region below the first row become history in tmux only; those that are
//!   deleted at the top, in avt only.
//! - Unused rows that `CSI S` scrolls off are lines in avt only.
//! - Of a cleared screen, avt keeps other blank lines at the end.
//! - `CSI J` at the top left keeps the screen in tmux's history; avt keeps it after `CSI 2 J` only.
//! - `CSI ? 1049 h` overwrites the cursor that `ESC 7` saved in avt only.
//! - A blank in the last column, where a wide character did not fit, is text in avt only: after such
//!   characters, blanks are not compared.
//! - Without wrapping, a wide character in the last column is dropped by tmux, and replaced by avt.
//! - Clearing a row ends the line that wraps into it in tmux only, and clearing the end of a row ends
//!   the line that wraps there in avt only. The same is true of rows that move. Rows of wrapped lines
//!   are not edited in random output, and where zsh does that, the ends of lines are not compared.
//! - A scroll region whose last row wraps into the row below it: the line ends there in avt only.
//! - In the last row, below a scroll region: text wraps into the row itself, and inserting a row has no
//!   effect, in tmux only.
//! - A tab at the start of a wrapped row looks like one at the end of the row above: tables test tabs.
//! - avt gives a combining mark a column of its own.
//! - avt takes back more rows when the size changes; the tests of the server compare that with tmux.

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use unicode_width::UnicodeWidthChar as _;

use super::super::row::Row;
use super::super::{Screen, ScreenPlace, ScreenState};

/// A screen and avt, fed with the same text.
struct Twins {
    screen: Screen,
    lines: Vec<String>,
    avt: avt::Terminal,
    /// Whether the screen was cleared.
    cleared: bool,
    /// Whether wide characters were written.
    had_wide: bool,
    /// Whether tmux ends lines where avt does not.
    ends_differ: bool,
}

impl Twins {
    fn new(width: usize, height: usize) -> Self {
        let state = ScreenState { width, height, ..ScreenState::default() };
        let avt = avt::Terminal::with_scrollback(width, height, None).unwrap();
        let screen = Screen::from_state(&state);
        Self { screen, lines: Vec::new(), avt, cleared: false, had_wide: false, ends_differ: false }
    }

    /// Whether a line wraps in the cursor's row, above it or below it.
    fn wraps_at_cursor(&self) -> bool {
        let grid = self.screen.terminal.main();
        let above = grid.cursor_row().saturating_sub(1);
        !grid.scrolled_start.is_empty() || grid.rows.iter().skip(above).any(Row::wraps)
    }

    fn feed(&mut self, text: &str) {
        let Self { screen, lines, avt, cleared, had_wide, .. } = self;
        *cleared |= text == CLEAR;
        *had_wide |= text.contains(is_wide);
        screen.feed(text.as_bytes(), &mut |line| lines.push(line.to_owned()));
        avt.feed(text);
    }

    /// Feeds a part of random output, unless avt is known to treat it differently.
    fn feed_known(&mut self, part: &str) {
        let ScreenPlace { width, column, .. } = self.screen.place();
        let is_text = part.starts_with(|c: char| !c.is_control()) || part.starts_with('\r');
        if column == width && !is_text {
            self.feed("\r");
        }
        if column + 1 == width && part.starts_with(is_wide) {
            self.feed("x");
        }
        let ScreenPlace { row, column, .. } = self.screen.place();
        let is_edit =
            part.starts_with("\x1b[") && part.ends_with(['J', 'K', 'L', 'M', 'P', 'X', '@']);
        let differs = match part {
            "\x08" => column == 0,
            "\x1b[J" => (row, column) == (0, 0),
            "\x1b[M" => row == 0,
            REGION => self.screen.terminal.main().rows.get(2).is_some_and(Row::wraps),
            _ => false,
        };
        let differs = differs || (is_edit && part != CLEAR && self.wraps_at_cursor());
        let grid = self.screen.terminal.main();
        let room = (grid.rows.len() - row) * width - column;
        let at_end = is_text && part.len() > room || part == "\x1b[L" && row + 1 == grid.rows.len();
        let differs = differs || (row > grid.bottom && at_end);
        if !differs {
            self.feed(part);
        }
    }

    fn assert_same(&self) -> Result<(), TestCaseError> {
        let width = self.screen.place().width;
        let mut lines: Vec<String> = self.lines.iter().map(|line| expand(line, width)).collect();
        lines.extend(self.screen.pending().iter().map(|line| expand(line, width)));
        let mut lines = without_blank_ends(lines);
        let mut expected = without_blank_ends(joined(&self.avt));
        if self.cleared {
            lines.retain(|line| !line.is_empty());
            expected.retain(|line| !line.is_empty());
        }
        if self.had_wide {
            lines.iter_mut().chain(&mut expected).for_each(|line| line.retain(|c| c != ' '));
        }
        if self.ends_differ {
            (lines, expected) = (vec![lines.concat()], vec![expected.concat()]);
        }
        prop_assert_eq!(lines, expected);
        Ok(())
    }
}

/// A line as it looks: tabs as blanks, up to the last column of their row.
fn expand(line: &str, width: usize) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for c in line.chars() {
        let columns = c.width().unwrap_or(0);
        if column + columns > width {
            column = 0;
        }
        if c == '\t' {
            let stop = ((column + 8) & !7).min(width - 1).max(column);
            text.extend(std::iter::repeat_n(' ', stop - column));
            column = stop;
        } else {
            text.push(c);
            column += columns;
        }
    }
    text
}

/// The lines of avt's main screen and history.
fn joined(avt: &avt::Terminal) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for row in avt.primary_screen().all_lines() {
        line.push_str(&row.text());
        if !row.is_wrapped() {
            lines.push(std::mem::take(&mut line));
        }
    }
    lines
}

fn is_wide(c: char) -> bool {
    c.width() == Some(2)
}

fn without_blank_ends(lines: Vec<String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.iter().map(|line| line.trim_end().to_owned()).collect();
    lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
    let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(0);
    lines.split_off(first)
}

const CLEAR: &str = "\x1b[2J";

/// Makes the first three rows the scroll region.
const REGION: &str = "\x1b[1;3r";

const PARTS: &[&str] = &[
    "\r",
    "\r\n",
    "\r\n",
    "\n",
    "\x08",
    "\x1b7",
    "\x1b8",
    "\x1b[J",
    CLEAR,
    "\x1b[K",
    "\x1b[2K",
    "\x1b[L",
    "\x1b[M",
    REGION,
    "\x1b[r",
    "\x1b[?1049hfull screen\x1b[?1049l\x1b7",
    "\x1b[?7lwithout wrapping, over the edge\x1b[?7h",
    "\x1b[1;31m",
    "\x1b[m",
    "漢字",
    "🙂",
    "é",
    " -",
    "\x1b]0;title\x07",
    "\x1b[A",
    "\x1b[2A\r",
];

/// Text, a movement, or a sequence.
fn part() -> impl Strategy<Value = String> {
    let movement = (0u32..9, 0u32..20, select("ABCDEFGHdPX@".chars().collect::<Vec<_>>()))
        .prop_map(|(row, column, end)| match end {
            'H' => format!("\x1b[{row};{column}H"),
            end => format!("\x1b[{row}{end}"),
        });
    prop_oneof![
        3 => "[a-z]{1,30}",
        2 => movement,
        3 => select(PARTS).prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn screen_shows_the_lines_of_avt(
        width in 5usize..24,
        height in 4usize..9,
        parts in vec(part(), 0..60),
    ) {
        let mut twins = Twins::new(width, height);
        for part in &parts {
            twins.feed_known(part);
        }
        twins.assert_same()?;
    }
}

/// The files are named after the program and the size of the terminal.
#[test]
fn recorded_sessions_show_the_lines_of_avt() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let mut count = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let (program, size) = name.split_once('-').unwrap();
        let (width, height) = size.split_once('x').unwrap();
        let mut twins = Twins::new(width.parse().unwrap(), height.parse().unwrap());
        twins.ends_differ = program == "zsh";
        twins.feed(&String::from_utf8(fs::read(&path).unwrap()).unwrap());
        twins.assert_same().unwrap_or_else(|error| panic!("{program}: {error}"));
        count += 1;
    }
    assert_eq!(count, 8);
}
