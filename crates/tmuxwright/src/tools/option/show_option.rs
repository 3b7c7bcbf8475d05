//! `show_option`: the values of tmux options, and whether they are inherited.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::show_output;

use super::{HolderFields, assignment, list_text};
use crate::actions::options::{HolderQuery, OptionCatalogue, OptionKind, Scope};
use crate::context::{Cx, Tool};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::{FactRow, count};

pub(super) struct ShowOption;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Option name (default: all).
    #[schemars(extend("x-clear" = true))]
    name: Option<String>,
    /// Where to read it (default: as the option or the target requires).
    scope: Option<Scope>,
    /// Session, window or pane.
    target: Option<Target>,
    /// Read the global value.
    global: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ShownOptions {
    /// Options; of a list, one entry per item.
    options: Vec<OptionEntry>,
    #[serde(flatten)]
    holder: HolderFields,
}

#[derive(Serialize, JsonSchema)]
struct OptionEntry {
    /// Option name; of an item of a list, with its index.
    name: String,
    /// Value.
    value: String,
    /// Whether the value is inherited, because none is set here.
    inherited: bool,
}

impl From<show_output::ShownOption> for OptionEntry {
    fn from(option: show_output::ShownOption) -> Self {
        let show_output::ShownOption { name, value, inherited } = option;
        Self { name, value: value.unwrap_or_default(), inherited }
    }
}

impl Output for ShownOptions {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let facts =
            FactRow::new(self.holder.fact()).fact(count(self.options.len() as u64, "option"));
        let row = |option: &OptionEntry| {
            let row = FactRow::new(assignment(&option.name, &option.value));
            String::from(row.flag(option.inherited, "inherited"))
        };
        list_text(facts, self.options.iter().map(row))
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
    type Output = ShownOptions;

    async fn call(cx: &Cx, args: Args) -> Result<ShownOptions, ToolError> {
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
        let options: Vec<OptionEntry> =
            holder.options(cx, name).await?.into_iter().map(OptionEntry::from).collect();
        if let Some(name) = name.filter(|_| options.is_empty()) {
            return Err(ToolError::new(Code::NotFound, format!("`{name}` is not set there"))
                .hint("call show_option without `name` to list what is set in a scope"));
        }
        Ok(ShownOptions { options, holder: HolderFields::new(&holder) })
    }
}
