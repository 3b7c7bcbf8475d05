//! Tools that read a pane's screen and history.

mod capture_pane;
mod capture_since;
#[cfg(feature = "picture")]
mod screenshot_pane;
mod search_panes;
mod snapshot_pane;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] = &[
    Entry::of::<capture_pane::CapturePane>(),
    Entry::of::<capture_since::CaptureSince>(),
    #[cfg(feature = "picture")]
    Entry::of::<screenshot_pane::ScreenshotPane>(),
    Entry::of::<search_panes::SearchPanes>(),
    Entry::of::<snapshot_pane::SnapshotPane>(),
];
