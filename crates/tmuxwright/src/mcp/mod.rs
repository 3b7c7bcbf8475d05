//! The MCP protocol: request handler, call pipeline and transports.
//!
//! - `handler`: one method for each request; it only delegates.
//! - `pipeline`: the path of every tool call. `render` and `clean`: its result as a client sees it.
//! - `call_server`: the tmux server of a call, among several. `fleet`: calls on several at once.
//! - `elicitation`: questions to a person. `rounds`: calls with questions in the stateless revision.
//! - `prompts`, `completion`, `resources`, `subscriptions`, `logging`: the other requests.
//! - `channel`: events pushed to clients. `instructions`: the server's guide for models.
//! - `pagination`: pages and cursors of lists. `revision`: differences between protocol revisions.
//! - `stdio`, `http`: the transports.

mod call_server;
mod channel;
mod clean;
mod completion;
mod elicitation;
mod fleet;
mod handler;
#[cfg(feature = "http")]
pub(crate) mod http;
mod instructions;
mod logging;
mod pagination;
pub(crate) mod pipeline;
mod prompts;
mod render;
mod resources;
mod revision;
mod rounds;
pub(crate) mod stdio;
mod subscriptions;

pub use handler::Handler;
