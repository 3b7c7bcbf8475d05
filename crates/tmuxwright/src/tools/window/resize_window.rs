//! `resize_window`: a window's size.

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::Command;
use tmux_control::target::Level;

use crate::actions::arrange::window_now;
use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::results::objects::Window;

/// The largest size tmux takes.
const LARGEST: u32 = 10_000;

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
        description: "Give a window a size that stays, whoever looks at it.",
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
                .hint("give one of them, or both"));
        }
        for (name, size) in [("width", args.width), ("height", args.height)] {
            if let Some(size) = size.filter(|size| !(1..=LARGEST).contains(size)) {
                return Err(ToolError::invalid_argument(format!("`{name}`: {size} is no size"))
                    .hint(format!("give a number from 1 to {LARGEST}")));
            }
        }
        let pane = cx.resolve_container(&args.target, Level::Window).await?.pane;
        let resize = Command::action("resize-window")
            .option("-t", format!("{}:{}", pane.session, pane.window))
            .option_if("-x", args.width)
            .option_if("-y", args.height);
        cx.tmux().run(resize).await?;
        window_now(cx, pane.session, pane.window).await
    }
}
