//! The home shell of an MCP client: the shell in which its commands without a target run, one after the
//! other, so that `cd` and variables persist. A command that cannot run there says where it runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tmux_control::PaneId;

use super::{Engine, Job};

/// The home shell of one MCP client.
#[derive(Debug, Default)]
pub(super) struct Home {
    /// `None` until the first command without a target.
    shell: Option<HomeShell>,
    /// Directory of the shell after its last command. Outlives the shell: the next one starts there.
    directory: Option<PathBuf>,
    /// Whether a call is starting a command in the shell, or is replacing the shell.
    claimed: bool,
}

/// A shell that is the home shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HomeShell {
    pub(super) pane: PaneId,
    /// Process of the shell. The pane's first process until a command was started.
    pub(super) pid: u32,
}

/// Why a command did not run in the home shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// A call that has not returned is running a command there; its id, if it is this client's.
    Parallel(Option<String>),
    /// A command runs there whose call has returned; its id.
    StillRuns(String),
    /// Another program has the terminal; its name.
    Program(String),
    /// The shell is at its prompt but must not be typed into: a person is using it. The words follow the
    /// pane's id.
    InUse(&'static str),
    /// The shell takes no commands, though nobody is using it.
    Unusable,
    /// The shell has exited.
    Exited,
    /// Its pane is closed or was given to another program.
    Gone,
}

impl Obstacle {
    /// Whether another shell becomes the home shell. After a parallel call or a person's input, the same
    /// shell can take the next command.
    pub fn ends_home(&self) -> bool {
        !matches!(self, Self::Parallel(_) | Self::InUse(_))
    }
}

/// A shell that is not the one in which the previous command without a target ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherShell {
    /// Its pane.
    pub pane: PaneId,
    /// Its directory when the command was typed, if it is known.
    pub directory: Option<PathBuf>,
    /// Whether it was started for this command.
    pub is_new: bool,
    /// The pane of the home shell, and why the command did not run there. `None` if the call asked for
    /// another directory.
    pub obstacle: Option<(PaneId, Obstacle)>,
}

/// Held by the call that started a job until it returns: a command that still runs after its call has
/// the home shell for itself, while a parallel call borrows another one.
#[derive(Debug)]
pub struct Attendance(Arc<Job>);

impl Attendance {
    pub(super) fn of(job: &Arc<Job>) -> Self {
        Self(Arc::clone(job))
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        self.0.set_left();
    }
}

/// The right to start a command in the home shell or to replace it. Released when dropped.
pub(super) struct HomeClaim {
    engine: Arc<Engine>,
}

impl HomeClaim {
    /// Claims the home shell, unless another call has done so.
    pub(super) fn acquire(engine: &Arc<Engine>) -> Option<Self> {
        let mut home = engine.home();
        let is_free = !std::mem::replace(&mut home.claimed, true);
        drop(home);
        is_free.then(|| Self { engine: Arc::clone(engine) })
    }

    /// Makes a shell the home shell.
    pub(super) fn set(&self, shell: HomeShell) {
        self.engine.home().shell = Some(shell);
    }
}

impl Drop for HomeClaim {
    fn drop(&mut self) {
        self.engine.home().claimed = false;
    }
}

impl Home {
    pub(super) fn shell(&self) -> Option<HomeShell> {
        self.shell
    }

    /// Whether a pane is the home shell's.
    pub(super) fn is_in(&self, pane: PaneId) -> bool {
        self.shell.is_some_and(|shell| shell.pane == pane)
    }

    /// Directory of the shell after its last command. Parallel commands start there, whatever the one
    /// that runs in the home shell has done by then.
    pub(super) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Records the directory of the shell, if it is known.
    pub(super) fn set_directory(&mut self, directory: Option<PathBuf>) {
        if directory.is_some() {
            self.directory = directory;
        }
    }
}
