//! MCP: the protocol on one side, the tools on the other.
//!
//! - `handler` answers what clients ask; it only delegates.
//! - `pipeline` is the way of every tool call, whoever makes it.
//! - `stdio` is the transport over standard input and output.

mod channel;
mod handler;
mod instructions;
pub(crate) mod pipeline;
pub(crate) mod stdio;

pub use handler::Handler;
