//! `find_pane`: the pane in a corner of its window.

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::{PaneId, row};

use crate::actions::arrange::pane_now;
use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError};
use crate::results::objects::Pane;

pub(super) struct FindPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Which.
    corner: Corner,
    /// Window; our own session's current one if not given.
    target: Option<Target>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Corner {
    TopLeft,
    TopRight,
    BottomLeft,
    BottomRight,
}

row! {
    Found {
        pane: PaneId = "pane_id",
    }
}

impl Tool for FindPane {
    const META: Meta = Meta {
        name: "find_pane",
        title: "Find pane",
        description: "The pane in a corner of a window.",
        group: Group::Pane,
        tier: Tier::Read,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Pane;

    async fn call(cx: &Cx, args: Args) -> Result<Pane, ToolError> {
        let target = cx.target_or_current(args.target, true, "window").await?;
        let around = cx.pane(&target).await?;
        let corner = match args.corner {
            Corner::TopLeft => "{top-left}",
            Corner::TopRight => "{top-right}",
            Corner::BottomLeft => "{bottom-left}",
            Corner::BottomRight => "{bottom-right}",
        };
        let place = format!("{}:{}.{corner}", around.session, around.window);
        let found: Found = cx.tmux().row(&place).await?;
        cx.may_see(found.pane).await?;
        pane_now(cx, around.session, found.pane).await
    }
}
