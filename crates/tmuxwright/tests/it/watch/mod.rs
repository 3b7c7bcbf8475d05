//! Waiting for conditions in panes, for tmux channels, and the `watch` subcommand.

pub(crate) mod channel;
<<<<<<< HEAD
pub(crate) mod since;
pub(crate) mod type_and_wait;
=======
pub(crate) mod evidence;
>>>>>>> ba5b229 (run: report awaited input on evidence only, after the last key)
pub(crate) mod wait;
pub(crate) mod wait_life;
pub(crate) mod watch_command;
