//! The path of every tool call: dispatch, authorize, execute, render, with a record in the audit log
//! around them. Nothing else calls a tool.

#[cfg(test)]
mod tests;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value};
use terminal::text;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::call_server::{self, ServerChoice};
use super::fleet::{self, FleetSplit};
use super::render;
use crate::app::{AppServer, McpClient};
use crate::audit::{Audit, CallOrigin, CallOutcome};
use crate::context::{
    AskPerson, Cx, FirstTarget, NobodyToAsk, Progress, Questions, ReachableServer, Request,
    ToolCaller, ToolEntry,
};
use crate::contract::{AskedPerson, Code, Notice, ObjectIds, Reply, Tier, ToolError, json_line};

/// A `tools/call` as it came in.
pub(crate) struct IncomingCall {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) cancel: CancellationToken,
    pub(crate) progress: Progress,
    /// The name and version the client gave, for the audit log.
    pub(crate) client: Option<Arc<str>>,
    /// Asks the person behind the client.
    pub(crate) person: Arc<dyn AskPerson>,
}

/// The answer to a `tools/call`.
pub(crate) struct ToolAnswer {
    pub(crate) result: CallToolResult,
    /// Events for a client that no longer waits for the answer (channel mode).
    pub(crate) notices: Vec<Notice>,
}

impl ToolAnswer {
    /// A failed call is an answer too: the agent can read it and act on it.
    pub(crate) fn new(client: &McpClient, done: Result<Reply, ToolError>) -> Self {
        match done {
            Ok(mut reply) => {
                let notices = std::mem::take(&mut reply.notices);
                let structured = client.app.settings.structured;
                Self { result: render::success(reply, structured), notices }
            }
            Err(error) => Self { result: render::failure(&error), notices: Vec::new() },
        }
    }
}

/// Answers a `tools/call`.
pub(crate) async fn dispatch(client: &Arc<McpClient>, call: IncomingCall) -> ToolAnswer {
    ToolAnswer::new(client, incoming(client, call).await)
}

/// Makes the call of a `tools/call`.
pub(crate) async fn incoming(
    client: &Arc<McpClient>,
    call: IncomingCall,
) -> Result<Reply, ToolError> {
    let IncomingCall { tool, arguments, cancel, progress, client: name, person } = call;
    let request = Request { client: name, person, ..request(client, cancel, progress) };
    self::call(client, &tool, arguments, request).await
}

/// Answers a `tools/call` with an error before anything is done. The call is recorded like any other.
pub(crate) async fn refuse(
    client: &Arc<McpClient>,
    call: IncomingCall,
    error: ToolError,
) -> ToolAnswer {
    let IncomingCall { tool, mut arguments, cancel, progress, client: name, .. } = call;
    let request = Request { client: name, ..request(client, cancel, progress) };
    let ServerChoice { recorded, .. } = call_server::choose(client, &tool, &mut arguments);
    let refuse = |_, _| async { Err(error) };
    let refused = self::recorded(client, &tool, arguments, request, recorded, refuse).await;
    ToolAnswer::new(client, refused)
}

/// The request of a call that is not part of another call.
pub(crate) fn request(
    client: &Arc<McpClient>,
    cancel: CancellationToken,
    progress: Progress,
) -> Request {
    let app = &client.app;
    Request {
        cancel,
        progress,
        begun: Instant::now(),
        max_chars: app.settings.text_limit,
        keep_full_text: app.audit.as_ref().is_some_and(Audit::wants_text),
        redact: app.settings.redact.clone(),
        client: None,
        via: None,
        first_target: FirstTarget::default(),
        arguments: Arc::from(""),
        person: Arc::new(NobodyToAsk),
        questions: Questions::default(),
        calls: Arc::new(CallsOf(Arc::clone(client))),
    }
}

/// Makes the calls of a tool on behalf of its MCP client, on the same path.
struct CallsOf(Arc<McpClient>);

impl ToolCaller for CallsOf {
    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: Map<String, Value>,
        request: Request,
    ) -> BoxFuture<'a, Result<Reply, ToolError>> {
        call(&self.0, tool, arguments, request).boxed()
    }

    fn offers(&self, tool: &str) -> bool {
        self.0.app.registry.find(tool).is_ok()
    }

    fn server_names(&self) -> &[String] {
        self.0.app.servers.names()
    }

    fn servers(&self) -> Vec<ReachableServer> {
        let reachable = |server: &Arc<AppServer>| ReachableServer {
            scope: server.scope.clone(),
            socket: server.socket().path(),
            host: Arc::clone(&self.0.engines(server).host),
            guard: Arc::clone(&server.policy) as _,
        };
        self.0.app.servers.all().iter().map(reachable).collect()
    }
}

/// Makes one call, on one tmux server or several.
pub(crate) async fn call(
    client: &McpClient,
    tool: &str,
    arguments: Map<String, Value>,
    request: Request,
) -> Result<Reply, ToolError> {
    match fleet::split(client, tool, arguments, &request) {
        FleetSplit::OneServer(arguments) => call_on_one(client, tool, arguments, request).await,
        FleetSplit::Fleet(arguments, fleet) => {
            let make = |_, request| async {
                match fleet {
                    Ok(fleet) => fleet.make(client, tool, request).await,
                    Err(error) => Err(error),
                }
            };
            recorded(client, tool, arguments, request, None, make).await
        }
    }
}

/// Makes one call on one tmux server.
pub(super) async fn call_on_one(
    client: &McpClient,
    tool: &str,
    mut arguments: Map<String, Value>,
    request: Request,
) -> Result<Reply, ToolError> {
    let ServerChoice { server, recorded } = call_server::choose(client, tool, &mut arguments);
    let authorized = server.and_then(|server| authorize(client, tool, &request, server));
    let make = |arguments, request| async {
        match authorized {
            Ok(authorized) => execute(client, authorized, arguments, request).await,
            Err(error) => Err(error),
        }
    };
    self::recorded(client, tool, arguments, request, recorded, make).await
}

/// Makes a call with a record in the audit log if one is kept, and cleans its answer. The record is written before
/// the answer goes out; a call that cannot be recorded is not made.
async fn recorded<W>(
    client: &McpClient,
    tool: &str,
    arguments: Map<String, Value>,
    request: Request,
    server: Option<Arc<str>>,
    make: impl FnOnce(Map<String, Value>, Request) -> W,
) -> Result<Reply, ToolError>
where
    W: Future<Output = Result<Reply, ToolError>>,
{
    let (app, redact) = (&client.app, &client.app.settings.redact);
    let Some(audit) = &app.audit else {
        return render::clean(make(arguments, request).await, redact);
    };
    // A call within another has a record of its own.
    let (touched, questions) = (FirstTarget::default(), Questions::default());
    let request =
        Request { first_target: touched.clone(), questions: questions.clone(), ..request };
    let disclosure = app.registry.disclosure(tool);
    let begun = audit.begin(tool, &disclosure, &arguments, caller(client, &request, server));
    if let Err(failed) = audit.ready().await {
        begun.refuse(Code::AuditFailed.name());
        return Err(failed.into());
    }
    let mut answer = render::clean(make(arguments, request).await, redact);
    let outcome = end(&mut answer, touched.ids(), questions.asked());
    begun.end(outcome).await.map_err(|failed| {
        let ToolError { code, message, hint } = failed.into();
        let message = format!("`{tool}` was called, but its result is withheld: {message}");
        ToolError { code, message: text::clean(&message, false), hint }
    })?;
    answer
}

/// A tool that may be called on a tmux server, with the schema of its arguments.
struct Authorized {
    entry: ToolEntry,
    schema: Arc<Map<String, Value>>,
    server: Arc<AppServer>,
}

/// Finds the tool, if tier, toolset and tool list allow it on the server. The tools behind a resource need not be in
/// the toolset, which only limits the tools a model sees. Objects, files and lines are checked later,
/// when the tool requests them from the call context.
fn authorize(
    client: &McpClient,
    tool: &str,
    request: &Request,
    server: Arc<AppServer>,
) -> Result<Authorized, ToolError> {
    let registry = &client.app.registry;
    let (entry, schema) = match request.via {
        Some(_) => registry.for_resource(tool)?,
        None => registry.find(tool).map(|tool| (tool.entry, Arc::clone(&tool.schema)))?,
    };
    // A tool is offered if any server permits it.
    match server.policy.permits(entry.meta) {
        true => Ok(Authorized { entry, schema, server }),
        false => Err(server.policy.refusal(entry.meta)),
    }
}

/// Runs the handler until it answers, the client cancels, or the server ends.
async fn execute(
    client: &McpClient,
    authorized: Authorized,
    arguments: Map<String, Value>,
    mut request: Request,
) -> Result<Reply, ToolError> {
    let Authorized { entry, schema, server } = authorized;
    let (app, name) = (&client.app, entry.meta.name);
    call_server::check_command(client, &server, &arguments)?;
    if app.policy.confirm {
        request.arguments = json_line(&arguments.clone().into()).into();
    }
    let (cancel, begun) = (request.cancel.clone(), request.begun);
    let engines = client.engines(&server);
    let cx = Cx::new(engines, entry.meta, Arc::clone(&server.policy) as _, request);
    let work = async {
        // A call that changes something does nothing there before it is known that the system can be reached.
        // Results of earlier calls are read without it.
        if entry.on_one_server && entry.meta.tier != Tier::Read {
            engines.host.connect().await?;
        }
        (entry.call)(&cx, &schema, arguments).await
    };
    let mut answer = tokio::select! {
        biased;
        () = cancel.cancelled() => {
            Err(ToolError::new(Code::Cancelled, format!("`{name}` was cancelled")))
        }
        () = app.ending.cancelled() => {
            Err(ToolError::new(Code::Cancelled, format!("`{name}` was cut short: the server is exiting")))
        }
        // A panic must not cost the caller its answer: rmcp would never send one.
        done = AssertUnwindSafe(work).catch_unwind() => {
            done.unwrap_or_else(|panic| Err(panicked(name, panic.as_ref())))
        }
    };
    if entry.on_one_server && server.scope.has_others() {
        call_server::name_in(&mut answer, &server);
    }
    let outcome = answer.as_ref().map_or_else(|error| error.code.name(), |_| "ok");
    tracing::debug!("{name}: {outcome} after {} ms", begun.elapsed().as_millis());
    answer
}

fn panicked(tool: &str, panic: &(dyn Any + Send)) -> ToolError {
    let message = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    ToolError::internal(format!("`{tool}` panicked: {message}"))
}

/// The origin of a call, for the audit log.
fn caller(client: &McpClient, request: &Request, server: Option<Arc<str>>) -> CallOrigin {
    CallOrigin {
        server,
        client: request.client.clone(),
        client_number: client.number(),
        via: request.via.clone(),
    }
}

/// The outcome of a call, for the audit log.
fn end(
    answer: &mut Result<Reply, ToolError>,
    touched: ObjectIds,
    asked: Vec<AskedPerson>,
) -> CallOutcome {
    match answer {
        Ok(reply) => CallOutcome {
            ids: ObjectIds::of(reply.structured.as_object()).or(touched),
            asked,
            outcome: "ok",
            output_bytes: Some(reply.text.len()),
            text: reply.full_text.take(),
        },
        Err(error) => CallOutcome {
            ids: touched,
            asked,
            outcome: error.code.name(),
            output_bytes: None,
            text: None,
        },
    }
}
