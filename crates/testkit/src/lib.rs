//! Test support: private tmux servers, the program under test, and MCP clients that call it.
//!
//! - [`TmuxServer`]: a tmux server on its own socket; killed when its test ends or fails.
//! - [`Person`]: a tmux client on its own terminal, as a person has one.
//! - [`Sshd`]: an ssh server on loopback, with keys of its own.
//! - [`Shell`]: bash, zsh, fish and dash, with start-up files that are the same on every machine.
//! - [`Launch`]: starts the program, for [`Mcp`], rmcp's client, or [`Raw`], lines of JSON.
//! - [`HttpServer`]: the program over HTTP, for [`HttpClient`]s of every protocol revision or a bare
//!   [`HttpConnection`].
//! - [`Interpreter`]: an interpreter at its prompt, and [`Step`]s with the answers it must give.
//! - [`wait_until`], [`wait_until_equal`], [`until()`], [`until_it_is`]: poll until a condition
//!   holds, instead of sleeping for some time.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has to fail"
)]

mod home;
mod http;
mod interpreter;
mod launch;
mod load;
mod mcp;
mod person;
mod raw;
mod shell;
mod sshd;
mod tmux_server;
mod until;

pub use http::{HttpClient, HttpConnection, HttpResponse, HttpServer};
pub use interpreter::{Interpreter, Step};
pub use launch::Launch;
pub use mcp::{Mcp, Outcome};
pub use person::Person;
pub use raw::Raw;
pub use rmcp::model::ElicitationAction;
pub use shell::Shell;
pub use sshd::Sshd;
pub use tmux_server::TmuxServer;
pub use until::{until, until_it_is, wait_until, wait_until_equal};
