//! MCP: the protocol on one side, the tools on the other.
//!
//! - `handler` answers what clients ask; it only delegates.
//! - `pipeline` is the way of every tool call, whoever makes it.
//! - `prompts` and `completion` answer for people who pick a workflow and fill in its arguments.
//! - `resources` lists and reads what has an address; `pages` are the pages of lists.
//! - `stdio` is the transport over standard input and output.

mod channel;
mod completion;
mod handler;
mod instructions;
mod pages;
pub(crate) mod pipeline;
mod prompts;
mod resources;
pub(crate) mod stdio;
mod subscriptions;

pub use handler::Handler;
