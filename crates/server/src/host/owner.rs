//! Who made a pane, written into tmux itself.
//!
//! Each pane we make gets the user option `@mcp_owner` with a token that names this process for
//! good: host, pid and start time. A window or session counts as ours while all its panes are: a
//! pane that a person opened in it is theirs.

use std::collections::HashSet;

use tmux::{Command, SessionId, WindowId};

use super::{Host, PaneRow};
use crate::process;

/// The user option that holds a pane's owner.
pub(super) const OPTION: &str = "@mcp_owner";

/// The token of one server process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    host: String,
    pid: u32,
    started: String,
}

impl Owner {
    /// The token of this process.
    pub(super) fn this_process() -> Self {
        let pid = std::process::id();
        Self { host: host_name(), pid, started: process::started(pid).unwrap_or_default() }
    }

    /// Reads a token; `None` if it is none.
    pub(super) fn parse(token: &str) -> Option<Self> {
        let mut parts = token.rsplitn(3, '.');
        let (started, pid, host) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self { host: host.to_owned(), pid: pid.parse().ok()?, started: started.to_owned() })
    }

    /// The token as text; letters, digits, `-` and `.` only.
    pub(super) fn token(&self) -> String {
        format!("{}.{}.{}", self.host, self.pid, self.started)
    }

    /// Whether the token is this owner's.
    pub(super) fn is(&self, token: &str) -> bool {
        token == self.token()
    }

    /// The pid, for names.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether the process behind the token is known to be dead. Of other hosts nothing is known.
    pub(super) fn is_dead(&self) -> bool {
        self.host == host_name() && process::started(self.pid).as_ref() != Some(&self.started)
    }

    /// The command that marks a pane as this owner's.
    pub(super) fn mark(&self, pane: &str) -> Command {
        Command::action("set-option").arg("-p").option("-t", pane).arg(OPTION).arg(self.token())
    }
}

/// Which sessions and windows are wholly ours.
#[derive(Debug)]
pub struct Ownership {
    foreign_sessions: HashSet<SessionId>,
    foreign_windows: HashSet<WindowId>,
}

impl Ownership {
    /// Goes through all panes of the server.
    pub fn of(host: &Host, panes: &[PaneRow]) -> Self {
        let foreign = || panes.iter().filter(|row| !host.owns(&row.pane.owner));
        Self {
            foreign_sessions: foreign().map(|row| row.session.id).collect(),
            foreign_windows: foreign().map(|row| row.window.id).collect(),
        }
    }

    /// Whether this server made the session and everything in it.
    pub fn session(&self, id: SessionId) -> bool {
        !self.foreign_sessions.contains(&id)
    }

    /// Whether this server made the window and everything in it.
    pub fn window(&self, id: WindowId) -> bool {
        !self.foreign_windows.contains(&id)
    }
}

fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back() {
        let me = Owner::this_process();
        assert_eq!(Owner::parse(&me.token()), Some(me.clone()));
        assert!(me.is(&me.token()));
        assert!(!me.is_dead());
        assert_eq!(Owner::parse(""), None);
        assert_eq!(Owner::parse("somebody"), None);
    }

    #[test]
    fn a_pid_given_out_again_is_another_process() {
        let mut other = Owner::this_process();
        other.started = "1".to_owned();
        assert!(other.is_dead());
        assert!(!Owner::this_process().is(&other.token()));
        other.host = "elsewhere".to_owned();
        assert!(!other.is_dead());
    }
}
