//! Windows.

mod create_window;
mod list_windows;
mod select_window;

use crate::tool::Entry;

pub(super) const TOOLS: &[Entry] = &[
    Entry::of::<list_windows::ListWindows>(),
    Entry::of::<create_window::CreateWindow>(),
    Entry::of::<select_window::SelectWindow>(),
];
