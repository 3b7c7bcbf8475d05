//! `join_pane`: moves a pane beside another.

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::Command;
use tmux_control::target::Level;

use crate::actions::arrange::{Relocation, Side, check_distinct, check_size, is_active, pane_now};
use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::results::objects::Pane;

pub(super) struct JoinPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane to move.
    source: Target,
    /// Pane to put it beside.
    target: Target,
    /// Side of the target (default below).
    direction: Option<Side>,
    /// "30%" or a number of cells.
    #[schemars(extend("x-clear" = true))]
    size: Option<String>,
}

impl Tool for JoinPane {
    const META: Meta = Meta {
        name: "join_pane",
        title: "Join pane",
        description: "Move a pane beside another pane, also across windows and sessions.",
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
        check_distinct(&source, &target)?;
        let join = Command::action("join-pane")
            .arg("-d")
            .option("-s", source.pane)
            .option("-t", target.pane)
            .option_if("-l", size);
        let join = args.direction.unwrap_or(Side::Below).add_to(join);
        if source.window == target.window {
            let was_active = is_active(cx, source.pane).await?;
            let mut commands = vec![join];
            if was_active {
                // tmux takes the pane out of the window first and makes another one active.
                commands.push(Command::action("select-pane").option("-t", source.pane));
            }
            cx.tmux().sequence(commands).await?;
        } else {
            let mut commands = cx.host.keep_remain_on_exit(&source).await?;
            commands.push(join);
            let relocation = Relocation::Pane(source.pane, source.window);
            relocation.run(cx, target.session, commands).await?;
        }
        pane_now(cx, target.session, source.pane).await
    }
}
