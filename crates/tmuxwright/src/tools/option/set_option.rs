//! `set_option`: sets a tmux option, or takes the setting back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, Error, escape_format};

use crate::actions::formats::check_format;
use crate::actions::options::{Catalogue, Known, Scope, Wish, base};
use crate::context::{Cx, Tool};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use terminal::text::inline;

/// How the options begin in which this server keeps what it must know.
const BOOKKEEPING: &str = "@mcp_";

/// With these, tmux closes, renames or forgets by itself what is there.
const ENDING: &[&str] = &[
    "destroy-unattached",
    "exit-empty",
    "exit-unattached",
    "automatic-rename",
    "automatic-rename-format",
    "allow-rename",
    "allow-set-title",
    "history-limit",
];

/// Their values are commands.
const RUNNING: &[&str] = &[
    "default-command",
    "default-shell",
    "command-alias",
    "copy-command",
    "editor",
    "lock-command",
];

pub(super) struct SetOption;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Option.
    #[schemars(extend("x-clear" = true))]
    name: String,
    /// Taken exactly; none to unset it.
    value: Option<String>,
    /// What it belongs to.
    scope: Option<Scope>,
    /// Session, window or pane.
    target: Option<Target>,
    /// Set the global value.
    global: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Now {
    /// The option.
    name: String,
    /// Its value now.
    value: Option<String>,
    /// Its items now, if it is a list.
    values: Option<Vec<String>>,
    /// Whether the value comes from further up.
    inherited: bool,
    /// What it belongs to.
    scope: Scope,
    /// Whether it is the global one.
    global: bool,
    /// The session it belongs to.
    session_id: Option<String>,
    /// The window it belongs to.
    window_id: Option<String>,
    /// The pane it belongs to.
    pane_id: Option<String>,
}

impl Output for Now {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let inherited = if self.inherited { " · inherited" } else { "" };
        let value = match (&self.value, &self.values) {
            (Some(value), _) => inline(value),
            (None, Some(items)) => inline(&items.join(", ")),
            (None, None) => "not set".to_owned(),
        };
        format!("{} {value}{inherited}", inline(&self.name))
    }
}

impl Tool for SetOption {
    const META: Meta = Meta {
        name: "set_option",
        title: "Set option",
        description: "Set or unset a tmux option.",
        group: Group::Option,
        tier: Tier::Mutate,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Now;

    async fn call(cx: &Cx, args: Args) -> Result<Now, ToolError> {
        let Args { name, value, scope, target, global } = args;
        let option = match Catalogue::read(cx).await?.find(&name)? {
            Known::Option(own) => Some((name.as_str(), own)),
            Known::User => None,
            Known::Hook => {
                let what = format!("`{name}` is a hook: tmux would run commands by itself");
                return Err(ToolError::new(Code::Denied, what)
                    .hint("a person can set it with tmux set-hook; show_hooks shows it"));
            }
        };
        if name.starts_with(BOOKKEEPING) {
            let what = format!("`{name}` is where this server keeps what it owns");
            return Err(ToolError::new(Code::Denied, what).hint("choose another name"));
        }
        if let Some(value) = &value {
            check_format("value", value)?;
        }
        let global = global.unwrap_or(false);
        let wish = Wish { option, scope, target: target.as_ref(), global };
        let holder = wish.holder(cx, false).await?;
        if ENDING.contains(&base(&name)) {
            cx.may_end(holder.resolved().as_ref()).await.map_err(|_| {
                let what = format!("`{name}` could end or rename what this server did not make");
                ToolError::new(Code::Denied, what).hint(
                    "set it for what create_session made; for others a person can start tmuxwright \
                     with --tier destructive",
                )
            })?;
        }
        if RUNNING.contains(&base(&name)) {
            cx.may_run(value.as_deref().unwrap_or_default())?;
        }
        let set = holder.command(Command::action("set-option")).arg_if(value.is_none(), "-u");
        let set = set.arg("--").arg(escape_format(&name));
        let set = match &value {
            Some(value) => set.arg(value),
            None => set,
        };
        cx.tmux().run(set).await.map_err(|error| explain(error, &name))?;
        let now = holder.options(cx, Some(&name)).await?;
        let mut values: Vec<String> = now.iter().filter_map(|now| now.value.clone()).collect();
        let is_list = now.iter().any(|now| now.name != name);
        Ok(Now {
            value: if is_list { None } else { values.pop() },
            values: is_list.then_some(values),
            inherited: now.iter().any(|now| now.inherited),
            name,
            scope: holder.scope,
            global: holder.is_global(),
            session_id: holder.id(Scope::Session),
            window_id: holder.id(Scope::Window),
            pane_id: holder.id(Scope::Pane),
        })
    }
}

/// What tmux has against a value is for the caller to mend.
fn explain(error: Error, name: &str) -> ToolError {
    match error {
        Error::Refused { message, .. } if !message.contains("no such") => {
            ToolError::invalid_argument(format!("`{name}`: {message}"))
                .hint("show_option shows the value it has, in the form it takes")
        }
        error => error.into(),
    }
}
