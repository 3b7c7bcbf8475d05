//! The cursor, screen and bookmark of a pane at one position of its stream.

use tmux_control::capture::Capture;
use tmux_control::{Command, Error, PaneId, Row, Server, TmuxReply, row};

use crate::bookmark::{self, Bookmark, CaptureRange, PaneText};
use terminal::screen::ScreenState;
use terminal::text::first_columns;

row! {
    Facts {
        pane: PaneId = "pane_id",
        x: u32 = "cursor_x",
        y: u32 = "cursor_y",
        width: u32 = "pane_width",
        height: u32 = "pane_height",
        alternate: bool = "alternate_on",
    }
}

/// The visible screen.
const SCREEN: Capture = Capture { start: None, end: None, join: false, colors: false };

/// The queries to tmux.
pub(super) fn queries(pane: PaneId) -> Vec<Command> {
    queries_with(pane, &CaptureRange::NEAR)
}

/// The same with another part of the pane's text.
pub(super) fn queries_with(pane: PaneId, range: &CaptureRange) -> Vec<Command> {
    let mut queries = vec![Server::row_query::<Facts>(&pane.to_string()), SCREEN.of(pane)];
    queries.extend(range.queries(pane));
    queries
}

/// The pane's text in the replies to [`queries_with`].
pub(super) fn text(answers: &[TmuxReply], range: &CaptureRange) -> Result<PaneText, Error> {
    PaneText::from_replies(answers.get(2..).unwrap_or_default(), range)
}

/// A pane at one position of its stream.
pub(super) struct PanePosition {
    /// Size and cursor.
    pub(super) place: ScreenState,
    /// Text of the screen.
    pub(super) shown: String,
    /// Bookmark after that text.
    pub(super) bookmark: Option<Bookmark>,
}

/// Reads the replies.
pub(super) fn read(answers: &[TmuxReply]) -> Result<PanePosition, Error> {
    let [facts, screen, bookmark @ ..] = answers else {
        return Err(Error::Unexpected {
            command: "display-message".to_owned(),
            detail: format!("{} answers", answers.len()),
        });
    };
    let facts = Facts::parse_one("display-message", &facts.0)?;
    let shown = screen.text();
    let row = shown.lines().nth(facts.y as usize).unwrap_or_default();
    let place = ScreenState {
        width: facts.width as usize,
        height: facts.height as usize,
        row: facts.y as usize,
        before: first_columns(row, facts.x as usize),
        alternate: facts.alternate,
    };
    Ok(PanePosition { place, shown, bookmark: bookmark::from_replies(bookmark).ok() })
}
