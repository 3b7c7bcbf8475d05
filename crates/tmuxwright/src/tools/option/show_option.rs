//! `show_option`: tmux's options and where they come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::show_output::ShownOption;

use crate::actions::options::{HolderQuery, OptionCatalogue, OptionKind, Scope};
use crate::context::{Cx, Tool};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use terminal::text::inline;

pub(super) struct ShowOption;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Option (default: all).
    #[schemars(extend("x-clear" = true))]
    name: Option<String>,
    /// What it belongs to.
    scope: Option<Scope>,
    /// Session, window or pane.
    target: Option<Target>,
    /// The global value.
    global: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Options {
    /// The options; of a list, each item.
    options: Vec<Value>,
    /// What they belong to.
    scope: Scope,
    /// Whether they are the global ones.
    global: bool,
    /// The session they belong to.
    session_id: Option<String>,
    /// The window they belong to.
    window_id: Option<String>,
    /// The pane they belong to.
    pane_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Value {
    /// The name; of an item of a list, with its index.
    name: String,
    /// The value.
    value: String,
    /// Whether it is not set there but comes from further up.
    inherited: bool,
}

impl From<ShownOption> for Value {
    fn from(option: ShownOption) -> Self {
        let ShownOption { name, value, inherited } = option;
        Self { name, value: value.unwrap_or_default(), inherited }
    }
}

impl Output for Options {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let row = |option: &Value| {
            let inherited = if option.inherited { " · inherited" } else { "" };
            format!("{} {}{inherited}", inline(&option.name), inline(&option.value))
        };
        self.options.iter().map(row).collect::<Vec<_>>().join("\n")
    }
}

impl Tool for ShowOption {
    const META: Meta = Meta {
        name: "show_option",
        title: "Show option",
        description: "Show a tmux option, or all of a scope, and whether each is inherited.",
        group: Group::Option,
        tier: Tier::Read,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Options;

    async fn call(cx: &Cx, args: Args) -> Result<Options, ToolError> {
        let name = args.name.as_deref();
        let known = match name {
            Some(name) => Some(OptionCatalogue::read(cx).await?.find(name)?),
            None => None,
        };
        let option = match (name, known) {
            (Some(name), Some(OptionKind::Option(scope))) => Some((name, scope)),
            (Some(name), Some(OptionKind::Hook)) => {
                return Err(ToolError::invalid_argument(format!("`{name}` is a hook"))
                    .hint("show_hooks shows it"));
            }
            _ => None,
        };
        let global = args.global.unwrap_or(false);
        let wish = HolderQuery { option, scope: args.scope, target: args.target.as_ref(), global };
        let holder = wish.holder(cx, true).await?;
        let options: Vec<Value> =
            holder.options(cx, name).await?.into_iter().map(Value::from).collect();
        if let Some(name) = name.filter(|_| options.is_empty()) {
            return Err(ToolError::new(Code::NotFound, format!("`{name}` is not set there"))
                .hint("show_option without a name lists what is, for each scope"));
        }
        Ok(Options {
            options,
            scope: holder.scope,
            global: holder.is_global(),
            session_id: holder.id(Scope::Session),
            window_id: holder.id(Scope::Window),
            pane_id: holder.id(Scope::Pane),
        })
    }
}
