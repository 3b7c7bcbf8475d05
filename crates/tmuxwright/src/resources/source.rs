//! The part of tmux that a resource shows; a subscription follows its changes.

/// The part of tmux that a resource shows. The strings are targets as tools take them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// The tmux server.
    Server,
    /// The list of sessions.
    Sessions,
    /// The list of tmux clients.
    Clients,
    /// A session with its windows and panes.
    Session(String),
    /// A window with its panes.
    Window(String),
    /// A pane's state.
    Pane(String),
    /// A pane's text.
    Output(String),
    /// A command, by id.
    Command(String),
}
