//! `kill`: ends a session, window or pane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::Command;
use tmux_control::target::{Level, ObjectId};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};

pub(super) struct Kill;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Session, window or pane.
    target: Target,
    /// What it is; needed when the target is a name.
    kind: Option<Kind>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Session,
    Window,
    Pane,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Killed {
    /// The id of what is gone.
    killed: String,
}

impl Output for Killed {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        format!("killed {}", self.killed)
    }
}

impl Tool for Kill {
    const META: Meta = Meta {
        name: "kill",
        title: "Kill",
        description: "Kill a session, window or pane that this server made (others need tier destructive).",
        group: Group::Object,
        tier: Tier::DestroyOwn,
        sets: &[Toolset::Debug, Toolset::Agent, Toolset::Primitives],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Killed;

    async fn call(cx: &Cx, args: Args) -> Result<Killed, ToolError> {
        let level = level(&args)?;
        let found = cx.resolve_as(&args.target, level).await?;
        let id = found.id();
        let kill = |command| cx.tmux().run(Command::action(command).option("-t", &id));
        let killed = match found.level {
            Level::Session => cx.host.kill_session(found.pane.session).await,
            Level::Window => kill("kill-window").await.map(|_| ()),
            Level::Pane => kill("kill-pane").await.map(|_| ()),
        };
        match killed {
            Ok(()) => {}
            // Gone all the same: someone else was quicker, or the server ended with its last session.
            Err(error) if error.is_not_found() || error.is_no_server() => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Killed { killed: id })
    }
}

/// What is to be killed. A name could mean more than was meant, so its kind must be said.
fn level(args: &Args) -> Result<Level, ToolError> {
    let wanted = args.kind.map(|kind| match kind {
        Kind::Session => Level::Session,
        Kind::Window => Level::Window,
        Kind::Pane => Level::Pane,
    });
    let target = &args.target;
    match (ObjectId::parse(target.0.trim()).map(ObjectId::level), wanted) {
        (Some(is), Some(wanted)) if is != wanted => {
            Err(ToolError::invalid_argument(format!("`{target}` is a {is}, not a {wanted}"))
                .hint(format!("leave `kind` out, or give the {wanted}'s id")))
        }
        (Some(is), _) => Ok(is),
        (None, Some(wanted)) => Ok(wanted),
        (None, None) => {
            Err(ToolError::invalid_argument(format!("`{target}` is a name, so `kind` is needed"))
                .hint("add kind: session, window or pane; or give an id"))
        }
    }
}
