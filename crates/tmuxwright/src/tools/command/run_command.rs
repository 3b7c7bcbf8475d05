//! `run_command`: runs a command in a shell and says exactly what happened.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::actions::start::{start, wait_for_end};
use crate::context::{Cx, Request, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::results::command::CommandResult;
use terminal::transcript::Wish;

pub(super) struct RunCommand;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Shell command, of any length and number of lines.
    command: String,
    /// A pane whose shell is at its prompt; one of your own if not given.
    target: Option<Target>,
    /// Where to run it, in a pane of your own.
    #[schemars(extend("x-clear" = true))]
    cwd: Option<String>,
    /// Seconds to wait (default 30); then it goes on and command_result has it.
    timeout: Option<f64>,
    /// Most lines to show (default 200, 0: all).
    max_lines: Option<u64>,
}

impl Tool for RunCommand {
    const META: Meta = Meta {
        name: "run_command",
        title: "Run command",
        description: "Run a shell command: its exact output and exit code. cd and variables stay for the next one.",
        group: Group::Command,
        tier: Tier::Mutate,
        sets: &[Toolset::Agent, Toolset::Primitives],
        idempotent: false,
        open_world: true,
        load: Load::Always,
    };
    type Args = Args;
    type Output = CommandResult;

    async fn call(cx: &Cx, args: Args) -> Result<CommandResult, ToolError> {
        let patience = cx.max_wait("timeout", args.timeout.unwrap_or(30.0))?;
        let job = start(cx, args.command, args.target, args.cwd).await?.job;
        wait_for_end(cx, &job, patience).await;
        let shown = Wish::Default { max_lines: args.max_lines.unwrap_or(200) };
        let Request { max_chars, keep_full_text, .. } = cx.request;
        Ok(CommandResult::read(&job, &shown, max_chars, keep_full_text))
    }
}
