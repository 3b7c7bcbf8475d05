//! Fleet calls: one call that runs on several tmux servers at once. It is split into one ordinary call for each, which
//! passes the whole pipeline by itself (policy of that server, audit record, redaction), and the answers are merged.
//! Tools only declare how (`Tool::FLEET`).
//!
//! - `split`: the calls that the arguments ask for.
//! - `merge`: one answer of several.

mod merge;
mod split;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::{call_server, pipeline, render};
use crate::app::{AppServer, McpClient};
use crate::context::{Progress, ProgressStep, Request};
use crate::contract::{Code, FleetEach, FleetFirst, FleetPart, Reply, ToolError};
use crate::lock::lock;
pub(super) use split::{FleetSplit, split};

/// Limit of the calls of a fleet call. All begin at once: a bound below it would let servers that hang delay others.
const MAX_FLEET_CALLS: usize = 64;

/// The time that other servers have once a wait on one has timed out: all have waited equally long.
const TIMEOUT_GRACE: Duration = Duration::from_secs(1);

/// Shortest interval between two progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// The calls of a fleet call.
pub(super) struct FleetCalls {
    calls: Vec<ServerCall>,
    merge: FleetMerge,
}

/// The way the answers become one.
enum FleetMerge {
    Each(&'static FleetEach),
    First(&'static FleetFirst),
}

/// One of the calls.
struct ServerCall {
    server: Arc<AppServer>,
    target: Option<String>,
    arguments: Map<String, Value>,
}

impl FleetCalls {
    /// Makes the calls and merges their answers. None of them goes on when this returns.
    pub(super) async fn make(
        self,
        client: &McpClient,
        tool: &str,
        request: Request,
    ) -> Result<Reply, ToolError> {
        let Self { calls, merge } = self;
        let cancel = request.cancel.child_token();
        let progress = SharedProgress::new(&request);
        // The answers stand in one text; of a wait only one is shown.
        let share = match merge {
            FleetMerge::Each(_) => request.max_chars.checked_div(calls.len()).unwrap_or(0),
            FleetMerge::First(_) => request.max_chars,
        };
        let calls = calls.into_iter().map(|call| {
            let request = Request {
                cancel: cancel.clone(),
                max_chars: share.max(1).min(request.max_chars),
                progress: progress.of(call.server.scope.name()),
                ..request.clone()
            };
            Box::pin(call.make(client, tool, request))
        });
        let answer = match merge {
            FleetMerge::Each(each) => merge::side_by_side(each, join_all(calls).await),
            FleetMerge::First(first) => {
                let ended = first_end(first, calls, &cancel).await;
                merge::first(ended)
            }
        };
        match request.cancel.is_cancelled() {
            true => Err(ToolError::new(Code::Cancelled, format!("`{tool}` was cancelled"))),
            false => answer,
        }
    }
}

impl ServerCall {
    async fn make(self, client: &McpClient, tool: &str, request: Request) -> FleetPart {
        let Self { server, target, arguments } = self;
        let name = server.scope.name();
        let mut answer = pipeline::call_on_one(client, tool, arguments, request).await;
        if let Ok(reply) = &mut answer {
            let note = render::redaction_note(reply.redacted);
            let length = reply.text.strip_suffix(&note).map_or(reply.text.len(), str::len);
            reply.text.truncate(length);
        }
        call_server::unname(&mut answer, name);
        FleetPart { server: name.to_string(), target, answer }
    }
}

/// The answers of a wait on several servers.
struct WaitEnds {
    /// The answer that ended the wait.
    winner: Option<FleetPart>,
    /// Waits that timed out, in the order of the call.
    timed_out: Vec<FleetPart>,
    /// Calls that failed before, in the order of the call.
    failed: Vec<FleetPart>,
    /// Servers that had not answered when the time was over.
    silent: Vec<String>,
}

/// Makes all calls, and cancels those that still wait once one has ended the wait.
async fn first_end(
    first: &FleetFirst,
    calls: impl Iterator<Item = impl Future<Output = FleetPart>>,
    cancel: &CancellationToken,
) -> WaitEnds {
    let numbered = |(number, call)| async move { (number, call.await) };
    let mut waiting: FuturesUnordered<_> = calls.enumerate().map(numbered).collect();
    let (mut winner, mut timed_out, mut failed) = (None, Vec::new(), Vec::new());
    let mut end: Option<Instant> = None;
    loop {
        let next = match end {
            Some(end) => timeout_at(end, waiting.next()).await.ok().flatten(),
            None => waiting.next().await,
        };
        let Some((number, part)) = next else { break };
        match &part.answer {
            Err(_) => failed.push((number, part)),
            Ok(reply)
                if reply.structured.get(first.end).is_some_and(|end| end == first.timeout) =>
            {
                end.get_or_insert(Instant::now() + TIMEOUT_GRACE);
                timed_out.push((number, part));
            }
            Ok(_) => {
                winner = Some(part);
                break;
            }
        }
    }
    cancel.cancel();
    let mut silent = Vec::new();
    // A cancelled call ends at once, with its record in the audit log.
    while let Some((_, part)) = waiting.next().await {
        silent.push(part.server);
    }
    let in_order = |mut parts: Vec<(usize, FleetPart)>| {
        parts.sort_by_key(|(number, _)| *number);
        parts.into_iter().map(|(_, part)| part).collect()
    };
    WaitEnds { winner, timed_out: in_order(timed_out), failed: in_order(failed), silent }
}

/// The progress of several calls as that of one, which never goes back.
struct SharedProgress {
    outer: Progress,
    begun: Instant,
    last: Arc<Mutex<Option<Instant>>>,
}

impl SharedProgress {
    fn new(request: &Request) -> Self {
        let (outer, begun) = (request.progress.clone(), request.begun);
        Self { outer, begun, last: Arc::default() }
    }

    /// The progress of the call on this server.
    fn of(&self, server: &str) -> Progress {
        if !self.outer.is_wanted() {
            return Progress::default();
        }
        let (outer, begun, last) = (self.outer.clone(), self.begun, Arc::clone(&self.last));
        let server = server.to_owned();
        Progress::new(move |step| {
            let (outer, now) = (outer.clone(), Instant::now());
            let message = format!("{server}: {}", step.message);
            let mut last = lock(&last);
            let is_due = last.is_none_or(|last| now.duration_since(last) >= PROGRESS_INTERVAL);
            if is_due {
                *last = Some(now);
            }
            Box::pin(async move {
                if is_due {
                    let done = now.duration_since(begun).as_secs_f64();
                    outer.report(ProgressStep { done, total: None, message }).await;
                }
            })
        })
    }
}
