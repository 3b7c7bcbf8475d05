//! The text of a pane: its screen and what has scrolled off it.

use crate::command::Command;
use crate::id::PaneId;
use crate::version::Version;

/// Which part of a pane to read, and how.
///
/// Lines count as tmux counts them: 0 is the first of the screen, -1 the newest in history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    /// The first line; `None` is the top of the screen.
    pub start: Option<i64>,
    /// The last line; `None` is the bottom of the screen.
    pub end: Option<i64>,
    /// Whether wrapped lines are put together again.
    pub join: bool,
    /// Whether colours are kept as escape sequences.
    pub colors: bool,
}

impl Capture {
    /// The command that reads this part of a pane. Lines are separated by line ends; what trails is
    /// left as tmux prints it.
    pub fn of(self, pane: PaneId) -> Command {
        Command::query("capture-pane")
            .arg("-p")
            .option("-t", pane)
            .option_if("-S", self.start.map(in_range))
            .option_if("-E", self.end.map(in_range))
            .arg_if(self.join, "-J")
            .arg_if(self.colors, "-e")
    }

    /// The command that reads the same rows apart, each with all that can be seen of it: blanks
    /// have a background.
    pub fn cells_of(self, pane: PaneId) -> Command {
        Self { join: false, colors: true, ..self }.of(pane).arg("-N")
    }

    /// The command that reads the same rows apart, each with all its blanks: one after the other,
    /// they are what `join` would have put together.
    pub fn rows_of(self, pane: PaneId, version: Version) -> Command {
        let apart = Self { join: false, ..self }.of(pane);
        apart.arg("-N").arg_if(version.captures_unused_cells(), "-T")
    }
}

/// A number that tmux takes; it would read another as if none had been given.
fn in_range(line: i64) -> i64 {
    line.clamp(i32::MIN.into(), i16::MAX.into())
}
