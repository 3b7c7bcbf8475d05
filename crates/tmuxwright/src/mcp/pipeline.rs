//! The way of every tool call: look it up, check the arguments, ask the policy, run it, shape the
//! answer, write it down. Nothing else calls a tool.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use rmcp::model::CallToolResult;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::shape;
use crate::app::Client;
use crate::audit::{Audit, Caller, End};
use crate::context::{Calls, Cx, Progress, Request, Touched};
use crate::contract::{Code, Notice, ObjectIds, Reply, ToolError};
use terminal::text;

/// A call as it came in.
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) cancel: CancellationToken,
    pub(crate) progress: Progress,
    /// Who makes it, if that is to be written down.
    pub(crate) client: Option<Arc<str>>,
}

/// The way of every call, for the tools that make calls themselves.
struct Pipeline(Arc<Client>);

impl Calls for Pipeline {
    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: Map<String, Value>,
        request: Request,
    ) -> BoxFuture<'a, Result<Reply, ToolError>> {
        run(&self.0, tool, arguments, request).boxed()
    }

    fn offers(&self, tool: &str) -> bool {
        self.0.app.registry.find(tool).is_ok()
    }
}

/// What comes with a call that nobody has made before.
pub(crate) fn request(
    client: &Arc<Client>,
    cancel: CancellationToken,
    progress: Progress,
) -> Request {
    let app = &client.app;
    let calls = Arc::new(Pipeline(Arc::clone(client)));
    let whole = app.audit.as_ref().is_some_and(Audit::wants_text);
    Request {
        cancel,
        progress,
        begun: Instant::now(),
        max: app.settings.text_limit,
        whole,
        client: None,
        via: None,
        touched: Touched::default(),
        calls,
    }
}

/// A call's answer.
pub(crate) struct Answer {
    pub(crate) result: CallToolResult,
    /// What happened, for a client that is at something else by now.
    pub(crate) notices: Vec<Notice>,
}

/// Makes a call. A failed one is a result too: the agent can read it and act on it.
pub(crate) async fn call(of: &Arc<Client>, call: Call) -> Answer {
    let Call { tool, arguments, cancel, progress, client } = call;
    let request = Request { client, ..request(of, cancel, progress) };
    match run(of, &tool, arguments, request).await {
        Ok(mut reply) => {
            let notices = std::mem::take(&mut reply.notices);
            Answer { result: shape::success(reply, of.app.settings.structured), notices }
        }
        Err(error) => Answer { result: shape::failure(&error), notices: Vec::new() },
    }
}

/// Makes a call. One that is made for a resource has a tool that need not be offered.
pub(crate) async fn run(
    client: &Client,
    tool: &str,
    arguments: Map<String, Value>,
    request: Request,
) -> Result<Reply, ToolError> {
    let app = &client.app;
    let Some(audit) = &app.audit else { return answer(client, tool, arguments, request).await };
    // One call within another is a call of its own.
    let touched = Touched::default();
    let request = Request { touched: touched.clone(), ..request };
    let begun =
        audit.begin(tool, &app.registry.disclosure(tool), &arguments, caller(client, &request));
    if let Err(failed) = audit.ready().await {
        begun.refuse(Code::AuditFailed.name());
        return Err(failed.into());
    }
    let mut answer = answer(client, tool, arguments, request).await;
    begun.end(end(&mut answer, touched.ids())).await.map_err(|failed| {
        let ToolError { code, message, hint } = failed.into();
        let message = format!("`{tool}` was called, but its answer is held back: {message}");
        ToolError { code, message: text::clean(&message, false), hint }
    })?;
    answer
}

/// What is written down of where a call comes from.
fn caller(client: &Client, request: &Request) -> Caller {
    Caller {
        client: request.client.clone(),
        client_number: client.number(),
        via: request.via.clone(),
    }
}

/// What is written down of an answer.
fn end(answer: &mut Result<Reply, ToolError>, touched: ObjectIds) -> End {
    match answer {
        Ok(reply) => End {
            ids: ObjectIds::of(reply.structured.as_object()).or(touched),
            outcome: "ok",
            output_bytes: Some(reply.text.len()),
            text: reply.whole.take(),
        },
        Err(error) => {
            End { ids: touched, outcome: error.code.name(), output_bytes: None, text: None }
        }
    }
}

async fn answer(
    client: &Client,
    tool: &str,
    arguments: Map<String, Value>,
    request: Request,
) -> Result<Reply, ToolError> {
    let redact = &client.app.settings.redact;
    match work(client, tool, arguments, request).await {
        Ok(reply) => Ok(shape::shaped(reply, redact)),
        Err(error) => Err(shape::fit_to_show(error, redact)),
    }
}

async fn work(
    client: &Client,
    tool: &str,
    arguments: Map<String, Value>,
    request: Request,
) -> Result<Reply, ToolError> {
    let app = &client.app;
    let (entry, schema) = match request.via {
        Some(_) => app.registry.behind(tool)?,
        None => app.registry.find(tool).map(|tool| (tool.entry, Arc::clone(&tool.schema)))?,
    };
    let name = entry.meta.name;
    let guard = Arc::clone(&app.policy);
    let (cancel, begun) = (request.cancel.clone(), request.begun);
    let cx = Cx::new(&client.engines, entry.meta, guard, request);
    let work = (entry.call)(&cx, &schema, arguments);
    let answer = tokio::select! {
        biased;
        () = cancel.cancelled() => {
            Err(ToolError::new(Code::Cancelled, format!("`{name}` was cancelled")))
        }
        () = app.ending.cancelled() => {
            Err(ToolError::new(Code::Cancelled, format!("`{name}` was cut short: the server ends")))
        }
        // A panic must not cost the caller its answer: rmcp would never send one.
        done = AssertUnwindSafe(work).catch_unwind() => done.unwrap_or_else(|panic| {
            let what = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_default();
            Err(ToolError::internal(format!("`{name}` stopped half-way: {what}")))
        }),
    };
    let how = answer.as_ref().map_or_else(|error| error.code.name(), |_| "ok");
    tracing::debug!("{name}: {how} after {} ms", begun.elapsed().as_millis());
    answer
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::app::App;
    use crate::config::Settings;
    use crate::context::{Entry, Tool};
    use crate::contract::{Form, Group, Load, Meta, Output, Tier, Toolset};

    #[derive(Deserialize, JsonSchema)]
    struct NoArgs {}

    #[derive(Serialize, JsonSchema)]
    struct Nothing {}

    impl Output for Nothing {
        const FORM: Form = Form::Data;
        fn text(&self) -> String {
            String::new()
        }
    }

    const fn meta(name: &'static str) -> Meta {
        Meta {
            name,
            title: "",
            description: "",
            group: Group::Pane,
            tier: Tier::Read,
            sets: &[Toolset::Agent],
            idempotent: true,
            open_world: false,
            load: Load::OnDemand,
        }
    }

    struct Panics;
    impl Tool for Panics {
        const META: Meta = meta("panics");
        type Args = NoArgs;
        type Output = Nothing;
        async fn call(_: &Cx, _: NoArgs) -> Result<Nothing, ToolError> {
            panic!("the roof fell in");
        }
    }

    struct Hangs;
    impl Tool for Hangs {
        const META: Meta = meta("hangs");
        type Args = NoArgs;
        type Output = Nothing;
        async fn call(_: &Cx, _: NoArgs) -> Result<Nothing, ToolError> {
            std::future::pending().await
        }
    }

    async fn call_with(tool: &str, cancel: CancellationToken) -> String {
        let tools = vec![Entry::of::<Panics>(), Entry::of::<Hangs>()];
        let app = Arc::new(App::with_tools(Settings::default(), tools));
        let call = Call {
            tool: tool.to_owned(),
            arguments: Map::new(),
            cancel,
            progress: Progress::default(),
            client: None,
        };
        let result = super::call(&app.client(), call).await.result;
        assert_eq!(result.is_error, Some(true));
        serde_json::to_string(&result).unwrap()
    }

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let text = call_with("panics", CancellationToken::new()).await;
        assert!(text.contains("internal") && text.contains("the roof fell in"), "{text}");
    }

    #[tokio::test]
    async fn cancelling_ends_a_call_that_would_never_end() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        let text = call_with("hangs", cancel).await;
        assert!(text.contains("cancelled"), "{text}");
    }

    #[tokio::test]
    async fn an_unknown_tool_names_the_nearest() {
        let text = call_with("hang", CancellationToken::new()).await;
        assert!(text.contains("unknown_tool") && text.contains("`hangs`"), "{text}");
    }
}
