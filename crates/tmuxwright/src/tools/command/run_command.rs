//! `run_command`: runs a command in a shell and returns its exact output and exit code.

use schemars::JsonSchema;
use serde::Deserialize;

use super::DEFAULT_OUTPUT_LINES;
use crate::actions::start::{start, wait_for_end};
use crate::context::{Cx, Request, Tool};
use crate::contract::{
    Fleet, FleetEach, FleetList, Group, Load, Meta, Target, Tier, ToolError, Toolset,
};
use crate::results::command::CommandResult;
use crate::results::{other_shell, side_by_side};
use crate::run::{StartedCall, StartedJob};
use terminal::transcript::LineSelection;

pub(super) struct RunCommand;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Shell command, of any length and number of lines.
    command: String,
    /// Pane at a shell prompt, also over ssh (default: own).
    target: Option<Target>,
    /// Directory for this command only; not with `target`.
    #[schemars(extend("x-clear" = true))]
    cwd: Option<String>,
    /// Seconds to wait (default 30); then it runs on, see command_result.
    timeout: Option<f64>,
    /// Maximum lines shown (default 200, 0 = all).
    max_lines: Option<u64>,
}

impl Tool for RunCommand {
    const META: Meta = Meta {
        name: "run_command",
        title: "Run command",
        description: "Run a shell command and return its exact output and exit code. Without target, cd and variables persist.",
        group: Group::Command,
        tier: Tier::Mutate,
        sets: &[Toolset::Agent, Toolset::Primitives],
        idempotent: false,
        open_world: true,
        load: Load::Always,
    };
    type Args = Args;
    type Output = CommandResult;
    const FLEET: Fleet = Fleet::Each(FleetEach {
        list: FleetList::Servers,
        excluded: &[("server", "name all servers in `servers`")],
        shared: None,
        summed: None,
        text: side_by_side::commands,
    });

    async fn call(cx: &Cx, args: Args) -> Result<CommandResult, ToolError> {
        let patience = cx.max_wait("timeout", args.timeout.unwrap_or(30.0))?;
        let StartedCall { job: StartedJob { job, .. }, other_shell, attendance, .. } =
            start(cx, args.command, args.target, args.cwd).await?;
        wait_for_end(cx, &job, patience).await;
        drop(attendance);
        let shown =
            LineSelection::BothEnds { max_lines: args.max_lines.unwrap_or(DEFAULT_OUTPUT_LINES) };
        let Request { max_chars, keep_full_text, .. } = cx.request;
        let mask = cx.mask();
        let mut result =
            CommandResult::read(&job, &shown, max_chars, keep_full_text, mask.as_ref());
        result.add_note(other_shell.map(|shell| other_shell::note(&shell)));
        Ok(result)
    }
}
