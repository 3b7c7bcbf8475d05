//! `eval_format`: expands a tmux format for a pane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::checked_format::{FormatUse, check_format, print_format};

use crate::context::{Cx, Tool};
use crate::contract::{
    Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset, format_refused,
    not_reserved,
};
use crate::results::words::FactRow;
use terminal::text::keep_tail;

pub(super) struct EvalFormat;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// tmux format, such as `#{pane_title}`.
    #[schemars(extend("x-clear" = true))]
    format: String,
    /// Pane (default: the current one of the own or the only session).
    target: Option<Target>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ExpandedFormat {
    /// The expanded format.
    text: String,
    /// Pane for which it was expanded.
    pane_id: String,
    /// Whether the beginning of the text is cut.
    truncated: bool,
}

impl Output for ExpandedFormat {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let facts = FactRow::new(&self.pane_id).flag(self.truncated, "beginning cut");
        format!("{}\n{}", String::from(facts), self.text)
    }

    fn limit(&mut self, max: usize) {
        self.truncated = keep_tail(&mut self.text, max) > 0;
    }
}

impl Tool for EvalFormat {
    const META: Meta = Meta {
        name: "eval_format",
        title: "Evaluate format",
        description: "Expand a tmux format for a pane. Only variables, options and modifiers that read are \
                      accepted.",
        group: Group::Option,
        tier: Tier::Read,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = ExpandedFormat;

    async fn call(cx: &Cx, args: Args) -> Result<ExpandedFormat, ToolError> {
        let shown = check_format(&args.format, FormatUse::Once)
            .map_err(|error| format_refused("format", error))?;
        shown.user_options.iter().try_for_each(|name| not_reserved(name))?;
        if cx.hides_panes() && shown.shows_others {
            let what = "`format` shows sessions, windows, panes or tmux clients besides those of the \
                        pane, and the policy restricts which of them the caller may see";
            return Err(ToolError::new(Code::Denied, what)
                .hint("use list_panes, which shows the allowed ones"));
        }
        let target = cx.target_or_current(args.target, true, "pane").await?;
        let pane = cx.pane(&target).await?.pane;
        let printed = cx.tmux().run(print_format(pane, &args.format)).await?.text();
        let mut text = printed.strip_suffix('\n').unwrap_or(&printed).to_owned();
        if cx.tmux().version().await?.escapes_dollars() {
            text = without_escaped_dollars(&text);
        }
        Ok(ExpandedFormat { text: cx.redacted(text), pane_id: pane.to_string(), truncated: false })
    }
}

/// Removes one backslash before each `$` that looks like a variable, which newer versions add.
fn without_escaped_dollars(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let next = text.get(at + 1..).and_then(|rest| rest.chars().next());
        if c == '$' && next.is_some_and(|n| n.is_ascii_alphabetic() || n == '_' || n == '{') {
            out.pop();
        }
        out.push(c);
    }
    out
}
