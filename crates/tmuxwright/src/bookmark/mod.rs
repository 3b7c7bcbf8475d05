//! A place in what a pane has printed, small enough to be given away and taken back.
//!
//! Nothing is remembered here or in tmux: a [`Bookmark`] holds all that is needed to find its place
//! again. tmux numbers the rows of a pane from the oldest one it still has, so a number alone is not
//! enough: history is trimmed a tenth at a time, cleared, or wrapped anew after a resize. Therefore a
//! mark also holds short prints of the lines before it. The number says where to look, the prints
//! say whether it is the place.
//!
//! - `look`: what tmux has to be asked, and its answers put together.
//! - `find`: the place of a mark in a look, and what is new since.
//! - `print`: prints of lines. `code`: marks as text.

mod code;
mod find;
mod look;
mod print;
#[cfg(test)]
mod tests;

use tmux_control::{Command, Error, PaneId, Reply, Server};

pub use code::InvalidCursor;
pub use find::{NewLines, SinceOutcome};
pub(crate) use look::nearby_queries;
pub use look::{CaptureRange, PaneText};

use print::{Anchor, Open};

/// How many rows above its place a mark's lines may begin.
const CONTEXT_ROWS: i64 = 80;
/// How many lines just before the place have a print each.
const TAIL: usize = 8;
/// How many lines before those share one.
const ANCHOR: usize = 8;

/// How often a pane that prints faster than it is read is looked at before all of it is read.
const LOOKS: u32 = 3;

/// A place: behind everything that a look has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bookmark {
    /// The pane.
    pub pane: PaneId,
    /// Its first process; another one means that the pane was respawned.
    pub pid: u32,
    width: i64,
    history: i64,
    row: i64,
    open: Open,
    anchor: Anchor,
    tail: Vec<u16>,
    /// The rows of a full-screen program, if one was there.
    alternate: Option<Vec<u32>>,
}

/// The questions whose answers a mark is made of. All can be repeated; ask them in one sequence.
pub fn queries(pane: PaneId) -> Vec<Command> {
    CaptureRange::NEAR.queries(pane)
}

/// The mark behind everything that was there when [`questions`] were answered.
pub fn from_replies(replies: &[Reply]) -> Result<Bookmark, Error> {
    Ok(PaneText::from_replies(replies, &CaptureRange::NEAR)?.bookmark())
}

/// What a pane has printed since a mark. `None` in front of a full-screen program, or if another
/// process is there now.
pub async fn new_lines(server: &Server, mark: &Bookmark) -> Result<Option<NewLines>, Error> {
    let replies = server.sequence(queries(mark.pane)).await?;
    let (look, news) =
        new_lines_since(server, PaneText::from_replies(&replies, &CaptureRange::NEAR)?, mark)
            .await?;
    Ok((look.pid == mark.pid && !look.is_alternate()).then_some(news))
}

/// The same from a look that reads as far back as need be, beginning with this one; nothing in front
/// of a full-screen program.
pub async fn new_lines_since(
    server: &Server,
    look: PaneText,
    mark: &Bookmark,
) -> Result<(PaneText, NewLines), Error> {
    let mut look = look;
    let mut looks = 1;
    while !look.is_alternate() {
        let reach = match look.since(mark) {
            SinceOutcome::New(news) => return Ok((look, news)),
            SinceOutcome::ReadMore(further) if looks < LOOKS => further,
            SinceOutcome::ReadMore(_) => CaptureRange::ALL,
        };
        let replies = server.sequence(reach.queries(mark.pane)).await?;
        look = PaneText::from_replies(&replies, &reach)?;
        looks += 1;
    }
    Ok((look, NewLines::default()))
}

impl Bookmark {
    /// The row of the place, counted from the oldest.
    fn place(&self) -> i64 {
        self.history + self.row
    }

    /// The mark to go on with in a full-screen program: what it hides stays to be reported.
    pub fn with_alternate_screen(&self, look: &PaneText) -> Self {
        Self { alternate: look.alternate_prints(), ..self.clone() }
    }
}
