//! Tools of the group `pane`.

mod break_pane;
mod clear_pane;
mod copy_mode;
mod create_pane;
mod find_pane;
mod join_pane;
mod list_panes;
mod pane_state;
#[cfg(feature = "files")]
mod pipe_pane;
mod resize_pane;
mod respawn_pane;
mod select_pane;
mod split_pane;
mod swap_pane;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] = &[
    Entry::of::<list_panes::ListPanes>(),
    Entry::of::<find_pane::FindPane>(),
    Entry::of::<pane_state::GetPaneState>(),
    Entry::of::<create_pane::CreatePane>(),
    Entry::of::<split_pane::SplitPane>(),
    Entry::of::<select_pane::SelectPane>(),
    Entry::of::<resize_pane::ResizePane>(),
    Entry::of::<swap_pane::SwapPane>(),
    Entry::of::<join_pane::JoinPane>(),
    Entry::of::<break_pane::BreakPane>(),
    Entry::of::<clear_pane::ClearPane>(),
    Entry::of::<respawn_pane::RespawnPane>(),
    #[cfg(feature = "files")]
    Entry::of::<pipe_pane::PipePane>(),
    Entry::of::<copy_mode::CopyMode>(),
];
