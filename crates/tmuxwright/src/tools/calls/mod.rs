//! The tool that makes several tool calls in one.

mod batch;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] = &[Entry::of::<batch::Batch>()];
