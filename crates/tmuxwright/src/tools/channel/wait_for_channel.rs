//! `wait_for_channel`: waits until a channel is signalled.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::channel::{CancelOutcome, ChannelSignal, MIN_CHANNEL_WAIT};
use tokio::time::Instant;

use crate::context::{Cx, Tool};
use crate::contract::{ChannelName, Code, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::results::words::{FactRow, field, seconds};
use terminal::text::inline;

pub(super) struct WaitForChannel;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Channel name.
    channel: ChannelName,
    /// Seconds to wait (default 30).
    timeout: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ChannelWait {
    /// Channel name.
    channel: String,
    /// Event that ended the wait.
    event: ChannelEvent,
    /// Whether the signal was sent before the call.
    left_over: bool,
    /// Duration of the wait in seconds.
    elapsed: f64,
    /// Warning about a later signal that tmux may lose.
    note: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
enum ChannelEvent {
    Signal,
    Timeout,
}

impl Output for ChannelWait {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        FactRow::new(<&str>::from(self.event))
            .fact(format!("channel {}", field(&self.channel)))
            .fact(seconds(self.elapsed))
            .maybe(self.note)
            .flag(self.left_over, "sent before this call")
            .into()
    }
}

impl Tool for WaitForChannel {
    const META: Meta = Meta {
        name: "wait_for_channel",
        title: "Wait for channel",
        description: "Wait until a program runs `tmux wait-for -S CHANNEL`, or signal_channel is called.",
        group: Group::Channel,
        tier: Tier::Mutate,
        sets: &[],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = ChannelWait;

    async fn call(cx: &Cx, args: Args) -> Result<ChannelWait, ToolError> {
        let patience = cx.max_wait("timeout", args.timeout.unwrap_or(30.0))?;
        let channel = args.channel.check()?;
        let begun = Instant::now();
        let mut waiting = cx.tmux().wait_for_channel(&channel).await?;
        let message = || format!("waiting for {}", inline(&channel));
        let signal = cx.wait(patience.max(MIN_CHANNEL_WAIT), waiting.signal(), message).await;
        let elapsed = (begun.elapsed().as_secs_f64() * 1e4).round() / 1e4;
        let (event, left_over, note) = match signal {
            Some(Ok(ChannelSignal { left_over })) => (ChannelEvent::Signal, left_over, None),
            Some(Err(error)) if error.is_no_server() => {
                let what = format!("the tmux server ended before `{channel}` was signalled");
                return Err(ToolError::new(Code::Lost, what).hint(
                    "no signal can come any more; list_sessions shows whether a server runs",
                ));
            }
            Some(Err(error)) => return Err(error.into()),
            None => match waiting.cancel().await {
                CancelOutcome::Signalled(ChannelSignal { left_over }) => {
                    (ChannelEvent::Signal, left_over, None)
                }
                CancelOutcome::Removed => (ChannelEvent::Timeout, false, None),
                CancelOutcome::Orphaned => (ChannelEvent::Timeout, false, Some(LOST_SIGNAL_NOTE)),
            },
        };
        Ok(ChannelWait { channel, event, left_over, elapsed, note })
    }
}

/// Note for a wait whose place tmux keeps although the wait has ended.
const LOST_SIGNAL_NOTE: &str =
    "other programs may wait too; if they stop waiting, tmux loses the next signal";
