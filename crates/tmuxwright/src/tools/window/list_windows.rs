//! `list_windows`: lists the windows of a session, or all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::filter;
use crate::results::objects::Window;
use crate::results::words::rows;

pub(super) struct ListWindows;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Session to list; all if not given.
    target: Option<Target>,
    /// `field=value` or `field~regex`, joined by commas.
    #[schemars(extend("x-clear" = true))]
    filter: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct WindowList {
    /// One entry per window.
    windows: Vec<Window>,
}

impl Output for WindowList {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        rows(&self.windows, Window::row, "no windows")
    }
}

impl Tool for ListWindows {
    const META: Meta = Meta {
        name: "list_windows",
        title: "List windows",
        description: "List windows: ids, index, name, panes, size, layout, own.",
        group: Group::Window,
        tier: Tier::Read,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = WindowList;

    async fn call(cx: &Cx, args: Args) -> Result<WindowList, ToolError> {
        let session = match &args.target {
            Some(target) => Some(cx.resolve(target).await?.pane.session),
            None => None,
        };
        let windows = cx.windows(session).await?;
        let windows = windows.into_iter().map(|(row, own)| Window::new(row, own)).collect();
        Ok(WindowList { windows: filter::apply(windows, args.filter.as_deref())? })
    }
}
