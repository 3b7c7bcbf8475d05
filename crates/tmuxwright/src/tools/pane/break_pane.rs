//! `break_pane`: moves a pane into a new window.

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::target::Level;
use tmux_control::{Command, PaneId, Row, row};

use crate::actions::arrange::may_leave;
use crate::actions::create::check_name;
use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset, not_empty};
use crate::host::CreatedPane;
use crate::results::ids::CreatedIds;

pub(super) struct BreakPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// Name of the new window.
    #[schemars(extend("x-clear" = true))]
    name: Option<String>,
}

row! {
    PaneCount {
        pane: PaneId = "pane_id",
        panes: u32 = "window_panes",
    }
}

impl Tool for BreakPane {
    const META: Meta = Meta {
        name: "break_pane",
        title: "Break pane out",
        description: "Move a pane into a new window of its session.",
        group: Group::Pane,
        tier: Tier::Mutate,
        sets: &[Toolset::Primitives],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = CreatedIds;

    async fn call(cx: &Cx, args: Args) -> Result<CreatedIds, ToolError> {
        check_name("name", args.name.as_deref())?;
        if let Some(name) = &args.name {
            not_empty("name", name, "give a name, or leave `name` out")?;
        }
        let pane = cx.resolve_container(&args.target, Level::Window).await?.pane;
        let count: PaneCount = cx.tmux().row(&pane.pane.to_string()).await?;
        if count.panes < 2 {
            return Err(ToolError::invalid_argument(format!(
                "{} is already the only pane of window {}",
                pane.pane, pane.window
            ))
            .hint("use rename to name the window, move_window to move it"));
        }
        may_leave(cx, &pane, pane.session).await?;
        let mut commands = cx.host.keep_remain_on_exit(&pane).await?;
        let command = Command::action("break-pane")
            .args(["-d", "-P", "-F"])
            .arg(CreatedPane::format())
            .option("-s", pane.pane)
            .option("-t", format!("{}:", pane.session))
            .option_if("-n", args.name);
        commands.push(command);
        let replies = cx.tmux().sequence(commands).await?;
        let printed: Vec<u8> = replies.into_iter().flat_map(|reply| reply.0).collect();
        let created = CreatedPane::parse_one("break-pane", &printed)?;
        Ok(created.into())
    }
}
