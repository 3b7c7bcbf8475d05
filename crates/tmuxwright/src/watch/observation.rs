//! The facts about a pane on which conditions are evaluated.

use tokio::time::Instant;

use crate::input_probe::AwaitedInput;

/// A line that was printed or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutputLine {
    /// Number of the line, counted from the first one of the watch.
    pub(super) number: u64,
    /// Text without the echo of typed text.
    pub(super) text: String,
    /// Text as it is on the screen.
    pub(super) shown: String,
    /// Byte offset in `text` at which output since the beginning of the watch starts.
    pub(super) new_from: usize,
    /// Whether the cursor has left the line.
    pub(super) is_whole: bool,
}

/// State of the foreground program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramState {
    /// A shell is at its prompt.
    Prompt,
    /// The program waits for input.
    Waits(AwaitedInput),
    /// The program does not wait for input, as far as there is evidence.
    Running,
}

/// The text of the screen and how long it has been the same.
#[derive(Debug, Clone)]
pub(super) struct StableScreen {
    pub(super) text: String,
    /// Time of the first capture with this text.
    pub(super) since: Instant,
    /// Time up to which the text is known to be the same.
    pub(super) at: Instant,
}

/// A pane at one moment.
#[derive(Debug)]
pub(super) struct Observation<'a> {
    pub(super) now: Instant,
    /// Time of the last output, or of the beginning of the watch.
    pub(super) quiet_since: Instant,
    /// Whether there was new output other than the echo of typed text.
    pub(super) changed: bool,
    /// Whether the bell rang.
    pub(super) bell: bool,
    /// Text of the cursor's row, up to the cursor.
    pub(super) row: &'a str,
    /// State of the foreground program, once two probes agree.
    pub(super) program: Option<ProgramState>,
    /// Set once the program has exited; the inner value is its exit code.
    pub(super) exited: Option<Option<i32>>,
    /// The screen, if a condition needs it.
    pub(super) screen: Option<&'a StableScreen>,
}
