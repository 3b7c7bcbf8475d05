//! `break_pane`: a pane gets a window of its own.

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::target::Level;
use tmux_control::{Command, PaneId, Row, row};

use crate::actions::arrange::may_leave;
use crate::actions::create::{NewIds, check_name};
use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::host::CreatedPane;

pub(super) struct BreakPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// Name of its window.
    #[schemars(extend("x-clear" = true))]
    name: Option<String>,
}

row! {
    Company {
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
    type Output = NewIds;

    async fn call(cx: &Cx, args: Args) -> Result<NewIds, ToolError> {
        check_name("name", args.name.as_deref())?;
        if args.name.as_deref() == Some("") {
            return Err(
                ToolError::invalid_argument("`name` is empty").hint("give a name, or leave it out")
            );
        }
        let pane = cx.resolve_container(&args.target, Level::Window).await?.pane;
        let company: Company = cx.tmux().row(&pane.pane.to_string()).await?;
        if company.panes < 2 {
            return Err(ToolError::invalid_argument(format!(
                "{} is alone in its window {} already",
                pane.pane, pane.window
            ))
            .hint("rename names the window, move_window moves it"));
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
