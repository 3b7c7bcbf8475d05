//! The row the cursor is in, as tmux shows it.

use tmux_control::capture::Capture;
use tmux_control::{Error, PaneId, Row, Server, row};

use terminal::text::first_columns;

row! {
    Facts {
        pane: PaneId = "pane_id",
        x: u32 = "cursor_x",
        y: u32 = "cursor_y",
        width: u32 = "pane_width",
        height: u32 = "pane_height",
    }
}

/// What a look at a pane shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Look {
    /// The cursor's row on the screen, and its column.
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    /// The text of the cursor's row before the cursor.
    pub(super) before: String,
    /// The text behind it.
    pub(super) after: String,
}

impl Look {
    /// Looks at what tmux has made of everything that was printed until now.
    pub(super) async fn at(tmux: &Server, pane: PaneId) -> Result<Self, Error> {
        // What was just printed may reach tmux in the same moment as a question and be read after
        // it; but not after the second one.
        tmux.row::<Facts>(&pane.to_string()).await?;
        let screen = Capture { start: None, end: None, join: false, colors: false };
        let ask = vec![Server::row_query::<Facts>(&pane.to_string()), screen.of(pane)];
        let replies = tmux.sequence(ask).await?;
        let text: Vec<u8> = replies.into_iter().flat_map(|reply| reply.0).collect();
        let split = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| at + 1);
        let (facts, screen) = text.split_at_checked(split).unwrap_or((&text, &[]));
        let facts = Facts::parse_one("display-message", facts)?;
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

    /// Whether text begins right behind the cursor. What a shell shows at the right end of a row
    /// has a gap before it.
    pub(super) fn has_text_behind(&self) -> bool {
        self.after.starts_with(|c: char| !c.is_whitespace())
    }
}

/// The last line on the screen, put together from all its rows.
pub(super) async fn last_line(tmux: &Server, pane: PaneId) -> Result<String, Error> {
    let screen = Capture { start: None, end: None, join: true, colors: false };
    let text = tmux.run(screen.of(pane)).await?.text();
    Ok(text.trim_end_matches('\n').lines().next_back().unwrap_or_default().to_owned())
}
