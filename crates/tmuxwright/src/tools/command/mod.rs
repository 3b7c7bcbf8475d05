//! Tools that run shell commands, read their results, and control the program in a pane.

mod command_result;
mod interrupt;
mod run_command;
mod run_in_repl;
mod send_signal;

use crate::context::ToolEntry;

/// Output lines shown by default.
const DEFAULT_OUTPUT_LINES: u64 = 200;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<run_command::RunCommand>(),
    ToolEntry::of::<command_result::GetCommandResult>(),
    ToolEntry::of::<interrupt::Interrupt>(),
    ToolEntry::of::<run_in_repl::RunInRepl>(),
    ToolEntry::of::<send_signal::SendSignal>(),
];
