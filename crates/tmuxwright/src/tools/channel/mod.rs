//! Tools on tmux channels (`tmux wait-for`), with which programs signal each other.

mod signal_channel;
mod wait_for_channel;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] = &[
    Entry::of::<wait_for_channel::WaitForChannel>(),
    Entry::of::<signal_channel::SignalChannel>(),
];
