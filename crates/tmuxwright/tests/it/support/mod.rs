//! Helpers of all tests: panes and calls, waits, the state of a tmux server, raw messages, generated
//! arguments.

pub(crate) mod asking;
mod calls;
pub(crate) mod killing;
pub(crate) mod made_up;
pub(crate) mod random;
pub(crate) mod server_state;
pub(crate) mod waits;
pub(crate) mod wire;

pub(crate) use calls::*;
