//! Tools of the group `window`.

mod create_window;
mod list_windows;
mod move_window;
mod resize_window;
mod select_layout;
mod select_window;
mod synchronize_panes;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<list_windows::ListWindows>(),
    ToolEntry::of::<create_window::CreateWindow>(),
    ToolEntry::of::<select_window::SelectWindow>(),
    ToolEntry::of::<move_window::MoveWindow>(),
    ToolEntry::of::<resize_window::ResizeWindow>(),
    ToolEntry::of::<select_layout::SelectLayout>(),
    ToolEntry::of::<synchronize_panes::SynchronizePanes>(),
];
