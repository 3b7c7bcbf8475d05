//! Tests of sessions, windows, panes and everything that belongs to them.

pub(crate) mod arrange;
pub(crate) mod caller;
pub(crate) mod clients;
pub(crate) mod flood;
pub(crate) mod input;
pub(crate) mod kill_and_rename;
pub(crate) mod option_text;
pub(crate) mod options;
pub(crate) mod ownership;
pub(crate) mod panes;
pub(crate) mod pipe;
pub(crate) mod renew;
pub(crate) mod servers;
pub(crate) mod sessions;
pub(crate) mod targets;
pub(crate) mod text;
pub(crate) mod windows;

use testkit::{Launch, Mcp, TmuxServer};

use crate::launch;

/// Flags for every tool, structured results and the tier that may harm foreign objects.
pub(crate) const DESTRUCTIVE: &[&str] =
    &["--toolset", "all", "--structured", "--tier", "destructive"];

/// The program at the destructive tier.
pub(crate) async fn serve_destructive(tmux: &TmuxServer) -> Mcp {
    launch(tmux).args(DESTRUCTIVE).mcp().await
}

/// The program with the environment of a pane of the tmux server: `TMUX` and `TMUX_PANE`.
pub(crate) fn in_pane(launch: Launch, tmux: &TmuxServer, pane: &str) -> Launch {
    let variable = format!("{},{},0", tmux.socket().display(), tmux.pid());
    launch.env("TMUX", &variable).env("TMUX_PANE", pane)
}
