//! Tools of the group `session`.

mod create_session;
mod list_sessions;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] =
    &[Entry::of::<list_sessions::ListSessions>(), Entry::of::<create_session::CreateSession>()];
