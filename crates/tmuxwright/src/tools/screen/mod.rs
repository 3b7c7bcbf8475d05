//! Tools that read a pane's screen and history.

mod capture_pane;
mod capture_since;
#[cfg(feature = "picture")]
mod screenshot_pane;
mod search_panes;
mod snapshot_pane;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<capture_pane::CapturePane>(),
    ToolEntry::of::<capture_since::CaptureSince>(),
    #[cfg(feature = "picture")]
    ToolEntry::of::<screenshot_pane::ScreenshotPane>(),
    ToolEntry::of::<search_panes::SearchPanes>(),
    ToolEntry::of::<snapshot_pane::SnapshotPane>(),
];
