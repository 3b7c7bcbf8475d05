//! Detached calls: they can wait for a person's answer while no request of their MCP client is open.
//!
//! In the stateless revision a server cannot send a question. It ends the request with the question and a
//! state instead, and the client repeats the request with the state and the answer. Meanwhile the call
//! itself waits in a task. So the state is only a random name for a call of this process: it cannot be
//! forged, it works once, and it belongs to one tool and its arguments.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::DropGuard;

use super::Progress;
use crate::contract::{PersonAnswer, Reply, ToolError};
use crate::lock::lock;

/// The number of calls that can wait for an answer at once.
const MAX_SUSPENDED_CALLS: usize = 64;

/// The next event of a call.
#[derive(Debug)]
pub enum CallEvent {
    /// The call waits for the answer to a question.
    Question(String, oneshot::Sender<PersonAnswer>),
    /// The call has ended.
    Done(Result<Reply, ToolError>),
}

/// A call that runs in a task of its own. Dropping it cancels the call.
#[derive(Debug)]
pub struct DetachedCall {
    /// The tool, as it was called.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// The events of the call.
    pub events: mpsc::Receiver<CallEvent>,
    /// The progress of the request that waits for the call.
    pub progress: RequestProgress,
    /// Cancels the call when it is dropped.
    pub cancel: DropGuard,
}

/// The detached calls of a server process.
#[derive(Debug, Default)]
pub struct DetachedCalls {
    /// The tasks of all calls.
    tasks: Mutex<JoinSet<()>>,
    /// The calls that wait for an answer, by state.
    suspended: Mutex<HashMap<String, (DetachedCall, oneshot::Sender<PersonAnswer>)>>,
}

impl DetachedCalls {
    /// Runs a call.
    pub fn spawn(&self, call: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(call);
    }

    /// Waits for the end of all calls, so that each has its audit record. They must be cancelled already.
    pub async fn close(&self) {
        let mut tasks = std::mem::take(&mut *lock(&self.tasks));
        while tasks.join_next().await.is_some() {}
    }

    /// Whether one more call can wait for an answer. Calls whose time is over are removed.
    pub fn has_room(&self) -> bool {
        let mut calls = lock(&self.suspended);
        calls.retain(|_, (_, answer)| !answer.is_closed());
        calls.len() < MAX_SUSPENDED_CALLS
    }

    /// Keeps a call until its answer comes.
    pub fn keep(&self, state: &str, call: DetachedCall, answer: oneshot::Sender<PersonAnswer>) {
        lock(&self.suspended).insert(state.to_owned(), (call, answer));
    }

    /// Takes the call with this state, so that the state works once.
    pub fn take(&self, state: &str) -> Option<(DetachedCall, oneshot::Sender<PersonAnswer>)> {
        lock(&self.suspended).remove(state)
    }
}

/// Sends the progress of a call to the request that waits for it at the time.
#[derive(Debug, Clone)]
pub struct RequestProgress(Arc<Mutex<Progress>>);

impl RequestProgress {
    /// Sends to this request at first.
    pub fn new(first: Progress) -> Self {
        Self(Arc::new(Mutex::new(first)))
    }

    /// Sends to another request from now on; the default sends nowhere.
    pub fn follow(&self, request: Progress) {
        *lock(&self.0) = request;
    }

    /// The progress for the call, wanted if the first request wants it.
    pub fn for_call(&self) -> Progress {
        if !lock(&self.0).is_wanted() {
            return Progress::default();
        }
        let current = Arc::clone(&self.0);
        Progress::new(move |step| {
            let request = lock(&current).clone();
            async move { request.report(step).await }.boxed()
        })
    }
}
