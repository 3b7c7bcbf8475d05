//! Captures of a pane's text: its screen and its history.

use crate::command::Command;
use crate::id::PaneId;
use crate::version::Version;

/// The range of a pane's lines to read, and their form.
///
/// Lines are numbered as in tmux: 0 is the first line of the screen, -1 the newest of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    /// The first line; `None` is the top of the screen.
    pub start: Option<i64>,
    /// The last line; `None` is the bottom of the screen.
    pub end: Option<i64>,
    /// Whether wrapped lines are joined.
    pub join: bool,
    /// Whether colours are kept as escape sequences.
    pub colors: bool,
}

impl Capture {
    /// The command that reads this range of a pane. Lines are separated by line ends; trailing
    /// blanks and lines are left as tmux prints them.
    pub fn of(self, pane: PaneId) -> Command {
        Command::query("capture-pane")
            .arg("-p")
            .option("-t", pane)
            .option_if("-S", self.start.map(in_range))
            .option_if("-E", self.end.map(in_range))
            .arg_if(self.join, "-J")
            .arg_if(self.colors, "-e")
    }

    /// The command that reads the same range row by row, with colours and with trailing blanks,
    /// which may have a background colour.
    pub fn cells_of(self, pane: PaneId) -> Command {
        Self { join: false, colors: true, ..self }.of(pane).arg("-N")
    }

    /// The command that reads the same range row by row, with trailing blanks. Concatenated, the
    /// rows of a wrapped line are the line that `join` yields.
    pub fn rows_of(self, pane: PaneId, version: Version) -> Command {
        let unjoined = Self { join: false, ..self }.of(pane);
        unjoined.arg("-N").arg_if(version.captures_unused_cells(), "-T")
    }
}

/// The line number clamped to the range that tmux accepts. tmux ignores a number outside of it.
fn in_range(line: i64) -> i64 {
    line.clamp(i32::MIN.into(), i16::MAX.into())
}
