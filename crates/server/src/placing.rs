//! What the tools that place panes and windows have in common: on which side, whether a session
//! would close, what comes along, and what is there afterwards.

use schemars::JsonSchema;
use serde::Deserialize;
use tmux::{Command, PaneId, SessionId, WindowId};

use crate::host::{Ownership, PaneRow, WindowRow};
use crate::model::{Pane, Window};
use crate::tool::{Code, Cx, ToolError};

/// Where a pane goes, seen from another.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Side {
    Right,
    Left,
    Below,
    Above,
}

impl Side {
    /// Adds the side to a command that splits.
    pub(crate) fn of(self, command: Command) -> Command {
        match self {
            Self::Right => command.arg("-h"),
            Self::Left => command.arg("-h").arg("-b"),
            Self::Below => command.arg("-v"),
            Self::Above => command.arg("-v").arg("-b"),
        }
    }
}

/// Refuses what is no size of a pane.
pub(crate) fn check_size(size: &str) -> Result<&str, ToolError> {
    let (number, most) = match size.strip_suffix('%') {
        Some(percent) => (percent, 99),
        None => (size, 10_000),
    };
    match number.parse::<u32>() {
        Ok(n) if (1..=most).contains(&n) => Ok(size),
        _ => Err(ToolError::invalid_argument(format!("`size`: `{size}` is no size"))
            .hint("write a percentage from 1% to 99%, or a number of cells")),
    }
}

/// Something that leaves its place.
pub(crate) enum Leaving {
    /// A window, one session.
    Window(WindowId, SessionId),
    /// A pane, its window.
    Pane(PaneId, WindowId),
}

impl Leaving {
    /// Moves it. tmux closes a session whose last window goes: that is refused for one that this
    /// server did not make, and of our own the client for commands may sit in it.
    pub(crate) async fn with(&self, cx: &Cx, commands: Vec<Command>) -> Result<(), ToolError> {
        let panes = cx.host.panes().await?;
        let closing = self.closes(&panes);
        let ownership = Ownership::of(&cx.host, &panes);
        if let Some(foreign) = closing.iter().find(|row| !ownership.session(row.session.id)) {
            let name = &foreign.session.name;
            return Err(ToolError::new(
                Code::Denied,
                format!("session `{name}` has nothing else in it and would close; this server did not make it"),
            )
            .hint("make another window there with create_window, or leave it where it is"));
        }
        if closing.is_empty() {
            cx.tmux().sequence(commands).await?;
        } else {
            cx.tmux().spawned(&commands).await?;
        }
        Ok(())
    }

    /// A pane of each session that would close.
    fn closes<'a>(&self, panes: &'a [PaneRow]) -> Vec<&'a PaneRow> {
        let (window, from) = match *self {
            Self::Window(window, session) => (window, Some(session)),
            Self::Pane(_, window) => (window, None),
        };
        if let Self::Pane(pane, window) = *self
            && panes.iter().any(|row| row.window.id == window && row.pane.id != pane)
        {
            return Vec::new();
        }
        let leaves = |row: &&PaneRow| {
            row.window.id == window && from.is_none_or(|session| row.session.id == session)
        };
        let has_another =
            |session| panes.iter().any(|row| row.session.id == session && row.window.id != window);
        panes.iter().filter(leaves).filter(|row| !has_another(row.session.id)).collect()
    }
}

/// A pane as it is now.
pub(crate) async fn pane_now(cx: &Cx, session: SessionId, pane: PaneId) -> Result<Pane, ToolError> {
    let mut panes: Vec<PaneRow> = cx.host.panes().await?;
    panes.retain(|row| row.pane.id == pane);
    // A window can be in several sessions.
    let at = panes.iter().position(|row| row.session.id == session).unwrap_or(0);
    if at >= panes.len() {
        return Err(ToolError::new(Code::NotFound, format!("{pane} is gone"))
            .hint("list_panes shows what there is"));
    }
    Ok(Pane::new(&cx.host, panes.swap_remove(at)))
}

/// A window as it is now.
pub(crate) async fn window_now(
    cx: &Cx,
    session: SessionId,
    window: WindowId,
) -> Result<Window, ToolError> {
    let target = format!("{session}:{window}");
    let (row, panes) = tokio::join!(cx.tmux().row::<WindowRow>(&target), cx.host.panes());
    let own = Ownership::of(&cx.host, &panes?).window(window);
    Ok(Window::new(row?, own))
}
