//! Prompts, for clients that know none.

mod get_prompt;
mod list_prompts;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] =
    &[Entry::of::<list_prompts::ListPrompts>(), Entry::of::<get_prompt::GetPrompt>()];
