//! `set_environment`: sets an environment variable for new panes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::Command;

use super::{assignment, environment_fact};
use crate::actions::options::{HolderQuery, Scope};
use crate::context::{Cx, Tool};
use crate::contract::{
    Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset, VariableReach, variable_name,
};
use crate::results::words::{FactRow, field};

pub(super) struct SetEnvironment;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Variable name.
    #[schemars(extend("x-clear" = true))]
    name: String,
    /// Value; omit to unset.
    value: Option<String>,
    /// Session.
    target: Option<Target>,
    /// Set it for all sessions.
    global: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SetVariable {
    /// Variable name.
    name: String,
    /// Value now; absent if it was unset.
    value: Option<String>,
    /// Whether the variable is set for all sessions.
    global: bool,
    /// Session in which the variable is set.
    session_id: Option<String>,
}

impl Output for SetVariable {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let row = match &self.value {
            Some(value) => FactRow::new(assignment(&self.name, value)),
            None => FactRow::new(field(&self.name)).fact("unset"),
        };
        row.fact(environment_fact(self.session_id.as_ref())).into()
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
    type Output = SetVariable;

    async fn call(cx: &Cx, args: Args) -> Result<SetVariable, ToolError> {
        let Args { name, value, target, global } = args;
        variable_name("name", &name)?;
        let (scope, global) = (Some(Scope::Session), global.unwrap_or(false));
        let wish = HolderQuery { option: None, scope, target: target.as_ref(), global };
        let holder = wish.holder(cx, false).await?;
        let reach = match cx.owns(holder.resolved().as_ref()).await? {
            true => VariableReach::OwnPrograms,
            false => VariableReach::Session,
        };
        cx.may_set_variable(&name, reach)?;
        let set = holder.command(Command::action("set-environment"));
        let set = set.arg_if(value.is_none(), "-u").arg("--").arg(&name);
        let set = match &value {
            Some(value) => set.arg(value),
            None => set,
        };
        cx.tmux().run(set).await?;
        let (global, session_id) = (holder.is_global(), holder.id(Scope::Session));
        Ok(SetVariable { name, value, global, session_id })
    }
}
