//! `kill_server`: kills the tmux server with all its sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, TmuxReply, row};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::{FactRow, count, field};

pub(super) struct KillServer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {}

#[derive(Serialize, JsonSchema)]
pub(super) struct KilledServer {
    /// Process id of the server.
    pid: u32,
    /// Path of its socket.
    socket: String,
    /// Number of sessions it had.
    sessions: usize,
}

row! {
    SessionIdRow {
        id: String = "session_id",
    }
}

impl Output for KilledServer {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        FactRow::new("killed tmux server")
            .fact(format!("pid {}", self.pid))
            .fact(format!("socket {}", field(&self.socket)))
            .fact(count(self.sessions as u64, "session"))
            .into()
    }
}

impl Tool for KillServer {
    const META: Meta = Meta {
        name: "kill_server",
        title: "Kill server",
        description: "Kill the tmux server with all its sessions, also those of other people.",
        group: Group::Server,
        tier: Tier::Destroy,
        sets: &[Toolset::Primitives],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = KilledServer;

    async fn call(cx: &Cx, _: Args) -> Result<KilledServer, ToolError> {
        let sessions = admitted_sessions(cx).await?;
        let ask = Command::query("display-message").arg("-p").arg("#{pid}");
        let TmuxReply(printed) = cx.tmux().run(ask).await?;
        let pid = String::from_utf8_lossy(&printed).trim().parse().map_err(|_| {
            ToolError::from(tmux_control::Error::unexpected("display-message", &printed))
        })?;
        let socket = cx.tmux().socket_path().display().to_string();
        cx.host.kill_server(pid).await?;
        Ok(KilledServer { pid, socket, sessions })
    }
}

/// The number of sessions. All of them die with the server, so the policy must allow each to be killed,
/// also one that appears while a person is asked about the others.
async fn admitted_sessions(cx: &Cx) -> Result<usize, ToolError> {
    let mut admitted = Vec::new();
    loop {
        let sessions: Vec<SessionIdRow> = cx.tmux().rows(Command::query("list-sessions")).await?;
        let sessions: Vec<Target> = sessions.into_iter().map(|row| Target(row.id)).collect();
        if sessions.iter().all(|session| admitted.contains(session)) {
            return Ok(sessions.len());
        }
        cx.resolve_all(&sessions).await?;
        admitted = sessions;
    }
}
