//! `wait_for`: waits until a condition holds in a pane.

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use crate::actions::wait::Wait;
use crate::context::{Cx, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::results::wait::WaitResult;

pub(super) struct WaitFor;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane, such as %3.
    target: Option<Target>,
    /// Several panes instead.
    targets: Option<Vec<Target>>,
    /// Conditions, the first to hold wins: text:…, regex:…, gone:…, exit, prompt, input, password, error, bell, change, idle:SECONDS, stable:SECONDS.
    until: Vec<String>,
    /// Seconds to wait (default 30).
    timeout: Option<f64>,
}

impl Tool for WaitFor {
    const META: Meta = Meta {
        name: "wait_for",
        title: "Wait for",
        description: "Wait until a condition holds in a pane; only text printed from now on counts. Returns the condition and the new output.",
        group: Group::Watch,
        tier: Tier::Read,
        sets: &[Toolset::Agent],
        idempotent: false,
        open_world: false,
        load: Load::Always,
    };
    type Args = Args;
    type Output = WaitResult;

    async fn call(cx: &Cx, args: Args) -> Result<WaitResult, ToolError> {
        let begun = Instant::now();
        let patience = cx.max_wait("timeout", args.timeout.unwrap_or(30.0))?;
        let until = cx.watches.until(&args.until)?;
        let targets = match (args.target, args.targets) {
            (Some(target), None) => vec![target],
            (None, Some(targets)) if !targets.is_empty() => targets,
            (Some(_), Some(_)) => {
                return Err(ToolError::invalid_argument("`target` does not go with `targets`")
                    .hint("give only one of them"));
            }
            _ => {
                return Err(ToolError::invalid_argument("neither `target` nor `targets` is given")
                    .hint("name a pane as `target`; list_panes shows all panes"));
            }
        };
        // First, so that calls beyond the limit cost no memory for what follows.
        let reservation = cx.watches.reserve(targets.len())?;
        let mut panes = Vec::new();
        for target in &targets {
            panes.push(cx.pane(target).await?);
        }
        let watch = cx.watches.begin(reservation, panes, &until).await?;
        Wait { cx, watch, begun, patience, job: None }.result().await
    }
}
