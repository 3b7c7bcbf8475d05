//! Events of a tmux server: its control-mode notifications, and the state of the connection.

use crate::control::line::Line;
use crate::id::{PaneId, SessionId, WindowId};

/// A change on a tmux server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The control client has attached. Earlier changes were not reported.
    Connected,
    /// The control client is gone. Changes until the next [`Event::Connected`] are not reported.
    Disconnected,
    /// A session was created, closed or renamed.
    SessionsChanged,
    /// A session was renamed.
    SessionRenamed(SessionId),
    /// A window was created.
    WindowAdded(WindowId),
    /// A window was closed.
    WindowClosed(WindowId),
    /// A window was renamed.
    WindowRenamed(WindowId),
    /// Panes of a window were created, closed or resized.
    LayoutChanged(WindowId),
    /// A pane entered or left a mode such as copy mode.
    PaneModeChanged(PaneId),
    /// Another window of a session became the current one.
    WindowSelected(SessionId),
    /// Another pane of a window became the active one.
    PaneSelected(WindowId),
    /// A tmux client attached, detached or switched to another session.
    ClientsChanged,
    /// The subscribed format ([`Server::compare`](crate::Server::compare)) has another value.
    ValueChanged,
}

impl Event {
    /// The event that a protocol line reports, if any.
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
