//! Progress of a long call, reported to clients that asked for it.

use std::sync::Arc;

use futures::future::BoxFuture;

/// One step of a long call.
#[derive(Debug, Clone)]
pub struct ProgressStep {
    /// How far it is.
    pub done: f64,
    /// How far it has to go, if that is known.
    pub total: Option<f64>,
    /// What it is doing.
    pub message: String,
}

/// Tells the client how a long call is getting on, if it wants to know.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(ProgressStep) -> BoxFuture<'static, ()> + Send + Sync>>);

impl Progress {
    /// Progress that goes through `send`.
    pub fn new(
        send: impl Fn(ProgressStep) -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(send)))
    }

    /// Whether the client wants to know.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Reports a step. It is on its way to the client when this returns.
    pub async fn report(&self, step: ProgressStep) {
        if let Some(send) = &self.0 {
            send(step).await;
        }
    }
}
