//! Panes.

mod create_pane;
mod list_panes;
mod pane_state;
mod resize_pane;
mod select_pane;
mod split_pane;

use crate::tool::Entry;

pub(super) const TOOLS: &[Entry] = &[
    Entry::of::<list_panes::ListPanes>(),
    Entry::of::<pane_state::GetPaneState>(),
    Entry::of::<create_pane::CreatePane>(),
    Entry::of::<split_pane::SplitPane>(),
    Entry::of::<select_pane::SelectPane>(),
    Entry::of::<resize_pane::ResizePane>(),
];
