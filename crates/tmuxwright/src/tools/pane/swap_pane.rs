//! `swap_pane`: two panes change places.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::target::Level;
use tmux_control::{Command, PaneId, row};

use crate::actions::arrange::{may_leave, pane_now};
use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::objects::Pane;

pub(super) struct SwapPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    source: Target,
    /// Pane to change places with.
    target: Target,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Swapped {
    /// The one pane, where it is now.
    source: Pane,
    /// The other one.
    target: Pane,
}

row! {
    Active {
        pane: PaneId = "pane_id",
        active: bool = "pane_active",
    }
}

impl Output for Swapped {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        format!("{}\n{}", self.source.row(), self.target.row())
    }
}

impl Tool for SwapPane {
    const META: Meta = Meta {
        name: "swap_pane",
        title: "Swap panes",
        description: "Let two panes change places, also between windows.",
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
        if source.pane == target.pane {
            return Err(ToolError::invalid_argument(format!(
                "`source` and `target` are both {}",
                source.pane
            ))
            .hint("name two panes; list_panes shows them"));
        }
        let mut commands = Vec::new();
        let mut order = (source.pane, target.pane);
        if source.window == target.window {
            // tmux leaves the focus with the first pane, but takes it from the second.
            let second: Active = cx.tmux().row(&target.pane.to_string()).await?;
            if second.active {
                order = (target.pane, source.pane);
            }
        } else {
            // Somebody's pane for another of theirs leaves nothing behind.
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
