//! End-to-end tests: the real program, a real tmux server for each test, a real MCP client.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has to fail"
)]

mod attack;
mod audit;
mod buffers;
mod laws;
mod load;
mod objects;
mod policy;
mod protocol;
mod run;
mod screen;
mod servers;
mod support;
mod watch;

use testkit::{Launch, Mcp, TmuxServer};

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_tmuxwright");

/// The program on a tmux server, not started yet.
fn launch(tmux: &TmuxServer) -> Launch {
    Launch::new(PROGRAM, tmux)
}

/// Starts the program with every tool, structured answers and this config file.
async fn serve_configured(tmux: &TmuxServer, config: &str) -> Mcp {
    let file = tmux.home().join("config.toml");
    std::fs::write(&file, config).unwrap();
    let args = ["--toolset", "all", "--prompts-as-tools", "--structured", "--config"];
    launch(tmux).args(&args).args(&[&file.to_string_lossy()]).mcp().await
}

/// Starts the program with every tool and structured answers.
async fn serve(tmux: &TmuxServer) -> Mcp {
    launch(tmux).args(&["--toolset", "all", "--prompts-as-tools", "--structured"]).mcp().await
}
