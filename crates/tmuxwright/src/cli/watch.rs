//! `watch`: a line on stdout for everything that happens in panes, for scripts and monitors.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Failure, USAGE_ERROR};
use crate::app::App;
use crate::app::McpClient;
use crate::config::Settings;
use crate::context::{Cx, Progress};
use crate::contract::{Target, ToolError, Toolset};
use crate::mcp::pipeline;
use crate::watch::{Event, KINDS, Kind, Lost, Watch};
use terminal::text::inline;

/// The tool that does the same for agents; what it may look at, this may.
const TOOL: &str = "wait_for";

/// The command's own arguments.
pub(super) fn command() -> Command {
    let conditions: Vec<String> = KINDS.iter().map(Kind::form).collect();
    Command::new("watch")
        .about("Print a line for everything that happens in panes: pane, condition and text, with tabs between")
        .arg(
            Arg::new("target")
                .value_name("TARGET")
                .num_args(1..)
                .required(true)
                .help("Panes, as tools name them: %3, dev, dev:logs, dev:2.0"),
        )
        .arg(
            Arg::new("until")
                .long("until")
                .value_name("CONDITION")
                .action(ArgAction::Append)
                .required(true)
                .help(format!("What to look for, any number of times: {}", conditions.join(", "))),
        )
        .arg(
            Arg::new("once")
                .long("once")
                .action(ArgAction::SetTrue)
                .help("End after the first line"),
        )
        .arg(
            Arg::new("timeout")
                .long("timeout")
                .value_name("SECONDS")
                .value_parser(value_parser!(f64))
                .help("End after so long; exit code 1 if nothing happened"),
        )
}

/// Prints events until no pane is left, or as it was told.
pub(super) async fn run(mut settings: Settings, matches: &ArgMatches) -> Result<(), Failure> {
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
    let mut happened = false;
    loop {
        let next = async {
            match end {
                None => Ok(watch.next().await),
                Some(end) => tokio::time::timeout_at(end, watch.next()).await,
            }
        };
        let Ok(next) = next.await else { break };
        let (pane, is_last, mut line) = match next {
            Ok(Event { pane, words, says, is_last }) => {
                (pane, is_last, format!("{pane}\t{}\t{}", inline(&words), inline(&says)))
            }
            Err(lost @ (Lost::PaneGone(pane) | Lost::Respawned(pane))) => {
                (pane, true, format!("{pane}\tgone\t{lost}"))
            }
            Err(lost @ Lost::ServerGone) => {
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
        happened = true;
        if once || (is_last && !watch.leave(pane)) {
            return Ok(());
        }
    }
    if happened {
        return Ok(());
    }
    Err(Failure { message: "nothing happened".to_owned(), code: 1 })
}

async fn begin(
    client: &Arc<McpClient>,
    targets: &[Target],
    until: &[String],
) -> Result<Watch, Failure> {
    let meta = client.app.registry.find(TOOL)?.entry.meta;
    let guard = Arc::clone(&client.app.policy);
    let request = pipeline::request(client, CancellationToken::new(), Progress::default());
    let cx = Cx::new(&client.engines, meta, guard, request);
    let until = cx.watches.until(until).map_err(ToolError::from)?;
    let mut panes = Vec::new();
    for target in targets {
        panes.push(cx.pane(target).await?);
    }
    Ok(cx.watches.begin(panes, &until).await.map_err(ToolError::from)?)
}

fn duration(seconds: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(seconds).map_err(|_| Failure {
        message: format!("--timeout: {seconds} is no number of seconds"),
        code: USAGE_ERROR,
    })
}

/// Prints a line at once. False if nobody reads any more.
fn print(line: &str) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        other => other.map(|()| true),
    }
}
