//! Several calls at once.

mod batch;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[ToolEntry::of::<batch::Batch>()];
