//! Events of a tmux server: its control-mode notifications, and the state of the connection.

use crate::control::line::ControlLine;
use crate::id::{PaneId, SessionId, WindowId};

/// A change on a tmux server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TmuxEvent {
    /// The control client has attached. Earlier changes were not reported.
    Connected,
    /// The control client is gone. Changes until the next [`TmuxEvent::Connected`] are not
    /// reported.
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
    /// The value of the subscribed format has changed. See
    /// [`Server::subscribe_format`](crate::Server::subscribe_format).
    SubscriptionChanged,
}

impl TmuxEvent {
    /// The event that a protocol line reports, if any.
    pub(crate) fn from_line(line: &ControlLine<'_>) -> Option<Self> {
        Some(match line {
            ControlLine::SessionsChanged => Self::SessionsChanged,
            ControlLine::SessionRenamed(id) => Self::SessionRenamed(*id),
            ControlLine::WindowAdded(id) => Self::WindowAdded(*id),
            ControlLine::WindowClosed(id) => Self::WindowClosed(*id),
            ControlLine::WindowRenamed(id) => Self::WindowRenamed(*id),
            ControlLine::LayoutChanged(id) => Self::LayoutChanged(*id),
            ControlLine::PaneModeChanged(id) => Self::PaneModeChanged(*id),
            ControlLine::WindowSelected(id) => Self::WindowSelected(*id),
            ControlLine::PaneSelected(id) => Self::PaneSelected(*id),
            ControlLine::ClientsChanged => Self::ClientsChanged,
            ControlLine::SubscriptionChanged => Self::SubscriptionChanged,
            _ => return None,
        })
    }
}
