//! Reading what is on the screen.

mod capture_pane;
mod capture_since;

use crate::tool::Entry;

pub(super) const TOOLS: &[Entry] =
    &[Entry::of::<capture_pane::CapturePane>(), Entry::of::<capture_since::CaptureSince>()];
