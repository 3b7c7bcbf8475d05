//! The command line: subcommands, exit codes, log output. stdout carries only the protocol or a
//! command's output; errors go to stderr, with a hint.

mod audit;
mod clean_up;
mod demo;
mod exit_deadline;
mod keep;
mod relay;
mod serve;
mod signals;
mod tools;
mod watch;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{ArgMatches, Command};
use tokio::runtime::{Builder, Runtime};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

use crate::config::{self, Settings};
use crate::contract::{Code, ToolError};
use crate::host::{KEEP, RELAY};
use crate::log::{self, Logs};

/// Exit code for wrong arguments or settings, as usual for Unix programs.
const USAGE_ERROR: u8 = 2;

/// Parses the arguments and runs the subcommand.
pub fn main() -> ExitCode {
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            // clap also returns `--help` and `--version` as errors, and picks stdout or stderr.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE_ERROR));
        }
    };
    match matches.subcommand() {
        Some((KEEP, matches)) => return keep::run(matches),
        Some((RELAY, matches)) => return relay::run(matches),
        _ => {}
    }
    match run(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { message, code }) => {
            let _ = writeln!(io::stderr(), "tmuxwright: {message}");
            ExitCode::from(code)
        }
    }
}

/// The definition of the command line.
pub fn command() -> Command {
    Command::new("tmuxwright")
        .version(env!("CARGO_PKG_VERSION"))
        .about("An MCP server that gives coding agents a real terminal through tmux")
        .long_about(
            "An MCP server that gives coding agents a real terminal through tmux.\n\n\
             Without a subcommand it serves MCP over stdin and stdout.",
        )
        .args(config::flags())
        .subcommand(
            Command::new("serve")
                .about("Serve MCP over stdin and stdout (the default), or over HTTP with --http"),
        )
        .subcommand(Command::new("demo").about("Play an agent's calls on a private tmux server"))
        .subcommand(
            Command::new("tools").about("Print the tools as a model sees them, with their size"),
        )
        .subcommand(watch::command())
        .subcommand(audit::command())
        .subcommand(clean_up::command())
        .subcommand(keep::command())
        .subcommand(relay::command())
}

struct Failure {
    message: String,
    code: u8,
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        let hint = error.hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        let code = if error.code == Code::InvalidArgument { USAGE_ERROR } else { 1 };
        Self { message: format!("{}{hint}", error.message), code }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self { message: error.to_string(), code: 1 }
    }
}

fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let (name, matches) = matches.subcommand().unwrap_or(("serve", matches));
    if name == clean_up::NAME {
        return clean_up::run(matches);
    }
    let mut settings = Settings::resolve(matches).map_err(|message| Failure {
        message: format!("{message}\nhint: `tmuxwright --help` lists the settings"),
        code: USAGE_ERROR,
    })?;
    settings.keeper = std::env::current_exe().ok();
    check_tools(&settings)?;
    let logs = init_log(&settings);
    let runtime = runtime()?;
    match name {
        "demo" => runtime.block_on(demo::run(settings))?,
        "watch" => runtime.block_on(watch::run(settings, matches))?,
        "audit" => audit::run(&settings, matches)?,
        "tools" => runtime.block_on(async { tools::run(settings) })?,
        _ => serve::run(runtime, settings, logs)?,
    }
    Ok(())
}

/// One thread is enough: all work waits for tmux, and a call needs no switch between threads.
fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Refuses a `--tools` expression that names unknown tools.
fn check_tools(settings: &Settings) -> Result<(), Failure> {
    let Some(choice) = &settings.policy.tool_filter else { return Ok(()) };
    let all = crate::tools::all();
    let names = all.iter().map(|entry| entry.meta.name);
    let known: Vec<&str> = names.chain(crate::tools::left_out()).collect();
    choice
        .check(&known)
        .map_err(|why| Failure { message: format!("tools: {why}"), code: USAGE_ERROR })
}

/// Starts logging: events of our own crates at the chosen level, of others only warnings, because rmcp
/// logs whole messages, typed text included. MCP clients can subscribe to the same events.
fn init_log(settings: &Settings) -> Logs {
    // rmcp warns of errors that the client is sent anyway; over HTTP it also reports a client that
    // disconnects as an error.
    let service = match settings.http.listen {
        Some(_) => LevelFilter::OFF,
        None => settings.log.min(LevelFilter::ERROR),
    };
    let targets = Targets::new()
        .with_default(settings.log.min(LevelFilter::WARN))
        .with_targets(log::OWN_CRATES.map(|name| (name, settings.log)))
        .with_target("rmcp::service", service)
        .with_target(log::SPAN_TARGET, LevelFilter::OFF);
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(false).with_filter(targets);
    let logs = Logs::default();
    let to_clients = logs.clone().with_filter(logs.clone());
    let _ = registry().with(lines).with(to_clients).try_init();
    logs
}
