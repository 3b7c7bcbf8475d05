//! The engines of one MCP client: its view of the tmux server, and the engines that run commands, watch
//! panes and report changes.

use std::sync::Arc;
use std::time::Duration;

use super::server::ServerScope;
use super::turn::TypedLines;
use crate::changes::Changes;
use crate::host::Host;
use crate::run::Engine;
use crate::watch::Watches;

/// Everything that the calls of one MCP client share.
#[derive(Debug, Clone)]
pub struct Engines {
    /// The name of the tmux server, and its place among the others.
    pub server: Arc<ServerScope>,
    /// The tmux server.
    pub host: Arc<Host>,
    /// Runs commands.
    pub runs: Arc<Engine>,
    /// Watches panes.
    pub watches: Watches,
    /// Notifies of changes to tmux objects.
    pub changes: Changes,
    /// The longest wait of a call for an MCP client that did not ask for progress (`limits.block`).
    pub block: Duration,
    /// Typed and not yet submitted lines, per pane. Shared by all MCP clients of the process.
    pub typed_lines: Arc<TypedLines>,
}

impl Engines {
    /// Engines for a further MCP client of this process. Connection, knowledge of panes and turns are
    /// shared.
    #[must_use]
    pub fn for_client(&self, number: u32) -> Self {
        let host = Arc::new(self.host.for_client(number));
        let runs = Arc::new(self.runs.for_client(Arc::clone(&host)));
        let watches = self.watches.for_client(Arc::clone(&host), Arc::clone(&runs));
        let Self { server, changes, block, typed_lines, .. } = self.clone();
        Self { server, host, runs, watches, changes, block, typed_lines }
    }
}
