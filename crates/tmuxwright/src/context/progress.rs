//! Progress reports of a long call, for MCP clients that asked for them.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;

/// One progress report.
#[derive(Debug, Clone)]
pub struct ProgressStep {
    /// Work done so far.
    pub done: f64,
    /// Work in total, if known.
    pub total: Option<f64>,
    /// The present activity.
    pub message: String,
}

/// Sends progress reports to the MCP client, if it asked for them.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(ProgressStep) -> BoxFuture<'static, ()> + Send + Sync>>);

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("wanted", &self.is_wanted()).finish()
    }
}

impl Progress {
    /// Progress that is sent by `send`.
    pub fn new(
        send: impl Fn(ProgressStep) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(send)))
    }

    /// Whether the client asked for progress.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Sends a report. It is in the client's queue when this returns.
    pub async fn report(&self, step: ProgressStep) {
        if let Some(send) = &self.0 {
            send(step).await;
        }
    }
}
