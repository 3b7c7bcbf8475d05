//! `server_info`: the tmux server that the tools use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, row};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Tier, ToolError, Toolset};
use crate::results::words::{FactRow, count, field};

pub(super) struct ServerInfo;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {}

#[derive(Serialize, JsonSchema)]
pub(super) struct ServerFacts {
    /// Whether the server runs.
    running: bool,
    /// tmux version of the server, or of the program if no server runs.
    version: String,
    /// Path of the socket.
    socket: String,
    /// Process id.
    pid: Option<u32>,
    /// Number of sessions.
    sessions: u32,
}

row! {
    ServerRow {
        socket: String = "socket_path",
        pid: u32 = "pid",
    }
}

impl Output for ServerFacts {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let row = FactRow::new(format!("tmux {}", self.version))
            .fact(format!("socket {}", field(&self.socket)));
        match self.pid {
            Some(pid) => row.fact(format!("pid {pid}")).fact(count(self.sessions, "session")),
            None => row.fact("not running"),
        }
        .into()
    }
}

impl Tool for ServerInfo {
    const META: Meta = Meta {
        name: "server_info",
        title: "Server info",
        description: "Show the tmux server in use: version, socket, pid, number of sessions.",
        group: Group::Server,
        tier: Tier::Read,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = ServerFacts;

    async fn call(cx: &Cx, _: Args) -> Result<ServerFacts, ToolError> {
        let list = cx.tmux().rows::<ServerRow>(Command::query("list-sessions"));
        let (rows, shown) = tokio::join!(list, cx.sessions());
        let version = cx.tmux().version().await?.to_string();
        let rows = match rows {
            Err(error) if error.is_no_server() => Vec::new(),
            other => other?,
        };
        let sessions = u32::try_from(shown?.len()).unwrap_or(u32::MAX);
        Ok(match rows.into_iter().next() {
            Some(row) => {
                let (socket, pid) = (row.socket, Some(row.pid));
                ServerFacts { running: true, version, socket, pid, sessions }
            }
            None => {
                let socket = cx.tmux().socket_path().display().to_string();
                ServerFacts { running: false, version, socket, pid: None, sessions }
            }
        })
    }
}
