//! Cursors in arguments: parsing, and the check that a cursor belongs to the pane.

use tmux_control::PaneId;

use crate::bookmark::{Bookmark, InvalidCursor};
use crate::context::Cx;
use crate::contract::{Target, ToolError};

/// Next step for a cursor that cannot be used.
const START_ANEW: &str = "call with `target` alone to start anew";

/// A cursor as text, with the mark of its server if several can be reached.
pub(crate) fn write_cursor(cx: &Cx, cursor: &Bookmark) -> String {
    cx.server.tagged(cursor.to_string())
}

/// Parses a cursor of this server.
pub(crate) fn read_cursor(cx: &Cx, text: &str) -> Result<Bookmark, ToolError> {
    cx.server.untagged(text)?.parse().map_err(|error: InvalidCursor| {
        ToolError::invalid_argument(error.to_string())
            .hint(format!("give the cursor exactly as in the last answer, or {START_ANEW}"))
    })
}

/// Refuses a cursor of another pane, or of another process in it.
pub(crate) fn check_cursor(
    cursor: &Bookmark,
    target: &Target,
    pane: PaneId,
    pid: u32,
) -> Result<(), ToolError> {
    if cursor.pane != pane {
        return Err(ToolError::invalid_argument(format!(
            "the cursor is of pane {}, but `{target}` is {pane}",
            cursor.pane
        ))
        .hint(format!("leave `target` out, or {START_ANEW}")));
    }
    if cursor.pid != pid {
        return Err(ToolError::invalid_argument(format!(
            "the cursor is of process {} in {pane}, but process {pid} runs there now: the pane was \
             respawned, or belongs to another tmux server",
            cursor.pid
        ))
        .hint(START_ANEW));
    }
    Ok(())
}
