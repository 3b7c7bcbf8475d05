//! Running commands, and talking to the programs they start.

mod command_result;
mod interrupt;
mod run_command;
mod run_in_repl;
mod send_signal;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<run_command::RunCommand>(),
    ToolEntry::of::<command_result::GetResult>(),
    ToolEntry::of::<interrupt::Interrupt>(),
    ToolEntry::of::<run_in_repl::RunInRepl>(),
    ToolEntry::of::<send_signal::SendSignal>(),
];
