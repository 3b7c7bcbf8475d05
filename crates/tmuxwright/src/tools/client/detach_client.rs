//! `detach_client`: detaches a person's tmux client; the session keeps running.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::Command;

use crate::context::{Cx, Tool};
use crate::contract::{
    Code, Form, Group, Load, Meta, Output, Tier, ToolError, Toolset, nearest, shorten,
};
use crate::results::words::field;

/// Time a tmux client may take to exit.
const MAX_DETACH_WAIT: Duration = Duration::from_secs(2);

pub(super) struct DetachClient;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Name or tty of the client, from list_clients.
    #[schemars(extend("x-clear" = true))]
    client: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Detached {
    /// Name of the tmux client.
    client: String,
    /// Id of the session it was attached to.
    session_id: Option<String>,
    /// Name of that session.
    session: String,
}

impl Output for Detached {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let client = field(&self.client);
        match &self.session_id {
            Some(id) => format!("detached {client} from session {id} {}", field(&self.session)),
            None => format!("detached {client}"),
        }
    }
}

impl Tool for DetachClient {
    const META: Meta = Meta {
        name: "detach_client",
        title: "Detach client",
        description: "Detach a person's terminal (tmux client); the session keeps running.",
        group: Group::Client,
        tier: Tier::Destroy,
        sets: &[Toolset::Primitives],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Detached;

    async fn call(cx: &Cx, args: Args) -> Result<Detached, ToolError> {
        let wanted = args.client;
        let mut people = cx.people().await?;
        let found = people.iter().position(|row| row.name == wanted || row.tty == wanted);
        let Some(found) = found.filter(|_| !wanted.is_empty()) else {
            let names: Vec<&str> = people.iter().map(|row| row.name.as_str()).collect();
            let hint = match nearest(&wanted, names.iter().copied()) {
                _ if names.is_empty() => "nobody is attached".to_owned(),
                Some(near) if names.len() > 1 => {
                    format!("did you mean `{near}`? the clients are: {}", shorten(&names))
                }
                _ => format!("use one of these: {}", shorten(&names)),
            };
            let message = format!("there is no client `{wanted}`");
            return Err(ToolError::new(Code::NotFound, message).hint(hint));
        };
        let row = people.swap_remove(found);
        cx.may_detach(&row).await?;
        let detach = Command::action("detach-client").option("-t", &row.name);
        cx.tmux().run(detach).await?;
        // tmux lists the client until its process has exited.
        let exited = cx.host.processes().exited_soon(row.pid);
        if tokio::time::timeout(MAX_DETACH_WAIT, exited).await.is_err() {
            let message = format!("`{}` was detached, but its process still runs", row.name);
            return Err(ToolError::new(Code::Timeout, message)
                .hint("list_clients shows whether it is gone; its terminal may be stuck"));
        }
        Ok(Detached {
            client: row.name,
            session_id: row.session.map(|id| id.to_string()),
            session: row.session_name,
        })
    }
}
