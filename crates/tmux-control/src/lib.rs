//! Library for talking to a tmux server: typed commands, control mode, raw pane output.
//!
//! It knows nothing of MCP, policy or agents.
//!
//! # Layout
//!
//! tmux's vocabulary as types, without I/O:
//!
//! - [`id`]: `$0`, `@0`, `%0`. [`socket`]: the address of a server. [`version`]: all differences
//!   between tmux versions.
//! - [`command`]: commands and their quoting. [`mod@format`]: `-F` formats that are read back as
//!   structs. [`show_output`]: parsers for `show-options`, `show-hooks` and `show-environment`.
//! - [`keys`]: key names and typing. [`layout`]: validation of window layouts.
//! - [`error`]: the error type of the crate. `sync`: its helpers for locks and deadlines.
//!
//! The ways to a server:
//!
//! - [`spawn`]: a `tmux` process per command; the only place that starts processes.
//! - [`control`]: one control client (`tmux -C`) for all commands, owned by one task, the *link*.
//! - [`stream`]: the raw output of panes, through one control client per session.
//! - [`remote`]: connections to other systems; there the same `tmux` processes run.
//! - [`server`]: the handle that callers hold. It chooses between the link and a spawned process.
//!
//! Operations built on [`Server`]:
//!
//! - [`target`]: resolves `dev:2.0` and other targets to a pane.
//! - [`capture`]: a pane's text. [`paste`]: pasting text. [`receivers`]: the panes that input reaches.
//!   `empty_pane`: text for panes without a program. `respawn`: another program in a pane that prints.
//! - [`buffer`]: paste buffers. [`channel`]: signals between programs (`wait-for`).
//! - [`discover`]: the tmux servers that are running.
//!
//! # Theory of operation
//!
//! A [`Server`] starts without a connection. On the first command the link attaches a control
//! client to a session. Commands are written to its input as lines, and tmux replies in the same
//! order, so concurrent calls share one round trip. The client detaches when it has been idle.
//!
//! If no server runs, the server has no session, or the client does not reply, a spawned `tmux`
//! runs the command instead. A [`Command`] is a *query* or an *action*: after a broken connection
//! queries are repeated; actions are never sent twice and end in [`Error::Lost`] or
//! [`Error::Timeout`].
//!
//! A control client receives the output of one session only, so each session that is read has a
//! stream client of its own. It copies the output of each pane with a reader into a ring buffer.
//! Readers keep a position in the ring; a slow reader finds a gap and never slows the pane down.
//!
//! Servers before 3.7 can crash while a control client attaches. `control::attach_lock` therefore
//! serialises attaching with all commands of this process that change something.

pub mod buffer;
pub mod capture;
pub mod channel;
pub mod checked_format;
pub mod command;
pub mod control;
mod delay;
pub mod discover;
mod empty_pane;
pub mod error;
pub mod format;
pub mod id;
pub mod keys;
pub mod layout;
pub mod paste;
pub mod receivers;
pub mod remote;
mod respawn;
pub mod server;
pub mod show_output;
pub mod socket;
pub mod spawn;
pub mod stream;
mod sync;
pub mod target;
pub mod version;

pub use command::{Command, escape_format, escape_message};
pub use control::link::Timing;
pub use control::relay::{RelayProgram, SocketDir, relay_clients};
pub use error::Error;
pub use format::Row;
pub use id::{PaneId, SessionId, WindowId};
pub use remote::{CleanUp, Remote, RemoteFacts, RemoteOptions, RemoteOutput, RemoteState, Route};
pub use server::{LeaveGuard, Server, TmuxReply};
pub use socket::Socket;
pub use spawn::Program;
pub use version::Version;
