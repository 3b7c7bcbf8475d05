//! `detach_client`: sends a person's client away. Their session goes on.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::Command;

use crate::context::{Cx, Tool};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Tier, ToolError, Toolset, nearest};
use terminal::text::inline;

/// How long a client may take to go.
const LEAVING: Duration = Duration::from_secs(2);

pub(super) struct DetachClient;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Name or tty.
    #[schemars(extend("x-clear" = true))]
    client: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Detached {
    /// The client.
    client: String,
    /// The session it was attached to.
    session_id: Option<String>,
    /// That session's name.
    session: String,
}

impl Output for Detached {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        format!("detached {} from {}", inline(&self.client), inline(&self.session))
    }
}

impl Tool for DetachClient {
    const META: Meta = Meta {
        name: "detach_client",
        title: "Detach client",
        description: "Detach a person's client; the session goes on.",
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
                    format!("did you mean `{near}`? there are: {}", names.join(", "))
                }
                _ => format!("use one of these: {}", names.join(", ")),
            };
            let what = format!("there is no client `{wanted}`");
            return Err(ToolError::new(Code::NotFound, what).hint(hint));
        };
        let row = people.swap_remove(found);
        let detach = Command::action("detach-client").option("-t", &row.name);
        cx.tmux().run(detach).await?;
        // Only when its process has ended does tmux list it no more.
        if tokio::time::timeout(LEAVING, process::exited(row.pid)).await.is_err() {
            let what = format!("`{}` was told to go, but is still there", row.name);
            return Err(ToolError::new(Code::Timeout, what)
                .hint("list_clients shows whether it has gone; its terminal may be stuck"));
        }
        Ok(Detached {
            client: row.name,
            session_id: row.session.map(|id| id.to_string()),
            session: row.session_name,
        })
    }
}
