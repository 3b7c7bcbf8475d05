//! `show_hooks`: what tmux does by itself when something happens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, show_output};

use crate::actions::options::{HolderQuery, OptionCatalogue, OptionHolder, Scope, base};
use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use terminal::text::inline;

pub(super) struct ShowHooks;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Hook (default: all).
    #[schemars(extend("x-clear" = true))]
    name: Option<String>,
    /// Only of this kind.
    scope: Option<Scope>,
    /// Session, window or pane.
    target: Option<Target>,
    /// Only the global ones.
    global: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Hooks {
    /// The hooks that are set.
    hooks: Vec<Hook>,
}

#[derive(Serialize, JsonSchema)]
struct Hook {
    /// The name, with its index.
    name: String,
    /// What is run, in tmux's words.
    command: String,
    /// What it is set on.
    scope: Scope,
    /// Whether it is a global one.
    global: bool,
}

impl Output for Hooks {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        if self.hooks.is_empty() {
            return "no hooks".to_owned();
        }
        let row = |hook: &Hook| {
            let global = if hook.global { " · global" } else { "" };
            format!("{} {}{global}", inline(&hook.name), inline(&hook.command))
        };
        self.hooks.iter().map(row).collect::<Vec<_>>().join("\n")
    }
}

impl Tool for ShowHooks {
    const META: Meta = Meta {
        name: "show_hooks",
        title: "Show hooks",
        description: "Show the hooks that are set, globally and on a target, and their commands.",
        group: Group::Option,
        tier: Tier::Read,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Hooks;

    async fn call(cx: &Cx, args: Args) -> Result<Hooks, ToolError> {
        let name = args.name.as_deref();
        if let Some(name) = name {
            OptionCatalogue::read(cx).await?.hook(name)?;
        }
        if args.scope == Some(Scope::Server) {
            return Err(ToolError::invalid_argument("`scope`: the server has no hooks")
                .hint("give session, window or pane"));
        }
        let target = args.target.as_ref();
        let wish = HolderQuery { option: None, scope: args.scope, target, global: false };
        let found = match target {
            Some(_) => wish.holder(cx, true).await?.object,
            None => None,
        };
        let mut holders = Vec::new();
        let kinds = [Scope::Session, Scope::Window, Scope::Pane];
        for scope in kinds.into_iter().filter(|kind| args.scope.is_none_or(|only| only == *kind)) {
            if let Some(object) = found.clone().filter(|_| args.global != Some(true)) {
                holders.push(OptionHolder { scope, object: Some(object) });
            }
            if scope != Scope::Pane {
                holders.push(OptionHolder { scope, object: None });
            }
        }
        if holders.is_empty() {
            return Err(ToolError::invalid_argument("`scope`: panes have no global hooks")
                .hint("name a pane as `target`, or give scope window"));
        }
        let mut hooks = read(cx, &holders).await?;
        if let Some(name) = name {
            hooks.retain(|hook| hook.name == name || base(&hook.name) == name);
        }
        Ok(Hooks { hooks })
    }
}

async fn read(cx: &Cx, holders: &[OptionHolder]) -> Result<Vec<Hook>, ToolError> {
    let show = |holder: &OptionHolder| holder.command(Command::query("show-hooks"));
    let replies = cx.tmux().sequence(holders.iter().map(show).collect()).await?;
    let mut hooks = Vec::new();
    for (holder, reply) in holders.iter().zip(replies) {
        for (name, command) in reply.text().lines().map(show_output::parse_hook) {
            // Those without commands are listed too.
            if let Some(command) = command {
                let (scope, global) = (holder.scope, holder.is_global());
                hooks.push(Hook { name, command, scope, global });
            }
        }
    }
    Ok(hooks)
}
