//! Options, environment, hooks and formats.

mod eval_format;
mod set_environment;
mod set_option;
mod show_environment;
mod show_hooks;
mod show_option;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<show_option::ShowOption>(),
    ToolEntry::of::<set_option::SetOption>(),
    ToolEntry::of::<show_environment::ShowEnvironment>(),
    ToolEntry::of::<set_environment::SetEnvironment>(),
    ToolEntry::of::<show_hooks::ShowHooks>(),
    ToolEntry::of::<eval_format::EvalFormat>(),
];
