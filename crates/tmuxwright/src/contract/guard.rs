//! The guard: the interface through which the call context asks the policy.

use std::path::{Path, PathBuf};

use tmux_control::target::Level;
use tmux_control::{PaneId, SessionId, Socket};

use super::{Meta, Target, ToolError};

/// The session, window or pane that a call is about to use.
#[derive(Debug)]
pub struct TargetObject<'a> {
    /// The object's kind.
    pub level: Level,
    /// The object's id.
    pub id: String,
    /// Panes in it that this server did not make for the caller. For a window or session they are
    /// looked up only if the tool's tier is limited to own objects.
    pub foreign: Vec<PaneId>,
    /// Whether this process runs in it, or in a pane that receives its input (synchronize-panes).
    pub contains_caller: bool,
    /// The target as the caller wrote it.
    pub target: &'a Target,
}

/// The facts by which rules identify a pane.
#[derive(Debug, Clone, Copy)]
pub struct PaneIdentity<'a> {
    /// The pane's id.
    pub pane: PaneId,
    /// The id of its session.
    pub session: SessionId,
    /// The name of its session.
    pub session_name: &'a str,
    /// Whether this server made the pane for the caller.
    pub own: bool,
}

/// The place in which a session, window or pane is about to be created.
#[derive(Debug, Clone, Copy)]
pub enum CreateLocation<'a> {
    /// A pane in the own session.
    OwnSession,
    /// A new session, with this name if one is given.
    NewSession(Option<&'a str>),
    /// A window or pane in an object that the call may use.
    Existing,
}

/// A line that is about to be submitted to a shell, as far as its text is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellLine<'a> {
    /// The complete text.
    Known(&'a str),
    /// The text is unknown, because the line was edited. C-c clears the line.
    Edited,
    /// The text is unknown, and C-c may not clear the line, because of keys sent before.
    Lost,
}

/// The programs that see an environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableReach {
    /// Programs that the call starts, or that this server starts in its own session.
    OwnPrograms,
    /// All new programs of a session, or of the tmux server.
    Session,
}

/// Where an option may be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionReach {
    /// On every object, and globally.
    Anywhere,
    /// On objects that this server made; on others at the tier `destructive`.
    OwnObjects,
    /// Anywhere, if its value may be submitted to a shell: tmux may run it as a command.
    AsCommand,
}

/// The decision of the guard about a use that it does not refuse.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// The call may go on.
    Granted,
    /// The call may go on once a person has accepted it.
    AskPerson,
}

/// Decides what a tool may do, from rules alone. An `Err` is the refusal for the caller.
pub trait Guard: Send + Sync {
    /// Admits the use of a session, window or pane.
    fn admit_object(&self, meta: &Meta, object: &TargetObject<'_>) -> Result<Admission, ToolError>;

    /// Admits the removal or replacement of a paste buffer that this server did not make for the
    /// caller, and the detaching of a person's terminal.
    fn admit_removal(&self) -> Admission;

    /// Admits the use of a paste buffer; `own` if this server made it for the caller.
    fn admit_buffer(&self, meta: &Meta, name: &str, own: bool) -> Result<(), ToolError>;

    /// Whether calls may see a tmux server.
    fn reaches(&self, socket: &Socket) -> bool;

    /// Whether some panes may be hidden.
    fn hides_panes(&self) -> bool;

    /// The config key of the rule that hides a pane, if one does.
    fn hides(&self, identity: &PaneIdentity<'_>) -> Option<&'static str>;

    /// Admits the creation of a session, window or pane.
    fn admit_creation(&self, location: CreateLocation<'_>) -> Result<(), ToolError>;

    /// Whether a command filter is on. Otherwise typed lines are not tracked.
    fn filters_commands(&self) -> bool;

    /// Admits a line to be submitted to a shell.
    fn admit_line(&self, line: ShellLine<'_>) -> Result<(), ToolError>;

    /// Admits keys that may make a shell expand or run its line, or start a program, before the line is
    /// submitted. `programs` are the programs in the foreground, as far as they are known.
    fn admit_keys(&self, programs: &[String]) -> Result<(), ToolError>;

    /// Admits an environment variable to be set.
    fn admit_variable(&self, name: &str, reach: VariableReach) -> Result<(), ToolError>;

    /// Admits a tmux option, named without an index, to be set to a value or unset. Returns where.
    fn admit_option(&self, name: &str, value: Option<&str>) -> Result<OptionReach, ToolError>;

    /// Admits a file to be read. Returns the path to open, with links resolved if a rule applies.
    fn admit_read(&self, path: &Path) -> Result<PathBuf, ToolError>;

    /// Admits a file to be written. Returns the path to open, with links resolved if a rule applies.
    fn admit_write(&self, path: &Path) -> Result<PathBuf, ToolError>;

    /// Admits a file to be written by the tmux server itself, on its system. Returns the path for tmux.
    fn admit_write_by_tmux(&self, path: &Path) -> Result<PathBuf, ToolError>;
}
