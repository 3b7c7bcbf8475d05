//! `find_pane`: finds the pane in a corner of a window.

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
    /// Corner of the window.
    corner: Corner,
    /// Window; the current one of this server's own session if not given.
    target: Option<Target>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
enum Corner {
    TopLeft,
    TopRight,
    BottomLeft,
    BottomRight,
}

row! {
    CornerPane {
        pane: PaneId = "pane_id",
    }
}

impl Tool for FindPane {
    const META: Meta = Meta {
        name: "find_pane",
        title: "Find pane",
        description: "Find the pane in a corner of a window.",
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
        let corner = format!("{}:{}.{{{}}}", around.session, around.window, args.corner);
        let found: CornerPane = cx.tmux().row(&corner).await?;
        cx.may_see(found.pane).await?;
        pane_now(cx, around.session, found.pane).await
    }
}
