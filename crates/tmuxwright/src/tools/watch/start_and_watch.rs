//! `start_and_watch`: starts a command and waits until a condition holds in its pane.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use crate::actions::start::start;
use crate::actions::wait::Wait;
use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::results::wait::WaitResult;

pub(super) struct StartAndWatch;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Shell command.
    command: String,
    /// Conditions as in wait_for, such as text:ready; the command's end counts too.
    until: Vec<String>,
    /// Pane whose shell is at its prompt (default: one of our own).
    target: Option<Target>,
    /// Directory to run in; not with `target`.
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
        let job = Some(Arc::clone(&started.job));
        let watch = cx.watches.follow(reservation, started, &until).await?;
        Wait { cx, watch, begun, patience, job }.result().await
    }
}
