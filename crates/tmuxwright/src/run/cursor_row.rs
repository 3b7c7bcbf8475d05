//! The screen row of the cursor, as tmux renders it.

use tmux_control::capture::Capture;
use tmux_control::{Command, Error, PaneId, Row, Server, TmuxReply, row};

use terminal::text::{expand_tabs, first_columns};
use unicode_width::UnicodeWidthStr;

/// Columns between a right prompt and the margin.
const MAX_RIGHT_INDENT: usize = 2;

row! {
    CursorFacts {
        pane: PaneId = "pane_id",
        x: u32 = "cursor_x",
        y: u32 = "cursor_y",
        width: u32 = "pane_width",
        height: u32 = "pane_height",
        history: u32 = "history_size",
        alternate: bool = "alternate_on",
    }
}

/// The cursor of a pane, the text of its row, and the size of the pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CursorRow {
    /// Row and column of the cursor, from 0 at the top left of the screen.
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    /// Rows that have scrolled off the screen and are kept.
    pub(super) history: u32,
    /// The text of the cursor's row before the cursor.
    pub(super) before: String,
    /// The text of the rows above from which the line seems to wrap into the cursor's row: rows that
    /// are full.
    pub(super) wrapped: String,
    /// Whether the row above is full but for a blank at its end, so that a prompt may fill it.
    pub(super) below_full_row: bool,
    /// The text of the cursor's row from the cursor on.
    pub(super) after: String,
    /// Whether a row below the cursor's holds text.
    pub(super) has_text_below: bool,
    /// Whether the alternate screen is shown.
    pub(super) alternate: bool,
}

impl CursorRow {
    /// Reads the cursor's row after tmux has rendered all output printed until now.
    pub(super) async fn read(tmux: &Server, pane: PaneId) -> Result<Self, Error> {
        // Output printed just now may reach tmux together with the first query and be read after
        // it, but not after the second one.
        tmux.row::<CursorFacts>(&pane.to_string()).await?;
        Self::from_replies(tmux.sequence(Self::queries(pane)).await?)
    }

    /// The queries for the cursor's row. Send them in one sequence.
    pub(super) fn queries(pane: PaneId) -> Vec<Command> {
        let screen = Capture { start: None, end: None, join: false, colors: false };
        vec![Server::row_query::<CursorFacts>(&pane.to_string()), screen.of(pane)]
    }

    /// The cursor's row, from the replies to [`CursorRow::queries`].
    pub(super) fn from_replies(replies: Vec<TmuxReply>) -> Result<Self, Error> {
        Ok(Self::with_rows_above(replies)?.0)
    }

    /// The same, and the rows above it.
    pub(super) fn with_rows_above(replies: Vec<TmuxReply>) -> Result<(Self, Vec<String>), Error> {
        let (facts, screen) = parse(replies)?;
        let screen: Vec<&str> = screen.lines().collect();
        let (above, from_cursor) = screen.split_at(screen.len().min(facts.y as usize));
        let mut rows = from_cursor.iter();
        let row = rows.next().copied().unwrap_or_default();
        let inner_width = (facts.width as usize).saturating_sub(1);
        let is_full = |row: &&&str| first_columns(row, inner_width).trim_end() != row.trim_end();
        let full = above.iter().rev().take_while(is_full).count();
        let wrapped = above.get(above.len() - full..).unwrap_or_default().concat();
        let below_full_row = above.last().is_some_and(|row| row.width() >= inner_width);
        let before = first_columns(row, facts.x as usize);
        let cursor = Self {
            row: facts.y,
            column: facts.x,
            width: facts.width,
            height: facts.height,
            history: facts.history,
            alternate: facts.alternate,
            after: row.strip_prefix(&before).unwrap_or_default().to_owned(),
            has_text_below: rows.any(|row| !row.trim().is_empty()),
            before,
            wrapped,
            below_full_row,
        };
        // tmux drops empty rows at the end of the screen.
        let mut above: Vec<String> = above.iter().map(|&row| row.to_owned()).collect();
        above.resize(facts.y as usize, String::new());
        Ok((cursor, above))
    }

    /// Reads the rows above the cursor's, and the width of the pane.
    pub(super) async fn read_above(
        tmux: &Server,
        pane: PaneId,
    ) -> Result<(Vec<String>, usize), Error> {
        let (facts, screen) = parse(tmux.sequence(Self::queries(pane)).await?)?;
        let above = screen.lines().take(facts.y as usize).map(str::to_owned).collect();
        Ok((above, facts.width as usize))
    }

    /// The line before the cursor, with the rows above from which it seems to wrap.
    pub(super) fn line(&self) -> String {
        format!("{}{}", self.wrapped, self.before)
    }

    /// Whether there is text before the cursor, or in a full row above it.
    pub(super) fn shows_text(&self) -> bool {
        self.below_full_row || !self.line().trim().is_empty()
    }

    /// A format that is true while the cursor is in the same place.
    pub(super) fn unmoved(&self) -> String {
        format!("#{{==:#{{cursor_x}} #{{cursor_y}},{} {}}}", self.column, self.row)
    }

    /// Whether there is text behind the cursor. A right prompt does not count: blanks precede it, and it
    /// ends at the right margin.
    pub(super) fn has_text_after(&self) -> bool {
        let end = self.before.width() + self.after.trim_end().width();
        let is_right_prompt =
            self.after.starts_with(' ') && end + MAX_RIGHT_INDENT >= self.width as usize;
        !self.after.trim().is_empty() && !is_right_prompt
    }
}

/// The cursor and the text of the screen, from the replies to [`CursorRow::queries`].
fn parse(replies: Vec<TmuxReply>) -> Result<(CursorFacts, String), Error> {
    let text: Vec<u8> = replies.into_iter().flat_map(|reply| reply.0).collect();
    let split = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| at + 1);
    let (facts, screen) = text.split_at_checked(split).unwrap_or((&text, &[]));
    let facts = CursorFacts::parse_one("display-message", facts)?;
    // tmux 3.6 and later keep tabs.
    let screen = String::from_utf8_lossy(screen);
    let rows: Vec<_> = screen.split('\n').map(expand_tabs).collect();
    Ok((facts, rows.join("\n")))
}
