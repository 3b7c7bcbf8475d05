//! Placement of panes and windows: sides and sizes, moves that may close a session, and the state
//! afterwards.

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::target::Level;
use tmux_control::{Command, PaneId, SessionId, WindowId, row};

use crate::context::{Cx, Resolved};
use crate::contract::{Code, ToolError};
use crate::host::{Ownership, PaneRow, PaneState, WindowRow};
use crate::results::objects::{Pane, Window};

/// The largest width or height that tmux accepts.
const MAX_CELLS: u32 = 10_000;

/// The side of a pane on which another is put.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Side {
    Right,
    Left,
    Below,
    Above,
}

impl Side {
    /// Adds the side to a command that splits a pane.
    pub(crate) fn add_to(self, command: Command) -> Command {
        match self {
            Self::Right => command.arg("-h"),
            Self::Left => command.arg("-h").arg("-b"),
            Self::Below => command.arg("-v"),
            Self::Above => command.arg("-v").arg("-b"),
        }
    }
}

/// Checks the size of a pane: a percentage or a number of cells.
pub(crate) fn check_size(size: &str) -> Result<&str, ToolError> {
    let (number, max) = match size.strip_suffix('%') {
        Some(percent) => (percent, 99),
        None => (size, MAX_CELLS),
    };
    match number.parse::<u32>() {
        Ok(n) if (1..=max).contains(&n) => Ok(size),
        _ => Err(ToolError::invalid_argument(format!("`size`: `{size}` is not a size"))
            .hint("give a percentage from 1% to 99%, or a number of cells")),
    }
}

/// Checks the width and height of a window or a new session.
pub(crate) fn check_cells(
    width: Option<u32>,
    height: Option<u32>,
    hint: &str,
) -> Result<(), ToolError> {
    for (argument, cells) in [("width", width), ("height", height)] {
        if let Some(cells) = cells.filter(|cells| !(1..=MAX_CELLS).contains(cells)) {
            let message = format!("`{argument}`: {cells} is not from 1 to {MAX_CELLS}");
            return Err(ToolError::invalid_argument(message).hint(hint));
        }
    }
    Ok(())
}

/// Checks that `source` and `target` are different panes.
pub(crate) fn check_distinct(source: &PaneState, target: &PaneState) -> Result<(), ToolError> {
    if source.pane == target.pane {
        let message = format!("`source` and `target` are both {}", source.pane);
        return Err(
            ToolError::invalid_argument(message).hint("name two panes; list_panes shows them")
        );
    }
    Ok(())
}

/// A window or a pane that is moved elsewhere. tmux closes a session or window that becomes empty.
pub(crate) enum Relocation {
    /// A window, out of this session.
    Window(WindowId, SessionId),
    /// A pane, out of this window.
    Pane(PaneId, WindowId),
}

impl Relocation {
    /// Runs the commands that move it to the session `to`, if the policy allows it.
    pub(crate) async fn run(
        &self,
        cx: &Cx,
        to: SessionId,
        commands: Vec<Command>,
    ) -> Result<(), ToolError> {
        let panes = cx.host.panes().await?;
        self.authorize(cx, &panes, to).await?;
        // A person may have been asked meanwhile.
        let panes = cx.host.panes().await?;
        if self.closes_a_session(&panes) {
            // The link's control client may be attached to the session that closes.
            cx.tmux().spawned(&commands).await?;
        } else {
            cx.tmux().sequence(commands).await?;
        }
        Ok(())
    }

    /// Asks the policy if the move would leave a window or session of other people without any of their
    /// panes. tmux closes it if it is empty, and otherwise it would count as this server's own: both
    /// amount to killing it.
    pub(crate) async fn authorize(
        &self,
        cx: &Cx,
        panes: &[PaneRow],
        to: SessionId,
    ) -> Result<(), ToolError> {
        let is_moved = |row: &PaneRow| match *self {
            Self::Window(window, session) => row.window.id == window && row.session.id == session,
            Self::Pane(pane, _) => row.pane.id == pane,
        };
        let is_theirs = |row: &&PaneRow| !cx.host.owns(&row.pane.owner);
        for row in panes.iter().filter(|row| is_moved(row)).filter(is_theirs) {
            let mut stay = panes.iter().filter(is_theirs).filter(|row| !is_moved(row));
            let in_session = row.session.id == to
                || stay.clone().any(|other| other.session.id == row.session.id);
            let in_window = matches!(self, Self::Window(..))
                || stay.any(|other| other.window.id == row.window.id);
            let level = match (in_session, in_window) {
                (true, true) => continue,
                (false, _) => Level::Session,
                (true, false) => Level::Window,
            };
            let pane = cx.host.pane(&row.pane.id.to_string()).await?;
            let object = Resolved { level, pane };
            cx.may_end(Some(&object), || {
                let message = format!(
                    "the move would take the last pane of other people out of {level} {}, which \
                     this server did not make",
                    object.id()
                );
                ToolError::new(Code::Denied, message).hint(
                    "leave it where it is; a person can start tmuxwright with --tier destructive",
                )
            })
            .await?;
        }
        Ok(())
    }

    /// Whether a session loses its last window.
    fn closes_a_session(&self, panes: &[PaneRow]) -> bool {
        let (window, from) = match *self {
            Self::Window(window, session) => (window, Some(session)),
            Self::Pane(_, window) => (window, None),
        };
        if let Self::Pane(pane, window) = *self
            && panes.iter().any(|row| row.window.id == window && row.pane.id != pane)
        {
            return false;
        }
        let is_moved = |row: &&PaneRow| {
            row.window.id == window && from.is_none_or(|session| row.session.id == session)
        };
        let has_another =
            |session| panes.iter().any(|row| row.session.id == session && row.window.id != window);
        panes.iter().filter(is_moved).any(|row| !has_another(row.session.id))
    }
}

/// Asks the policy whether a pane may leave its window for one of the session `to`.
pub(crate) async fn may_leave(cx: &Cx, pane: &PaneState, to: SessionId) -> Result<(), ToolError> {
    let panes = cx.host.panes().await?;
    Relocation::Pane(pane.pane, pane.window).authorize(cx, &panes, to).await
}

row! {
    ActiveFlag {
        pane: PaneId = "pane_id",
        active: bool = "pane_active",
    }
}

/// Whether a pane is the active one of its window.
pub(crate) async fn is_active(cx: &Cx, pane: PaneId) -> Result<bool, ToolError> {
    let flag: ActiveFlag = cx.tmux().row(&pane.to_string()).await?;
    Ok(flag.active)
}

/// The present state of a pane.
pub(crate) async fn pane_now(cx: &Cx, session: SessionId, pane: PaneId) -> Result<Pane, ToolError> {
    let mut panes: Vec<PaneRow> = cx.host.panes().await?;
    panes.retain(|row| row.pane.id == pane);
    // A window can be linked into several sessions.
    let at = panes.iter().position(|row| row.session.id == session).unwrap_or(0);
    if at >= panes.len() {
        return Err(pane_gone(pane));
    }
    Ok(Pane::new(&cx.host, panes.swap_remove(at)))
}

/// The error for a pane that closed during the call.
pub(crate) fn pane_gone(pane: PaneId) -> ToolError {
    ToolError::new(Code::NotFound, format!("{pane} is gone"))
        .hint("list_panes lists the panes that exist")
}

/// The present state of a window.
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
