//! The pane this process runs in.
//!
//! tmux sets `TMUX` and `TMUX_PANE` for its children, but several MCP clients start servers with a
//! cleared environment. So the pids of the ancestors of this process are compared with those of panes
//! as well.

use std::collections::HashSet;
use std::env;

use tmux_control::{PaneId, Socket};

/// Facts by which the pane of this process is recognised.
#[derive(Debug)]
pub(super) struct Caller {
    pane: Option<PaneId>,
    ancestors: HashSet<u32>,
}

impl Caller {
    pub(super) fn detect(socket: &Socket) -> Self {
        let same_server = env::var("TMUX")
            .ok()
            .and_then(|value| Socket::from_tmux_variable(&value))
            .is_some_and(|ours| ours.is_same_as(socket));
        let pane = env::var("TMUX_PANE").ok().and_then(|id| id.parse().ok());
        Self {
            pane: pane.filter(|_| same_server),
            ancestors: process::ancestors(std::process::id()).into_iter().collect(),
        }
    }

    /// For a tmux server on another system.
    pub(super) fn none() -> Self {
        Self { pane: None, ancestors: HashSet::new() }
    }

    /// The pane according to `TMUX_PANE`.
    pub(super) fn pane(&self) -> Option<PaneId> {
        self.pane
    }

    /// Whether this process runs in the pane with this first process.
    pub(super) fn is_in(&self, pane: PaneId, pid: u32) -> bool {
        self.pane == Some(pane) || self.ancestors.contains(&pid)
    }
}
