//! `list_prompts`: the prompts that can be used with the offered tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Tier, ToolError, Toolset};
use crate::prompts::{self, Presence};
use crate::results::words::rows;

pub(super) struct ListPrompts;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {}

#[derive(Serialize, JsonSchema)]
pub(super) struct ListedPrompts {
    /// One entry per prompt.
    prompts: Vec<ListedPrompt>,
}

#[derive(Serialize, JsonSchema)]
struct ListedPrompt {
    name: &'static str,
    /// Purpose of the prompt.
    description: &'static str,
    arguments: Vec<PromptArgument>,
}

#[derive(Serialize, JsonSchema)]
struct PromptArgument {
    name: &'static str,
    /// Meaning of the argument.
    description: &'static str,
    /// Whether the argument must be given.
    required: bool,
    /// Value if the argument is not given.
    default: Option<&'static str>,
}

impl Output for ListedPrompts {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        rows(&self.prompts, ListedPrompt::row, "no prompts")
    }
}

impl ListedPrompt {
    /// The prompt as a row of text, with an indented row per argument.
    fn row(&self) -> String {
        let mut row = format!("{} · {}", self.name, self.description);
        for PromptArgument { name, description, required, default } in &self.arguments {
            let given = match default {
                _ if *required => "required".to_owned(),
                Some(default) => format!("default {default}"),
                None => "optional".to_owned(),
            };
            row.push_str(&format!("\n  {name} · {given} · {description}"));
        }
        row
    }
}

impl Tool for ListPrompts {
    const META: Meta = Meta {
        name: "list_prompts",
        title: "List prompts",
        description: "List ready-made workflows, with their arguments.",
        group: Group::Prompt,
        tier: Tier::Read,
        sets: &[Toolset::Debug, Toolset::Agent, Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = ListedPrompts;
    const ON_ONE_SERVER: bool = false;

    async fn call(cx: &Cx, _: Args) -> Result<ListedPrompts, ToolError> {
        let has = |tool: &str| cx.request.calls.offers(tool);
        let prompts = prompts::offered(&has).map(|prompt| {
            let servers = cx.request.calls.server_names();
            let arguments = prompt.all_arguments(servers).map(|argument| PromptArgument {
                name: argument.name,
                description: argument.description,
                required: argument.presence == Presence::Required,
                default: match argument.presence {
                    Presence::Default(value) => Some(value),
                    _ => None,
                },
            });
            let arguments = arguments.collect();
            ListedPrompt { name: prompt.name, description: prompt.description, arguments }
        });
        Ok(ListedPrompts { prompts: prompts.collect() })
    }
}
