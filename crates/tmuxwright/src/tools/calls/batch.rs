//! `batch`: several calls in one, each with its own answer.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

use crate::context::{Cx, Progress, ProgressStep, Request, Tool};
use crate::contract::{Form, Group, Image, Load, Meta, Notice, Output, Reply, Tier, ToolError};

/// More than anybody writes by hand.
const MOST: usize = 100;

pub(super) struct Batch;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// In their order.
    calls: Vec<Call>,
    /// Default stop.
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
    /// Some clients send an object as text; what it says is clear.
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        match Value::deserialize(input)? {
            Value::Object(map) => Ok(Self(map)),
            Value::String(text) => serde_json::from_str(&text).map(Self).map_err(de::Error::custom),
            _ => Err(de::Error::invalid_type(de::Unexpected::Other("no object"), &"an object")),
        }
    }
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Results {
    /// One for each call, in their order.
    results: Vec<Done>,
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
struct Done {
    tool: String,
    status: Status,
    /// What the tool answered with.
    #[serde(skip_serializing_if = "Value::is_null")]
    result: Value,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Failed>,
    #[serde(skip)]
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Failed {
    code: &'static str,
    message: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    Failed,
    /// Not made, since one before it failed.
    Skipped,
}

impl Output for Results {
    const FORM: Form = Form::Calls;

    fn text(&self) -> String {
        let count = |status| self.results.iter().filter(|done| done.status == status).count();
        let mut text = format!("{} calls", self.results.len());
        for (status, word) in [(Status::Failed, "failed"), (Status::Skipped, "skipped")] {
            if count(status) > 0 {
                text.push_str(&format!(" · {} {word}", count(status)));
            }
        }
        for (number, done) in (1..).zip(&self.results) {
            let word = match done.status {
                Status::Ok => "",
                Status::Failed => " failed",
                Status::Skipped => " skipped",
            };
            text.push_str(&format!("\n[{number}] {}{word}", done.tool));
            if !done.text.is_empty() {
                text.push_str(&format!("\n{}", done.text.trim_end()));
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
        description: "Call several tools in order; one result each.",
        group: Group::Batch,
        tier: Tier::AsCalled,
        sets: &[],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Results;

    async fn call(cx: &Cx, args: Args) -> Result<Results, ToolError> {
        check(&args.calls)?;
        let on_error = args.on_error.unwrap_or(OnError::Stop);
        let total = args.calls.len();
        let mut room = cx.request.max_chars;
        let mut done = Results::default();
        let mut stopped = false;
        for (number, Call { tool, arguments }) in args.calls.into_iter().enumerate() {
            if stopped {
                done.skip(tool);
                continue;
            }
            // What one leaves of its share goes to those after it.
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

impl Results {
    /// Adds an answer, and says how long it is.
    fn add(&mut self, tool: String, answer: Result<Reply, ToolError>) -> usize {
        let done = match answer {
            Ok(reply) => {
                self.colors |= reply.colors;
                self.notices.extend(reply.notices);
                self.images.extend(reply.images);
                self.redacted += reply.redacted;
                let Reply { text, structured, .. } = reply;
                Done { tool, status: Status::Ok, result: structured, error: None, text }
            }
            Err(error) => {
                let text = error.to_string();
                let ToolError { code, message, hint } = error;
                let error = Some(Failed { code: code.name(), message, hint });
                Done { tool, status: Status::Failed, result: Value::Null, error, text }
            }
        };
        let length = done.text.chars().count();
        self.results.push(done);
        length
    }

    fn skip(&mut self, tool: String) {
        let (status, result) = (Status::Skipped, Value::Null);
        self.results.push(Done { tool, status, result, error: None, text: String::new() });
    }
}

/// Refuses what cannot work, before anything is done.
fn check(calls: &[Call]) -> Result<(), ToolError> {
    if calls.is_empty() || calls.len() > MOST {
        let message = format!("`calls` has {} calls", calls.len());
        return Err(ToolError::invalid_argument(message).hint(format!("give 1 to {MOST}")));
    }
    match calls.iter().position(|call| call.tool == Batch::META.name) {
        Some(at) => {
            Err(ToolError::invalid_argument(format!("`calls[{at}]`: a batch cannot hold another"))
                .hint("put its calls here"))
        }
        None => Ok(()),
    }
}

/// Progress of one call as progress of them all: it only ever grows.
fn progress(cx: &Cx, tool: &str, number: usize, total: usize) -> Progress {
    if !cx.request.progress.is_wanted() {
        return Progress::default();
    }
    let outer = cx.request.progress.clone();
    let begun = cx.request.begun;
    let place = format!("{} of {total}, {tool}", number + 1);
    Progress::new(move |step| {
        let outer = outer.clone();
        let message = format!("{place}: {}", step.message);
        Box::pin(async move {
            let done = begun.elapsed().as_secs_f64();
            outer.report(ProgressStep { done, total: None, message }).await;
        })
    })
}
