//! `resize_window`: sets a window's size.

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::Command;
use tmux_control::target::Level;

use crate::actions::arrange::{check_cells, window_now};
use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::results::objects::Window;

pub(super) struct ResizeWindow;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Window.
    target: Target,
    /// Columns.
    width: Option<u32>,
    /// Rows.
    height: Option<u32>,
}

impl Tool for ResizeWindow {
    const META: Meta = Meta {
        name: "resize_window",
        title: "Resize window",
        description: "Set a window's size; it then ignores the size of attached terminals.",
        group: Group::Window,
        tier: Tier::Mutate,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Window;

    async fn call(cx: &Cx, args: Args) -> Result<Window, ToolError> {
        if args.width.is_none() && args.height.is_none() {
            return Err(ToolError::invalid_argument("neither `width` nor `height` is given")
                .hint("give one or both"));
        }
        check_cells(args.width, args.height, "give a number of cells in that range")?;
        let pane = cx.resolve_container(&args.target, Level::Window).await?.pane;
        let resize = Command::action("resize-window")
            .option("-t", format!("{}:{}", pane.session, pane.window))
            .option_if("-x", args.width)
            .option_if("-y", args.height);
        cx.tmux().run(resize).await?;
        window_now(cx, pane.session, pane.window).await
    }
}
