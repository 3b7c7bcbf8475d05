//! Tests of MCP itself: transports, revisions, resources, prompts, subscriptions.

#![expect(clippy::unwrap_used, reason = "helpers fail like tests")]

pub(crate) mod batch;
pub(crate) mod batch_text;
pub(crate) mod clients_apart;
pub(crate) mod completion;
#[cfg(feature = "http")]
pub(crate) mod http;
#[cfg(feature = "http")]
pub(crate) mod http_gate;
#[cfg(feature = "http")]
pub(crate) mod http_hostile;
#[cfg(feature = "http")]
pub(crate) mod http_life;
pub(crate) mod instructions;
pub(crate) mod killed;
pub(crate) mod lifecycle;
pub(crate) mod logging;
pub(crate) mod never_freezes;
pub(crate) mod prompts;
mod relay;
pub(crate) mod resources;
pub(crate) mod resources_safe;
pub(crate) mod revisions;
pub(crate) mod stdio;
pub(crate) mod subscriptions;
pub(crate) mod subscriptions_life;

use serde_json::{Value, json};
use testkit::{Launch, Raw, TmuxServer};

use crate::launch;
use crate::support::wire::Way;

/// The newest revision with a handshake.
pub(crate) const LEGACY: &str = "2025-11-25";

/// The error code of JSON-RPC for invalid parameters.
const INVALID_PARAMS: i32 = -32602;

/// The error code for a missing resource, in all revisions but the newest.
const RESOURCE_NOT_FOUND: i32 = -32002;

/// Starts the program and completes the handshake.
pub(crate) async fn initialized(launch: Launch) -> Raw {
    let mut raw = launch.raw();
    raw.initialize(LEGACY).await;
    raw
}

/// The program with this text in its config file, not started yet.
fn configured(tmux: &TmuxServer, config: &str) -> Launch {
    let file = tmux.home().join("config.toml");
    std::fs::write(&file, config).unwrap();
    launch(tmux).args(&["--config", &file.to_string_lossy()])
}

/// Cancels a request.
pub(crate) async fn cancel(raw: &mut Raw, id: u64) {
    Way::cancel(raw, id).await;
}

/// Makes a pane in the own session, and returns its ids.
async fn create_own_pane(raw: &mut Raw) -> Value {
    let call = json!({"name": "create_pane", "arguments": {"command": "exec sleep 1000"}});
    let made = raw.request("tools/call", call).await;
    assert_eq!(made["result"]["isError"], false, "{made}");
    made["result"]["structuredContent"].clone()
}

/// The names of the sessions of a tmux server; none if it does not run.
fn session_names(tmux: &TmuxServer) -> Vec<String> {
    let names = tmux.try_tmux(&["list-sessions", "-F", "#{session_name}"]).unwrap_or_default();
    names.lines().map(str::to_owned).collect()
}

/// The number of tmux clients, the program's own included.
fn client_count(tmux: &TmuxServer) -> usize {
    tmux.try_tmux(&["list-clients", "-F", "x"]).unwrap_or_default().lines().count()
}
