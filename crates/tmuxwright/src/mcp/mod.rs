//! MCP: the protocol on one side, the tools on the other.
//!
//! - `handler` answers what clients ask; it only delegates.
//! - `pipeline` is the way of every tool call, whoever makes it; `shape` is what clients see of the answer.
//! - `prompts` and `completion` answer for people who pick a workflow and fill in its arguments.
//! - `resources` lists and reads what has an address; `pages` are the pages of lists.
//! - `logging` is the log for a client that asks for it.
//! - `revision` is what the revisions differ in.
//! - `stdio` is the transport over standard input and output, `http` the one over HTTP.

mod channel;
mod clean;
mod completion;
mod handler;
#[cfg(feature = "http")]
pub(crate) mod http;
mod instructions;
mod logging;
mod pages;
pub(crate) mod pipeline;
mod prompts;
mod render;
mod resources;
mod revision;
pub(crate) mod stdio;
mod subscriptions;

pub use handler::Handler;
