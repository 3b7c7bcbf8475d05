//! `signal_channel`: wakes whoever waits on a channel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Tool};
use crate::contract::{ChannelName, Form, Group, Load, Meta, Output, Tier, ToolError};
use terminal::text::inline;

pub(super) struct SignalChannel;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Channel name.
    channel: ChannelName,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Signalled {
    /// The channel.
    channel: String,
}

impl Output for Signalled {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        format!("signalled {}", inline(&self.channel))
    }
}

impl Tool for SignalChannel {
    const META: Meta = Meta {
        name: "signal_channel",
        title: "Signal channel",
        description: "Wake everybody who waits on a channel (tmux wait-for -S). If nobody does, the next who waits is woken at once.",
        group: Group::Channel,
        tier: Tier::Mutate,
        sets: &[],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Signalled;

    async fn call(cx: &Cx, args: Args) -> Result<Signalled, ToolError> {
        let channel = args.channel.check()?;
        cx.tmux().signal_channel(&channel).await?;
        Ok(Signalled { channel })
    }
}
