//! `create_pane`: runs a program in a new pane of the own session.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::actions::create::{check_name, create_in_own_session, start_directory};
use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Tier, ToolError, Toolset, not_empty};
use crate::host::NewPane;
use crate::results::ids::CreatedIds;

pub(super) struct CreatePane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Program to run, as a shell command line.
    command: String,
    /// Name of the new window.
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
        description: "Run a program in a new pane of this server's own session. The pane stays after exit, with output and exit code.",
        group: Group::Pane,
        tier: Tier::Mutate,
        sets: &[Toolset::Debug],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = CreatedIds;

    async fn call(cx: &Cx, args: Args) -> Result<CreatedIds, ToolError> {
        let env = args.env.unwrap_or_default();
        check_name("name", args.name.as_deref())?;
        not_empty("command", args.command.trim(), "give a command line, such as `bash`")?;
        let new_pane = NewPane {
            command: Some(args.command),
            name: args.name,
            cwd: start_directory(cx, args.cwd).await?,
            env,
            ..NewPane::default()
        };
        Ok(create_in_own_session(cx, new_pane).await?.into())
    }
}
