//! `list_prompts`: the workflows there are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Tier, ToolError, Toolset};
use crate::prompts::{self, Presence};

pub(super) struct ListPrompts;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {}

#[derive(Serialize, JsonSchema)]
pub(super) struct Prompts {
    /// One entry per prompt.
    prompts: Vec<Prompt>,
}

#[derive(Serialize, JsonSchema)]
struct Prompt {
    name: &'static str,
    /// What it is for.
    description: &'static str,
    arguments: Vec<Argument>,
}

#[derive(Serialize, JsonSchema)]
struct Argument {
    name: &'static str,
    /// What it is.
    description: &'static str,
    /// Whether it has to be given.
    required: bool,
    /// What it is if it is not given.
    default: Option<&'static str>,
}

impl Output for Prompts {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        if self.prompts.is_empty() {
            return "no prompts".to_owned();
        }
        self.prompts.iter().map(Prompt::row).collect::<Vec<_>>().join("\n")
    }
}

impl Prompt {
    fn row(&self) -> String {
        let arguments = self.arguments.iter().map(|argument| match argument {
            Argument { name, required: true, .. } => (*name).to_owned(),
            Argument { name, default: Some(default), .. } => format!("{name}={default}"),
            Argument { name, .. } => format!("{name}?"),
        });
        let arguments = arguments.collect::<Vec<_>>().join(", ");
        format!("{}({arguments}) · {}", self.name, self.description)
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
    type Output = Prompts;

    async fn call(cx: &Cx, _: Args) -> Result<Prompts, ToolError> {
        let has = |tool: &str| cx.request.calls.offers(tool);
        let prompts = prompts::offered(&has).map(|prompt| {
            let arguments = prompt.arguments.iter().map(|argument| Argument {
                name: argument.name,
                description: argument.description,
                required: argument.presence == Presence::Required,
                default: match argument.presence {
                    Presence::Default(value) => Some(value),
                    _ => None,
                },
            });
            let arguments = arguments.collect();
            Prompt { name: prompt.name, description: prompt.description, arguments }
        });
        Ok(Prompts { prompts: prompts.collect() })
    }
}
