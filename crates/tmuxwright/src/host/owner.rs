//! Ownership of panes, recorded in tmux itself.
//!
//! Each pane that this process makes gets the user option `@mcp_owner` with a unique token: host name,
//! pid and start time of the process, and the number of the MCP client if there are several. A window
//! or session is own while all its panes are. A pane that a person or another MCP client of this
//! process opened in it is foreign.

use std::collections::HashSet;

use tmux_control::{Command, SessionId, WindowId};

use super::{Host, PaneRow};

/// The user option that holds a pane's owner.
pub(super) const OWNER_OPTION: &str = "@mcp_owner";

/// The token of one server process, or of one of its MCP clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    host: String,
    pid: u32,
    started: String,
    /// 0 for the process itself.
    client: u32,
}

impl Owner {
    /// The token of this process.
    pub(super) fn this_process() -> Self {
        let pid = std::process::id();
        let started = process::started(pid).unwrap_or_default();
        Self { host: host_name(), pid, started, client: 0 }
    }

    /// The token of an MCP client of the same process.
    pub(super) fn of_client(&self, number: u32) -> Self {
        Self { client: number, ..self.clone() }
    }

    /// Parses a token; `None` if it is invalid.
    pub(super) fn parse(token: &str) -> Option<Self> {
        let mut parts = token.splitn(4, '.');
        let (host, pid, started) = (parts.next()?, parts.next()?, parts.next()?);
        let client = parts.next().map_or(Ok(0), str::parse).ok()?;
        let (host, started) = (host.to_owned(), started.to_owned());
        Some(Self { host, pid: pid.parse().ok()?, started, client })
    }

    /// The token as text; letters, digits, `-` and `.` only.
    pub(super) fn token(&self) -> String {
        let Self { host, pid, started, client } = self;
        match client {
            0 => format!("{host}.{pid}.{started}"),
            number => format!("{host}.{pid}.{started}.{number}"),
        }
    }

    /// Whether the token is this owner's.
    pub(super) fn is(&self, token: &str) -> bool {
        token == self.token()
    }

    /// Whether the token belongs to the same process, for any of its MCP clients.
    pub(super) fn same_process(&self, token: &str) -> bool {
        Self::parse(token).is_some_and(|other| other.of_client(self.client) == *self)
    }

    /// The number of the MCP client; 0 for the process itself.
    pub(super) fn client(&self) -> u32 {
        self.client
    }

    /// The name of the own session.
    pub(super) fn session_name(&self) -> String {
        match self.client {
            0 => format!("mcp-{}", self.pid),
            number => format!("mcp-{}-{number}", self.pid),
        }
    }

    /// Whether the process of the token is dead. Processes of other hosts count as alive.
    pub(super) fn is_dead(&self) -> bool {
        self.host == host_name() && process::started(self.pid).as_ref() != Some(&self.started)
    }

    /// The command that marks a pane as this owner's.
    pub(super) fn mark(&self, pane: &str) -> Command {
        Command::action("set-option")
            .arg("-p")
            .option("-t", pane)
            .arg(OWNER_OPTION)
            .arg(self.token())
    }
}

/// The sessions and windows in which all panes are own.
#[derive(Debug)]
pub struct Ownership {
    foreign_sessions: HashSet<SessionId>,
    foreign_windows: HashSet<WindowId>,
}

impl Ownership {
    /// Computed from all panes of the tmux server.
    pub fn of(host: &Host, panes: &[PaneRow]) -> Self {
        let foreign = || panes.iter().filter(|row| !host.owns(&row.pane.owner));
        Self {
            foreign_sessions: foreign().map(|row| row.session.id).collect(),
            foreign_windows: foreign().map(|row| row.window.id).collect(),
        }
    }

    /// Whether this MCP client made all panes of the session.
    pub fn session(&self, id: SessionId) -> bool {
        !self.foreign_sessions.contains(&id)
    }

    /// Whether this MCP client made all panes of the window.
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
    fn token_is_parsed_back() {
        let me = Owner::this_process();
        assert_eq!(Owner::parse(&me.token()), Some(me.clone()));
        assert!(me.is(&me.token()));
        assert!(!me.is_dead());
        assert_eq!(Owner::parse(""), None);
        assert_eq!(Owner::parse("somebody"), None);
    }

    #[test]
    fn client_token_differs_and_dies_with_its_process() {
        let process = Owner::this_process();
        let (one, two) = (process.of_client(1), process.of_client(2));
        assert_eq!(Owner::parse(&one.token()), Some(one.clone()));
        for (owner, other) in [(&process, &one), (&one, &process), (&one, &two)] {
            assert!(!owner.is(&other.token()) && owner.same_process(&other.token()));
        }
        assert_eq!(one.token(), format!("{}.1", process.token()));
        assert_ne!(one.session_name(), two.session_name());
        assert!(!one.is_dead());
        let gone = Owner { started: "1".to_owned(), ..one };
        assert!(gone.is_dead() && !two.same_process(&gone.token()));
        for invalid in ["h.1", "h.x.2", "h.1.2.x", "h.1.2.3.4", "h.1.2."] {
            assert_eq!(Owner::parse(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn reused_pid_is_another_process() {
        let mut other = Owner::this_process();
        other.started = "1".to_owned();
        assert!(other.is_dead());
        assert!(!Owner::this_process().is(&other.token()));
        other.host = "elsewhere".to_owned();
        assert!(!other.is_dead());
    }
}
