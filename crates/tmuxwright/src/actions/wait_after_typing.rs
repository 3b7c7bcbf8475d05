//! `until` and `timeout` of the tools that type: a wait that begins before the first key.

use tokio::time::Instant;

use super::wait::Wait;
use crate::context::Cx;
use crate::contract::ToolError;
use crate::host::PaneState;
use crate::results::typed::Typed;
use crate::watch::{Reservation, Until, Watch};

/// Seconds to wait if `timeout` is not given, as in `wait_for`.
const DEFAULT_TIMEOUT: f64 = 30.0;

/// A wait that was asked for, checked before anything is typed.
pub(crate) struct PlannedWait {
    until: Until,
    timeout: f64,
    reservation: Reservation,
}

impl PlannedWait {
    /// Checks the arguments. `None` if there is no `until`.
    pub(crate) fn check(
        cx: &Cx,
        until: Option<&[String]>,
        timeout: Option<f64>,
    ) -> Result<Option<Self>, ToolError> {
        let Some(until) = until else {
            return match timeout {
                None => Ok(None),
                Some(_) => Err(ToolError::invalid_argument("`timeout` is given without `until`")
                    .hint("give `until`, such as [\"prompt\"], or leave `timeout` out")),
            };
        };
        let until = cx.watches.until(until)?;
        let timeout = timeout.unwrap_or(DEFAULT_TIMEOUT);
        cx.max_wait("timeout", timeout)?;
        Ok(Some(Self { until, timeout, reservation: cx.watches.reserve(1)? }))
    }

    /// Begins to watch the pane: what it prints from now on counts.
    pub(crate) async fn begin(
        planned: Option<Self>,
        cx: &Cx,
        pane: &PaneState,
    ) -> Result<Option<BegunWait>, ToolError> {
        let Some(Self { until, timeout, reservation }) = planned else { return Ok(None) };
        let watch = cx.watches.begin(reservation, vec![pane.clone()], &until).await?;
        Ok(Some(BegunWait { watch, timeout }))
    }
}

/// A wait that watches the pane while keys are typed.
pub(crate) struct BegunWait {
    watch: Watch,
    timeout: f64,
}

/// The answer of a tool that has typed into a pane: with a wait, the end of the wait.
pub(crate) async fn answer(
    cx: &Cx,
    pane: &PaneState,
    wait: Option<BegunWait>,
) -> Result<Typed, ToolError> {
    let Some(BegunWait { mut watch, timeout }) = wait else {
        return Ok(Typed::into_pane(pane));
    };
    watch.keys_typed().await;
    // The time for typing, which `delay_ms` can make long, is not part of the wait.
    let (begun, patience) = (Instant::now(), cx.max_wait("timeout", timeout)?);
    let waited = Wait { cx, watch, begun, patience, job: None }.result().await?;
    Ok(Typed::Waited(waited))
}
