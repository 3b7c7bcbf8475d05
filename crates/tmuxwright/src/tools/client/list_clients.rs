//! `list_clients`: the terminals through which people look.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Tier, ToolError, Toolset};
use crate::host::ClientRow;
use terminal::text::inline;

pub(super) struct ListClients;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {}

#[derive(Serialize, JsonSchema)]
pub(super) struct Clients {
    /// One entry per client.
    clients: Vec<Client>,
}

#[derive(Serialize, JsonSchema)]
struct Client {
    /// Its name.
    name: String,
    /// Its terminal.
    tty: String,
    /// Its session's id.
    session_id: Option<String>,
    /// Its session's name.
    session: String,
    /// Its process.
    pid: u32,
    /// Its width.
    width: u32,
    /// Its height.
    height: u32,
    /// When it was last used, in seconds since the epoch.
    last_activity: u64,
    /// Whether it is a terminal that speaks tmux's control mode.
    control: bool,
}

impl From<ClientRow> for Client {
    fn from(row: ClientRow) -> Self {
        Self {
            control: row.is_control(),
            name: row.name,
            tty: row.tty,
            session_id: row.session.map(|id| id.to_string()),
            session: row.session_name,
            pid: row.pid,
            width: row.width.unwrap_or(0),
            height: row.height.unwrap_or(0),
            last_activity: row.activity,
        }
    }
}

impl Output for Clients {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        if self.clients.is_empty() {
            return "no clients".to_owned();
        }
        let row = |client: &Client| {
            let Client { name, session, width, height, .. } = client;
            let control = if client.control { " · control" } else { "" };
            format!("{} · {} · {width}x{height}{control}", inline(name), inline(session))
        };
        self.clients.iter().map(row).collect::<Vec<_>>().join("\n")
    }
}

impl Tool for ListClients {
    const META: Meta = Meta {
        name: "list_clients",
        title: "List clients",
        description: "List the clients through which people look: name, tty, session, size.",
        group: Group::Client,
        tier: Tier::Read,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Clients;

    async fn call(cx: &Cx, _: Args) -> Result<Clients, ToolError> {
        let clients = cx.people().await?.into_iter().map(Client::from).collect();
        Ok(Clients { clients })
    }
}
