//! Waiting for conditions in panes, for tmux channels, and the `watch` subcommand.

pub(crate) mod channel;
mod errors;
pub(crate) mod evidence;
pub(crate) mod order;
pub(crate) mod since;
pub(crate) mod type_and_wait;
pub(crate) mod wait;
pub(crate) mod wait_life;
pub(crate) mod watch_command;
