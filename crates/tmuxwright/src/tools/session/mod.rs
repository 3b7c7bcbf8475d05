//! Tools of the group `session`.

mod create_session;
mod list_sessions;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<list_sessions::ListSessions>(),
    ToolEntry::of::<create_session::CreateSession>(),
];
