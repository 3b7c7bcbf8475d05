//! Tools of the group `object`: they take a session, a window or a pane.

mod get_info;
mod kill;
mod rename;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] =
    &[Entry::of::<get_info::GetInfo>(), Entry::of::<rename::Rename>(), Entry::of::<kill::Kill>()];
