//! Test support: real tmux servers, each on a socket of its own, and waiting for facts.
//!
//! - [`TmuxServer`]: a private server that goes away with its test, also when the test fails.
//! - [`Person`]: a client on a terminal of its own, as people have.
//! - [`Shell`]: the shells people have, and panes of a server that run them.
//! - [`Launch`]: the real program, with [`Mcp`], a real client, or [`Raw`], lines of JSON.
//! - [`HttpServer`]: the same over HTTP, with [`HttpClient`]s of every revision, or a bare [`Connection`].
//! - [`wait_until`], [`until()`]: ask again until it is so; never sleep and hope.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has to fail"
)]

mod home;
mod http;
mod launch;
mod mcp;
mod person;
mod raw;
mod shell;
mod tmux_server;
mod until;

pub use http::{Connection, HttpClient, HttpServer, Reply};
pub use launch::Launch;
pub use mcp::{Mcp, Outcome};
pub use person::Person;
pub use raw::Raw;
pub use shell::Shell;
pub use tmux_server::TmuxServer;
pub use until::{until, wait_until};
