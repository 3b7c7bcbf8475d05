//! Tools that wait until a condition holds in a pane.

mod start_and_watch;
mod wait_for;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] =
    &[Entry::of::<wait_for::WaitFor>(), Entry::of::<start_and_watch::StartAndWatch>()];
