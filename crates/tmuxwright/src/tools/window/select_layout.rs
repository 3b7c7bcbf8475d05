//! `select_layout`: arranges the panes of a window.

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::layout::{self, LayoutError};
use tmux_control::target::Level;
use tmux_control::{Command, WindowId, row};

use crate::actions::arrange::window_now;
use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::results::objects::Window;
use crate::results::words::count;
use terminal::text::inline;

/// Limit of an invalid layout that is repeated in an error.
const MAX_SHOWN_CHARS: usize = 100;

pub(super) struct SelectLayout;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Window.
    target: Target,
    /// tiled, even-horizontal, main-vertical …, or a `layout` from list_windows.
    #[schemars(extend("x-clear" = true))]
    layout: String,
}

row! {
    PaneCount {
        window: WindowId = "window_id",
        panes: u32 = "window_panes",
    }
}

impl Tool for SelectLayout {
    const META: Meta = Meta {
        name: "select_layout",
        title: "Select layout",
        description: "Arrange the panes of a window; unzooms it.",
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
        let pane = cx.resolve_container(&args.target, Level::Window).await?.pane;
        let window = format!("{}:{}", pane.session, pane.window);
        let version = cx.tmux().version().await?;
        let now: PaneCount = cx.tmux().row(&window).await?;
        let panes = usize::try_from(now.panes).unwrap_or(usize::MAX);
        layout::check(&args.layout, version, panes).map_err(|error| {
            let layout: String = inline(&args.layout).chars().take(MAX_SHOWN_CHARS).collect();
            let hint = match error {
                LayoutError::Panes { .. } => format!(
                    "the window has {}; add or remove panes with split_pane or kill",
                    count(now.panes, "pane")
                ),
                _ => format!(
                    "use {}, or a layout from list_windows",
                    layout::names(version).join(", ")
                ),
            };
            ToolError::invalid_argument(format!("`layout`: `{layout}` {error}")).hint(hint)
        })?;
        let select = Command::action("select-layout").option("-t", &window);
        cx.tmux().run(select.arg("--").arg(&args.layout)).await?;
        window_now(cx, pane.session, pane.window).await
    }
}
