//! Snapshot of the tree of a tmux server, and the parts of it that subscribers compare.

use std::collections::BTreeSet;

use tmux_control::format::FieldValues;
use tmux_control::{Command, Error, PaneId, Row, SessionId, WindowId, row};

use super::{ChangeSubject, PaneFilter, PaneWithOwner};
use crate::host::{ClientRow, Host, ProcessState, nested, read_nested};

row! {
    /// A session.
    SessionFacts {
        id: SessionId = "session_id",
        name: String = "session_name",
        windows: u32 = "session_windows",
        created: u64 = "session_created",
        server: u32 = "pid",
    }
}

row! {
    /// A window.
    WindowFacts {
        id: WindowId = "window_id",
        index: u32 = "window_index",
        name: String = "window_name",
        active: bool = "window_active",
        layout: String = "window_layout",
        zoomed: bool = "window_zoomed_flag",
        width: u32 = "window_width",
        height: u32 = "window_height",
    }
}

row! {
    /// A pane. Cursor and length of the history are left out: they change with every output.
    PaneFacts {
        id: PaneId = "pane_id",
        index: u32 = "pane_index",
        title: String = "pane_title",
        command: String = "pane_current_command",
        path: String = "pane_current_path",
        pid: u32 = "pane_pid",
        life: ProcessState = "?pane_dead,x#{pane_dead_status}/#{pane_dead_signal},",
        active: bool = "pane_active",
        left: u32 = "pane_left",
        top: u32 = "pane_top",
        width: u32 = "pane_width",
        height: u32 = "pane_height",
        mode: String = "pane_mode",
        input_off: bool = "pane_input_off",
        synchronized: bool = "pane_synchronized",
        alternate: bool = "alternate_on",
        owner: String = "@mcp_owner[0=0]",
    }
}

row! {
    /// Shows that the history was cleared or the terminal was reset, which prints nothing to the stream.
    Surface {
        without_history: bool = "==:#{history_size},0",
        at_origin: bool = "==:#{cursor_x}/#{cursor_y},0/0",
    }
}

/// The tree at one moment; empty if no tmux server runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TreeSnapshot {
    panes: Vec<TreePane>,
    clients: Vec<ClientRow>,
}

/// A pane with its session and window.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TreePane {
    session: SessionFacts,
    window: WindowFacts,
    facts: PaneFacts,
    surface: Surface,
}

/// The part of a tree that one subscriber compares.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TreePart {
    /// Process id and number of sessions.
    server: Option<(u32, usize)>,
    /// Sessions with number of attached terminals and owners of their panes.
    sessions: Vec<(SessionFacts, usize, BTreeSet<String>)>,
    /// Windows with owners of their panes.
    windows: Vec<(WindowFacts, BTreeSet<String>)>,
    panes: Vec<PaneFacts>,
    /// Properties that change a pane's text without output.
    shown: Option<(u32, ProcessState, u32, u32, Surface)>,
    clients: Vec<ClientRow>,
}

/// The format whose value tmux compares for us, to send an event when it changes.
pub(super) fn compared() -> String {
    let pane = PaneFacts::subscription_format() + &Surface::subscription_format();
    let all =
        nested([SessionFacts::subscription_format(), WindowFacts::subscription_format(), pane]);
    format!("#{{S:{all}}}")
}

/// Reads the tree.
pub(super) async fn read(host: &Host) -> Result<TreeSnapshot, Error> {
    let pane = PaneFacts::format() + &Surface::format();
    let format = nested([SessionFacts::format(), WindowFacts::format(), pane]);
    let panes = host.tmux().run(Command::query("list-sessions").option("-F", format));
    let (panes, clients) = tokio::join!(panes, host.people());
    let reply = match panes {
        Err(error) if error.is_no_server() => return Ok(TreeSnapshot::default()),
        other => other?.0,
    };
    let pane = |cells: &mut FieldValues| Some((PaneFacts::read(cells)?, Surface::read(cells)?));
    let panes = read_nested(&reply, pane)?.into_iter();
    let panes = panes
        .map(|(session, window, (facts, surface))| TreePane { session, window, facts, surface })
        .collect();
    // The time of a tmux client's last activity does not count as a change.
    let clients = clients?.into_iter().map(|row| ClientRow { activity: 0, ..row }).collect();
    Ok(TreeSnapshot { panes, clients })
}

impl TreePane {
    fn is_visible(&self, filter: &PaneFilter) -> bool {
        let Self { session, facts, .. } = self;
        let pane = PaneWithOwner {
            pane: facts.id,
            session: session.id,
            session_name: &session.name,
            owner: &facts.owner,
        };
        filter.as_ref().is_none_or(|filter| filter(&pane))
    }

    /// Whether the pane is part of `subject`.
    fn belongs_to(&self, subject: &ChangeSubject) -> bool {
        match *subject {
            ChangeSubject::Server | ChangeSubject::Sessions | ChangeSubject::Clients => true,
            ChangeSubject::Session(id) => self.session.id == id,
            ChangeSubject::Window(id) => self.window.id == id,
            ChangeSubject::Pane(id) | ChangeSubject::Output(_, id) => self.facts.id == id,
            ChangeSubject::Command(_) => false,
        }
    }

    fn shown(&self) -> (u32, ProcessState, u32, u32, Surface) {
        let PaneFacts { pid, life, width, height, .. } = self.facts;
        (pid, life, width, height, self.surface.clone())
    }
}

impl TreeSnapshot {
    /// Process id of the tmux server.
    pub(super) fn pid(&self) -> Option<u32> {
        self.panes.first().map(|pane| pane.session.server)
    }

    /// The part that `subject` consists of. `None` if the object does not exist or is not visible.
    pub(super) fn part(&self, subject: &ChangeSubject, filter: &PaneFilter) -> Option<TreePart> {
        let mut part = TreePart::default();
        for pane in self.panes.iter().filter(|p| p.belongs_to(subject) && p.is_visible(filter)) {
            if part.sessions.last().is_none_or(|(last, ..)| last.id != pane.session.id) {
                part.sessions.push(self.session(&pane.session));
            }
            match subject {
                ChangeSubject::Server
                | ChangeSubject::Sessions
                | ChangeSubject::Clients
                | ChangeSubject::Command(_) => {}
                ChangeSubject::Output(..) => part.shown = Some(pane.shown()),
                ChangeSubject::Session(_) | ChangeSubject::Window(_) | ChangeSubject::Pane(_) => {
                    if part.windows.last().is_none_or(|(last, _)| last.id != pane.window.id) {
                        part.windows.push(self.window(&pane.window));
                    }
                    part.panes.push(pane.facts.clone());
                }
            }
        }
        match subject {
            ChangeSubject::Sessions => {}
            ChangeSubject::Server => part.server = self.pid().map(|pid| (pid, part.sessions.len())),
            ChangeSubject::Clients => part.clients = self.clients_in(&part.sessions, filter),
            _ if part.sessions.is_empty() => return None,
            _ => {}
        }
        if let ChangeSubject::Server | ChangeSubject::Clients | ChangeSubject::Output(..) = subject
        {
            part.sessions.clear();
        }
        Some(part)
    }

    /// A session with number of attached terminals and owners of its panes.
    fn session(&self, facts: &SessionFacts) -> (SessionFacts, usize, BTreeSet<String>) {
        let clients = self.clients.iter().filter(|row| row.session == Some(facts.id)).count();
        (facts.clone(), clients, self.owners(|pane| pane.session.id == facts.id))
    }

    /// A window with owners of its panes.
    fn window(&self, facts: &WindowFacts) -> (WindowFacts, BTreeSet<String>) {
        (facts.clone(), self.owners(|pane| pane.window.id == facts.id))
    }

    fn owners(&self, of: impl Fn(&TreePane) -> bool) -> BTreeSet<String> {
        self.panes.iter().filter(|pane| of(pane)).map(|pane| pane.facts.owner.clone()).collect()
    }

    /// The terminals attached to these sessions; all if every pane is visible.
    fn clients_in(
        &self,
        sessions: &[(SessionFacts, usize, BTreeSet<String>)],
        filter: &PaneFilter,
    ) -> Vec<ClientRow> {
        let shown = |client: &&ClientRow| {
            let mut ids = sessions.iter().map(|(session, ..)| Some(session.id));
            filter.is_none() || ids.any(|id| id == client.session)
        };
        self.clients.iter().filter(shown).cloned().collect()
    }
}
