//! `batch`: makes several tool calls in order, each with its own result.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

use crate::context::{Cx, Progress, ProgressStep, Request, Tool};
use crate::contract::{Form, Group, Image, Load, Meta, Notice, Output, Reply, Tier, ToolError};
use crate::results::words::{FactRow, count, field};

/// Limit of the argument `calls`.
const MAX_BATCH_CALLS: usize = 100;

pub(super) struct Batch;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Calls to make, in order.
    calls: Vec<Call>,
    /// Stop or continue after a failed call (default stop).
    on_error: Option<OnError>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Call {
    #[schemars(extend("x-clear" = true))]
    tool: String,
    arguments: Option<Arguments>,
}

#[derive(JsonSchema)]
#[schemars(transparent)]
struct Arguments(Map<String, Value>);

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OnError {
    Stop,
    Continue,
}

impl<'de> Deserialize<'de> for Arguments {
    /// Reads an object, or an object as text, which some MCP clients send.
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        match Value::deserialize(input)? {
            Value::Object(map) => Ok(Self(map)),
            Value::String(text) => serde_json::from_str(&text).map(Self).map_err(de::Error::custom),
            _ => Err(de::Error::invalid_type(de::Unexpected::Other("not an object"), &"an object")),
        }
    }
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct BatchResults {
    /// One result per call, in order.
    results: Vec<CallResult>,
    #[serde(skip)]
    colors: bool,
    #[serde(skip)]
    notices: Vec<Notice>,
    #[serde(skip)]
    images: Vec<Image>,
    #[serde(skip)]
    redacted: usize,
}

#[derive(Serialize, JsonSchema)]
struct CallResult {
    tool: String,
    status: CallStatus,
    /// Answer of the tool.
    #[serde(skip_serializing_if = "Value::is_null")]
    result: Value,
    /// Error of a failed call.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<CallFailure>,
    #[serde(skip)]
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct CallFailure {
    code: &'static str,
    message: String,
    /// Next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
enum CallStatus {
    Ok,
    Failed,
    /// Not made, because an earlier call failed.
    Skipped,
}

impl Output for BatchResults {
    const FORM: Form = Form::Calls;

    /// A header line per call, with its text indented below: no line that a terminal shows can be read
    /// as a header.
    fn text(&self) -> String {
        let counted = |status: CallStatus| {
            let number = self.results.iter().filter(|call| call.status == status).count();
            (number > 0).then(|| format!("{number} {status}"))
        };
        let facts = FactRow::new(count(self.results.len() as u64, "call"))
            .maybe(counted(CallStatus::Failed))
            .maybe(counted(CallStatus::Skipped));
        let mut text = String::from(facts);
        for (number, call) in (1..).zip(&self.results) {
            text.push_str(&format!("\n[{number}] {} {}", field(&call.tool), call.status));
            for line in call.text.trim_end().lines() {
                text.push_str(&format!("\n  {line}"));
            }
        }
        text
    }

    fn colors(&self) -> bool {
        self.colors
    }

    fn images(&mut self) -> Vec<Image> {
        std::mem::take(&mut self.images)
    }

    fn notices(&self) -> Vec<Notice> {
        self.notices.clone()
    }

    fn redacted(&self) -> usize {
        self.redacted
    }
}

impl Tool for Batch {
    const META: Meta = Meta {
        name: "batch",
        title: "Several calls",
        description: "Call several tools in order and return one result each.",
        group: Group::Batch,
        tier: Tier::AsCalled,
        sets: &[],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = BatchResults;
    const ON_ONE_SERVER: bool = false;

    async fn call(cx: &Cx, args: Args) -> Result<BatchResults, ToolError> {
        check(&args.calls)?;
        let on_error = args.on_error.unwrap_or(OnError::Stop);
        let total = args.calls.len();
        let mut room = cx.request.max_chars;
        let mut done = BatchResults::default();
        let mut stopped = false;
        for (number, Call { tool, arguments }) in args.calls.into_iter().enumerate() {
            if stopped {
                done.skip(tool);
                continue;
            }
            // Characters that a call does not use are left for the calls after it.
            let max_chars = room / (total - number).max(1);
            let request = Request {
                max_chars,
                progress: progress(cx, &tool, number, total),
                ..cx.request.clone()
            };
            let arguments = arguments.map(|arguments| arguments.0).unwrap_or_default();
            let answer = cx.request.calls.call(&tool, arguments, request).await;
            stopped = answer.is_err() && on_error == OnError::Stop;
            let length = done.add(tool, answer);
            room = room.saturating_sub(length);
        }
        Ok(done)
    }
}

impl BatchResults {
    /// Adds the answer of a call and returns its length in characters.
    fn add(&mut self, tool: String, answer: Result<Reply, ToolError>) -> usize {
        let done = match answer {
            Ok(reply) => {
                self.colors |= reply.colors;
                self.notices.extend(reply.notices);
                self.images.extend(reply.images);
                self.redacted += reply.redacted;
                let Reply { text, structured, .. } = reply;
                CallResult { tool, status: CallStatus::Ok, result: structured, error: None, text }
            }
            Err(error) => {
                let text = error.to_string();
                let ToolError { code, message, hint } = error;
                let error = Some(CallFailure { code: code.name(), message, hint });
                CallResult { tool, status: CallStatus::Failed, result: Value::Null, error, text }
            }
        };
        let length = done.text.chars().count();
        self.results.push(done);
        length
    }

    fn skip(&mut self, tool: String) {
        let (status, result) = (CallStatus::Skipped, Value::Null);
        self.results.push(CallResult { tool, status, result, error: None, text: String::new() });
    }
}

/// Refuses an invalid list of calls before any call is made.
fn check(calls: &[Call]) -> Result<(), ToolError> {
    if calls.is_empty() || calls.len() > MAX_BATCH_CALLS {
        let message = format!("`calls` has {} calls", calls.len());
        return Err(
            ToolError::invalid_argument(message).hint(format!("give 1 to {MAX_BATCH_CALLS} calls"))
        );
    }
    match calls.iter().position(|call| call.tool == Batch::META.name) {
        Some(at) => Err(ToolError::invalid_argument(format!(
            "`calls[{at}]`: a batch cannot contain another batch"
        ))
        .hint("put its calls into this batch")),
        None => Ok(()),
    }
}

/// Reports the progress of one call as progress of the whole batch, which never goes back.
fn progress(cx: &Cx, tool: &str, number: usize, total: usize) -> Progress {
    if !cx.request.progress.is_wanted() {
        return Progress::default();
    }
    let outer = cx.request.progress.clone();
    let begun = cx.request.begun;
    let position = format!("{} of {total}, {tool}", number + 1);
    Progress::new(move |step| {
        let outer = outer.clone();
        let message = format!("{position}: {}", step.message);
        Box::pin(async move {
            let done = begun.elapsed().as_secs_f64();
            outer.report(ProgressStep { done, total: None, message }).await;
        })
    })
}
