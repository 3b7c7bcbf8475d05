//! Settings of the engine, and the policy's check of tmux servers, passed in as a function.

use std::fmt;
use std::sync::Arc;

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
