//! `tmuxwright clean-up`: removes what a dead server left in tmux. Each server has a process that waits
//! for its end and runs this unless the server could clean up itself.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use process::Successor;
use tmux_control::Socket;
use tokio::time::timeout;

use super::{Failure, runtime};
use crate::app::App;
use crate::config::Settings;

/// Name of the subcommand.
pub(super) const NAME: &str = "clean-up";

/// Its arguments: the process that is about to end, the tmux program, the socket.
const ARGUMENTS: [&str; 3] = ["PID", "TMUX", "SOCKET"];

/// How long that process may take to end after its files were closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The subcommand. Hidden: the next start does the same.
pub(super) fn command() -> Command {
    Command::new(NAME).about("Remove what dead servers left in tmux").hide(true).args(
        ARGUMENTS.map(|name| Arg::new(name).required(true).value_parser(value_parser!(OsString))),
    )
}

/// Removes what dead servers left. Reads no settings, which may be invalid without the flags of the
/// server.
pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let [pid, tmux, socket] =
        ARGUMENTS.map(|name| matches.get_one::<OsString>(name).cloned().unwrap_or_default());
    let settings =
        Settings { tmux, socket: Some(Socket::Path(socket.into())), ..Settings::default() };
    runtime()?.block_on(async {
        if let Some(pid) = pid.to_str().and_then(|pid| pid.parse().ok()) {
            let _ = timeout(EXIT_TIMEOUT, process::exited(pid)).await;
        }
        App::new(settings).reap().await;
    });
    Ok(())
}

/// Starts the process that cleans up after this one. `None` if that is not possible; the next start
/// then does it.
pub(super) fn after_this_process(settings: &Settings) -> Option<Successor> {
    let pid = std::process::id().to_string();
    let socket = settings.program().socket.path();
    let started = std::env::current_exe().and_then(|program| {
        let args = [NAME.into(), pid.into(), settings.tmux.clone(), socket.into_os_string()];
        Successor::start(program.as_os_str(), args)
    });
    started.inspect_err(|error| tracing::warn!("no clean-up after a kill: {error}")).ok()
}
