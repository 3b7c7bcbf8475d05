//! Options, environment, hooks and formats.

mod eval_format;
mod set_environment;
mod set_option;
mod show_environment;
mod show_hooks;
mod show_option;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] = &[
    Entry::of::<show_option::ShowOption>(),
    Entry::of::<set_option::SetOption>(),
    Entry::of::<show_environment::ShowEnvironment>(),
    Entry::of::<set_environment::SetEnvironment>(),
    Entry::of::<show_hooks::ShowHooks>(),
    Entry::of::<eval_format::EvalFormat>(),
];
