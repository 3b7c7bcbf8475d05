//! Tools on tmux channels (`tmux wait-for`), with which programs signal each other.

mod signal_channel;
mod wait_for_channel;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<wait_for_channel::WaitForChannel>(),
    ToolEntry::of::<signal_channel::SignalChannel>(),
];
