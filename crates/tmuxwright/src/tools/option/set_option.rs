//! `set_option`: sets or unsets a tmux option.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tmux_control::{Command, Error, escape_format};

use super::{HolderFields, assignment};
use crate::actions::options::{HolderQuery, OptionCatalogue, OptionKind, Scope, base};
use crate::context::{Cx, Tool};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::{FactRow, field};

pub(super) struct SetOption;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Option name.
    #[schemars(extend("x-clear" = true))]
    name: String,
    /// Exact value; omit to unset.
    value: Option<String>,
    /// Where to set it (default: as the option or the target requires).
    scope: Option<Scope>,
    /// Session, window or pane.
    target: Option<Target>,
    /// Set the global value.
    global: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OptionAfterSet {
    /// Option name.
    name: String,
    /// Value now.
    value: Option<String>,
    /// Items now, if the option is a list.
    values: Option<Vec<String>>,
    /// Whether the value is inherited, because none is set here.
    inherited: bool,
    #[serde(flatten)]
    holder: HolderFields,
}

impl Output for OptionAfterSet {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let name = &self.name;
        let row = match (&self.value, &self.values) {
            (Some(value), _) => FactRow::new(assignment(name, value)),
            (None, Some(items)) => {
                FactRow::new(format!("{}={}", field(name), Value::from(items.as_slice())))
            }
            (None, None) => FactRow::new(field(name)).fact("not set"),
        };
        row.fact(self.holder.fact()).flag(self.inherited, "inherited").into()
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
    type Output = OptionAfterSet;

    async fn call(cx: &Cx, args: Args) -> Result<OptionAfterSet, ToolError> {
        let Args { name, value, scope, target, global } = args;
        let option = match OptionCatalogue::read(cx).await?.find(&name)? {
            OptionKind::Option(own) => Some((name.as_str(), own)),
            OptionKind::User => None,
            OptionKind::Hook => {
                let what =
                    format!("`{name}` is a hook, with which tmux would run commands by itself");
                return Err(ToolError::new(Code::Denied, what)
                    .hint("ask a person to set it with tmux set-hook; show_hooks shows it"));
            }
        };
        let global = global.unwrap_or(false);
        let wish = HolderQuery { option, scope, target: target.as_ref(), global };
        let holder = wish.holder(cx, false).await?;
        let object = holder.resolved();
        cx.may_set_option(base(&name), value.as_deref(), object.as_ref()).await?;
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
        Ok(OptionAfterSet {
            value: if is_list { None } else { values.pop() },
            values: is_list.then_some(values),
            inherited: now.iter().any(|now| now.inherited),
            name,
            holder: HolderFields::new(&holder),
        })
    }
}

/// A value that tmux refuses is an error of the caller.
fn explain(error: Error, name: &str) -> ToolError {
    match error {
        Error::Refused { message, .. } if !message.contains("no such") => {
            ToolError::invalid_argument(format!("`{name}`: {message}"))
                .hint("show_option shows the present value, in the form tmux takes")
        }
        error => error.into(),
    }
}
