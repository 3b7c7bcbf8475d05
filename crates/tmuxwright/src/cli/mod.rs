//! The command line. stdout carries the protocol or the answer, nothing else; errors go to stderr
//! with a hint and an exit code.

mod audit;
mod demo;
mod serve;
mod tools;
mod watch;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{ArgMatches, Command};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

use crate::config::{self, Settings};
use crate::contract::{Code, ToolError};
use crate::log::{self, Logs};

/// Wrong arguments or settings, as is usual.
const USAGE_ERROR: u8 = 2;

/// Parses the arguments and does what they say.
pub fn main() -> ExitCode {
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            // `--help` and `--version` come this way too; clap knows which stream is right.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE_ERROR));
        }
    };
    match run(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { message, code }) => {
            let _ = writeln!(io::stderr(), "tmuxwright: {message}");
            ExitCode::from(code)
        }
    }
}

/// The whole command line, from which help and completions follow.
pub fn command() -> Command {
    Command::new("tmuxwright")
        .version(env!("CARGO_PKG_VERSION"))
        .about("An MCP server that gives coding agents a real terminal through tmux")
        .long_about(
            "An MCP server that gives coding agents a real terminal through tmux.\n\n\
             Without a command it serves MCP over stdin and stdout.",
        )
        .args(config::flags())
        .subcommand(
            Command::new("serve")
                .about("Serve MCP over stdin and stdout (the default), or over HTTP with --http"),
        )
        .subcommand(Command::new("demo").about("Drive a real tmux session before your eyes"))
        .subcommand(
            Command::new("tools").about("Show what a model would see of the tools, with its size"),
        )
        .subcommand(watch::command())
        .subcommand(audit::command())
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
    let settings = Settings::resolve(matches).map_err(|message| Failure {
        message: format!("{message}\nhint: `tmuxwright --help` lists the settings"),
        code: USAGE_ERROR,
    })?;
    check_tools(&settings)?;
    let logs = init_log(&settings);
    // One thread is enough: everything waits for tmux, and a call then needs no hand-over.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match name {
        "demo" => runtime.block_on(demo::run(settings))?,
        "watch" => runtime.block_on(watch::run(settings, matches))?,
        "audit" => audit::run(&settings, matches)?,
        "tools" => runtime.block_on(async { tools::run(settings) })?,
        _ => {
            runtime.block_on(serve::run(settings, logs))?;
            // tokio reads stdin on a thread that may be blocked for good; do not wait for it.
            runtime.shutdown_background();
        }
    }
    Ok(())
}

/// Refuses a choice of tools that do not exist.
fn check_tools(settings: &Settings) -> Result<(), Failure> {
    let Some(choice) = &settings.policy.tool_filter else { return Ok(()) };
    let all = crate::tools::all();
    let names = all.iter().map(|entry| entry.meta.name);
    let known: Vec<&str> = names.chain(crate::tools::left_out()).collect();
    choice
        .check(&known)
        .map_err(|why| Failure { message: format!("tools: {why}"), code: USAGE_ERROR })
}

/// Logs what our own crates say; of others only warnings, since rmcp shows whole messages, with
/// whatever is typed in them. Clients can hear the same, at the level they choose.
fn init_log(settings: &Settings) -> Logs {
    // It warns of what a client is told anyway, and takes one that hangs up for an error.
    let service = match settings.http.listen {
        Some(_) => LevelFilter::OFF,
        None => settings.log.min(LevelFilter::ERROR),
    };
    let targets = Targets::new()
        .with_default(settings.log.min(LevelFilter::WARN))
        .with_targets(log::OURS.map(|name| (name, settings.log)))
        .with_target("rmcp::service", service)
        .with_target(log::SPANS, LevelFilter::OFF);
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(false).with_filter(targets);
    let logs = Logs::default();
    let to_clients = logs.clone().with_filter(logs.clone());
    let _ = registry().with(lines).with(to_clients).try_init();
    logs
}
