//! `create_session`: creates a detached session that a person can attach to.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::{Command, Row, escape_format};

use crate::actions::arrange::check_cells;
use crate::actions::create::{check_name, create, start_directory, with_start};
use crate::context::{Cx, Tool};
use crate::contract::{CreateLocation, Group, Load, Meta, Tier, ToolError, Toolset, not_empty};
use crate::host::{CreatedPane, Host};
use crate::results::ids::CreatedIds;

pub(super) struct CreateSession;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Session name.
    #[schemars(extend("x-clear" = true))]
    name: Option<String>,
    /// Window name.
    #[schemars(extend("x-clear" = true))]
    window_name: Option<String>,
    /// Program instead of the shell.
    command: Option<String>,
    /// Start directory.
    #[schemars(extend("x-clear" = true))]
    cwd: Option<String>,
    /// Environment variables.
    env: Option<BTreeMap<String, String>>,
    /// Columns.
    width: Option<u32>,
    /// Rows.
    height: Option<u32>,
}

impl Tool for CreateSession {
    const META: Meta = Meta {
        name: "create_session",
        title: "Create session",
        description: "Create a detached session; returns its ids.",
        group: Group::Session,
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
        check_name("name", args.name.as_deref())?;
        check_name("window_name", args.window_name.as_deref())?;
        let cwd = start_directory(cx, args.cwd).await?;
        check_cells(args.width, args.height, "leave it out and tmux picks a size")?;
        if let Some(name) = &args.name {
            not_empty("name", name.trim(), "give a name, or leave it out and tmux picks one")?;
        }
        let command = Command::action("new-session")
            .args(["-d", "-P", "-F"])
            .arg(CreatedPane::format())
            .option_if("-s", args.name.as_deref().map(escape_format))
            .option_if("-n", args.window_name.as_deref().map(escape_format))
            .option_if("-x", args.width)
            .option_if("-y", args.height);
        let command = with_start(cx, command, cwd.as_deref(), &env, args.command.as_deref())?;
        let place = CreateLocation::NewSession(args.name.as_deref());
        let keep = args.name.as_deref().and_then(Host::keep_session_command);
        let commands: Vec<Command> = [Some(command), keep].into_iter().flatten().collect();
        let created = create(cx, place, commands).await?;
        cx.host.configure_session(&created, args.width, args.height).await?;
        Ok(created.into())
    }
}
