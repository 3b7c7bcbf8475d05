//! All of a tmux server that followers may be told of, at one moment, and the parts of it.

use std::collections::BTreeSet;

use tmux_control::format::Cells;
use tmux_control::{Command, Error, PaneId, Row, SessionId, WindowId, row};

use super::{Place, Sees, Subject};
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
    /// A pane. The cursor and the length of its history are not told of: they follow from output.
    PaneFacts {
        id: PaneId = "pane_id",
        index: u32 = "pane_index",
        title: String = "pane_title",
        command: String = "pane_current_command",
        path: String = "pane_current_path",
        pid: u32 = "pane_pid",
        process_state: ProcessState = "?pane_dead,x#{pane_dead_status}/#{pane_dead_signal},",
        active: bool = "pane_active",
        left: u32 = "pane_left",
        top: u32 = "pane_top",
        width: u32 = "pane_width",
        height: u32 = "pane_height",
        mode: String = "pane_mode",
        input_off: bool = "pane_input_off",
        synchronized: bool = "pane_synchronized",
        alternate: bool = "alternate_on",
        owner: String = "@mcp_owner",
    }
}

row! {
    /// By which it can be seen that history was cleared or a terminal reset, without any output.
    Surface {
        without_history: bool = "==:#{history_size},0",
        at_origin: bool = "==:#{cursor_x}/#{cursor_y},0/0",
    }
}

/// A server at one moment; empty if none runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    panes: Vec<Pane>,
    people: Vec<ClientRow>,
}

/// A pane with everything around it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pane {
    session: SessionFacts,
    window: WindowFacts,
    facts: PaneFacts,
    surface: Surface,
}

/// What one follower is told of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// The server's process, and how many sessions it has.
    server: Option<(u32, usize)>,
    /// The sessions, how many people look at each, and who made what is in it.
    sessions: Vec<(SessionFacts, usize, BTreeSet<String>)>,
    /// The windows, and who made what is in them.
    windows: Vec<(WindowFacts, BTreeSet<String>)>,
    panes: Vec<PaneFacts>,
    /// What else than output can change what a pane shows.
    shown: Option<(u32, ProcessState, u32, u32, Surface)>,
    people: Vec<ClientRow>,
}

/// The format that tmux compares for us.
pub(super) fn compared() -> String {
    let pane = PaneFacts::compared() + &Surface::compared();
    let all = nested([SessionFacts::compared(), WindowFacts::compared(), pane]);
    format!("#{{S:{all}}}")
}

/// Looks at a server.
pub(super) async fn look(host: &Host) -> Result<Tree, Error> {
    let pane = PaneFacts::format() + &Surface::format();
    let format = nested([SessionFacts::format(), WindowFacts::format(), pane]);
    let panes = host.tmux().run(Command::query("list-sessions").option("-F", format));
    let (panes, people) = tokio::join!(panes, host.people());
    let reply = match panes {
        Err(error) if error.is_no_server() => return Ok(Tree::default()),
        other => other?.0,
    };
    let pane = |cells: &mut Cells| Some((PaneFacts::read(cells)?, Surface::read(cells)?));
    let panes = read_nested(&reply, pane)?.into_iter();
    let panes = panes
        .map(|(session, window, (facts, surface))| Pane { session, window, facts, surface })
        .collect();
    // When somebody was last active is no news.
    let people = people?.into_iter().map(|row| ClientRow { activity: 0, ..row }).collect();
    Ok(Tree { panes, people })
}

impl Pane {
    fn is_seen(&self, sees: &Sees) -> bool {
        let Self { session, facts, .. } = self;
        let place = Place {
            pane: facts.id,
            session: session.id,
            session_name: &session.name,
            owner: &facts.owner,
        };
        sees.as_ref().is_none_or(|sees| sees(&place))
    }

    /// Whether somebody who follows `subject` is told of it.
    fn belongs_to(&self, subject: &Subject) -> bool {
        match *subject {
            Subject::Server | Subject::Sessions | Subject::Clients => true,
            Subject::Session(id) => self.session.id == id,
            Subject::Window(id) => self.window.id == id,
            Subject::Pane(id) | Subject::Output(_, id) => self.facts.id == id,
            Subject::Command(_) => false,
        }
    }

    fn shown(&self) -> (u32, ProcessState, u32, u32, Surface) {
        let PaneFacts { pid, process_state, width, height, .. } = self.facts;
        (pid, process_state, width, height, self.surface.clone())
    }
}

impl Tree {
    /// The server's process.
    pub(super) fn pid(&self) -> Option<u32> {
        self.panes.first().map(|pane| pane.session.server)
    }

    /// What of it somebody who follows `subject` is told of. Nothing if the object is not there.
    pub(super) fn part(&self, subject: &Subject, sees: &Sees) -> Option<Part> {
        let mut part = Part::default();
        for pane in self.panes.iter().filter(|p| p.belongs_to(subject) && p.is_seen(sees)) {
            if part.sessions.last().is_none_or(|(last, ..)| last.id != pane.session.id) {
                part.sessions.push(self.session(&pane.session));
            }
            match subject {
                Subject::Server | Subject::Sessions | Subject::Clients | Subject::Command(_) => {}
                Subject::Output(..) => part.shown = Some(pane.shown()),
                Subject::Session(_) | Subject::Window(_) | Subject::Pane(_) => {
                    if part.windows.last().is_none_or(|(last, _)| last.id != pane.window.id) {
                        part.windows.push(self.window(&pane.window));
                    }
                    part.panes.push(pane.facts.clone());
                }
            }
        }
        match subject {
            Subject::Sessions => {}
            Subject::Server => part.server = self.pid().map(|pid| (pid, part.sessions.len())),
            Subject::Clients => part.people = self.people_in(&part.sessions, sees),
            _ if part.sessions.is_empty() => return None,
            _ => {}
        }
        if let Subject::Server | Subject::Clients | Subject::Output(..) = subject {
            part.sessions.clear();
        }
        Some(part)
    }

    /// A session with how many people look at it, and who made what is in it.
    fn session(&self, facts: &SessionFacts) -> (SessionFacts, usize, BTreeSet<String>) {
        let people = self.people.iter().filter(|row| row.session == Some(facts.id)).count();
        (facts.clone(), people, self.owners(|pane| pane.session.id == facts.id))
    }

    /// A window with who made what is in it.
    fn window(&self, facts: &WindowFacts) -> (WindowFacts, BTreeSet<String>) {
        (facts.clone(), self.owners(|pane| pane.window.id == facts.id))
    }

    fn owners(&self, of: impl Fn(&Pane) -> bool) -> BTreeSet<String> {
        self.panes.iter().filter(|pane| of(pane)).map(|pane| pane.facts.owner.clone()).collect()
    }

    /// The people who look at these sessions, or at anything.
    fn people_in(
        &self,
        sessions: &[(SessionFacts, usize, BTreeSet<String>)],
        sees: &Sees,
    ) -> Vec<ClientRow> {
        let shown = |client: &&ClientRow| {
            let mut ids = sessions.iter().map(|(session, ..)| Some(session.id));
            sees.is_none() || ids.any(|id| id == client.session)
        };
        self.people.iter().filter(shown).cloned().collect()
    }
}
