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

/// Its arguments: the process that is about to end, then the tmux program and the socket of each server.
const PID: &str = "PID";
const SERVERS: &str = "TMUX SOCKET";

/// How long that process may take to end after its files were closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The subcommand. Hidden: the next start does the same.
pub(super) fn command() -> Command {
    let argument = |name: &'static str| Arg::new(name).value_parser(value_parser!(OsString));
    Command::new(NAME)
        .about("Remove what dead servers left in tmux")
        .hide(true)
        .arg(argument(PID).required(true))
        .arg(argument(SERVERS).num_args(0..))
}

/// Removes what dead servers left. Reads no settings, which may be invalid without the flags of the
/// server.
pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let pid = matches.get_one::<OsString>(PID).and_then(|pid| pid.to_str()?.parse().ok());
    let words: Vec<&OsString> = matches.get_many(SERVERS).into_iter().flatten().collect();
    runtime()?.block_on(async {
        if let Some(pid) = pid {
            let _ = timeout(EXIT_TIMEOUT, process::exited(pid)).await;
        }
        let servers = words.chunks_exact(2).map(|pair| async {
            let [tmux, socket] = pair else { return };
            let socket = Some(Socket::Path((*socket).into()));
            let tmux = (*tmux).clone();
            App::new(Settings { tmux, socket, ..Settings::default() }).reap().await;
        });
        futures::future::join_all(servers).await;
    });
    Ok(())
}

/// Starts the process that cleans up after this one, on the servers of this system. `None` if that is not possible;
/// the next start then does it.
pub(super) fn after_this_process(settings: &Settings) -> Option<Successor> {
    let pid = std::process::id().to_string();
    let servers = settings.reachable_servers().into_iter().filter(|it| it.route.is_none());
    let servers = servers.map(|server| settings.program_of(&server));
    let servers = servers.flat_map(|it| [it.path.clone(), it.socket.path().into_os_string()]);
    let args: Vec<OsString> = [NAME.into(), pid.into()].into_iter().chain(servers).collect();
    let started =
        std::env::current_exe().and_then(|program| Successor::start(program.as_os_str(), args));
    started.inspect_err(|error| tracing::warn!("no clean-up after a kill: {error}")).ok()
}
