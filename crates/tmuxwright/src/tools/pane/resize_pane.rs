//! `resize_pane`: sets a pane's size, or zooms it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, PaneId, row};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::FactRow;

pub(super) struct ResizePane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// Columns.
    width: Option<u32>,
    /// Rows.
    height: Option<u32>,
    /// Direction to move the pane's edge, by `amount`.
    direction: Option<Direction>,
    /// Cells (default 5).
    amount: Option<u32>,
    /// Zoom (true) or unzoom (false).
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
pub(super) struct PaneSize {
    /// Pane id.
    pane_id: String,
    /// Columns.
    width: u32,
    /// Rows.
    height: u32,
    /// Whether the pane is zoomed.
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

impl Output for PaneSize {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        FactRow::new(&self.pane_id)
            .fact(format!("{}x{}", self.width, self.height))
            .flag(self.zoomed, "zoomed")
            .into()
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
    type Output = PaneSize;

    async fn call(cx: &Cx, args: Args) -> Result<PaneSize, ToolError> {
        let sized = args.width.is_some() || args.height.is_some();
        let changes = [sized, args.direction.is_some(), args.zoom.is_some()];
        if changes.iter().filter(|given| **given).count() != 1 {
            return Err(ToolError::invalid_argument(
                "exactly one of `width`/`height`, `direction` and `zoom` must be given",
            )
            .hint("make a separate call for each"));
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
        Ok(PaneSize {
            pane_id: pane.to_string(),
            width: now.width,
            height: now.height,
            zoomed: now.zoomed && now.active,
        })
    }
}

/// Sets the zoom. tmux can only toggle it, and does so for the whole window.
async fn set_zoom(cx: &Cx, pane: PaneId, zoom: bool) -> Result<(), ToolError> {
    let now: SizeRow = cx.tmux().row(&pane.to_string()).await?;
    let is_zoomed = now.zoomed && now.active;
    let toggle = || Command::action("resize-pane").arg("-Z").option("-t", pane);
    if now.zoomed && is_zoomed != zoom {
        cx.tmux().run(toggle()).await?;
    }
    if zoom && !is_zoomed {
        cx.tmux().run(toggle()).await?;
    }
    Ok(())
}
