//! `swap_pane`: swaps two panes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::Command;
use tmux_control::target::Level;

use crate::actions::arrange::{check_distinct, is_active, may_leave, pane_now};
use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::objects::Pane;

pub(super) struct SwapPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    source: Target,
    /// Pane to swap with.
    target: Target,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Swapped {
    /// The pane `source` in its new place.
    source: Pane,
    /// The pane `target` in its new place.
    target: Pane,
}

impl Output for Swapped {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        format!("source {}\ntarget {}", self.source.row(), self.target.row())
    }
}

impl Tool for SwapPane {
    const META: Meta = Meta {
        name: "swap_pane",
        title: "Swap panes",
        description: "Swap two panes, also across windows and sessions.",
        group: Group::Pane,
        tier: Tier::Mutate,
        sets: &[Toolset::Primitives],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Swapped;

    async fn call(cx: &Cx, args: Args) -> Result<Swapped, ToolError> {
        let source = cx.resolve_container(&args.source, Level::Window).await?.pane;
        let target = cx.resolve_container(&args.target, Level::Window).await?.pane;
        check_distinct(&source, &target)?;
        let mut commands = Vec::new();
        let mut order = (source.pane, target.pane);
        if source.window == target.window {
            // tmux keeps the focus on an active source pane, but not on an active target pane.
            if is_active(cx, target.pane).await? {
                order = (target.pane, source.pane);
            }
        } else {
            // Same owner on both sides: no session can become empty.
            if cx.host.owns(&source.owner) != cx.host.owns(&target.owner) {
                may_leave(cx, &source, target.session).await?;
                may_leave(cx, &target, source.session).await?;
            }
            commands.extend(cx.host.keep_remain_on_exit(&source).await?);
            commands.extend(cx.host.keep_remain_on_exit(&target).await?);
        }
        let swap = Command::action("swap-pane").args(["-d", "-Z"]);
        commands.push(swap.option("-s", order.0).option("-t", order.1));
        cx.tmux().sequence(commands).await?;
        Ok(Swapped {
            source: pane_now(cx, target.session, source.pane).await?,
            target: pane_now(cx, source.session, target.pane).await?,
        })
    }
}
