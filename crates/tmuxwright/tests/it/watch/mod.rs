//! Waiting for things to happen in panes.

pub(crate) mod channel;
pub(crate) mod wait;
pub(crate) mod wait_life;
pub(crate) mod watch_command;
