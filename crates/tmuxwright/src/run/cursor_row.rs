//! The screen row of the cursor, as tmux renders it.

use tmux_control::capture::Capture;
use tmux_control::{Error, PaneId, Row, Server, row};

use terminal::text::first_columns;

row! {
    CursorFacts {
        pane: PaneId = "pane_id",
        x: u32 = "cursor_x",
        y: u32 = "cursor_y",
        width: u32 = "pane_width",
        height: u32 = "pane_height",
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
    /// The text of the cursor's row before the cursor.
    pub(super) before: String,
    /// The text of the cursor's row from the cursor on.
    pub(super) after: String,
}

impl CursorRow {
    /// Reads the cursor's row after tmux has rendered all output printed until now.
    pub(super) async fn read(tmux: &Server, pane: PaneId) -> Result<Self, Error> {
        // Output printed just now may reach tmux together with the first query and be read after
        // it, but not after the second one.
        tmux.row::<CursorFacts>(&pane.to_string()).await?;
        let screen = Capture { start: None, end: None, join: false, colors: false };
        let queries = vec![Server::row_query::<CursorFacts>(&pane.to_string()), screen.of(pane)];
        let replies = tmux.sequence(queries).await?;
        let text: Vec<u8> = replies.into_iter().flat_map(|reply| reply.0).collect();
        let split = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| at + 1);
        let (facts, screen) = text.split_at_checked(split).unwrap_or((&text, &[]));
        let facts = CursorFacts::parse_one("display-message", facts)?;
        let screen = String::from_utf8_lossy(screen);
        let row = screen.lines().nth(facts.y as usize).unwrap_or_default();
        let before = first_columns(row, facts.x as usize);
        Ok(Self {
            row: facts.y,
            column: facts.x,
            width: facts.width,
            height: facts.height,
            after: row.strip_prefix(&before).unwrap_or_default().to_owned(),
            before,
        })
    }

    /// Whether text begins right at the cursor. A right prompt does not count: blanks precede it.
    pub(super) fn has_text_after(&self) -> bool {
        self.after.starts_with(|c: char| !c.is_whitespace())
    }
}

/// The last line on the screen, joined from all rows it wraps over.
pub(super) async fn last_line(tmux: &Server, pane: PaneId) -> Result<String, Error> {
    let screen = Capture { start: None, end: None, join: true, colors: false };
    let text = tmux.run(screen.of(pane)).await?.text();
    Ok(text.trim_end_matches('\n').lines().next_back().unwrap_or_default().to_owned())
}
