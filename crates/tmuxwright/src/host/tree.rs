//! The tree: all sessions, windows and panes of a tmux server, read with one command.
//!
//! A format variable costs tmux about two microseconds. `list-panes` would print session and window
//! again for each pane; a format with nested loops prints each once.

use tmux_control::format::FieldValues;
use tmux_control::{Command, Error, PaneId, Row, Server, SessionId, WindowId, row};

use super::none_without_server;
use super::rows::ProcessState;

row! {
    /// The session a pane is in.
    pub SessionPart {
        /// Its id.
        id: SessionId = "session_id",
        /// Its name.
        name: String = "session_name",
    }
}

row! {
    /// The window a pane is in.
    pub WindowPart {
        /// Its id.
        id: WindowId = "window_id",
        /// Its index in the session.
        index: u32 = "window_index",
        /// Its name.
        name: String = "window_name",
    }
}

row! {
    /// The facts about the pane itself.
    pub PanePart {
        /// Its id.
        id: PaneId = "pane_id",
        /// Its index in the window.
        index: u32 = "pane_index",
        /// Its title.
        title: String = "pane_title",
        /// The program in its foreground.
        command: String = "pane_current_command",
        /// That program's directory.
        path: String = "pane_current_path",
        /// Its first process.
        pid: u32 = "pane_pid",
        /// Its width.
        width: u32 = "pane_width",
        /// Its height.
        height: u32 = "pane_height",
        /// Whether it is the active pane of its window.
        active: bool = "pane_active",
        /// The state of its process.
        process_state: ProcessState = "?pane_dead,x#{pane_dead_status}/#{pane_dead_signal},",
        /// The token of its owner; empty for a person's pane.
        owner: String = "@mcp_owner[0=0]",
    }
}

/// A pane with its window and session.
#[derive(Debug, Clone)]
pub struct PaneRow {
    /// Its session.
    pub session: SessionPart,
    /// Its window.
    pub window: WindowPart,
    /// The pane itself.
    pub pane: PanePart,
}

impl PaneRow {
    /// The pane as a target: `dev:2.0`.
    pub fn address(&self) -> String {
        format!("{}:{}.{}", self.session.name, self.window.index, self.pane.index)
    }

    /// The format that prints pane, window and session in one line of `list-panes`.
    pub fn flat_format() -> String {
        [SessionPart::format(), WindowPart::format(), PanePart::format()].concat()
    }
}

/// Reads all panes; none if no tmux server runs.
pub(super) async fn panes(tmux: &Server) -> Result<Vec<PaneRow>, Error> {
    let format = nested([SessionPart::format(), WindowPart::format(), PanePart::format()]);
    let list = Command::query("list-sessions").option("-F", format);
    let reply = none_without_server(tmux.run(list).await.map(|reply| reply.0))?;
    let panes = read_nested(&reply, PanePart::read)?.into_iter();
    Ok(panes.map(|(session, window, pane)| PaneRow { session, window, pane }).collect())
}

/// A format with nested loops over windows and panes, which prints each session and window once.
pub(crate) fn nested([session, window, pane]: [String; 3]) -> String {
    format!("s;{session}#{{W:w;{window}#{{P:p;{pane}}}}}")
}

/// Parses the output of a [`nested`] format. Each row begins with a letter for its kind: s, w or p.
pub(crate) fn read_nested<S: Row + Clone, W: Row + Clone, P>(
    printed: &[u8],
    pane: impl Fn(&mut FieldValues) -> Option<P>,
) -> Result<Vec<(S, W, P)>, Error> {
    let list = "list-sessions";
    let mut cells = FieldValues::all(list, printed)?;
    let mut read = || {
        let (mut session, mut window, mut panes) = (None, None, Vec::new());
        while let Some(kind) = cells.next::<String>() {
            match kind.as_str() {
                "s" => session = Some(S::read(&mut cells)?),
                "w" => window = Some(W::read(&mut cells)?),
                "p" => panes.push((session.clone()?, window.clone()?, pane(&mut cells)?)),
                _ => return None,
            }
        }
        Some(panes)
    };
    read().ok_or_else(|| Error::unexpected(list, printed))
}
