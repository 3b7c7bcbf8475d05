//! `tmuxwright relay`: connects control clients with a tmux server older than 3.7, which they could crash.
//! The server starts it; `tmux_control::relay_clients` says how they are connected.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};

use super::runtime;
use crate::host::RELAY;

const SOCKET: &str = "SOCKET";

/// The subcommand. Hidden: nobody types it.
pub(super) fn command() -> Command {
    Command::new(RELAY)
        .about("Relay control clients to an old tmux server")
        .hide(true)
        .arg(Arg::new(SOCKET).value_parser(value_parser!(PathBuf)).required(true))
}

/// Relays until the server that started this process ends.
pub(super) fn run(matches: &ArgMatches) -> ExitCode {
    let socket = matches.get_one(SOCKET).cloned().unwrap_or_default();
    let relayed =
        runtime().and_then(|runtime| runtime.block_on(tmux_control::relay_clients(socket)));
    ExitCode::from(u8::from(relayed.is_err()))
}
