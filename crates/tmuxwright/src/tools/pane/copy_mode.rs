//! `copy_mode`: whether a pane shows its history.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, PaneId, row};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError};

pub(super) struct CopyMode;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// What to do.
    action: Action,
    /// Lines to scroll back.
    scroll_up: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Enter,
    Exit,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Mode {
    /// The pane.
    pane_id: String,
    /// Whether it is in copy mode.
    in_mode: bool,
    /// How many lines above the end it shows.
    scroll_position: Option<u32>,
    /// How many there are.
    history: u32,
}

row! {
    ModeRow {
        pane: PaneId = "pane_id",
        in_mode: bool = "pane_in_mode",
        position: Option<u32> = "scroll_position",
        history: u32 = "history_size",
    }
}

impl Output for Mode {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        match (self.in_mode, self.scroll_position) {
            (true, Some(lines)) => {
                format!("{} · copy mode, {lines} of {} lines up", self.pane_id, self.history)
            }
            (true, None) => format!("{} · copy mode", self.pane_id),
            (false, _) => format!("{} · no mode", self.pane_id),
        }
    }
}

impl Tool for CopyMode {
    const META: Meta = Meta {
        name: "copy_mode",
        title: "Copy mode",
        description: "Show a person a pane's history (copy mode), or stop to. capture_pane reads it without.",
        group: Group::Pane,
        tier: Tier::Mutate,
        sets: &[],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Mode;

    async fn call(cx: &Cx, args: Args) -> Result<Mode, ToolError> {
        if args.scroll_up == Some(0) {
            return Err(ToolError::invalid_argument("`scroll_up`: 0 is no number of lines")
                .hint("leave it out"));
        }
        if args.scroll_up.is_some() && args.action == Action::Exit {
            return Err(ToolError::invalid_argument("`scroll_up` needs the action `enter`")
                .hint("leave `scroll_up` out, or enter"));
        }
        let pane = cx.pane(&args.target).await?.pane;
        let command = Command::action("copy-mode").option("-t", pane);
        cx.tmux().run(command.arg_if(args.action == Action::Exit, "-q")).await?;
        let mut now: ModeRow = cx.tmux().row(&pane.to_string()).await?;
        if let Some(lines) = args.scroll_up {
            // Not line by line, since tmux does nothing else meanwhile.
            let line = now.position.unwrap_or(0).saturating_add(lines).min(now.history);
            let scroll = Command::action("send-keys").option("-t", pane).arg("-X");
            cx.tmux().run(scroll.arg("goto-line").arg(line)).await?;
            now = cx.tmux().row(&pane.to_string()).await?;
        }
        Ok(Mode {
            pane_id: pane.to_string(),
            in_mode: now.in_mode,
            scroll_position: now.position,
            history: now.history,
        })
    }
}
