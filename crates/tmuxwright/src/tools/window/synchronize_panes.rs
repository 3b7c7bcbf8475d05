//! `synchronize_panes`: turns synchronized input for a window's panes on or off.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::target::Level;
use tmux_control::{Command, PaneId, row};

use crate::context::{Cx, Tool};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::host::PaneState;
use crate::results::words::FactRow;

/// The tmux option that the tool sets.
const SYNCHRONIZE_OPTION: &str = "synchronize-panes";

pub(super) struct SynchronizePanes;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Window.
    target: Target,
    /// Turn on (true) or off (false).
    on: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Synchronized {
    /// Session id.
    session_id: String,
    /// Window id.
    window_id: String,
    /// Whether input is synchronized.
    on: bool,
    /// Ids of the panes that share input.
    panes: Vec<String>,
}

row! {
    SyncRow {
        pane: PaneId = "pane_id",
        pid: u32 = "pane_pid",
        synchronized: bool = "pane_synchronized",
    }
}

impl Output for Synchronized {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let state = match self.on {
            true => format!("synchronized: {}", self.panes.join(", ")),
            false => "not synchronized".to_owned(),
        };
        FactRow::new(format!("{} {}", self.window_id, self.session_id)).fact(state).into()
    }
}

impl Tool for SynchronizePanes {
    const META: Meta = Meta {
        name: "synchronize_panes",
        title: "Synchronize panes",
        description: "Turn synchronized input for a window's panes on or off.",
        group: Group::Window,
        tier: Tier::Mutate,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Synchronized;

    async fn call(cx: &Cx, args: Args) -> Result<Synchronized, ToolError> {
        let pane = cx.resolve_container(&args.target, Level::Window).await?.pane;
        if args.on {
            switch_on(cx, &pane).await?;
        } else {
            switch_off(cx, &pane).await?;
        }
        let panes = synchronized_panes(cx, &pane).await?;
        Ok(Synchronized {
            session_id: pane.session.to_string(),
            window_id: pane.window.to_string(),
            on: !panes.is_empty(),
            panes: panes.iter().map(|row| row.pane.to_string()).collect(),
        })
    }
}

/// Sets the window option. A pane whose own option is off stays excluded.
async fn switch_on(cx: &Cx, pane: &PaneState) -> Result<(), ToolError> {
    if cx
        .window_panes::<SyncRow>(pane)
        .await?
        .iter()
        .any(|row| cx.host.is_caller(row.pane, row.pid))
    {
        return Err(ToolError::new(
            Code::Denied,
            format!("window {} contains the pane where this server itself runs", pane.window),
        )
        .hint("synchronized input would reach that pane; choose another window"));
    }
    cx.tmux().run(set("-w", pane.window).arg("on")).await?;
    Ok(())
}

/// Unsets the option of the window and its panes; sets it to off only if a global value still applies.
async fn switch_off(cx: &Cx, pane: &PaneState) -> Result<(), ToolError> {
    cx.tmux().run(set("-wu", pane.window)).await?;
    for row in synchronized_panes(cx, pane).await? {
        cx.tmux().run(set("-pu", row.pane)).await?;
    }
    if !synchronized_panes(cx, pane).await?.is_empty() {
        cx.tmux().run(set("-w", pane.window).arg("off")).await?;
    }
    Ok(())
}

fn set(flags: &str, target: impl ToString) -> Command {
    Command::action("set-option").arg(flags).option("-t", target).arg(SYNCHRONIZE_OPTION)
}

async fn synchronized_panes(cx: &Cx, pane: &PaneState) -> Result<Vec<SyncRow>, ToolError> {
    let mut panes: Vec<SyncRow> = cx.window_panes(pane).await?;
    panes.retain(|row| row.synchronized);
    Ok(panes)
}
