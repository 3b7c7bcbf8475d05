//! `wait_for`: waits until a condition holds in a pane.

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use crate::actions::cursor::{check_cursor, read_cursor};
use crate::actions::wait::Wait;
use crate::bookmark::Bookmark;
use crate::context::{Cx, Tool};
use crate::contract::{Fleet, FleetFirst, Group, Load, Meta, Target, Tier, ToolError, Toolset};
use crate::results::wait::{TIMEOUT, WaitResult};

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
    /// Cursor of an earlier answer: text printed after it counts too.
    #[schemars(extend("x-clear" = true))]
    since: Option<String>,
}

impl Tool for WaitFor {
    const META: Meta = Meta {
        name: "wait_for",
        title: "Wait for",
        description: "Wait until a condition holds in a pane; only text printed from now on counts. Returns it and the new output.",
        group: Group::Watch,
        tier: Tier::Read,
        sets: &[Toolset::Agent],
        idempotent: false,
        open_world: false,
        load: Load::Always,
    };
    type Args = Args;
    type Output = WaitResult;
    const FLEET: Fleet = Fleet::First(FleetFirst {
        excluded: &[
            ("since", "a cursor is of one pane: wait for that pane alone, without `targets`"),
            ("target", "put it into `targets`"),
        ],
        end: "event",
        timeout: TIMEOUT,
    });

    async fn call(cx: &Cx, args: Args) -> Result<WaitResult, ToolError> {
        let begun = Instant::now();
        let patience = cx.max_wait("timeout", args.timeout.unwrap_or(30.0))?;
        let until = cx.watches.until(&args.until)?;
        let since = args.since.as_deref().map(|text| read_cursor(cx, text)).transpose()?;
        let targets = targets(args.target, args.targets, since.as_ref())?;
        // First, so that calls beyond the limit cost no memory for what follows.
        let reservation = cx.watches.reserve(targets.len())?;
        let mut panes = Vec::new();
        for target in &targets {
            panes.push(cx.pane(target).await?);
        }
        let watch = match (since, targets.first(), panes.first()) {
            (Some(since), Some(target), Some(pane)) => {
                check_cursor(&since, target, pane.pane, pane.pid)?;
                let pane = pane.clone();
                cx.watches.begin_since(reservation, pane, &since, &until).await?
            }
            _ => cx.watches.begin(reservation, panes, &until).await?,
        };
        Wait { cx, watch, begun, patience, job: None }.result().await
    }
}

/// The panes to watch: one, several, or the one of a cursor.
fn targets(
    target: Option<Target>,
    targets: Option<Vec<Target>>,
    since: Option<&Bookmark>,
) -> Result<Vec<Target>, ToolError> {
    match (target, targets, since) {
        (Some(_), Some(_), _) => {
            Err(ToolError::invalid_argument("`target` does not go with `targets`")
                .hint("give only one of them"))
        }
        (None, Some(_), Some(_)) => {
            Err(ToolError::invalid_argument("`since` does not go with `targets`")
                .hint("a cursor is of one pane: wait for that pane alone, without `targets`"))
        }
        (Some(target), None, _) => Ok(vec![target]),
        (None, Some(targets), None) if !targets.is_empty() => Ok(targets),
        (None, None, Some(since)) => Ok(vec![Target(since.pane.to_string())]),
        (None, _, None) => {
            Err(ToolError::invalid_argument("neither `target` nor `targets` is given")
                .hint("name a pane as `target`; list_panes shows all panes"))
        }
    }
}
