//! The tmux server itself.

mod server_info;

use crate::tool::Entry;

pub(super) const TOOLS: &[Entry] = &[Entry::of::<server_info::ServerInfo>()];
