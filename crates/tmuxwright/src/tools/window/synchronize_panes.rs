//! `synchronize_panes`: whether typing goes to all panes of a window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::target::Level;
use tmux_control::{Command, PaneId, row};

use crate::context::{Cx, Tool};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::host::PaneState;

const OPTION: &str = "synchronize-panes";

pub(super) struct SynchronizePanes;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Window.
    target: Target,
    /// On or off.
    on: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Synchronized {
    /// The session.
    session_id: String,
    /// The window.
    window_id: String,
    /// Whether it is on.
    on: bool,
    /// The panes that typing goes to.
    panes: Vec<String>,
}

row! {
    Reached {
        pane: PaneId = "pane_id",
        pid: u32 = "pane_pid",
        synchronized: bool = "pane_synchronized",
    }
}

impl Output for Synchronized {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        match self.on {
            true => format!("{} · typing goes to {}", self.window_id, self.panes.join(", ")),
            false => format!("{} · not synchronized", self.window_id),
        }
    }
}

impl Tool for SynchronizePanes {
    const META: Meta = Meta {
        name: "synchronize_panes",
        title: "Synchronize panes",
        description: "Let what is typed into one pane of a window go to all, or stop to.",
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
        let reached = reached(cx, &pane).await?;
        Ok(Synchronized {
            session_id: pane.session.to_string(),
            window_id: pane.window.to_string(),
            on: !reached.is_empty(),
            panes: reached.iter().map(|row| row.pane.to_string()).collect(),
        })
    }
}

/// A pane that somebody has taken out by itself stays out.
async fn switch_on(cx: &Cx, pane: &PaneState) -> Result<(), ToolError> {
    if cx
        .window_panes::<Reached>(pane)
        .await?
        .iter()
        .any(|row| cx.host.is_caller(row.pane, row.pid))
    {
        return Err(ToolError::new(
            Code::Denied,
            format!("window {} holds the pane where this server itself runs", pane.window),
        )
        .hint("what is typed would reach it; choose another window"));
    }
    cx.tmux().run(set("-w", pane.window).arg("on")).await?;
    Ok(())
}

/// Takes back what was set here; only what still comes from elsewhere is overruled.
async fn switch_off(cx: &Cx, pane: &PaneState) -> Result<(), ToolError> {
    cx.tmux().run(set("-wu", pane.window)).await?;
    for row in reached(cx, pane).await? {
        cx.tmux().run(set("-pu", row.pane)).await?;
    }
    if !reached(cx, pane).await?.is_empty() {
        cx.tmux().run(set("-w", pane.window).arg("off")).await?;
    }
    Ok(())
}

fn set(flags: &str, target: impl ToString) -> Command {
    Command::action("set-option").arg(flags).option("-t", target).arg(OPTION)
}

async fn reached(cx: &Cx, pane: &PaneState) -> Result<Vec<Reached>, ToolError> {
    let mut panes: Vec<Reached> = cx.window_panes(pane).await?;
    panes.retain(|row| row.synchronized);
    Ok(panes)
}
