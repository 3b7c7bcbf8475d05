//! `create_pane`: a program in a pane of our own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::actions::create::{NewIds, check_name, create_at_home, start_directory};
use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Tier, ToolError, Toolset, not_empty};
use crate::host::NewPane;

pub(super) struct CreatePane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Program to run, as a shell command line.
    command: String,
    /// Name of its window.
    #[schemars(extend("x-clear" = true))]
    name: Option<String>,
    /// Directory to start in.
    #[schemars(extend("x-clear" = true))]
    cwd: Option<String>,
    /// Environment variables.
    env: Option<BTreeMap<String, String>>,
}

impl Tool for CreatePane {
    const META: Meta = Meta {
        name: "create_pane",
        title: "Create pane",
        description: "Run a program in a new pane of our own. The pane stays after it exits, with its output and exit code.",
        group: Group::Pane,
        tier: Tier::Mutate,
        sets: &[Toolset::Debug],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = NewIds;

    async fn call(cx: &Cx, args: Args) -> Result<NewIds, ToolError> {
        let env = args.env.unwrap_or_default();
        check_name("name", args.name.as_deref())?;
        not_empty("command", args.command.trim(), "give a command line, such as `bash`")?;
        let wish = NewPane {
            command: Some(args.command),
            name: args.name,
            cwd: start_directory(args.cwd)?,
            env,
            ..NewPane::default()
        };
        Ok(create_at_home(cx, wish).await?.into())
    }
}
