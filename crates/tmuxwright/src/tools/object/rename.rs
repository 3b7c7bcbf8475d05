//! `rename`: renames a session or window, or sets a pane's title.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::target::Level;
use tmux_control::{Command, PaneId, SessionId, WindowId, escape_format, row};

use crate::actions::create::{check_name, explain_duplicate};
use crate::context::{Cx, Tool};
use crate::contract::{
    Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset, not_empty,
};
use crate::results::words::field;

pub(super) struct Rename;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Session, window or pane.
    target: Target,
    /// New name, or title of a pane.
    #[schemars(extend("x-clear" = true))]
    name: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Renamed {
    /// Session id.
    session_id: String,
    /// Window id, if a window or a pane was renamed.
    window_id: Option<String>,
    /// Pane id, if a pane was renamed.
    pane_id: Option<String>,
    /// Name as tmux stores it.
    name: String,
}

row! {
    Names {
        session: SessionId = "session_id",
        session_name: String = "session_name",
        window: WindowId = "window_id",
        window_name: String = "window_name",
        pane: PaneId = "pane_id",
        title: String = "pane_title",
    }
}

impl Output for Renamed {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let id = self.pane_id.as_ref().or(self.window_id.as_ref()).unwrap_or(&self.session_id);
        format!("{id} is now named {}", field(&self.name))
    }
}

impl Tool for Rename {
    const META: Meta = Meta {
        name: "rename",
        title: "Rename",
        description: "Rename a session or window, or set a pane's title, if this server made it (others need tier destructive).",
        group: Group::Object,
        tier: Tier::MutateOwn,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Renamed;

    async fn call(cx: &Cx, args: Args) -> Result<Renamed, ToolError> {
        check_name("name", Some(&args.name))?;
        let found = cx.resolve(&args.target).await?;
        if found.level != Level::Pane {
            not_empty("name", &args.name, "give a name; only a pane's title can be empty")?;
        }
        let name = escape_format(&args.name);
        let id = found.id();
        let command = match found.level {
            Level::Session => {
                Command::action("rename-session").option("-t", &id).arg("--").arg(name)
            }
            Level::Window => Command::action("rename-window").option("-t", &id).arg("--").arg(name),
            Level::Pane => Command::action("select-pane").option("-t", &id).option("-T", name),
        };
        let done = cx.tmux().run(command).await;
        done.map_err(|error| explain_duplicate(error, &args.name))?;
        let now: Names = cx.tmux().row(&id).await?;
        Ok(Renamed {
            session_id: now.session.to_string(),
            window_id: (found.level >= Level::Window).then(|| now.window.to_string()),
            pane_id: (found.level == Level::Pane).then(|| now.pane.to_string()),
            name: match found.level {
                Level::Session => now.session_name,
                Level::Window => now.window_name,
                Level::Pane => now.title,
            },
        })
    }
}
