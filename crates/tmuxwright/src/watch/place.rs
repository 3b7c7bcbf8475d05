//! Where a pane stands at the very moment a watch begins.

use tmux_control::capture::Capture;
use tmux_control::{Command, Error, PaneId, Reply, Row, Server, row};

use crate::bookmark::{self, Bookmark};
use terminal::screen::Place;
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

const SCREEN: Capture = Capture { start: None, end: None, join: false, colors: false };

/// What is asked of tmux.
pub(super) fn queries(pane: PaneId) -> Vec<Command> {
    let mut queries = vec![Server::row_query::<Facts>(&pane.to_string()), SCREEN.of(pane)];
    queries.extend(bookmark::queries(pane));
    queries
}

/// A pane's place, what its screen shows, and a mark behind that.
pub(super) struct Standing {
    pub(super) place: Place,
    pub(super) shown: String,
    pub(super) mark: Option<Bookmark>,
}

/// Reads the answers.
pub(super) fn read(answers: &[Reply]) -> Result<Standing, Error> {
    let [facts, screen, marks @ ..] = answers else {
        return Err(Error::Unexpected {
            command: "display-message".to_owned(),
            detail: format!("{} answers", answers.len()),
        });
    };
    let facts = Facts::parse_one("display-message", &facts.0)?;
    let shown = screen.text();
    let row = shown.lines().nth(facts.y as usize).unwrap_or_default();
    let place = Place {
        width: facts.width as usize,
        height: facts.height as usize,
        row: facts.y as usize,
        before: first_columns(row, facts.x as usize),
        alternate: facts.alternate,
    };
    Ok(Standing { place, shown, mark: bookmark::from_replies(marks).ok() })
}
