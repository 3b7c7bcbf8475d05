//! What the tools that place panes and windows have in common: on which side, whether a session
//! would close, what comes along, and what is there afterwards.

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::target::Level;
use tmux_control::{Command, PaneId, SessionId, WindowId};

use crate::context::{Cx, Resolved};
use crate::contract::{Code, ToolError};
use crate::host::{Ownership, PaneRow, PaneState, WindowRow};
use crate::results::objects::{Pane, Window};

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
    /// Moves it into another session, or another place in the same.
    pub(crate) async fn with(
        &self,
        cx: &Cx,
        to: SessionId,
        commands: Vec<Command>,
    ) -> Result<(), ToolError> {
        let panes = cx.host.panes().await?;
        self.may_go(cx, &panes, to).await?;
        if self.closes(&panes).is_empty() {
            cx.tmux().sequence(commands).await?;
        } else {
            // Our client for commands may sit in a session of ours that closes.
            cx.tmux().spawned(&commands).await?;
        }
        Ok(())
    }

    /// Asks whether it may go. If nothing of theirs stays in what others made, that is as good as
    /// gone: tmux closes what is empty, and what only we are in counts as ours.
    pub(crate) async fn may_go(
        &self,
        cx: &Cx,
        panes: &[PaneRow],
        to: SessionId,
    ) -> Result<(), ToolError> {
        let leaves = |row: &PaneRow| match *self {
            Self::Window(window, session) => row.window.id == window && row.session.id == session,
            Self::Pane(pane, _) => row.pane.id == pane,
        };
        let is_theirs = |row: &&PaneRow| !cx.host.owns(&row.pane.owner);
        for row in panes.iter().filter(|row| leaves(row)).filter(is_theirs) {
            let mut stay = panes.iter().filter(is_theirs).filter(|row| !leaves(row));
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
            cx.may_end(Some(&object)).await.map_err(|_| {
                let what = format!(
                    "{level} {} would be left without anything that is not this server's; this \
                     server did not make it",
                    object.id()
                );
                ToolError::new(Code::Denied, what).hint(
                    "leave it where it is; a person can start tmuxwright with --tier destructive",
                )
            })?;
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

/// Asks whether a pane may leave its window for a place in this session.
pub(crate) async fn may_leave(cx: &Cx, pane: &PaneState, to: SessionId) -> Result<(), ToolError> {
    let panes = cx.host.panes().await?;
    Leaving::Pane(pane.pane, pane.window).may_go(cx, &panes, to).await
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
