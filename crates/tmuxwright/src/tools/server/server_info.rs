//! `server_info`: the tmux server this one drives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, row};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Tier, ToolError, Toolset};
use crate::results::words::count;

pub(super) struct ServerInfo;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {}

#[derive(Serialize, JsonSchema)]
pub(super) struct Info {
    /// Whether the server runs.
    running: bool,
    /// Its version; the program's if it does not run.
    version: String,
    /// Its socket.
    socket: String,
    /// Its process.
    pid: Option<u32>,
    /// How many sessions it has.
    sessions: u32,
}

row! {
    ServerRow {
        socket: String = "socket_path",
        pid: u32 = "pid",
    }
}

impl Output for Info {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let Self { version, socket, .. } = self;
        match self.pid {
            Some(pid) => {
                format!(
                    "tmux {version} · {socket} · pid {pid} · {}",
                    count(self.sessions, "session")
                )
            }
            None => format!("tmux {version} · {socket} · not running"),
        }
    }
}

impl Tool for ServerInfo {
    const META: Meta = Meta {
        name: "server_info",
        title: "Server info",
        description: "The tmux server: version, socket, pid, number of sessions.",
        group: Group::Server,
        tier: Tier::Read,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Info;

    async fn call(cx: &Cx, _: Args) -> Result<Info, ToolError> {
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
                Info { running: true, version, socket: row.socket, pid: Some(row.pid), sessions }
            }
            None => {
                let socket = cx.tmux().socket_path().display().to_string();
                Info { running: false, version, socket, pid: None, sessions }
            }
        })
    }
}
