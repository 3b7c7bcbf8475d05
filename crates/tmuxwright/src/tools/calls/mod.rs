//! The tool that makes several tool calls in one.

mod batch;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[ToolEntry::of::<batch::Batch>()];
