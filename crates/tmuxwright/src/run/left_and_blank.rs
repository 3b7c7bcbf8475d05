//! Two keys that tell an empty line behind a relay: the left arrow, and a blank.
//!
//! Keys are read in order, so the place of the blank also tells whether the arrow moved the cursor, however slow the
//! connection is: no pause has to be guessed.

use tmux_control::Server;
use tmux_control::keys::{TmuxKey, type_text};
use tokio::time::Instant;

use super::Refusal;
use super::cursor_row::CursorRow;
use super::gate::ProbePause;
use super::limits::PROMPT_TIMEOUT;
use super::viewers::Viewers;
use crate::host::PaneState;

/// How a terminal without a line editor echoes the left arrow: as three characters, by the mode of the keypad.
const ECHOED_ARROWS: &[&str] = &["^[[D ", "^[OD "];

/// Keys that erase the two where the terminal has echoed them.
pub(super) const ERASE_ECHO: &[&str] = &["BSpace"; 4];

/// Keys that undo the two in a line with text before the cursor.
pub(super) const UNDO: &[&str] = &["BSpace", "Right"];

/// Keys that can try a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrialKeys {
    LeftAndBlank,
    /// For a terminal that edits the line: it would echo the arrow.
    Blank,
}

/// The look of the row after the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reaction {
    /// The blank stands behind the prompt.
    Empty,
    /// There is text before the cursor.
    HalfTyped,
    /// The terminal has echoed the arrow: there is no line editor.
    EchoedArrow,
    /// The program has not acted on the keys yet, or takes them as commands.
    Pending,
}

/// Presses the keys in the cursor's row of a terminal, and returns the reaction with the row then; a pending one if none
/// has come in time. `None` if the terminal has changed; then nothing is pressed.
pub(super) async fn try_row(
    tmux: &Server,
    terminal: &PaneState,
    viewers: &Viewers,
    cursor: &CursorRow,
    trial: TrialKeys,
) -> Result<Option<(Reaction, CursorRow)>, Refusal> {
    let pane = terminal.pane;
    let mut keys = Vec::new();
    if trial == TrialKeys::LeftAndBlank {
        keys.push(TmuxKey::Named("Left".to_owned()).press(pane));
    }
    keys.extend(type_text(pane, " "));
    if !tmux.type_if(&pane.into(), &viewers.unchanged_at(cursor), keys).await? {
        return Ok(None);
    }
    let until = Instant::now() + PROMPT_TIMEOUT;
    let mut pause = ProbePause::default();
    loop {
        let now = CursorRow::read(tmux, pane).await?;
        if !viewers.have_been_idle(&Viewers::read(tmux, terminal).await?) {
            return Err(Refusal::PersonActive { pane });
        }
        match reaction(cursor, &now) {
            Reaction::Pending if Instant::now() <= until => pause.wait().await,
            reaction => return Ok(Some((reaction, now))),
        }
    }
}

/// The reaction to the keys, by the rows before and after.
fn reaction(before: &CursorRow, now: &CursorRow) -> Reaction {
    let is_same_row = now.row == before.row && now.history == before.history;
    let (line_before, line) = (before.line(), now.line());
    let added = now.before.strip_prefix(before.before.as_str());
    if line.strip_prefix(line_before.as_str()).is_some_and(|text| ECHOED_ARROWS.contains(&text)) {
        return Reaction::EchoedArrow;
    }
    match added {
        // A suggestion of the shell may follow.
        Some(" ") if is_same_row => Reaction::Empty,
        _ if now.column == 0 && before.column + 1 >= now.width => Reaction::Empty,
        // The arrow went one to the left; the blank pushed the text behind it to the right.
        _ if is_same_row && now.column == before.column && now.has_text_after() => {
            Reaction::HalfTyped
        }
        // It went to the end of an earlier row of the same text.
        _ if now.history == before.history && now.row < before.row => Reaction::HalfTyped,
        _ => Reaction::Pending,
    }
}
