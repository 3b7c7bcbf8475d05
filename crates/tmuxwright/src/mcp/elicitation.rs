//! Elicitation: questions to the person behind an MCP client, as a request of the server or, in the
//! stateless revision, as part of a result.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use rmcp::Peer;
use rmcp::model::{
    ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult, InputResponses,
    ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer, ServiceError};
use tokio::sync::oneshot;

use super::revision::is_stateless;
use crate::context::{AskPerson, NobodyToAsk};
use crate::contract::PersonAnswer;
use crate::redact::Redactor;
use terminal::text;

/// The key of the question in an `input_required` result, and of the answer in the next request.
const QUESTION_KEY: &str = "confirm";

/// Whether the client of a request can show a form to a person.
pub(super) fn is_supported(context: &RequestContext<RoleServer>) -> bool {
    let declared = match is_stateless(context) {
        true => context.meta.client_capabilities(),
        false => context.peer.peer_info().map(|info| info.capabilities.clone()),
    };
    declared.as_ref().is_some_and(shows_forms)
}

/// A capability that names no mode means forms, the only mode of the first revision with elicitation.
fn shows_forms(capabilities: &ClientCapabilities) -> bool {
    let elicitation = capabilities.elicitation.as_ref();
    elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Asks the client of a request with `elicitation/create`, if it can.
pub(super) fn by_request(
    context: &RequestContext<RoleServer>,
    redact: &Redactor,
) -> Arc<dyn AskPerson> {
    match is_supported(context) && !is_stateless(context) {
        true => Arc::new(ByRequest { peer: context.peer.clone(), redact: redact.clone() }),
        false => Arc::new(NobodyToAsk),
    }
}

struct ByRequest {
    peer: Peer<RoleServer>,
    redact: Redactor,
}

impl AskPerson for ByRequest {
    fn ask(&self, question: String) -> BoxFuture<'_, PersonAnswer> {
        let request = ServerRequest::ElicitRequest(request(question, &self.redact));
        async move {
            // Sent from the task of the tool call: over HTTP, rmcp finds the stream by the task.
            let options = PeerRequestOptions::no_options();
            let mut sent = match self.peer.send_cancellable_request(request, options).await {
                Ok(sent) => sent,
                Err(error) => return failed(&error),
            };
            let (reply, answer) = oneshot::channel();
            tokio::spawn(async move {
                let mut reply = reply;
                let answered = tokio::select! {
                    answered = &mut sent.rx => Some(answered),
                    () = reply.closed() => None,
                };
                let Some(answered) = answered else {
                    let why = "the call no longer waits for an answer".to_owned();
                    let _ = sent.cancel(Some(why)).await;
                    return;
                };
                let _ = reply.send(match answered {
                    Ok(Ok(ClientResult::ElicitResult(result))) => answer_of(&result),
                    Ok(Ok(_)) => PersonAnswer::Failed("the answer is malformed".to_owned()),
                    Ok(Err(error)) => failed(&error),
                    Err(_) => failed(&ServiceError::TransportClosed),
                });
            });
            answer.await.unwrap_or_else(|_| failed(&ServiceError::TransportClosed))
        }
        .boxed()
    }
}

fn failed(error: &ServiceError) -> PersonAnswer {
    PersonAnswer::Failed(text::inline(&error.to_string()))
}

/// A result that asks the client to put a question and to repeat its request with the answer.
pub(super) fn input_required(
    question: String,
    state: String,
    redact: &Redactor,
) -> InputRequiredResult {
    let question = InputRequest::Elicitation(request(question, redact));
    let questions = BTreeMap::from([(QUESTION_KEY.to_owned(), question)]);
    InputRequiredResult::new(Some(questions), Some(state))
}

/// The answer in a repeated request.
pub(super) fn answer_in(responses: Option<InputResponses>) -> PersonAnswer {
    let answer = responses.and_then(|mut responses| responses.remove(QUESTION_KEY));
    match answer.map(serde_json::from_value::<ElicitResult>) {
        Some(Ok(result)) => answer_of(&result),
        Some(Err(_)) => PersonAnswer::Failed("the answer is malformed".to_owned()),
        None => PersonAnswer::Failed("the answer is missing".to_owned()),
    }
}

fn answer_of(result: &ElicitResult) -> PersonAnswer {
    match result.action {
        ElicitationAction::Accept => PersonAnswer::Accepted,
        ElicitationAction::Cancel => PersonAnswer::Dismissed,
        _ => PersonAnswer::Declined,
    }
}

/// A form without fields: a person accepts or declines it.
fn request(question: String, redact: &Redactor) -> ElicitRequest {
    let mut message = text::clean(&question, false);
    redact.text(&mut message);
    let requested_schema = ElicitationSchema::new(BTreeMap::new());
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema,
    })
}
