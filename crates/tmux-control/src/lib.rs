//! Talks to a tmux server. Knows nothing of MCP, policy or agents.
//!
//! # Layout
//!
//! - [`id`], [`socket`], [`version`], [`command`], [`mod@format`], [`keys`], [`layout`]: tmux's words
//!   as types. Pure.
//! - [`spawn`]: a `tmux` process per command; the only place that starts processes.
//! - [`control`]: one control-mode client for all commands, owned by one task.
//! - [`stream`]: the raw output of panes, through one client per session.
//! - [`server`]: the handle everybody else holds; it picks between the two ways.
//! - [`target`]: what a caller's words mean among what there is.
//! - [`capture`]: the text of a pane. [`channel`]: signals between programs. [`buffer`]: paste buffers.
//!   [`printed`]: options and environment, read back from what tmux prints.
//! - [`discover`]: which servers there are.
//!
//! # Theory of operation
//!
//! A [`server::Server`] starts with no connection. The first command finds a session to attach to
//! and starts `tmux -C` there; further ones are written to its input as lines and answered in order,
//! so calls made at the same time cost one round trip. If there is no server, no session, or the
//! client does not answer, a spawned `tmux` does the work instead. Commands that only ask are
//! repeated after a broken connection; commands that change something never are.

pub mod buffer;
pub mod capture;
pub mod channel;
pub mod command;
pub mod control;
pub mod discover;
pub mod error;
mod feed;
pub mod format;
pub mod id;
pub mod keys;
pub mod layout;
pub mod paste;
pub mod printed;
pub mod server;
pub mod socket;
pub mod spawn;
pub mod stream;
pub mod target;
pub mod version;

pub use command::{Command, escape_format, escape_message};
pub use control::link::Timing;
pub use error::Error;
pub use format::Row;
pub use id::{PaneId, SessionId, WindowId};
pub use server::{Away, Reply, Server};
pub use socket::Socket;
pub use spawn::Program;
pub use version::Version;
