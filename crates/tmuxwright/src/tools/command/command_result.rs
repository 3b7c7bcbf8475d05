//! `command_result`: a command's status, exit code and any part of its output.

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use super::DEFAULT_OUTPUT_LINES;
use crate::actions::start::wait_for_end;
use crate::context::{Cx, Request, Tool};
use crate::contract::{Code, Group, Load, Meta, Tier, ToolError, Toolset};
use crate::results::command::CommandResult;
use terminal::transcript::LineSelection;

/// Limit of the argument `context`.
const MAX_CONTEXT_LINES: usize = 100;

pub(super) struct GetCommandResult;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Command id, such as `c7`.
    #[schemars(extend("x-clear" = true))]
    command_id: String,
    /// Seconds to wait for its end (default 0).
    wait: Option<f64>,
    /// Last N lines.
    tail: Option<u64>,
    /// First N lines.
    head: Option<u64>,
    /// Start at this line; the first is 1.
    from: Option<u64>,
    /// Lines that match this regex, numbered.
    grep: Option<String>,
    /// Lines around each `grep` match.
    context: Option<usize>,
    /// Maximum characters shown (0 = all).
    max_chars: Option<usize>,
}

impl Tool for GetCommandResult {
    const META: Meta = Meta {
        name: "command_result",
        title: "Command result",
        description: "Get a command's exit code and any part of its output, or wait for its end.",
        group: Group::Command,
        tier: Tier::Read,
        sets: &[Toolset::Agent, Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = CommandResult;

    async fn call(cx: &Cx, args: Args) -> Result<CommandResult, ToolError> {
        let patience = cx.max_wait("wait", args.wait.unwrap_or(0.0))?;
        let wish = wish(&args)?;
        let Some(job) = cx.runs.job(args.command_id.trim()) else {
            let known = cx.runs.job_ids();
            let hint = match known.get(..10.min(known.len())).unwrap_or_default() {
                [] => "no command was started yet; run_command starts one".to_owned(),
                some => format!("the newest commands are: {}", some.join(", ")),
            };
            let what = format!("there is no command `{}`", args.command_id);
            return Err(ToolError::new(Code::NotFound, what).hint(hint));
        };
        cx.may_see(job.pane).await?;
        if !patience.is_zero() {
            wait_for_end(cx, &job, patience).await;
        }
        let Request { max_chars, keep_full_text, .. } = cx.request;
        let max_chars = args.max_chars.unwrap_or(max_chars);
        Ok(CommandResult::read(&job, &wish, max_chars, keep_full_text, cx.mask().as_ref()))
    }
}

fn wish(args: &Args) -> Result<LineSelection, ToolError> {
    let Args { tail, head, from, grep, context, .. } = args;
    if context.is_some() && grep.is_none() {
        return Err(ToolError::invalid_argument("`context` is given without `grep`")
            .hint("give `grep` too, or leave `context` out"));
    }
    if let Some(lines) = context.filter(|&lines| lines > MAX_CONTEXT_LINES) {
        return Err(ToolError::invalid_argument(format!(
            "`context`: {lines} is more than {MAX_CONTEXT_LINES}"
        ))
        .hint("use `from` to read more lines around a match"));
    }
    if from == &Some(0) {
        return Err(ToolError::invalid_argument("`from`: 0 is not a line number")
            .hint("the first line is 1"));
    }
    match (tail, head, from, grep) {
        (None, None, None, None) => Ok(LineSelection::BothEnds { max_lines: DEFAULT_OUTPUT_LINES }),
        (Some(lines), None, None, None) => Ok(LineSelection::Tail(*lines)),
        (None, Some(lines), None, None) => Ok(LineSelection::Head(*lines)),
        (None, None, Some(line), None) => Ok(LineSelection::From(*line)),
        (None, None, from, Some(pattern)) => {
            let regex = Regex::new(pattern).map_err(|error| {
                ToolError::invalid_argument(format!("`grep`: {error}"))
                    .hint("escape literal characters, such as \\( or \\.")
            })?;
            Ok(LineSelection::Grep {
                regex,
                context: context.unwrap_or(0),
                from: from.unwrap_or(1),
            })
        }
        _ => Err(ToolError::invalid_argument(
            "only one of `tail`, `head`, `from` and `grep` can be given",
        )
        .hint("leave the others out; only `grep` and `from` go together")),
    }
}
