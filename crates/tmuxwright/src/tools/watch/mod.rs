//! Tools that wait until a condition holds in a pane.

mod start_and_watch;
mod wait_for;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] =
    &[ToolEntry::of::<wait_for::WaitFor>(), ToolEntry::of::<start_and_watch::StartAndWatch>()];
