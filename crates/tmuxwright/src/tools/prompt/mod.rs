//! Tools that list and return prompts, for MCP clients without support for prompts.

mod get_prompt;
mod list_prompts;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] =
    &[Entry::of::<list_prompts::ListPrompts>(), Entry::of::<get_prompt::GetPrompt>()];
