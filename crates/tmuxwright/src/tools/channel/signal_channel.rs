//! `signal_channel`: wakes all waiters of a channel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Tool};
use crate::contract::{ChannelName, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::results::words::field;

pub(super) struct SignalChannel;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Channel name.
    channel: ChannelName,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SignalledChannel {
    /// Channel name.
    channel: String,
}

impl Output for SignalledChannel {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        format!("signalled {}", field(&self.channel))
    }
}

impl Tool for SignalChannel {
    const META: Meta = Meta {
        name: "signal_channel",
        title: "Signal channel",
        description: "Wake all waiters on a channel (tmux wait-for -S). Without a waiter, the next wait returns at once.",
        group: Group::Channel,
        tier: Tier::Mutate,
        sets: &[],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = SignalledChannel;

    async fn call(cx: &Cx, args: Args) -> Result<SignalledChannel, ToolError> {
        let channel = args.channel.check()?;
        cx.tmux().signal_channel(&channel).await?;
        Ok(SignalledChannel { channel })
    }
}
