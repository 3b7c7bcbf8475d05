//! `create_window`: creates a window in a session.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::target::Level;
use tmux_control::{Command, Row, escape_format};

use crate::actions::create::{
    check_name, create, create_in_own_session, start_directory, with_start,
};
use crate::context::{Cx, Tool};
use crate::contract::{CreateLocation, Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::host::{CreatedPane, NewPane};
use crate::results::ids::CreatedIds;

pub(super) struct CreateWindow;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Session, or window for `place` (default: our own session).
    target: Option<Target>,
    /// Window name.
    #[schemars(extend("x-clear" = true))]
    name: Option<String>,
    /// Program instead of the shell.
    command: Option<String>,
    /// Start directory.
    #[schemars(extend("x-clear" = true))]
    cwd: Option<String>,
    /// Environment variables.
    env: Option<BTreeMap<String, String>>,
    /// At the end (default), or before or after the target window.
    place: Option<WindowPlace>,
    /// Make it the current window.
    select: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum WindowPlace {
    End,
    Before,
    After,
}

impl Tool for CreateWindow {
    const META: Meta = Meta {
        name: "create_window",
        title: "Create window",
        description: "Create a window in a session; returns its ids.",
        group: Group::Window,
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
        let cwd = start_directory(cx, args.cwd).await?;
        let Some(target) = &args.target else {
            if args.place.is_some_and(|place| place != WindowPlace::End) {
                return Err(ToolError::invalid_argument("`place` needs `target`")
                    .hint("name a window as `target`, or leave `place` out"));
            }
            let new_pane =
                NewPane { command: args.command, name: args.name, cwd, env, ..NewPane::default() };
            let created = create_in_own_session(cx, new_pane).await?;
            if args.select == Some(true) {
                let window = format!("{}:{}", created.session, created.window);
                cx.tmux().run(Command::action("select-window").option("-t", window)).await?;
            }
            return Ok(created.into());
        };
        let beside = cx.resolve_container(target, Level::Session).await?.pane;
        let (flag, place) = match args.place.unwrap_or(WindowPlace::End) {
            WindowPlace::End => ("-a", format!("{}:{{end}}", beside.session)),
            WindowPlace::Before => ("-b", format!("{}:{}", beside.session, beside.window)),
            WindowPlace::After => ("-a", format!("{}:{}", beside.session, beside.window)),
        };
        let command = Command::action("new-window")
            .args(["-P", "-F"])
            .arg(CreatedPane::format())
            .arg(flag)
            .option("-t", place)
            .arg_if(args.select != Some(true), "-d")
            .option_if("-n", args.name.as_deref().map(escape_format));
        let command = with_start(cx, command, cwd.as_deref(), &env, args.command.as_deref())?;
        Ok(create(cx, CreateLocation::Existing, [command]).await?.into())
    }
}
