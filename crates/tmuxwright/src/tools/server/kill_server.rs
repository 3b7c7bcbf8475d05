//! `kill_server`: ends the tmux server with everything in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, TmuxReply, row};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::count;

pub(super) struct KillServer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {}

#[derive(Serialize, JsonSchema)]
pub(super) struct Killed {
    /// The server's process.
    pid: u32,
    /// Its socket.
    socket: String,
    /// How many sessions it had.
    sessions: usize,
}

row! {
    SessionName {
        id: String = "session_id",
    }
}

impl Output for Killed {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let sessions = count(self.sessions as u64, "session");
        format!("killed server {} · {} · {sessions}", self.pid, self.socket)
    }
}

impl Tool for KillServer {
    const META: Meta = Meta {
        name: "kill_server",
        title: "Kill server",
        description: "Kill the tmux server and everything in it, for everybody.",
        group: Group::Server,
        tier: Tier::Destroy,
        sets: &[Toolset::Primitives],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Killed;

    async fn call(cx: &Cx, _: Args) -> Result<Killed, ToolError> {
        let ask = Command::query("display-message").arg("-p").arg("#{pid}");
        let TmuxReply(printed) = cx.tmux().run(ask).await?;
        let pid = String::from_utf8_lossy(&printed).trim().parse().map_err(|_| {
            ToolError::from(tmux_control::Error::unexpected("display-message", &printed))
        })?;
        let sessions: Vec<SessionName> = cx.tmux().rows(Command::query("list-sessions")).await?;
        // It takes every session with it, so each must be one that may be killed.
        for session in &sessions {
            cx.resolve(&Target(session.id.clone())).await?;
        }
        let socket = cx.tmux().socket_path().display().to_string();
        cx.host.kill_server(pid).await?;
        Ok(Killed { pid, socket, sessions: sessions.len() })
    }
}
