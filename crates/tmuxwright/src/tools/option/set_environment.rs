//! `set_environment`: a variable for new programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::Command;

use crate::actions::create::is_variable;
use crate::actions::options::{Scope, Wish};
use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use terminal::text::inline;

pub(super) struct SetEnvironment;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Variable.
    #[schemars(extend("x-clear" = true))]
    name: String,
    /// None to unset it.
    value: Option<String>,
    /// Session.
    target: Option<Target>,
    /// For all sessions.
    global: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Set {
    /// The variable.
    name: String,
    /// Its value now.
    value: Option<String>,
    /// Whether it is the global one.
    global: bool,
    /// The session it belongs to.
    session_id: Option<String>,
}

impl Output for Set {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let at = self.session_id.as_deref().unwrap_or("global");
        match &self.value {
            Some(value) => format!("{}={} · {at}", inline(&self.name), inline(value)),
            None => format!("{} · unset · {at}", inline(&self.name)),
        }
    }
}

impl Tool for SetEnvironment {
    const META: Meta = Meta {
        name: "set_environment",
        title: "Set environment",
        description: "Set or unset an environment variable for new panes.",
        group: Group::Option,
        tier: Tier::Mutate,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Set;

    async fn call(cx: &Cx, args: Args) -> Result<Set, ToolError> {
        let Args { name, value, target, global } = args;
        if !is_variable(&name) {
            return Err(ToolError::invalid_argument(format!("`{name}` is no variable's name"))
                .hint("give a name without `=`, and the value as `value`"));
        }
        cx.may_set_variable(&name)?;
        let (scope, global) = (Some(Scope::Session), global.unwrap_or(false));
        let wish = Wish { option: None, scope, target: target.as_ref(), global };
        let holder = wish.holder(cx, false).await?;
        let set = holder.command(Command::action("set-environment"));
        let set = set.arg_if(value.is_none(), "-u").arg("--").arg(&name);
        let set = match &value {
            Some(value) => set.arg(value),
            None => set,
        };
        cx.tmux().run(set).await?;
        Ok(Set { name, value, global: holder.is_global(), session_id: holder.id(Scope::Session) })
    }
}
