//! Tools that run shell commands, read their results, and control the program in a pane.

mod command_result;
mod interrupt;
mod run_command;
mod run_in_repl;
mod send_signal;

use crate::context::Entry;

/// Output lines shown by default.
const DEFAULT_OUTPUT_LINES: u64 = 200;

pub(super) const TOOLS: &[Entry] = &[
    Entry::of::<run_command::RunCommand>(),
    Entry::of::<command_result::GetCommandResult>(),
    Entry::of::<interrupt::Interrupt>(),
    Entry::of::<run_in_repl::RunInRepl>(),
    Entry::of::<send_signal::SendSignal>(),
];
