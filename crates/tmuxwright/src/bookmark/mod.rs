//! Bookmarks: places in a pane's text that outlive the process; a cursor of `capture_since` is one as
//! text.
//!
//! A [`Bookmark`] of lines is self-contained: no state is kept here or in tmux. tmux numbers the rows of a pane
//! from the oldest one it still has, so a row number alone is not enough: the history is trimmed by a
//! tenth at a time, cleared, or wrapped anew after a resize. A bookmark therefore also holds short
//! fingerprints of the lines before it. The number gives the expected row, and the fingerprints confirm
//! it.
//!
//! Of the alternate screen a bookmark holds one fingerprint. The process remembers the rows of the last
//! screens (`ShownScreens`); in another process every row counts as changed unless the screen is the same.
//!
//! - `pane_text`: the queries to tmux, and the pane's text made from the replies.
//! - `find`: the position of a bookmark in a pane's text, and the new lines after it.
//! - `shown_screens`: the rows of alternate screens, and which of them have changed.
//! - `fingerprint`: hashes of lines. `cursor`: bookmarks as text.

mod cursor;
mod find;
mod fingerprint;
mod pane_text;
mod shown_screens;
#[cfg(test)]
mod tests;

use tmux_control::{Command, Error, PaneId, Server, TmuxReply};

pub use cursor::InvalidCursor;
pub use find::{NewLines, SinceOutcome};
pub(crate) use pane_text::nearby_queries;
pub use pane_text::{CaptureRange, PaneText};
pub(crate) use shown_screens::ShownScreens;

use fingerprint::{Anchor, OpenLine};

/// Rows above a bookmark in which its fingerprinted lines begin.
const CONTEXT_ROWS: i64 = 80;
/// Lines just before a bookmark that have a fingerprint each.
const TAIL_LINES: usize = 6;
/// Lines before those that share one fingerprint.
const ANCHOR_LINES: usize = 10;

/// Captures of a part of the history, of a pane that prints faster than it is read, before the whole
/// history is read.
pub(crate) const MAX_CAPTURES: u32 = 3;

/// A place in a pane's text: after the last line that was captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bookmark {
    /// Id of the pane.
    pub pane: PaneId,
    /// Process id of the pane; a different one means that the pane was respawned.
    pub pid: u32,
    width: i64,
    history: i64,
    row: i64,
    open: OpenLine,
    anchor: Anchor,
    tail: Vec<u16>,
    /// Fingerprint of the alternate screen, if it was on. The bookmark then has no anchor, to stay short:
    /// a program on the alternate screen does not rewrite lines of the main screen.
    alternate: Option<u32>,
}

/// The queries for a bookmark. Send them in one sequence.
pub fn queries(pane: PaneId) -> Vec<Command> {
    CaptureRange::NEAR.queries(pane)
}

/// A bookmark at the end of the pane's text, from the replies to [`queries`].
pub fn from_replies(replies: &[TmuxReply]) -> Result<Bookmark, Error> {
    Ok(PaneText::from_replies(replies, &CaptureRange::NEAR)?.bookmark())
}

/// The lines that a pane has printed since a bookmark. `None` if the alternate screen is on or the pane
/// was respawned.
pub async fn new_lines(server: &Server, bookmark: &Bookmark) -> Result<Option<NewLines>, Error> {
    let replies = server.sequence(queries(bookmark.pane)).await?;
    let (text, new) =
        new_lines_since(server, PaneText::from_replies(&replies, &CaptureRange::NEAR)?, bookmark)
            .await?;
    Ok((text.pid == bookmark.pid && !text.is_alternate()).then_some(new))
}

/// The lines since a bookmark. Starts with the text that was already captured and reads more of the
/// history as needed. There are no new lines while the alternate screen is on.
pub async fn new_lines_since(
    server: &Server,
    text: PaneText,
    bookmark: &Bookmark,
) -> Result<(PaneText, NewLines), Error> {
    let mut text = text;
    let mut captures = 1;
    while !text.is_alternate() {
        let range = match text.since(bookmark) {
            SinceOutcome::New(new) => return Ok((text, new)),
            SinceOutcome::ReadMore(further) if captures < MAX_CAPTURES => further,
            SinceOutcome::ReadMore(_) => CaptureRange::ALL,
        };
        let replies = server.sequence(range.queries(bookmark.pane)).await?;
        text = PaneText::from_replies(&replies, &range)?;
        captures += 1;
    }
    Ok((text, NewLines::default()))
}

impl Bookmark {
    /// The row of the place, counted from the oldest row of the history.
    fn absolute_row(&self) -> i64 {
        self.history + self.row
    }

    /// The bytes of a line that were there at the bookmark, if it is the line that was open then.
    pub(crate) fn bytes_seen_of(&self, line: &str) -> usize {
        let seen = line.char_indices().nth(self.open.length).map_or(line.len(), |(at, _)| at);
        if self.open.begins(line) { seen } else { 0 }
    }

    /// This bookmark with the present alternate screen. Lines behind that screen are still reported once
    /// it is off.
    pub fn with_alternate_screen(&self, text: &PaneText) -> Self {
        let anchor = Anchor::of(&[]);
        Self { alternate: text.alternate_fingerprint(), anchor, ..self.clone() }
    }
}
