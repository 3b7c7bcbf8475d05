//! Calls that a tool makes for its caller.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Progress, Reply, ToolError};

/// What comes with a call, beside the tool and its arguments.
#[derive(Clone)]
pub struct Request {
    /// Tripped when nobody waits for the answer any more.
    pub cancel: CancellationToken,
    /// Where to report progress.
    pub progress: Progress,
    /// When the client began to wait.
    pub begun: Instant,
    /// How long the answer's text may be.
    pub max: usize,
    /// The way to other tools.
    pub calls: Arc<dyn Calls>,
}

/// Makes calls: each passes the policy by itself, and its answer is as its client would see it.
pub trait Calls: Send + Sync {
    /// Makes one call.
    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: Map<String, Value>,
        request: Request,
    ) -> BoxFuture<'a, Result<Reply, ToolError>>;
}
