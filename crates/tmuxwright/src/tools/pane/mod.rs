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

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<list_panes::ListPanes>(),
    ToolEntry::of::<find_pane::FindPane>(),
    ToolEntry::of::<pane_state::GetPaneState>(),
    ToolEntry::of::<create_pane::CreatePane>(),
    ToolEntry::of::<split_pane::SplitPane>(),
    ToolEntry::of::<select_pane::SelectPane>(),
    ToolEntry::of::<resize_pane::ResizePane>(),
    ToolEntry::of::<swap_pane::SwapPane>(),
    ToolEntry::of::<join_pane::JoinPane>(),
    ToolEntry::of::<break_pane::BreakPane>(),
    ToolEntry::of::<clear_pane::ClearPane>(),
    ToolEntry::of::<respawn_pane::RespawnPane>(),
    #[cfg(feature = "files")]
    ToolEntry::of::<pipe_pane::PipePane>(),
    ToolEntry::of::<copy_mode::CopyMode>(),
];
