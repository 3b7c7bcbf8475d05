//! Tools of the group `object`: they take a session, a window or a pane.

mod get_info;
mod kill;
mod rename;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<get_info::GetInfo>(),
    ToolEntry::of::<rename::Rename>(),
    ToolEntry::of::<kill::Kill>(),
];
