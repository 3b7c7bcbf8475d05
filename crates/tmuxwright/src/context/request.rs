//! Calls that a tool makes for its caller.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Progress;
use crate::contract::{ObjectIds, Reply, ToolError};
use crate::lock::lock;

/// What comes with a call, beside the tool and its arguments.
#[derive(Clone)]
pub struct Request {
    /// Tripped when nobody waits for the answer any more.
    pub cancel: CancellationToken,
    /// Where to report progress.
    pub progress: Progress,
    /// When the client began to wait.
    pub begun: Instant,
    /// The most characters of terminal text in the answer.
    pub max_chars: usize,
    /// Whether the answer's text is wanted before it is cut, too: for the audit folder.
    pub keep_full_text: bool,
    /// Who made the call, by its own account.
    pub client: Option<Arc<str>>,
    /// What it is made for, if not for itself: the address of a resource, or `resources/list`.
    pub via: Option<Arc<str>>,
    /// What the call has found.
    pub first_target: FirstTarget,
    /// The way to other tools.
    pub calls: Arc<dyn ToolCaller>,
}

/// The first object that a call has found, whatever became of it.
#[derive(Debug, Clone, Default)]
pub struct FirstTarget(Arc<Mutex<ObjectIds>>);

impl FirstTarget {
    /// Notes an object.
    pub fn note(&self, ids: ObjectIds) {
        let mut noted = lock(&self.0);
        if *noted == ObjectIds::default() {
            *noted = ids;
        }
    }

    /// The ids that were noted.
    pub fn ids(&self) -> ObjectIds {
        lock(&self.0).clone()
    }
}

/// Makes calls: each passes the policy by itself, and its answer is as its client would see it.
pub trait ToolCaller: Send + Sync {
    /// Makes one call.
    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: Map<String, Value>,
        request: Request,
    ) -> BoxFuture<'a, Result<Reply, ToolError>>;

    /// Whether a tool is offered.
    fn offers(&self, tool: &str) -> bool;
}
