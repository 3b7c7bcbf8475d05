//! `list_sessions`: lists the sessions of the tmux server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Tier, ToolError, Toolset};
use crate::results::filter;
use crate::results::objects::Session;
use crate::results::words::rows;

pub(super) struct ListSessions;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// `field=value` or `field~regex`, joined by commas.
    #[schemars(extend("x-clear" = true))]
    filter: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SessionList {
    /// One entry per session.
    sessions: Vec<Session>,
}

impl Output for SessionList {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        rows(&self.sessions, Session::row, "no sessions")
    }
}

impl Tool for ListSessions {
    const META: Meta = Meta {
        name: "list_sessions",
        title: "List sessions",
        description: "List sessions: id, name, windows, attached people, creation time, own.",
        group: Group::Session,
        tier: Tier::Read,
        sets: &[Toolset::Agent, Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = SessionList;

    async fn call(cx: &Cx, args: Args) -> Result<SessionList, ToolError> {
        let (sessions, people) = tokio::join!(cx.sessions(), cx.host.people());
        let people = people?;
        let sessions = sessions?
            .into_iter()
            .map(|(row, own)| {
                let attached = people.iter().filter(|p| p.session == Some(row.session)).count();
                Session::new(row, attached, own)
            })
            .collect();
        Ok(SessionList { sessions: filter::apply(sessions, args.filter.as_deref())? })
    }
}
