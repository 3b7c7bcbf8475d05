//! What can be done to a session, a window and a pane alike.

mod get_info;
mod kill;
mod rename;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] =
    &[Entry::of::<get_info::GetInfo>(), Entry::of::<rename::Rename>(), Entry::of::<kill::Kill>()];
