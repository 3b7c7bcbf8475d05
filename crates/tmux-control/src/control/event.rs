//! What a tmux server tells without being asked.

use crate::control::line::Line;
use crate::id::{PaneId, SessionId, WindowId};

/// Something that happened on a tmux server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A connection was made; whatever happened before it was not seen.
    Connected,
    /// The connection is gone; events may be missed until the next [`Event::Connected`].
    Disconnected,
    /// A session came, went or was renamed.
    SessionsChanged,
    /// A session has another name now.
    SessionRenamed(SessionId),
    /// A window came.
    WindowAdded(WindowId),
    /// A window went.
    WindowClosed(WindowId),
    /// A window has another name now.
    WindowRenamed(WindowId),
    /// Panes of a window came, went or were resized.
    LayoutChanged(WindowId),
    /// A pane entered or left a mode such as copy mode.
    PaneModeChanged(PaneId),
    /// Another window of a session is the current one.
    WindowSelected(SessionId),
    /// Another pane of a window is the active one.
    PaneSelected(WindowId),
    /// A client came, went or is in another session.
    ClientsChanged,
    /// What is compared ([`Server::compare`](crate::Server::compare)) says something else.
    ValueChanged,
}

impl Event {
    /// The event behind a protocol line, if it tells of one.
    pub(crate) fn from_line(line: &Line<'_>) -> Option<Self> {
        Some(match line {
            Line::SessionsChanged => Self::SessionsChanged,
            Line::SessionRenamed(id) => Self::SessionRenamed(*id),
            Line::WindowAdded(id) => Self::WindowAdded(*id),
            Line::WindowClosed(id) => Self::WindowClosed(*id),
            Line::WindowRenamed(id) => Self::WindowRenamed(*id),
            Line::LayoutChanged(id) => Self::LayoutChanged(*id),
            Line::PaneModeChanged(id) => Self::PaneModeChanged(*id),
            Line::WindowSelected(id) => Self::WindowSelected(*id),
            Line::PaneSelected(id) => Self::PaneSelected(*id),
            Line::ClientsChanged => Self::ClientsChanged,
            Line::ValueChanged => Self::ValueChanged,
            _ => return None,
        })
    }
}
