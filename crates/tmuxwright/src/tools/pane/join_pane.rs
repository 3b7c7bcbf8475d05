//! `join_pane`: a pane moves next to another.

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::target::Level;
use tmux_control::{Command, PaneId, row};

use crate::actions::arrange::{Leaving, Side, check_size, pane_now};
use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::results::objects::Pane;

pub(super) struct JoinPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane to move.
    source: Target,
    /// Pane to split for it.
    target: Target,
    /// Side of the target (default below).
    direction: Option<Side>,
    /// "30%" or a number of cells.
    #[schemars(extend("x-clear" = true))]
    size: Option<String>,
}

row! {
    Active {
        pane: PaneId = "pane_id",
        active: bool = "pane_active",
    }
}

impl Tool for JoinPane {
    const META: Meta = Meta {
        name: "join_pane",
        title: "Join pane",
        description: "Move a pane next to another, also from another window.",
        group: Group::Pane,
        tier: Tier::Mutate,
        sets: &[Toolset::Primitives],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Pane;

    async fn call(cx: &Cx, args: Args) -> Result<Pane, ToolError> {
        let size = args.size.as_deref().map(check_size).transpose()?;
        let source = cx.resolve_container(&args.source, Level::Window).await?.pane;
        let target = cx.resolve_container(&args.target, Level::Window).await?.pane;
        if source.pane == target.pane {
            return Err(ToolError::invalid_argument(format!(
                "`source` and `target` are both {}",
                source.pane
            ))
            .hint("name two panes; list_panes shows them"));
        }
        let join = Command::action("join-pane")
            .arg("-d")
            .option("-s", source.pane)
            .option("-t", target.pane)
            .option_if("-l", size);
        let join = args.direction.unwrap_or(Side::Below).of(join);
        if source.window == target.window {
            let before: Active = cx.tmux().row(&source.pane.to_string()).await?;
            let mut commands = vec![join];
            if before.active {
                // It was out of the window for a moment.
                commands.push(Command::action("select-pane").option("-t", source.pane));
            }
            cx.tmux().sequence(commands).await?;
        } else {
            let mut commands = cx.host.keep_remain_on_exit(&source).await?;
            commands.push(join);
            Leaving::Pane(source.pane, source.window).with(cx, target.session, commands).await?;
        }
        pane_now(cx, target.session, source.pane).await
    }
}
