//! `wait_for_channel`: waits until somebody signals a channel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::channel::{Left, SHORTEST, Signal};
use tokio::time::Instant;

use crate::context::{Cx, Tool};
use crate::contract::{ChannelName, Code, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::results::words::seconds;
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
pub(super) struct Waited {
    /// The channel.
    channel: String,
    /// What ended the wait.
    event: Event,
    /// Whether the signal was there before the call.
    left_over: bool,
    /// How long it took, in seconds.
    elapsed: f64,
    /// What else there is to say.
    note: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Event {
    Signal,
    Timeout,
}

impl Output for Waited {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let what = match (self.event, self.left_over) {
            (Event::Signal, false) => "signal",
            (Event::Signal, true) => "signal, left over from before",
            (Event::Timeout, _) => "timeout",
        };
        let mut text = format!("{what} · {} · {}", inline(&self.channel), seconds(self.elapsed));
        if let Some(note) = self.note {
            text.push_str(&format!(" · {note}"));
        }
        text
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
    type Output = Waited;

    async fn call(cx: &Cx, args: Args) -> Result<Waited, ToolError> {
        let patience = cx.max_wait("timeout", args.timeout.unwrap_or(30.0))?;
        let channel = args.channel.check()?;
        let begun = Instant::now();
        let mut waiting = cx.tmux().wait_for_channel(&channel).await?;
        let message = || format!("waiting for {}", inline(&channel));
        let signal = cx.wait(patience.max(SHORTEST), waiting.signal(), message).await;
        let elapsed = (begun.elapsed().as_secs_f64() * 1e4).round() / 1e4;
        let (event, left_over, note) = match signal {
            Some(Ok(Signal { left_over })) => (Event::Signal, left_over, None),
            Some(Err(error)) if error.is_no_server() => {
                let what = format!("the tmux server has ended before `{channel}` was signalled");
                return Err(ToolError::new(Code::Lost, what)
                    .hint("list_sessions shows whether there is another; nobody will signal now"));
            }
            Some(Err(error)) => return Err(error.into()),
            None => match waiting.give_up().await {
                Left::Heard(Signal { left_over }) => (Event::Signal, left_over, None),
                Left::Nothing => (Event::Timeout, false, None),
                Left::Place => (Event::Timeout, false, Some(OTHERS)),
            },
        };
        Ok(Waited { channel, event, left_over, elapsed, note })
    }
}

/// tmux keeps the place of a wait that was given up.
const OTHERS: &str = "others may be waiting too; if they stop, tmux loses the next signal";
