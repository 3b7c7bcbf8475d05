//! `run_command`: runs a command in a shell and says exactly what happened.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::outcome::{CommandResult, wait};
use crate::tool::{Cx, Group, Load, Meta, Target, Tier, Tool, ToolError, Toolset};
use crate::transcript::Wish;
use crate::typing::must_take_input;

pub(super) struct RunCommand;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Shell command, of any length and number of lines.
    command: String,
    /// A pane whose shell is at its prompt; one of your own if not given.
    target: Option<Target>,
    /// Where to run it, in a pane of your own.
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
        let patience = cx.patience("timeout", args.timeout.unwrap_or(30.0))?;
        check(&args.command)?;
        let job = match args.target {
            Some(_) if args.cwd.is_some() => {
                return Err(ToolError::invalid_argument("`cwd` does not go with `target`")
                    .hint("put `cd DIR && ` before the command, or leave out `target`"));
            }
            Some(target) => {
                let pane = cx.pane(&target).await?;
                must_take_input(&pane, true)?;
                cx.runs.run(pane, args.command).await?
            }
            None => {
                let cwd = args.cwd.map(directory).transpose()?;
                cx.runs.run_anywhere(args.command, cwd).await?
            }
        };
        wait(cx, &job, patience).await;
        let max_lines = args.max_lines.unwrap_or(200);
        Ok(CommandResult::of(job, Wish::Default { max_lines }))
    }
}

fn check(command: &str) -> Result<(), ToolError> {
    if command.trim().is_empty() {
        return Err(ToolError::invalid_argument("`command` is empty").hint("say what to run"));
    }
    if command.contains('\0') {
        return Err(ToolError::invalid_argument("`command` has a NUL byte in it")
            .hint("no shell takes one; leave it out"));
    }
    Ok(())
}

/// A directory that is there. `~` is the user's own.
fn directory(text: String) -> Result<String, ToolError> {
    let home = std::env::var("HOME").unwrap_or_default();
    let path = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ => text,
    };
    if Path::new(&path).is_absolute() && Path::new(&path).is_dir() {
        return Ok(path);
    }
    Err(ToolError::invalid_argument(format!("`cwd`: `{path}` is no directory"))
        .hint("give the absolute path of one that exists"))
}
