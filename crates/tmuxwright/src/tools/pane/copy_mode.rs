//! `copy_mode`: enters or leaves copy mode, and scrolls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, PaneId, row};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError};
use crate::results::words::{FactRow, count};

pub(super) struct CopyMode;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// Enter or leave copy mode.
    action: Action,
    /// Lines to scroll up, with `enter`.
    scroll_up: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Enter,
    Exit,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct CopyModeState {
    /// Pane id.
    pane_id: String,
    /// Whether the pane is in copy mode.
    in_mode: bool,
    /// Lines scrolled up from the bottom.
    scroll_position: Option<u32>,
    /// Lines of history.
    history: u32,
}

row! {
    CopyModeRow {
        pane: PaneId = "pane_id",
        in_mode: bool = "pane_in_mode",
        position: Option<u32> = "scroll_position",
        history: u32 = "history_size",
    }
}

impl Output for CopyModeState {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let scrolled = self.scroll_position.filter(|_| self.in_mode);
        FactRow::new(&self.pane_id)
            .fact(if self.in_mode { "in copy mode" } else { "not in copy mode" })
            .maybe(scrolled.map(|lines| format!("scrolled up {}", count(lines, "line"))))
            .fact(count(self.history, "history line"))
            .into()
    }
}

impl Tool for CopyMode {
    const META: Meta = Meta {
        name: "copy_mode",
        title: "Copy mode",
        description: "Enter or leave copy mode for the person watching. To read history yourself use capture_pane.",
        group: Group::Pane,
        tier: Tier::Mutate,
        sets: &[],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = CopyModeState;

    async fn call(cx: &Cx, args: Args) -> Result<CopyModeState, ToolError> {
        if args.scroll_up == Some(0) {
            return Err(ToolError::invalid_argument("`scroll_up`: 0 is too few lines")
                .hint("give at least 1, or leave `scroll_up` out"));
        }
        if args.scroll_up.is_some() && args.action == Action::Exit {
            return Err(ToolError::invalid_argument("`scroll_up` needs the action `enter`")
                .hint("leave `scroll_up` out, or give action enter"));
        }
        let pane = cx.pane(&args.target).await?.pane;
        let command = Command::action("copy-mode").option("-t", pane);
        cx.tmux().run(command.arg_if(args.action == Action::Exit, "-q")).await?;
        let mut now: CopyModeRow = cx.tmux().row(&pane.to_string()).await?;
        if let Some(lines) = args.scroll_up {
            // One jump: scrolling line by line would block tmux meanwhile.
            let line = now.position.unwrap_or(0).saturating_add(lines).min(now.history);
            let scroll = Command::action("send-keys").option("-t", pane).arg("-X");
            cx.tmux().run(scroll.arg("goto-line").arg(line)).await?;
            now = cx.tmux().row(&pane.to_string()).await?;
        }
        Ok(CopyModeState {
            pane_id: pane.to_string(),
            in_mode: now.in_mode,
            scroll_position: now.position,
            history: now.history,
        })
    }
}
