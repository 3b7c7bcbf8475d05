//! Start of a shell command in a pane, and the wait for its end.

use std::time::Duration;

use tokio::time::Instant;

use crate::actions::create::start_directory;
use crate::actions::typing::must_take_input;
use crate::context::Cx;
use crate::contract::{CreateLocation, Target, ToolError, no_nul, not_empty};
use crate::run::{Job, StartedCall};

/// Starts a command in the target pane, or in the home shell of the own session.
pub(crate) async fn start(
    cx: &Cx,
    command: String,
    target: Option<Target>,
    cwd: Option<String>,
) -> Result<StartedCall, ToolError> {
    not_empty("command", command.trim(), "give a shell command")?;
    no_nul("command", &command, "no shell accepts one; remove it")?;
    Ok(match target {
        Some(_) if cwd.is_some() => {
            return Err(ToolError::invalid_argument("`cwd` does not go with `target`")
                .hint("put `cd DIR && ` before the command, or leave `target` out"));
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
            let cwd = start_directory(cx, cwd).await?;
            cx.runs.run_anywhere(command, cwd).await?
        }
    })
}

/// Waits until a job has ended or `patience` is over, and reports progress meanwhile.
pub(crate) async fn wait_for_end(cx: &Cx, job: &Job, patience: Duration) {
    let message = || format!("{} is running, {} lines so far", job.id, job.lines());
    cx.wait(patience, job.wait(Instant::now() + patience), message).await;
}
