//! Starting a command, for the tools that do, and waiting for its end.

use std::time::Duration;

use tokio::time::Instant;

use crate::actions::create::start_directory;
use crate::actions::typing::must_take_input;
use crate::context::Cx;
use crate::contract::{CreateLocation, Target, ToolError};
use crate::run::{Job, Started};

/// Starts a command in the pane that is named, or in one of our own.
pub(crate) async fn start(
    cx: &Cx,
    command: String,
    target: Option<Target>,
    cwd: Option<String>,
) -> Result<Started, ToolError> {
    check(&command)?;
    Ok(match target {
        Some(_) if cwd.is_some() => {
            return Err(ToolError::invalid_argument("`cwd` does not go with `target`")
                .hint("put `cd DIR && ` before the command, or leave out `target`"));
        }
        Some(target) => {
            let pane = cx.pane(&target).await?;
            must_take_input(&pane, true)?;
            let turn = cx.turn_to_run(&pane, &command).await?;
            let started = cx.runs.run(pane, command).await?;
            turn.done();
            started
        }
        None => {
            cx.may_create(CreateLocation::OwnSession)?;
            cx.may_run(&command)?;
            let cwd = start_directory(cwd)?;
            cx.runs.run_anywhere(command, cwd).await?
        }
    })
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

/// Waits until a job has ended or time is up, and reports progress meanwhile.
pub(crate) async fn wait_for_end(cx: &Cx, job: &Job, patience: Duration) {
    let message = || format!("{} runs, {} lines so far", job.id, job.lines());
    cx.wait(patience, job.wait(Instant::now() + patience), message).await;
}
