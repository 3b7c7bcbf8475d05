//! What can be done to a session, a window and a pane alike.

mod get_info;
mod kill;
mod rename;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<get_info::GetInfo>(),
    ToolEntry::of::<rename::Rename>(),
    ToolEntry::of::<kill::Kill>(),
];
