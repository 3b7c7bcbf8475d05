//! `split_pane`: creates a pane beside another.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::{Command, Row};

use crate::actions::arrange::{Side, check_size};
use crate::actions::create::{create, start_directory, with_start};
use crate::context::{Cx, Tool};
use crate::contract::{CreateLocation, Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::host::CreatedPane;
use crate::results::ids::CreatedIds;

pub(super) struct SplitPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane to split.
    target: Target,
    /// Side of the new pane (default right).
    direction: Option<Side>,
    /// "30%" or a number of cells.
    #[schemars(extend("x-clear" = true))]
    size: Option<String>,
    /// Program instead of the shell.
    command: Option<String>,
    /// Start directory.
    #[schemars(extend("x-clear" = true))]
    cwd: Option<String>,
    /// Environment variables.
    env: Option<BTreeMap<String, String>>,
}

impl Tool for SplitPane {
    const META: Meta = Meta {
        name: "split_pane",
        title: "Split pane",
        description: "Split a pane; returns the new pane's id.",
        group: Group::Pane,
        tier: Tier::Mutate,
        sets: &[Toolset::Agent, Toolset::Primitives],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = CreatedIds;

    async fn call(cx: &Cx, args: Args) -> Result<CreatedIds, ToolError> {
        let env = args.env.unwrap_or_default();
        let cwd = start_directory(cx, args.cwd).await?;
        let size = args.size.as_deref().map(check_size).transpose()?;
        let pane = cx.pane(&args.target).await?;
        let command = Command::action("split-window")
            .args(["-d", "-P", "-F"])
            .arg(CreatedPane::format())
            .option("-t", pane.pane)
            .option_if("-l", size);
        let command = args.direction.unwrap_or(Side::Right).add_to(command);
        let command = with_start(cx, command, cwd.as_deref(), &env, args.command.as_deref())?;
        Ok(create(cx, CreateLocation::Existing, [command]).await?.into())
    }
}
