//! The engines behind the calls of one MCP client: its view of the tmux server, and what runs commands,
//! watches panes and follows changes there.

use std::sync::Arc;
use std::time::Duration;

use super::turn::TypedLines;
use crate::changes::Changes;
use crate::host::Host;
use crate::run::Engine;
use crate::watch::Watches;

/// What every call of a client has in common.
#[derive(Debug, Clone)]
pub struct Engines {
    /// The tmux server.
    pub host: Arc<Host>,
    /// Runs commands there.
    pub runs: Arc<Engine>,
    /// Watches panes there.
    pub watches: Watches,
    /// Follows what changes there.
    pub changes: Changes,
    /// How long a call may block when its client cannot see that it goes on.
    pub block: Duration,
    /// What stands typed in the panes there.
    pub typed_lines: Arc<TypedLines>,
}

impl Engines {
    /// The same for a further client of this process.
    #[must_use]
    pub fn for_client(&self, number: u32) -> Self {
        let host = Arc::new(self.host.for_client(number));
        let runs = Arc::new(self.runs.for_client(Arc::clone(&host)));
        let watches = self.watches.for_client(Arc::clone(&host), Arc::clone(&runs));
        let Self { changes, block, typed_lines, .. } = self.clone();
        Self { host, runs, watches, changes, block, typed_lines }
    }
}
