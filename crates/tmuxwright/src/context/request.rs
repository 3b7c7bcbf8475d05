//! The request that a call belongs to: cancellation, progress, limits, origin, and access to other tools.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::consent::{AskPerson, Questions};
use super::{Progress, ReachableServer};
use crate::contract::{ObjectIds, Reply, ToolError};
use crate::lock::lock;
use crate::redact::Redactor;

/// Everything that comes with a call besides the tool and its arguments.
#[derive(Clone)]
pub struct Request {
    /// Cancelled when the answer is no longer wanted.
    pub cancel: CancellationToken,
    /// Sends progress reports to the MCP client.
    pub progress: Progress,
    /// Time at which the MCP client sent the request; a call within a batch inherits it.
    pub begun: Instant,
    /// Maximum number of characters of terminal text in the answer.
    pub max_chars: usize,
    /// Whether the uncut text of the answer is kept as well, for the directory `audit.full`.
    pub keep_full_text: bool,
    /// Redacts secrets. Tools use it where they cut a text; the whole answer is redacted afterwards.
    pub redact: Redactor,
    /// Name and version of the MCP client, as it gave them.
    pub client: Option<Arc<str>>,
    /// For calls that serve a resource: its URI, or `resources/list`.
    pub via: Option<Arc<str>>,
    /// The first object that the call resolved, for the audit record.
    pub first_target: FirstTarget,
    /// The arguments as JSON on one line, for questions to a person; empty if none is ever asked.
    pub arguments: Arc<str>,
    /// Asks the person behind the MCP client.
    pub person: Arc<dyn AskPerson>,
    /// The questions that the person was asked, for the audit record.
    pub questions: Questions,
    /// Calls other tools.
    pub calls: Arc<dyn ToolCaller>,
}

/// Ids of the first object that a call resolved, whether or not the call succeeds.
#[derive(Debug, Clone, Default)]
pub struct FirstTarget(Arc<Mutex<ObjectIds>>);

impl FirstTarget {
    /// Notes an object, unless one is noted already.
    pub fn note(&self, ids: ObjectIds) {
        let mut noted = lock(&self.0);
        if *noted == ObjectIds::default() {
            *noted = ids;
        }
    }

    /// The noted ids.
    pub fn ids(&self) -> ObjectIds {
        lock(&self.0).clone()
    }
}

/// Calls tools on behalf of a tool. Each call passes the whole pipeline, and its answer is the one that
/// an MCP client would get.
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

    /// The names of the tmux servers that calls can choose from, the default one first; none if there is only one.
    fn server_names(&self) -> &[String];

    /// All tmux servers that can be reached, the default one first.
    fn servers(&self) -> Vec<ReachableServer>;
}
