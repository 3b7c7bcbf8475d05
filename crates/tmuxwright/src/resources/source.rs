//! What a resource shows, for those who want to know when it changes.

/// The part of tmux that a resource shows. The texts are targets as tools take them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// The server.
    Server,
    /// All its sessions.
    Sessions,
    /// The people who are attached.
    Clients,
    /// A session with what is in it.
    Session(String),
    /// A window with its panes.
    Window(String),
    /// A pane's state.
    Pane(String),
    /// What a pane shows.
    Output(String),
    /// A command that was run.
    Command(String),
}
