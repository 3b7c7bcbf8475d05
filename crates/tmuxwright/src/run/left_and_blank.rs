//! Two keys that tell an empty line behind a relay: the left arrow, and a blank.
//!
//! Keys are read in order, so the place of the blank also tells whether the arrow moved the cursor, however slow the
//! connection is: no pause has to be guessed.

use super::cursor_row::CursorRow;

/// How a terminal without a line editor echoes the left arrow: as three characters, by the mode of the keypad.
const ECHOED_ARROWS: &[&str] = &["^[[D ", "^[OD "];

/// Keys that erase the two where the terminal has echoed them.
pub(super) const ERASE_ECHO: &[&str] = &["BSpace"; 4];

/// Keys that undo the two in a line with text before the cursor.
pub(super) const UNDO: &[&str] = &["BSpace", "Right"];

/// The look of the row after the keys.
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

/// The reaction to the keys, by the rows before and after.
pub(super) fn reaction(before: &CursorRow, now: &CursorRow) -> Reaction {
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
