//! The way of every tool call: look it up, check the arguments, ask the policy, run it, shape the
//! answer, write it down. Nothing else calls a tool.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine};
use futures::FutureExt;
use futures::future::BoxFuture;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::audit::{Audit, Caller, End, Ids};
use crate::client::Client;
use crate::redact::Redactor;
use crate::text;
use crate::tool::{
    Calls, Code, Cx, Form, Image, Notice, Progress, Reply, Request, ToolError, Touched,
};

/// The key under which an error's code is in `_meta`.
const CODE_KEY: &str = "tmux-mcp/code";

/// The key under which it says how many secrets were taken out.
pub(super) const REDACTED_KEY: &str = "tmux-mcp/redacted";

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
            Answer { result: success(reply, of.app.settings.structured), notices }
        }
        Err(error) => Answer { result: failure(&error), notices: Vec::new() },
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
    let begun = audit.begin(tool, &app.registry.shape(tool), &arguments, caller(client, &request));
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
fn end(answer: &mut Result<Reply, ToolError>, touched: Ids) -> End {
    match answer {
        Ok(reply) => End {
            ids: Ids::of(reply.structured.as_object()).or(touched),
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
        Ok(reply) => Ok(shaped(reply, redact)),
        Err(error) => Err(fit_to_show(error, redact)),
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
    let cx = Cx::new(&client.around, entry.meta, guard, request);
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

/// The answer as a client may see it. Those of calls within a call have this behind them; to clean
/// them again changes nothing.
fn shaped(mut reply: Reply, redact: &Redactor) -> Reply {
    let raw = std::mem::take(&mut reply.text);
    reply.text = text::clean(&raw, reply.colors);
    text::clean_value(&mut reply.structured, reply.colors);
    for Notice { text, facts } in &mut reply.notices {
        for text in facts.iter_mut().map(|(_, fact)| fact).chain([text]) {
            *text = text::clean(text, false);
            redact.text(text);
        }
    }
    if reply.form != Form::Calls {
        reply.whole = reply.whole.map(|text| {
            let mut text = text::clean(&text, reply.colors);
            redact.text(&mut text);
            text
        });
        prune(&mut reply.structured, true);
        let in_text = redacted_text(&mut reply, &raw, redact);
        reply.redacted = in_text.max(redacted_data(&mut reply, redact));
        reply.text.push_str(&said(reply.redacted));
    }
    reply
}

/// Takes secrets out of the text. Colours can cut one into pieces; then they go.
fn redacted_text(reply: &mut Reply, raw: &str, redact: &Redactor) -> usize {
    let count = redact.text(&mut reply.text);
    if !reply.colors {
        return count;
    }
    let mut plain = text::clean(raw, false);
    let in_plain = redact.text(&mut plain);
    if in_plain > count {
        reply.text = plain;
    }
    in_plain.max(count)
}

/// The same for the data.
fn redacted_data(reply: &mut Reply, redact: &Redactor) -> usize {
    if !reply.colors {
        return redact.value(&mut reply.structured);
    }
    let mut plain = reply.structured.clone();
    text::clean_value(&mut plain, false);
    let count = redact.value(&mut reply.structured);
    let in_plain = redact.value(&mut plain);
    if in_plain > count {
        reply.structured = plain;
    }
    in_plain.max(count)
}

/// An error as a client may see it.
pub(super) fn fit_to_show(error: ToolError, redact: &Redactor) -> ToolError {
    let mut count = 0;
    let mut fit = |text: String| {
        let mut text = text::clean(&text, false);
        count += redact.text(&mut text);
        text
    };
    let ToolError { code, message, hint } = error;
    let (message, hint) = (fit(message), hint.map(&mut fit));
    ToolError { code, message: message + &said(count), hint }
}

/// A last line that says what was taken out.
fn said(redacted: usize) -> String {
    match redacted {
        0 => String::new(),
        1 => "\n[1 secret redacted]".to_owned(),
        more => format!("\n[{more} secrets redacted]"),
    }
}

fn success(reply: Reply, structured: bool) -> CallToolResult {
    let image = |image: Image| ContentBlock::image(BASE64_STANDARD.encode(image.bytes), image.mime);
    let mut content = vec![ContentBlock::text(reply.text)];
    content.extend(reply.images.into_iter().map(image));
    let mut result = CallToolResult::success(content);
    if structured || reply.form == Form::Data {
        result.structured_content = Some(reply.structured);
    }
    if reply.redacted > 0 {
        let mut meta = MetaObject::new();
        meta.0.insert(REDACTED_KEY.to_owned(), reply.redacted.into());
        result.meta = Some(meta);
    }
    result
}

fn failure(error: &ToolError) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(error.to_string())]);
    let mut meta = MetaObject::new();
    meta.0.insert(CODE_KEY.to_owned(), Value::String(error.code.name().to_owned()));
    result.meta = Some(meta);
    result
}

/// Leaves out what says nothing: empty text, empty lists, `false`. Lists at the top stay.
fn prune(value: &mut Value, top: bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| prune(item, false)),
        Value::Object(map) => {
            map.values_mut().for_each(|inner| prune(inner, false));
            map.retain(|_, inner| match inner {
                Value::Null | Value::Bool(false) => false,
                Value::String(text) => !text.is_empty(),
                Value::Array(items) => top || !items.is_empty(),
                Value::Object(fields) => !fields.is_empty(),
                _ => true,
            });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;
    use crate::app::App;
    use crate::config::Settings;
    use crate::tool::{Entry, Group, Load, Meta, Output, Tier, Tool, Toolset};

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

    #[test]
    fn what_says_nothing_is_left_out() {
        let mut value = json!({"panes": [], "own": false, "n": 0, "in": {"list": [], "text": ""}});
        prune(&mut value, true);
        assert_eq!(value, json!({"panes": [], "n": 0}));
    }

    /// All names of fields in a schema, with a text that is no secret by itself for each.
    fn fields(schema: &Value, found: &mut Map<String, Value>) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            found.extend(properties.keys().map(|name| (name.clone(), json!("words"))));
        }
        match schema {
            Value::Object(map) => map.values().for_each(|inner| fields(inner, found)),
            Value::Array(items) => items.iter().for_each(|inner| fields(inner, found)),
            _ => {}
        }
    }

    #[test]
    fn no_field_of_an_answer_is_taken_for_a_secret_by_its_name() {
        let mut redact = Redactor::default();
        redact.switch(true);
        for entry in crate::tools::all() {
            let mut found = Map::new();
            fields(&Value::Object((entry.output_schema)()), &mut found);
            let mut value = Value::Object(found);
            assert_eq!(redact.value(&mut value), 0, "{}: {value}", entry.meta.name);
        }
    }
}
