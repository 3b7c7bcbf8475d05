//! `tmuxwright clean-up`: removes what a dead server left in tmux. Each server has a process that waits
//! for its end and runs this unless the server could clean up itself.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use process::Successor;
use tokio::time::timeout;

use crate::app::App;
use crate::config::Settings;

/// Name of the subcommand.
pub(super) const NAME: &str = "clean-up";

/// The argument with the process that is about to end.
const AFTER: &str = "after";

/// How long that process may take to end after its files were closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The subcommand. Hidden: the next start does the same.
pub(super) fn command() -> Command {
    Command::new(NAME).about("Remove what dead servers left in tmux").hide(true).arg(
        Arg::new(AFTER)
            .long(AFTER)
            .value_name("PID")
            .value_parser(value_parser!(u32))
            .help("Wait for the end of this process first"),
    )
}

/// Removes what dead servers left.
pub(super) async fn run(settings: Settings, matches: &ArgMatches) {
    if let Some(pid) = matches.get_one::<u32>(AFTER) {
        let _ = timeout(EXIT_TIMEOUT, process::exited(*pid)).await;
    }
    App::new(settings).reap().await;
}

/// Starts the process that cleans up after this one. `None` if that is not possible; the next start
/// then does it.
pub(super) fn after_this_process(settings: &Settings) -> Option<Successor> {
    let socket = settings.program().socket.path().into_os_string();
    let pid = std::process::id().to_string();
    let started = std::env::current_exe().and_then(|program| {
        let mut args: Vec<OsString> = [NAME, "--after", &pid, "--tmux"].map(Into::into).into();
        args.extend([settings.tmux.clone(), "--socket".into(), socket]);
        Successor::start(program.as_os_str(), args)
    });
    started.inspect_err(|error| tracing::warn!("no clean-up after a kill: {error}")).ok()
}
