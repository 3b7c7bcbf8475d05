//! What the policy is asked about a call, and what it is told.

use std::path::{Path, PathBuf};

use tmux_control::target::Level;
use tmux_control::{PaneId, SessionId, Socket};

use super::{Meta, Target, ToolError};

/// What a call is about to touch.
#[derive(Debug)]
pub struct TargetObject<'a> {
    /// The object's kind.
    pub level: Level,
    /// The object's id.
    pub id: String,
    /// Panes in it that this server did not make for the caller. Of a window or session they are
    /// looked up only for what may touch nothing but our own.
    pub foreign: Vec<PaneId>,
    /// Whether this process runs in it, or in a pane that gets what is typed there.
    pub holds_caller: bool,
    /// The object as the caller named it.
    pub target: &'a Target,
}

/// A pane, in the words in which a policy can name it.
#[derive(Debug, Clone, Copy)]
pub struct PaneIdentity<'a> {
    /// Its id.
    pub pane: PaneId,
    /// Its session.
    pub session: SessionId,
    /// Its session's name.
    pub session_name: &'a str,
    /// Whether this server made it.
    pub own: bool,
}

/// Where something new is about to be.
#[derive(Debug, Clone, Copy)]
pub enum CreateLocation<'a> {
    /// In this server's own session.
    OwnSession,
    /// In a new session, of this name if one is given.
    NewSession(Option<&'a str>),
    /// In a window or session that the call may touch.
    Existing,
}

/// A line on its way to a shell, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellLine<'a> {
    /// This one.
    Known(&'a str),
    /// One that was edited: nobody knows what it says until C-c has cleared it.
    Edited,
    /// One after keys that may mean anything, also what C-c does next.
    Lost,
}

/// Decides what a tool may do. Knows rules, no tmux.
pub trait Guard: Send + Sync {
    /// Lets a call touch an object or says why not.
    fn admit_object(&self, meta: &Meta, subject: &TargetObject<'_>) -> Result<(), ToolError>;

    /// The same for a paste buffer, which this server made or not.
    fn admit_buffer(&self, meta: &Meta, name: &str, own: bool) -> Result<(), ToolError>;

    /// Whether calls may know of a tmux server.
    fn reaches(&self, socket: &Socket) -> bool;

    /// Whether there may be panes that calls cannot reach.
    fn hides_panes(&self) -> bool;

    /// The rule that keeps calls away from a pane.
    fn hides(&self, spot: &PaneIdentity<'_>) -> Option<&'static str>;

    /// Lets a call make something or says why not.
    fn admit_creation(&self, place: CreateLocation<'_>) -> Result<(), ToolError>;

    /// Whether lines for shells are judged at all.
    fn filters_commands(&self) -> bool;

    /// Lets a line through to a shell or says why not.
    fn admit_line(&self, line: ShellLine<'_>) -> Result<(), ToolError>;

    /// Lets a call set an environment variable or says why not.
    fn admit_variable(&self, name: &str) -> Result<(), ToolError>;

    /// The file to read, free of links where that matters, or why it may not be read.
    fn admit_read(&self, path: &Path) -> Result<PathBuf, ToolError>;

    /// The file to write, free of links where that matters, or why it may not be written.
    fn admit_write(&self, path: &Path) -> Result<PathBuf, ToolError>;
}
