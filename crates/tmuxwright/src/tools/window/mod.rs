//! Tools of the group `window`.

mod create_window;
mod list_windows;
mod move_window;
mod resize_window;
mod select_layout;
mod select_window;
mod synchronize_panes;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] = &[
    Entry::of::<list_windows::ListWindows>(),
    Entry::of::<create_window::CreateWindow>(),
    Entry::of::<select_window::SelectWindow>(),
    Entry::of::<move_window::MoveWindow>(),
    Entry::of::<resize_window::ResizeWindow>(),
    Entry::of::<select_layout::SelectLayout>(),
    Entry::of::<synchronize_panes::SynchronizePanes>(),
];
