//! Settings of the engine, and the policy's check of tmux servers, passed in as a function.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use process::ShellKind;
use tmux_control::Socket;

use super::Interpreters;

/// Settings of the engine.
#[derive(Debug, Clone, Copy)]
pub struct RunOptions {
    /// Number of finished commands whose results are kept.
    pub results: usize,
    /// Shell to assume when the name of a program is not recognised.
    pub shell: Option<ShellKind>,
    /// Interpreters that `run_in_repl` knows.
    pub interpreters: &'static Interpreters,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { results: 100, shell: None, interpreters: Interpreters::built_in() }
    }
}

/// The numbers of jobs, shared by the engines of all tmux servers of a process: an id names one job, whichever
/// server it runs on.
#[derive(Debug, Clone, Default)]
pub struct JobNumbers(Arc<AtomicU64>);

impl JobNumbers {
    /// A number that was not used before.
    pub(super) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }
}

/// The tmux servers in whose panes commands may run, if a pane shows a client of one: a rule that this engine does not
/// know.
#[derive(Clone)]
pub struct AllowedServers(Arc<dyn Fn(&Socket) -> bool + Send + Sync>);

impl AllowedServers {
    /// The servers for which this is true.
    pub fn new(includes: impl Fn(&Socket) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(includes))
    }

    pub(super) fn include(&self, socket: &Socket) -> bool {
        (self.0)(socket)
    }
}

impl fmt::Debug for AllowedServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AllowedServers")
    }
}
