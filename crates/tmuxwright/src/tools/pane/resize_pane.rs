//! `resize_pane`: a pane's size, or whether it fills its window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, PaneId, row};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};

pub(super) struct ResizePane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// Columns.
    width: Option<u32>,
    /// Rows.
    height: Option<u32>,
    /// Move its edge this way by `amount`.
    direction: Option<Direction>,
    /// Cells (default 5).
    amount: Option<u32>,
    /// Fill the window, or stop to.
    zoom: Option<bool>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Direction {
    Up,
    Down,
    Left,
    Right,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Size {
    /// The pane.
    pane_id: String,
    /// Its width now.
    width: u32,
    /// Its height now.
    height: u32,
    /// Whether it fills its window.
    zoomed: bool,
}

row! {
    SizeRow {
        pane: PaneId = "pane_id",
        width: u32 = "pane_width",
        height: u32 = "pane_height",
        active: bool = "pane_active",
        zoomed: bool = "window_zoomed_flag",
    }
}

impl Output for Size {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let zoomed = if self.zoomed { " · zoomed" } else { "" };
        format!("{} · {}x{}{zoomed}", self.pane_id, self.width, self.height)
    }
}

impl Tool for ResizePane {
    const META: Meta = Meta {
        name: "resize_pane",
        title: "Resize pane",
        description: "Set a pane's width or height, move its edge, or zoom it.",
        group: Group::Pane,
        tier: Tier::Mutate,
        sets: &[Toolset::Primitives],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Size;

    async fn call(cx: &Cx, args: Args) -> Result<Size, ToolError> {
        let sized = args.width.is_some() || args.height.is_some();
        let ways = [sized, args.direction.is_some(), args.zoom.is_some()];
        if ways.iter().filter(|way| **way).count() != 1 {
            return Err(ToolError::invalid_argument(
                "one of `width`/`height`, `direction` and `zoom` must be given",
            )
            .hint("make one call for each"));
        }
        if args.amount.is_some() && args.direction.is_none() {
            return Err(ToolError::invalid_argument("`amount` needs `direction`")
                .hint("give `direction`, or leave `amount` out"));
        }
        let pane = cx.pane(&args.target).await?.pane;
        let resize = || Command::action("resize-pane").option("-t", pane);
        if let Some(zoom) = args.zoom {
            set_zoom(cx, pane, zoom).await?;
        } else if let Some(direction) = args.direction {
            let flag = match direction {
                Direction::Up => "-U",
                Direction::Down => "-D",
                Direction::Left => "-L",
                Direction::Right => "-R",
            };
            cx.tmux().run(resize().arg(flag).arg(args.amount.unwrap_or(5))).await?;
        } else {
            let command = resize().option_if("-x", args.width).option_if("-y", args.height);
            cx.tmux().run(command).await?;
        }
        let now: SizeRow = cx.tmux().row(&pane.to_string()).await?;
        Ok(Size {
            pane_id: pane.to_string(),
            width: now.width,
            height: now.height,
            zoomed: now.zoomed && now.active,
        })
    }
}

/// tmux can only toggle, and does so for the whole window.
async fn set_zoom(cx: &Cx, pane: PaneId, zoom: bool) -> Result<(), ToolError> {
    let now: SizeRow = cx.tmux().row(&pane.to_string()).await?;
    let this = now.zoomed && now.active;
    let toggle = || Command::action("resize-pane").arg("-Z").option("-t", pane);
    if now.zoomed && this != zoom {
        cx.tmux().run(toggle()).await?;
    }
    if zoom && !this {
        cx.tmux().run(toggle()).await?;
    }
    Ok(())
}
