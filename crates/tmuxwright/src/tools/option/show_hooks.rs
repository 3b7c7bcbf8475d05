//! `show_hooks`: the commands that tmux runs by itself on events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, show_output};

use crate::actions::options::{HolderQuery, OptionCatalogue, OptionHolder, Scope, base};
use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::{FactRow, field, rows};

pub(super) struct ShowHooks;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Hook name (default: all).
    #[schemars(extend("x-clear" = true))]
    name: Option<String>,
    /// Only hooks of this scope.
    scope: Option<Scope>,
    /// Session, window or pane.
    target: Option<Target>,
    /// Only global hooks.
    global: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ShownHooks {
    /// Hooks that are set.
    hooks: Vec<Hook>,
}

#[derive(Serialize, JsonSchema)]
struct Hook {
    /// Hook name with its index.
    name: String,
    /// tmux command that the hook runs.
    command: String,
    /// Scope of the hook.
    scope: Scope,
    /// Whether the hook is global.
    global: bool,
}

impl Output for ShownHooks {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        rows(&self.hooks, Hook::row, "no hooks")
    }
}

impl Hook {
    fn row(&self) -> String {
        FactRow::new(field(&self.name))
            .fact(field(&self.command))
            .fact(self.scope.name())
            .flag(self.global, "global")
            .into()
    }
}

impl Tool for ShowHooks {
    const META: Meta = Meta {
        name: "show_hooks",
        title: "Show hooks",
        description: "Show tmux hooks and the commands they run, global and of a target.",
        group: Group::Option,
        tier: Tier::Read,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = ShownHooks;

    async fn call(cx: &Cx, args: Args) -> Result<ShownHooks, ToolError> {
        let name = args.name.as_deref();
        if let Some(name) = name {
            OptionCatalogue::read(cx).await?.hook(name)?;
        }
        if args.scope == Some(Scope::Server) {
            return Err(ToolError::invalid_argument("`scope`: the server has no hooks")
                .hint("give scope `session`, `window` or `pane`"));
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
                .hint("name a pane as `target`, or give scope `window`"));
        }
        let mut hooks = read(cx, &holders).await?;
        if let Some(name) = name {
            hooks.retain(|hook| hook.name == name || base(&hook.name) == name);
        }
        Ok(ShownHooks { hooks })
    }
}

async fn read(cx: &Cx, holders: &[OptionHolder]) -> Result<Vec<Hook>, ToolError> {
    let show = |holder: &OptionHolder| holder.command(Command::query("show-hooks"));
    let replies = cx.tmux().sequence(holders.iter().map(show).collect()).await?;
    let mut hooks = Vec::new();
    for (holder, reply) in holders.iter().zip(replies) {
        for (name, command) in reply.text().lines().map(show_output::parse_hook) {
            // tmux also lists hooks without a command.
            if let Some(command) = command {
                let (scope, global) = (holder.scope, holder.is_global());
                hooks.push(Hook { name, command, scope, global });
            }
        }
    }
    Ok(hooks)
}
