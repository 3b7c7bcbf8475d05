//! Control mode: one long-lived `tmux -C` client instead of a process per command.
//!
//! - [`mod@line`] parses protocol lines; pure.
//! - [`reader`] collects lines into replies and notifications; pure.
//! - [`event`] is the public form of the notifications.
//! - `connection` owns the child process and moves bytes.
//! - `attach_lock` attaches and detaches control clients, one at a time.
//! - `introduction` passes the first messages of a client on in an order that cannot crash old servers.
//! - `relay` is the process that does so.
//! - `queue` matches replies with the commands that were sent.
//! - `link` is the task that owns the connection for commands: it attaches when there is work,
//!   keeps replies in order, gives each a deadline, and detaches when idle.

pub(crate) mod attach_lock;
pub(crate) mod connection;
pub mod event;
pub(crate) mod introduction;
pub mod line;
pub(crate) mod link;
pub(crate) mod queue;
pub mod reader;
pub(crate) mod relay;
