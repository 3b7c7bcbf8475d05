//! The pipeline with tools that panic and hang.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;
use crate::app::App;
use crate::config::Settings;
use crate::context::{Tool, ToolEntry};
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
    let tools = vec![ToolEntry::of::<Panics>(), ToolEntry::of::<Hangs>()];
    let app = Arc::new(App::with_tools(Settings::default(), tools));
    let call = IncomingCall {
        tool: tool.to_owned(),
        arguments: Map::new(),
        cancel,
        progress: Progress::default(),
        client: None,
        person: Arc::new(NobodyToAsk),
    };
    let result = dispatch(&app.client(), call).await.result;
    assert_eq!(result.is_error, Some(true));
    serde_json::to_string(&result).unwrap()
}

#[tokio::test]
async fn panic_is_answered_with_an_error() {
    let text = call_with("panics", CancellationToken::new()).await;
    assert!(text.contains("internal") && text.contains("the roof fell in"), "{text}");
}

#[tokio::test]
async fn cancelling_ends_a_hanging_call() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let text = call_with("hangs", cancel).await;
    assert!(text.contains("cancelled"), "{text}");
}

#[tokio::test]
async fn unknown_tool_names_the_nearest() {
    let text = call_with("hang", CancellationToken::new()).await;
    assert!(text.contains("unknown_tool") && text.contains("`hangs`"), "{text}");
}
