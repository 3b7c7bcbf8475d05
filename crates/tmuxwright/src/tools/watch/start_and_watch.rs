//! `start_and_watch`: starts a command and waits until a condition holds in its pane.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use crate::actions::start::start;
use crate::actions::wait::Wait;
use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::results::other_shell;
use crate::results::wait::WaitResult;
use crate::run::StartedCall;

pub(super) struct StartAndWatch;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Shell command.
    command: String,
    /// Conditions as in wait_for, such as text:ready; the command's end counts too.
    until: Vec<String>,
    /// Pane whose shell is at its prompt (default: our own shell).
    target: Option<Target>,
    /// Directory for this command only; not with `target`.
    #[schemars(extend("x-clear" = true))]
    cwd: Option<String>,
    /// Seconds to wait (default 60).
    timeout: Option<f64>,
}

impl Tool for StartAndWatch {
    const META: Meta = Meta {
        name: "start_and_watch",
        title: "Start and watch",
        description: "Start a long-running command (server, build) and wait until it prints text, asks for input or ends. It keeps running.",
        group: Group::Watch,
        tier: Tier::Mutate,
        sets: &[Toolset::Agent],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = WaitResult;

    async fn call(cx: &Cx, args: Args) -> Result<WaitResult, ToolError> {
        let begun = Instant::now();
        let patience = cx.max_wait("timeout", args.timeout.unwrap_or(60.0))?;
        let until = cx.watches.until(&args.until)?;
        // Before the command is started: an error afterwards would leave it running unwatched.
        let reservation = cx.watches.reserve(1)?;
        let started = start(cx, args.command, args.target, args.cwd).await?;
        let StartedCall { job: started, other_shell, attendance, .. } = started;
        let job = Some(Arc::clone(&started.job));
        let watch = cx.watches.follow(reservation, started, &until).await?;
        let mut result = Wait { cx, watch, begun, patience, job }.result().await?;
        drop(attendance);
        result.add_note(other_shell.map(|shell| other_shell::note(&shell)));
        Ok(result)
    }
}
