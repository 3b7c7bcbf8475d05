//! `list_panes`: lists the panes of a session or window, or all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::filter;
use crate::results::objects::Pane;
use crate::results::words::rows;

pub(super) struct ListPanes;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Session or window (default: all).
    target: Option<Target>,
    /// `field=value` or `field~regex`, joined by commas.
    #[schemars(extend("x-clear" = true))]
    filter: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct PaneList {
    /// One entry per pane.
    panes: Vec<Pane>,
}

impl Output for PaneList {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        rows(&self.panes, Pane::row, "no panes")
    }
}

impl Tool for ListPanes {
    const META: Meta = Meta {
        name: "list_panes",
        title: "List panes",
        description: "List panes: ids, address, running program or exit code, directory, title, size, own.",
        group: Group::Pane,
        tier: Tier::Read,
        sets: &[Toolset::Debug, Toolset::Agent, Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::Always,
    };
    type Args = Args;
    type Output = PaneList;

    async fn call(cx: &Cx, args: Args) -> Result<PaneList, ToolError> {
        let only = match &args.target {
            Some(target) => Some(cx.resolve(target).await?),
            None => None,
        };
        let panes = cx
            .panes()
            .await?
            .into_iter()
            .filter(|row| only.as_ref().is_none_or(|found| found.holds(row)))
            .map(|row| Pane::new(&cx.host, row))
            .collect();
        Ok(PaneList { panes: filter::apply(panes, args.filter.as_deref())? })
    }
}
