//! Visibility: panes of the same window, tmux clients, other tmux servers and changes that a call may
//! see.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use tmux_control::{Command, Row, SessionId, Socket};

use super::Cx;
use crate::changes::{PaneFilter, PaneWithOwner};
use crate::contract::{FilePath, PaneIdentity, ToolError};
use crate::host::{ClientRow, PaneState};

impl Cx {
    /// Rows of all panes in the window of a resolved pane.
    pub async fn window_panes<R: Row>(&self, pane: &PaneState) -> Result<Vec<R>, ToolError> {
        Ok(self.tmux().rows(Command::query("list-panes").option("-t", pane.window)).await?)
    }

    /// The tmux clients of people, attached to sessions that the call may see.
    pub async fn people(&self) -> Result<Vec<ClientRow>, ToolError> {
        let mut people = self.host.people().await?;
        if self.guard.hides_panes() {
            let visible: HashSet<SessionId> =
                self.panes().await?.iter().map(|row| row.session.id).collect();
            people.retain(|client| client.session.is_some_and(|id| visible.contains(&id)));
        }
        Ok(people)
    }

    /// A filter for subscriptions: whether the maker of this call may be notified about a pane. `None`
    /// if no pane is hidden.
    pub(crate) fn visibility(&self) -> PaneFilter {
        if !self.guard.hides_panes() {
            return None;
        }
        let (guard, host) = (Arc::clone(&self.guard), Arc::clone(&self.host));
        Some(Arc::new(move |place: &PaneWithOwner<'_>| {
            let PaneWithOwner { pane, session, session_name, owner } = *place;
            let own = host.owns(owner);
            guard.hides(&PaneIdentity { pane, session, session_name, own }).is_none()
        }))
    }

    /// Whether some panes may be hidden from the call.
    pub fn hides_panes(&self) -> bool {
        self.guard.hides_panes()
    }

    /// The path in an argument that names no file to read or write. The guard is not asked.
    pub fn path_argument(&self, path: &FilePath, argument: &str) -> Result<PathBuf, ToolError> {
        path.check(argument)
    }

    /// The question whether the call may see a tmux server. It is asked on another thread, because the
    /// answer needs the links of the socket's path resolved.
    pub fn server_filter(&self) -> impl Fn(&Socket) -> bool + Send + use<> {
        let guard = Arc::clone(&self.guard);
        move |socket| guard.reaches(socket)
    }
}
