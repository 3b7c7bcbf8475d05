//! Tools that list and return prompts, for MCP clients without support for prompts.

mod get_prompt;
mod list_prompts;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] =
    &[ToolEntry::of::<list_prompts::ListPrompts>(), ToolEntry::of::<get_prompt::GetPrompt>()];
