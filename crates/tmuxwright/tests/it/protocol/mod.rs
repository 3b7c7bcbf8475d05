//! MCP itself: transports, revisions, resources, prompts, subscriptions.

pub(crate) mod batch;
pub(crate) mod batch_text;
pub(crate) mod clients_apart;
pub(crate) mod completion;
#[cfg(feature = "http")]
pub(crate) mod http;
#[cfg(feature = "http")]
pub(crate) mod http_gate;
#[cfg(feature = "http")]
pub(crate) mod http_life;
pub(crate) mod instructions;
pub(crate) mod lifecycle;
pub(crate) mod logging;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod resources_safe;
pub(crate) mod revisions;
pub(crate) mod stdio;
pub(crate) mod subscriptions;
pub(crate) mod subscriptions_life;
