//! The tools that read a pane's screen, history and state.

pub(crate) mod capture;
pub(crate) mod screenshot;
pub(crate) mod search;
pub(crate) mod since;
pub(crate) mod snapshot;
pub(crate) mod state;
