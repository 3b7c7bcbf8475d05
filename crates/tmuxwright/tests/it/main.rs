//! End to end: the real program, a real tmux, a real MCP client. Every test has a tmux server of
//! its own.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has to fail"
)]

mod arrange;
mod audit;
mod audit_docs;
mod audit_life;
mod batch;
mod buffer_search;
mod buffers;
mod buffers_policy;
mod caller;
mod capabilities;
mod channel;
mod claims;
mod clients;
mod clients_apart;
mod coming_from;
mod command_filter;
mod commands;
mod completion;
mod docs;
mod fenced_tools;
mod fences;
mod hands_off;
mod hostile;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod http_gate;
#[cfg(feature = "http")]
mod http_life;
mod input;
mod instructions;
mod laws;
mod lifecycle;
mod logging;
mod made_up;
mod objects;
mod options;
mod ownership;
mod panes;
mod pipe;
mod policy;
mod polite;
mod prompts;
mod reading;
mod redaction;
mod registry;
mod renew;
mod repl;
mod resources;
mod resources_safe;
mod revisions;
mod run_gate;
mod run_input;
mod run_life;
mod run_output;
mod run_person;
mod run_shells;
mod screen;
mod screenshot;
mod search;
mod secrets;
mod security;
mod servers;
mod sessions;
mod since;
mod snapshot;
mod state;
mod stdio;
mod subscriptions;
mod subscriptions_life;
mod support;
mod targets;
mod wait;
mod wait_life;
mod watch;
mod windows;
mod wire;
mod world;

use testkit::{Launch, Mcp, TmuxServer};

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_tmuxwright");

/// The program on a tmux server, not started yet.
fn launch(tmux: &TmuxServer) -> Launch {
    Launch::new(PROGRAM, tmux)
}

/// The program with every tool, structured answers, and this in its config file.
async fn serve_configured(tmux: &TmuxServer, config: &str) -> Mcp {
    let file = tmux.home().join("config.toml");
    std::fs::write(&file, config).unwrap();
    let args = ["--toolset", "all", "--prompts-as-tools", "--structured", "--config"];
    launch(tmux).args(&args).args(&[&file.to_string_lossy()]).mcp().await
}

/// The program with every tool and structured answers.
async fn serve(tmux: &TmuxServer) -> Mcp {
    launch(tmux).args(&["--toolset", "all", "--prompts-as-tools", "--structured"]).mcp().await
}
