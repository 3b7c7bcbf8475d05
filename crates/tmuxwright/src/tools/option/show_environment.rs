//! `show_environment`: the environment variables that tmux gives to new panes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, Error, show_output};

use super::{assignment, environment_fact, list_text};
use crate::actions::options::{HolderQuery, OptionHolder, Scope};
use crate::context::{Cx, Tool};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::{FactRow, count, field};

pub(super) struct ShowEnvironment;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Variable name (default: all).
    #[schemars(extend("x-clear" = true))]
    name: Option<String>,
    /// Session.
    target: Option<Target>,
    /// Only global variables.
    global: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ShownEnvironment {
    /// Variables, sorted by name.
    variables: Vec<Variable>,
    /// Session whose environment it is; absent for the global one.
    session_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Variable {
    /// Variable name.
    name: String,
    /// Value; absent if removed.
    value: Option<String>,
    /// Whether tmux removes it from the environment of new panes.
    removed: bool,
    /// Whether it comes from the global environment.
    inherited: bool,
}

impl Output for ShownEnvironment {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let facts = FactRow::new(environment_fact(self.session_id.as_ref()))
            .fact(count(self.variables.len() as u64, "variable"));
        list_text(facts, self.variables.iter().map(Variable::row))
    }
}

impl Variable {
    fn row(&self) -> String {
        let row = match &self.value {
            Some(value) => FactRow::new(assignment(&self.name, value)),
            None => FactRow::new(field(&self.name)),
        };
        row.flag(self.removed, "removed").flag(self.inherited, "inherited").into()
    }
}

impl Tool for ShowEnvironment {
    const META: Meta = Meta {
        name: "show_environment",
        title: "Show environment",
        description: "Show the environment variables of new panes in a session, inherited ones included.",
        group: Group::Option,
        tier: Tier::Read,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = ShownEnvironment;

    async fn call(cx: &Cx, args: Args) -> Result<ShownEnvironment, ToolError> {
        let (scope, target) = (Some(Scope::Session), args.target.as_ref());
        let wish =
            HolderQuery { option: None, scope, target, global: args.global.unwrap_or(false) };
        let holder = wish.holder(cx, true).await?;
        let mut variables = read(cx, &holder).await?;
        if let Some(name) = args.name {
            variables.retain(|variable| variable.name == name);
            if variables.is_empty() {
                let what = format!("there is no variable `{name}`");
                return Err(ToolError::new(Code::NotFound, what)
                    .hint("call show_environment without `name` to list all"));
            }
        }
        Ok(ShownEnvironment { variables, session_id: holder.id(Scope::Session) })
    }
}

/// The session's variables and the global ones it does not override, sorted.
async fn read(cx: &Cx, holder: &OptionHolder) -> Result<Vec<Variable>, ToolError> {
    let show = || Command::query("show-environment").arg("-s");
    let mut ask = vec![show().arg("-g")];
    if !holder.is_global() {
        ask.push(holder.command(show()));
    }
    let mut all = BTreeMap::new();
    let replies = cx.tmux().sequence(ask).await?;
    let global = replies.len() > 1;
    for (index, reply) in replies.iter().enumerate() {
        let inherited = global && index == 0;
        let variables = show_output::parse_environment(&reply.text())
            .ok_or_else(|| Error::unexpected("show-environment", &reply.0))?;
        for (name, value) in variables {
            let removed = value.is_none();
            all.insert(name.clone(), Variable { name, value, removed, inherited });
        }
    }
    Ok(all.into_values().collect())
}
