//! Running commands, and talking to the programs they start.

mod command_result;
mod interrupt;
mod run_command;
mod run_in_repl;
mod send_signal;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] = &[
    Entry::of::<run_command::RunCommand>(),
    Entry::of::<command_result::GetResult>(),
    Entry::of::<interrupt::Interrupt>(),
    Entry::of::<run_in_repl::RunInRepl>(),
    Entry::of::<send_signal::SendSignal>(),
];
