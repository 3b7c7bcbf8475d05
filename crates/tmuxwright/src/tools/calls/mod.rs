//! Several calls at once.

mod batch;

use crate::tool::Entry;

pub(super) const TOOLS: &[Entry] = &[Entry::of::<batch::Batch>()];
