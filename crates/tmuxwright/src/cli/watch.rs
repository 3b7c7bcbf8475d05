//! `tmuxwright watch`: prints a line for each event in panes, for scripts and monitors.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::signals::Signals;
use super::{Failure, USAGE_ERROR};
use crate::app::App;
use crate::app::McpClient;
use crate::config::Settings;
use crate::context::{Cx, Progress};
use crate::contract::{Target, ToolError, Toolset};
use crate::mcp::pipeline;
use crate::watch::{CONDITION_KINDS, ConditionKind, Watch, WatchEvent, WatchLost};
use terminal::text::inline;

/// The tool that does the same for agents; its permissions apply.
const EQUIVALENT_TOOL: &str = "wait_for";

/// The subcommand with its arguments.
pub(super) fn command() -> Command {
    let conditions: Vec<String> = CONDITION_KINDS.iter().map(ConditionKind::form).collect();
    Command::new("watch")
        .about("Print a line whenever a condition holds in a pane: pane, condition and text, separated by tabs")
        .arg(
            Arg::new("target")
                .value_name("TARGET")
                .num_args(1..)
                .required(true)
                .help("Panes to watch: %3, dev, dev:logs, dev:2.0"),
        )
        .arg(
            Arg::new("until")
                .long("until")
                .value_name("CONDITION")
                .action(ArgAction::Append)
                .required(true)
                .help(format!(
                    "Condition to wait for, can be repeated: {}",
                    conditions.join(", ")
                )),
        )
        .arg(
            Arg::new("once")
                .long("once")
                .action(ArgAction::SetTrue)
                .help("Exit after the first line"),
        )
        .arg(
            Arg::new("timeout")
                .long("timeout")
                .value_name("SECONDS")
                .value_parser(value_parser!(f64))
                .help("Exit after this time; exit code 1 if no condition was met"),
        )
}

/// Prints events until no pane is left, or `--once`, `--timeout` or a signal ends it. A signal must not end
/// the process by itself: its private files would stay.
pub(super) async fn run(settings: Settings, matches: &ArgMatches) -> Result<(), Failure> {
    let handled = Signals::new();
    let mut signals = handled.map_err(|error| Failure { message: error.to_string(), code: 1 })?;
    tokio::select! {
        printed = print_events(settings, matches) => printed,
        number = signals.next() => {
            let code = u8::try_from(128 + number).unwrap_or(u8::MAX);
            Err(Failure { message: "interrupted".to_owned(), code })
        }
    }
}

async fn print_events(mut settings: Settings, matches: &ArgMatches) -> Result<(), Failure> {
    settings.policy.toolset = Toolset::All;
    let texts = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned();
    let app = Arc::new(App::new(settings));
    let targets: Vec<Target> = texts("target").map(Target).collect();
    let until: Vec<String> = texts("until").collect();
    let mut watch = begin(&app.client(), &targets, &until).await?;
    let end = match matches.get_one::<f64>("timeout") {
        None => None,
        Some(&seconds) => Some(Instant::now() + duration(seconds)?),
    };
    let once = matches.get_flag("once");
    let mut any_event = false;
    loop {
        let next = async {
            match end {
                None => Ok(watch.next().await),
                Some(end) => tokio::time::timeout_at(end, watch.next()).await,
            }
        };
        let Ok(next) = next.await else { break };
        let (pane, is_last, mut line) = match next {
            Ok(WatchEvent { pane, condition, detail, is_last, .. }) => {
                (pane, is_last, format!("{pane}\t{}\t{}", inline(&condition), inline(&detail)))
            }
            Err(lost @ (WatchLost::PaneGone(pane) | WatchLost::Respawned(pane))) => {
                (pane, true, format!("{pane}\tgone\t{lost}"))
            }
            Err(lost @ WatchLost::ServerGone) => {
                for pane in watch.panes() {
                    print(&format!("{pane}\tgone\t{lost}"))?;
                }
                return Err(Failure { message: lost.to_string(), code: 1 });
            }
        };
        app.settings.redact.text(&mut line);
        if !print(line.trim_end())? {
            return Ok(());
        }
        any_event = true;
        if once || (is_last && !watch.unwatch(pane)) {
            return Ok(());
        }
    }
    if any_event {
        return Ok(());
    }
    Err(Failure { message: "timed out: no condition was met".to_owned(), code: 1 })
}

async fn begin(
    client: &Arc<McpClient>,
    targets: &[Target],
    until: &[String],
) -> Result<Watch, Failure> {
    let meta = client.app.registry.find(EQUIVALENT_TOOL)?.entry.meta;
    let server = client.app.servers.find(None)?;
    let request = pipeline::request(client, CancellationToken::new(), Progress::default());
    let cx = Cx::new(client.engines(server), meta, Arc::clone(&server.policy) as _, request);
    let until = cx.watches.until(until).map_err(ToolError::from)?;
    let reservation = cx.watches.reserve(targets.len()).map_err(ToolError::from)?;
    let mut panes = Vec::new();
    for target in targets {
        panes.push(cx.pane(target).await?);
    }
    Ok(cx.watches.begin(reservation, panes, &until).await.map_err(ToolError::from)?)
}

fn duration(seconds: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(seconds).map_err(|_| Failure {
        message: format!("--timeout: {seconds} is not a number of seconds"),
        code: USAGE_ERROR,
    })
}

/// Prints a line and flushes it. False if the reader has closed the pipe.
fn print(line: &str) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        other => other.map(|()| true),
    }
}
