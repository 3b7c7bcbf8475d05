//! `kill`: kills a session, window or pane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::target::{Level, ObjectId};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};

pub(super) struct Kill;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Session, window or pane.
    target: Target,
    /// Kind of target; required if the target is a name.
    kind: Option<ObjectKind>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ObjectKind {
    Session,
    Window,
    Pane,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Killed {
    /// Id of the killed session, window or pane.
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
        let session = found.pane.session;
        let killed = match found.level {
            Level::Session => cx.host.kill_session(session).await,
            level => cx.host.kill_part(session, level, &id).await,
        };
        match killed {
            Ok(()) => {}
            // Already gone: it closed meanwhile, or the server exited with its last session.
            Err(error) if error.is_not_found() || error.is_no_server() => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Killed { killed: id })
    }
}

/// The level of the target. A name needs `kind`, since it could match more than the caller means.
fn level(args: &Args) -> Result<Level, ToolError> {
    let wanted = args.kind.map(|kind| match kind {
        ObjectKind::Session => Level::Session,
        ObjectKind::Window => Level::Window,
        ObjectKind::Pane => Level::Pane,
    });
    let target = &args.target;
    match (ObjectId::parse(target.0.trim()).map(ObjectId::level), wanted) {
        (Some(level), Some(wanted)) if level != wanted => {
            Err(ToolError::invalid_argument(format!("`{target}` is a {level}, not a {wanted}"))
                .hint(format!("leave `kind` out, or give the {wanted}'s id")))
        }
        (Some(level), _) => Ok(level),
        (None, Some(wanted)) => Ok(wanted),
        (None, None) => {
            Err(ToolError::invalid_argument(format!("`{target}` is a name, so `kind` is needed"))
                .hint("give `kind` (session, window or pane), or an id as target"))
        }
    }
}
