//! `select_window`: makes a window the current one of its session.

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::Command;
use tmux_control::target::Level;

use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::host::PaneState;
use crate::results::ids::SelectedIds;

pub(super) struct SelectWindow;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Window; or session, with `direction`.
    target: Option<Target>,
    /// Relative to the current window.
    direction: Option<Direction>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Direction {
    Next,
    Previous,
    Last,
}

impl Tool for SelectWindow {
    const META: Meta = Meta {
        name: "select_window",
        title: "Select window",
        description: "Make a window the current one of its session.",
        group: Group::Window,
        tier: Tier::Mutate,
        sets: &[Toolset::Primitives],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = SelectedIds;

    async fn call(cx: &Cx, args: Args) -> Result<SelectedIds, ToolError> {
        let target = cx.target_or_current(args.target, args.direction.is_some(), "window").await?;
        let found = cx.resolve_container(&target, Level::Session).await?;
        let session = found.pane.session;
        let command = match args.direction {
            Some(Direction::Next) => Command::action("next-window").option("-t", session),
            Some(Direction::Previous) => Command::action("previous-window").option("-t", session),
            Some(Direction::Last) => Command::action("last-window").option("-t", session),
            None if found.level == Level::Session => {
                return Err(ToolError::invalid_argument(format!("`{target}` is a session"))
                    .hint("name a window (list_windows shows them), or give `direction`"));
            }
            None => Command::action("select-window")
                .option("-t", format!("{session}:{}", found.pane.window)),
        };
        cx.tmux().run(command).await?;
        let now: PaneState = cx.tmux().row(&session.to_string()).await?;
        Ok(now.into())
    }
}
