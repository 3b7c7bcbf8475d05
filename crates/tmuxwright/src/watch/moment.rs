//! What a condition is shown.

use tokio::time::Instant;

/// A line that was printed or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Which line it is, counted from the first one of the watch.
    pub(super) number: u64,
    /// Its text, without the echo of what we typed.
    pub(super) text: String,
    /// The line as it is shown.
    pub(super) shown: String,
    /// Where in the text begins what came after the watch did.
    pub(super) new_from: usize,
    /// Whether the cursor has left it.
    pub(super) is_whole: bool,
}

/// What has the terminal does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// It is a shell at its prompt.
    Prompt,
    /// It reads a line.
    Line,
    /// It reads a line that is not shown.
    Password,
    /// It reads keys.
    Keys,
    /// Something else.
    Work,
}

/// What the screen shows.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) text: String,
    /// Since when it has shown just this.
    pub(super) since: Instant,
    /// Until when this is known.
    pub(super) at: Instant,
}

/// A pane at one moment.
#[derive(Debug)]
pub(super) struct Moment<'a> {
    pub(super) now: Instant,
    /// When the last output came, or the watch began.
    pub(super) quiet_since: Instant,
    /// Whether something was printed, other than what we typed.
    pub(super) changed: bool,
    /// Whether the bell rang.
    pub(super) bell: bool,
    /// The row the cursor is in, up to the cursor.
    pub(super) row: &'a str,
    /// What the program in the foreground does, once that is certain.
    pub(super) doing: Option<Doing>,
    /// That it is no more, and with which code.
    pub(super) exited: Option<Option<i32>>,
    /// What the screen shows, if somebody asked.
    pub(super) screen: Option<&'a Shown>,
}
