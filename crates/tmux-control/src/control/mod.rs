//! Control mode: one long-lived `tmux -C` client instead of a process per command.
//!
//! - [`mod@line`] turns bytes into protocol lines; pure.
//! - [`reader`] collects lines into replies and notifications; pure.
//! - `connection` owns the child process and moves bytes.
//! - `door` lets clients in and out, one at a time.
//! - `queue` pairs answers with the lines that asked for them.
//! - `link` is the task that owns the connection for commands: it connects when there is work,
//!   keeps replies in order, gives each a deadline, and lets go when idle.
//! - [`event`] is what tmux tells without being asked.

pub(crate) mod connection;
pub(crate) mod door;
pub mod event;
pub mod line;
pub(crate) mod link;
pub(crate) mod queue;
pub mod reader;
