//! `list_clients`: lists the tmux clients of people, without those of programs like this server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Tier, ToolError, Toolset};
use crate::host::ClientRow;
use crate::results::words::{FactRow, field, rows};

pub(super) struct ListClients;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {}

#[derive(Serialize, JsonSchema)]
pub(super) struct ClientList {
    /// One entry per tmux client.
    clients: Vec<TmuxClient>,
}

#[derive(Serialize, JsonSchema)]
struct TmuxClient {
    /// Name, for detach_client.
    name: String,
    /// Terminal device.
    tty: String,
    /// Id of the attached session.
    session_id: Option<String>,
    /// Name of the attached session.
    session: String,
    /// Process id.
    pid: u32,
    /// Columns.
    width: u32,
    /// Rows.
    height: u32,
    /// Time of the last key press, in seconds since the epoch.
    last_activity: u64,
    /// Whether the terminal uses tmux's control mode.
    control: bool,
}

impl From<ClientRow> for TmuxClient {
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

impl Output for ClientList {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        rows(&self.clients, TmuxClient::row, "no clients")
    }
}

impl TmuxClient {
    fn row(&self) -> String {
        let Self { name, tty, session, width, height, .. } = self;
        let session = self.session_id.as_ref().map(|id| format!("session {id} {}", field(session)));
        FactRow::new(field(name))
            .maybe((tty != name && !tty.is_empty()).then(|| format!("tty {}", field(tty))))
            .maybe(session)
            .fact(format!("{width}x{height}"))
            .fact(format!("pid {}", self.pid))
            .fact(format!("last activity {}", self.last_activity))
            .flag(self.control, "control")
            .into()
    }
}

impl Tool for ListClients {
    const META: Meta = Meta {
        name: "list_clients",
        title: "List clients",
        description: "List attached people's terminals (tmux clients): name, session, size, last activity.",
        group: Group::Client,
        tier: Tier::Read,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = ClientList;

    async fn call(cx: &Cx, _: Args) -> Result<ClientList, ToolError> {
        let clients = cx.people().await?.into_iter().map(TmuxClient::from).collect();
        Ok(ClientList { clients })
    }
}
