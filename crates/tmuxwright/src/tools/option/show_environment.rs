//! `show_environment`: the environment that tmux gives to new programs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, Error, show_output};

use crate::actions::options::{HolderQuery, OptionHolder, Scope};
use crate::context::{Cx, Tool};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use terminal::text::inline;

pub(super) struct ShowEnvironment;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Variable (default: all).
    #[schemars(extend("x-clear" = true))]
    name: Option<String>,
    /// Session.
    target: Option<Target>,
    /// Only the global ones.
    global: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Environment {
    /// The variables.
    variables: Vec<Variable>,
    /// The session.
    session_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Variable {
    /// The name.
    name: String,
    /// The value.
    value: Option<String>,
    /// Whether programs get it no more.
    removed: bool,
    /// Whether it is the global one.
    inherited: bool,
}

impl Output for Environment {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let row = |variable: &Variable| {
            let inherited = if variable.inherited { " · inherited" } else { "" };
            match &variable.value {
                Some(value) => format!("{}={}{inherited}", inline(&variable.name), inline(value)),
                None => format!("{} · removed{inherited}", inline(&variable.name)),
            }
        };
        self.variables.iter().map(row).collect::<Vec<_>>().join("\n")
    }
}

impl Tool for ShowEnvironment {
    const META: Meta = Meta {
        name: "show_environment",
        title: "Show environment",
        description: "The environment of new panes in a session, what it inherits included.",
        group: Group::Option,
        tier: Tier::Read,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Environment;

    async fn call(cx: &Cx, args: Args) -> Result<Environment, ToolError> {
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
                    .hint("show_environment without a name lists all"));
            }
        }
        Ok(Environment { variables, session_id: holder.id(Scope::Session) })
    }
}

/// The session's variables and the global ones that it does not hide, in order.
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
