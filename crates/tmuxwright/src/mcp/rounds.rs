//! Calls of the stateless revision that may need a person's answer. A call runs in a task of its own; a
//! request waits until it ends or has a question, and the next request brings the answer.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::pipeline::{self, IncomingCall, ToolAnswer};
use crate::app::McpClient;
use crate::context::{AskPerson, CallEvent, DetachedCall, Progress, RequestProgress};
use crate::contract::{Code, PersonAnswer, Reply, ToolError};
use crate::random;

/// The end of one request.
pub(super) enum RoundEnd {
    /// The call has ended.
    Answer(ToolAnswer),
    /// The call waits for an answer under this state.
    Question { text: String, state: String },
}

/// Makes a call, up to its first question.
pub(super) async fn begin(client: &Arc<McpClient>, call: IncomingCall) -> RoundEnd {
    let (events, received) = mpsc::channel(1);
    let token = CancellationToken::new();
    let progress = RequestProgress::new(call.progress);
    let detached = DetachedCall {
        tool: call.tool.clone(),
        arguments: call.arguments.clone(),
        events: received,
        progress: progress.clone(),
        cancel: token.clone().drop_guard(),
    };
    let cancelled = call.cancel.clone();
    let call = IncomingCall {
        progress: progress.for_call(),
        person: Arc::new(ByResult(events.clone())),
        cancel: token,
        ..call
    };
    let caller = Arc::clone(client);
    let work = async move {
        let done = pipeline::incoming(&caller, call).await;
        let _ = events.send(CallEvent::Done(done)).await;
    };
    client.app.detached.spawn(work.in_current_span());
    next(client, detached, &cancelled).await
}

/// Continues a call with the answer to its question. The repeated request must be the same as the first.
pub(super) async fn resume(
    client: &Arc<McpClient>,
    call: IncomingCall,
    state: &str,
    answer: PersonAnswer,
) -> RoundEnd {
    let suspended = client.app.detached.take(state);
    let same = |(other, _): &(DetachedCall, _)| {
        other.tool == call.tool && other.arguments == call.arguments
    };
    let Some((detached, waiting)) = suspended.filter(same) else {
        let message = "no question about this call is open under this `requestState`";
        let error = ToolError::new(Code::Denied, message).hint(
            "call the tool again without it: the person is asked anew. A state works once, for one \
             call, and for a few minutes",
        );
        return RoundEnd::Answer(pipeline::refuse(client, call, error).await);
    };
    detached.progress.follow(call.progress);
    // A call whose time is over has ended with an error, which is the next event.
    let _ = waiting.send(answer);
    next(client, detached, &call.cancel).await
}

/// Waits for the call's end or its next question.
async fn next(
    client: &Arc<McpClient>,
    mut call: DetachedCall,
    cancelled: &CancellationToken,
) -> RoundEnd {
    let calls = &client.app.detached;
    loop {
        let event = tokio::select! {
            event = call.events.recv() => event,
            () = cancelled.cancelled() => {
                let message = format!("`{}` was cancelled", call.tool);
                return answer(client, Err(ToolError::new(Code::Cancelled, message)));
            }
        };
        let (text, waiting) = match event {
            Some(CallEvent::Question(text, waiting)) => (text, waiting),
            Some(CallEvent::Done(done)) => return answer(client, done),
            None => {
                let message = format!("`{}` ended without an answer", call.tool);
                return answer(client, Err(ToolError::internal(message)));
            }
        };
        match random::hex(32) {
            Ok(state) if calls.has_room() => {
                call.progress.follow(Progress::default());
                calls.keep(&state, call, waiting);
                return RoundEnd::Question { text, state };
            }
            Ok(_) => {
                let why = "too many questions are open".to_owned();
                let _ = waiting.send(PersonAnswer::Failed(why));
            }
            Err(error) => {
                let _ = waiting.send(PersonAnswer::Failed(format!("no random number: {error}")));
            }
        }
    }
}

fn answer(client: &McpClient, done: Result<Reply, ToolError>) -> RoundEnd {
    RoundEnd::Answer(ToolAnswer::new(client, done))
}

/// Hands questions to the request that waits for the call.
struct ByResult(mpsc::Sender<CallEvent>);

impl AskPerson for ByResult {
    fn ask(&self, question: String) -> BoxFuture<'_, PersonAnswer> {
        async move {
            let (reply, answer) = oneshot::channel();
            let sent = self.0.send(CallEvent::Question(question, reply)).await;
            let gone = || PersonAnswer::Failed("the request is gone".to_owned());
            match sent {
                Ok(()) => answer.await.unwrap_or_else(|_| gone()),
                Err(_) => gone(),
            }
        }
        .boxed()
    }
}
