//! `get_prompt`: the text of a prompt: a workflow with the calls to make.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Tier, ToolError, Toolset};
use crate::prompts;

pub(super) struct GetPrompt;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Prompt name, from list_prompts.
    #[schemars(extend("x-clear" = true))]
    name: String,
    /// Prompt arguments.
    arguments: Option<Map<String, Value>>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Workflow {
    /// Steps to follow.
    text: String,
}

impl Output for Workflow {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        self.text.clone()
    }

    fn fits(&self, max: usize) -> Result<(), ToolError> {
        let length = self.text.chars().count();
        if length <= max {
            return Ok(());
        }
        Err(ToolError::invalid_argument(format!(
            "the prompt has {length} characters, more than the {max} an answer may have"
        ))
        .hint("give shorter arguments; put a long command into a script"))
    }
}

impl Tool for GetPrompt {
    const META: Meta = Meta {
        name: "get_prompt",
        title: "Get a prompt",
        description: "Get a ready-made workflow: the steps to follow, with the calls to make.",
        group: Group::Prompt,
        tier: Tier::Read,
        sets: &[Toolset::Debug, Toolset::Agent, Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Workflow;
    const ON_ONE_SERVER: bool = false;

    async fn call(cx: &Cx, args: Args) -> Result<Workflow, ToolError> {
        let has = |tool: &str| cx.request.calls.offers(tool);
        let prompt = prompts::find(&args.name, &has)?;
        let text = prompt.text(
            args.arguments.unwrap_or_default(),
            &has,
            cx.request.calls.server_names(),
        )?;
        Ok(Workflow { text })
    }
}
