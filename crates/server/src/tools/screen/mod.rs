//! Reading what is on the screen.

mod capture_pane;

use crate::tool::Entry;

pub(super) const TOOLS: &[Entry] = &[Entry::of::<capture_pane::CapturePane>()];
