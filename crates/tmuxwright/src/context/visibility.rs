//! What is around the objects of a call: their neighbours, the people who look, other servers.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use tmux_control::target::Level;
use tmux_control::{Command, Row, SessionId, Socket};

use super::{Cx, Resolved};
use crate::changes::{Place, Sees};
use crate::contract::{FilePath, Meta, PaneIdentity, Target, Tier, ToolError};
use crate::host::{ClientRow, PaneState};

impl Cx {
    /// Rows of all panes in the window of a pane that the call has found.
    pub async fn window_panes<R: Row>(&self, pane: &PaneState) -> Result<Vec<R>, ToolError> {
        Ok(self.tmux().rows(Command::query("list-panes").option("-t", pane.window)).await?)
    }

    /// The people who look at what the call may see.
    pub async fn people(&self) -> Result<Vec<ClientRow>, ToolError> {
        let mut people = self.host.people().await?;
        if self.guard.hides_panes() {
            let shown: HashSet<SessionId> =
                self.panes().await?.iter().map(|row| row.session.id).collect();
            people.retain(|client| client.session.is_some_and(|id| shown.contains(&id)));
        }
        Ok(people)
    }

    /// Says of each pane whether somebody who made this call may be told of it.
    pub(crate) fn visibility(&self) -> Sees {
        if !self.guard.hides_panes() {
            return None;
        }
        let (guard, host) = (Arc::clone(&self.guard), Arc::clone(&self.host));
        Some(Arc::new(move |place: &Place<'_>| {
            let Place { pane, session, session_name, owner } = *place;
            let own = host.owns(owner);
            guard.hides(&PaneIdentity { pane, session, session_name, own }).is_none()
        }))
    }

    /// Whether there may be sessions and panes that the call must not touch.
    pub fn hides_panes(&self) -> bool {
        self.guard.hides_panes()
    }

    /// A place that a caller names, where nothing is read or written.
    pub fn path_argument(&self, path: &FilePath, argument: &str) -> Result<PathBuf, ToolError> {
        path.check(argument)
    }

    /// Whether the call may know of a tmux server.
    pub fn reaches(&self, socket: &Socket) -> bool {
        self.guard.reaches(socket)
    }

    /// Asks whether the call may do what can end an object, or all there is.
    pub async fn may_end(&self, object: Option<&Resolved>) -> Result<(), ToolError> {
        let list = Command::query("list-panes");
        let panes: Vec<PaneState> = match object {
            Some(Resolved { level: Level::Pane, pane }) => vec![pane.clone()],
            Some(object) => {
                let list = list.option("-t", object.id());
                self.tmux().rows(list.arg_if(object.level == Level::Session, "-s")).await?
            }
            None => self.tmux().rows(list.arg("-a")).await?,
        };
        let level = object.map_or(Level::Session, |object| object.level);
        let id = object.map_or_else(|| "all".to_owned(), Resolved::id);
        let target = Target(id.clone());
        let meta = Meta { tier: Tier::DestroyOwn, ..*self.meta };
        self.guard.admit_object(&meta, &self.subject(level, id, &panes, &target))
    }
}
