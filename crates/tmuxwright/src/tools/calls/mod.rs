//! Several calls at once.

mod batch;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] = &[Entry::of::<batch::Batch>()];
