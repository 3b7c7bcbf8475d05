//! `tmuxwright keep`: runs the program of an own pane, and exits after it as soon as the server has read
//! all that the program printed. `host::keepers` says why.

use std::env;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};

use super::runtime;
use crate::host::{COMMAND, KEEP};

/// Exit code of shells for a program that cannot be run.
const CANNOT_RUN: i32 = 127;

/// Limit for the server's answer: it may be stopped.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The subcommand. Hidden: nobody types it.
pub(super) fn command() -> Command {
    let words = |name| Arg::new(name).value_parser(value_parser!(OsString));
    Command::new(KEEP)
        .about("Run the program of a pane until all its output was read")
        .hide(true)
        .arg(words("SOCKET").required(true))
        .arg(words(COMMAND).long(COMMAND).num_args(1).allow_hyphen_values(true))
        .arg(words("PROGRAM").num_args(0..).last(true))
}

/// Runs the program; returns its exit code.
pub(super) fn run(matches: &ArgMatches) -> ExitCode {
    let ended = runtime().and_then(|runtime| runtime.block_on(process::keep(program(matches))));
    let code = ended.unwrap_or_else(|error| {
        let _ = writeln!(io::stderr(), "tmuxwright: the program cannot be run: {error}");
        CANNOT_RUN
    });
    // Without a server nobody reads the output.
    let _ = await_reader(matches);
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// The program of the arguments, or the user's shell with the command line, as tmux would run it.
fn program(matches: &ArgMatches) -> Vec<OsString> {
    match matches.get_one::<OsString>(COMMAND) {
        Some(line) => {
            let shell = env::var_os("SHELL").unwrap_or("/bin/sh".into());
            vec![shell, "-c".into(), line.clone()]
        }
        None => matches.get_many("PROGRAM").unwrap_or_default().cloned().collect(),
    }
}

/// Waits until the server has read all output of this pane.
fn await_reader(matches: &ArgMatches) -> io::Result<()> {
    let socket = matches.get_one::<OsString>("SOCKET").ok_or(io::ErrorKind::InvalidInput)?;
    let pane = env::var("TMUX_PANE").unwrap_or_default();
    let mut server = UnixStream::connect(socket)?;
    server.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    writeln!(server, "{pane}")?;
    server.read(&mut [0]).map(drop)
}
