//! `command_result`: what became of a command, and any part of its output.

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::actions::start::wait_for_end;
use crate::context::{Cx, Request, Tool};
use crate::contract::{Code, Group, Load, Meta, Tier, ToolError, Toolset};
use crate::results::command::CommandResult;
use terminal::transcript::Wish;

/// The most lines around a match.
const MOST_CONTEXT: usize = 100;

pub(super) struct GetResult;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Such as `c7`.
    #[schemars(extend("x-clear" = true))]
    command_id: String,
    /// Seconds to wait for its end (default 0).
    wait: Option<f64>,
    /// The last lines.
    tail: Option<u64>,
    /// The first lines.
    head: Option<u64>,
    /// From this line on; the first is 1.
    from: Option<u64>,
    /// Lines that match this regex, numbered.
    grep: Option<String>,
    /// Lines around each match.
    context: Option<usize>,
    /// Most characters to show (0: all).
    max_chars: Option<usize>,
}

impl Tool for GetResult {
    const META: Meta = Meta {
        name: "command_result",
        title: "Command result",
        description: "A command's state and any part of its output; can wait for its end.",
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
                [] => "there is none; run_command makes one".to_owned(),
                some => format!("the newest are: {}", some.join(", ")),
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
        Ok(CommandResult::read(&job, &wish, max_chars, keep_full_text))
    }
}

fn wish(args: &Args) -> Result<Wish, ToolError> {
    let Args { tail, head, from, grep, context, .. } = args;
    if context.is_some() && grep.is_none() {
        return Err(ToolError::invalid_argument("`context` goes with `grep` only")
            .hint("leave it out, or give `grep`"));
    }
    if let Some(lines) = context.filter(|&lines| lines > MOST_CONTEXT) {
        return Err(ToolError::invalid_argument(format!(
            "`context`: {lines} is more than {MOST_CONTEXT}"
        ))
        .hint("use `from` to read more lines around a match"));
    }
    if from == &Some(0) {
        return Err(ToolError::invalid_argument("`from`: 0 is no line").hint("the first line is 1"));
    }
    match (tail, head, from, grep) {
        (None, None, None, None) => Ok(Wish::Default { max_lines: 200 }),
        (Some(lines), None, None, None) => Ok(Wish::Tail(*lines)),
        (None, Some(lines), None, None) => Ok(Wish::Head(*lines)),
        (None, None, Some(line), None) => Ok(Wish::From(*line)),
        (None, None, from, Some(pattern)) => {
            let regex = Regex::new(pattern).map_err(|error| {
                ToolError::invalid_argument(format!("`grep`: {error}"))
                    .hint("escape what is meant literally, such as \\( or \\.")
            })?;
            Ok(Wish::Grep { regex, context: context.unwrap_or(0), from: from.unwrap_or(1) })
        }
        _ => Err(ToolError::invalid_argument("only one of `tail`, `head` and `from` can be given")
            .hint("`grep` goes with `from` and `context`")),
    }
}
