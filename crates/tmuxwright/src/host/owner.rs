//! Ownership of panes, recorded in tmux itself.
//!
//! Each pane that this process makes gets the user option `@mcp_owner` with a token: host name, pid and
//! start time of the process, the number of the MCP client, and a random secret. A window or session is
//! own while all its panes are. A pane that a person or another MCP client of this process opened in it
//! is foreign.
//!
//! Who knows the token could claim panes with it, so no tool shows or sets it. Rows read it as
//! `@mcp_owner[0=0]`: for a name that is not an option, tmux formats fall back to the environment, in
//! which anybody may have put a token. tmux ignores the index of a user option, and no environment
//! variable has a `=` in its name, so this reads the option only (3.2a to 3.7c).

use std::collections::HashSet;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use tmux_control::{Command, PaneId, SessionId, WindowId, row};

use super::{Host, PaneRow};
use crate::random;

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
    /// Random digits; empty in an identity, which is not secret.
    secret: String,
}

/// Begins the label of a control client.
pub(super) const LABEL_PREFIX: &str = "tmuxwright.";

/// The file with the machine's id, and the digits of one. Some systems and containers have none.
const MACHINE_ID: &str = "/etc/machine-id";
const MACHINE_ID_DIGITS: usize = 32;

/// Random bytes in a token.
const SECRET_BYTES: usize = 16;

impl Owner {
    /// The token of this process.
    pub(super) fn this_process() -> Self {
        let pid = std::process::id();
        let started = process::started(pid).unwrap_or_default();
        // Without random bytes nothing counts as own.
        let secret = random::hex(SECRET_BYTES).unwrap_or_default();
        Self { host: host_name().to_owned(), pid, started, client: 0, secret }
    }

    /// The token of an MCP client of the same process.
    pub(super) fn of_client(&self, number: u32) -> Self {
        Self { client: number, ..self.clone() }
    }

    /// Parses a token or an identity; `None` if it is invalid.
    pub(super) fn parse(token: &str) -> Option<Self> {
        let mut parts = token.splitn(5, '.');
        let (host, pid, started) = (parts.next()?, parts.next()?, parts.next()?);
        let client = parts.next().map_or(Ok(0), str::parse).ok()?;
        let secret = parts.next().unwrap_or_default();
        let is_hex = |c: char| c.is_ascii_hexdigit();
        if !secret.chars().all(is_hex) {
            return None;
        }
        let (host, started, secret) = (host.to_owned(), started.to_owned(), secret.to_owned());
        Some(Self { host, pid: pid.parse().ok()?, started, client, secret })
    }

    /// The secret token; letters, digits, `-` and `.` only.
    pub(super) fn token(&self) -> String {
        let Self { host, pid, started, client, secret } = self;
        format!("{host}.{pid}.{started}.{client}.{secret}")
    }

    /// The token without its secret: identifies the process and the MCP client, but proves nothing.
    pub(super) fn identity(&self) -> String {
        let Self { host, pid, started, client, .. } = self;
        match client {
            0 => format!("{host}.{pid}.{started}"),
            number => format!("{host}.{pid}.{started}.{number}"),
        }
    }

    /// The text by which tmux names the owner of a control client. Not secret.
    pub(super) fn client_label(&self) -> String {
        format!("{LABEL_PREFIX}{}", self.identity())
    }

    /// The owner of the control client with this label; `None` if the client is not this program's.
    pub(super) fn of_client_label(label: &str) -> Option<Self> {
        Self::parse(label.strip_prefix(LABEL_PREFIX)?)
    }

    /// Whether the token is this owner's.
    pub(super) fn is(&self, token: &str) -> bool {
        !self.secret.is_empty() && token == self.token()
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

row! {
    /// Owner of a pane, and owner of the own session it is in.
    pub(super) OwnerRow {
        pane: PaneId = "pane_id",
        session_owner: String = "@mcp_home[0=0]",
        owner: String = "@mcp_owner[0=0]",
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

/// The name of this host, with a mark of the machine: processes of hosts with the same name, such as `localhost`, may
/// drive one tmux server, and must not take each other for dead.
fn host_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let mut name: String = name.chars().map(letter).collect();
        let machine = std::fs::read(MACHINE_ID).unwrap_or_default();
        // The id itself is not for other programs to see.
        if machine.len() >= MACHINE_ID_DIGITS {
            let mut hasher = DefaultHasher::new();
            machine.hash(&mut hasher);
            let _ = write!(name, "-{:08x}", hasher.finish() >> 32);
        }
        name
    })
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
    fn identity_proves_nothing() {
        let me = Owner::this_process();
        let secret = me.token().rsplit_once('.').unwrap().1.to_owned();
        assert_eq!(secret.len(), 2 * SECRET_BYTES);
        for owner in [me.clone(), me.of_client(3)] {
            let identity = owner.identity();
            assert!(!identity.contains(&secret));
            assert!(!owner.is(&identity) && !owner.same_process(&identity));
            let parsed = Owner::parse(&identity).unwrap();
            assert_eq!((parsed.client, parsed.is_dead()), (owner.client, false));
            assert_eq!(Owner::of_client_label(&owner.client_label()), Some(parsed));
            assert_eq!(Owner::of_client_label(&identity), None);
        }
        let blank = Owner { secret: String::new(), ..me };
        assert!(!blank.is(&blank.token()));
        assert_ne!(Owner::this_process().token(), Owner::this_process().token());
    }

    #[test]
    fn client_token_differs_and_dies_with_its_process() {
        let process = Owner::this_process();
        let (one, two) = (process.of_client(1), process.of_client(2));
        assert_eq!(Owner::parse(&one.token()), Some(one.clone()));
        for (owner, other) in [(&process, &one), (&one, &process), (&one, &two)] {
            assert!(!owner.is(&other.token()) && owner.same_process(&other.token()));
        }
        assert_ne!(one.session_name(), two.session_name());
        assert!(!one.is_dead());
        let gone = Owner { started: "1".to_owned(), ..one };
        assert!(gone.is_dead() && !two.same_process(&gone.token()));
        for invalid in ["h.1", "h.x.2", "h.1.2.x", "h.1.2.3.4.5", "h.1.2.", "h.1.2.3.x"] {
            assert_eq!(Owner::parse(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn reused_pid_is_another_process() {
        let mut other = Owner::this_process();
        other.started = "1".to_owned();
        assert!(other.is_dead());
        assert!(!Owner::this_process().is(&other.token()));
        assert!(Owner::parse(&other.identity()).unwrap().is_dead());
        other.host = "elsewhere".to_owned();
        assert!(!other.is_dead());
    }
}
