//! Sessions, windows and panes as callers see them. The field names are a contract.

use schemars::JsonSchema;
use serde::Serialize;

use super::words::{FactRow, count, field};
use crate::contract::{Form, Output};
use crate::host::{Host, PaneRow, PaneState, ProcessState, SessionRow, WindowRow};

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Session {
    /// Its id.
    pub session_id: String,
    /// Its name.
    pub name: String,
    /// How many windows it has.
    pub windows: u32,
    /// How many people look at it.
    pub attached: usize,
    /// When it was made, in seconds since the epoch.
    pub created: u64,
    /// Whether this server made it.
    pub own: bool,
}

/// A window.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Window {
    /// Its id.
    pub window_id: String,
    /// Its session's id.
    pub session_id: String,
    /// Its session's name.
    pub session: String,
    /// Its index in the session.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// How many panes it has.
    pub panes: u32,
    /// Whether it is the current one of its session.
    pub active: bool,
    /// How its panes are arranged.
    pub layout: String,
    /// Its width.
    pub width: u32,
    /// Its height.
    pub height: u32,
    /// Whether this server made it.
    pub own: bool,
}

/// A pane.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pane {
    /// Its id.
    pub pane_id: String,
    /// Its window's id.
    pub window_id: String,
    /// Its session's id.
    pub session_id: String,
    /// Its session's name.
    pub session: String,
    /// Its window's name.
    pub window: String,
    /// Its index in the window.
    pub index: u32,
    /// Its title.
    pub title: String,
    /// The program in its foreground.
    pub command: String,
    /// That program's directory.
    pub path: String,
    /// Its first process.
    pub pid: u32,
    /// Its width.
    pub width: u32,
    /// Its height.
    pub height: u32,
    /// Whether it is the active one of its window.
    pub active: bool,
    /// Whether its process runs.
    pub status: Status,
    /// With what its process ended.
    pub exit_code: Option<i32>,
    /// Whether this server made it.
    pub own: bool,
    /// Whether this server runs in it.
    pub is_caller: bool,
    #[serde(skip)]
    window_index: u32,
}

/// Whether a pane's process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It does.
    Running,
    /// It has ended; the pane is still there.
    Exited,
}

impl Status {
    /// What became of a process, in a word.
    pub fn of(process_state: ProcessState) -> Self {
        if process_state.has_exited() { Self::Exited } else { Self::Running }
    }
}

impl Session {
    /// A session with what is known around it.
    pub fn new(row: SessionRow, attached: usize, own: bool) -> Self {
        Self {
            session_id: row.session.to_string(),
            name: row.name,
            windows: row.windows,
            attached,
            created: row.created,
            own,
        }
    }

    /// The session as one row of text.
    pub fn row(&self) -> String {
        let attached = (self.attached > 0).then(|| format!("{} attached", self.attached));
        FactRow::new(format!("{} {}", self.session_id, field(&self.name)))
            .fact(count(self.windows, "window"))
            .maybe(attached)
            .fact(format!("created {}", self.created))
            .flag(self.own, "own")
            .into()
    }
}

impl Window {
    /// A window with what is known around it.
    pub fn new(row: WindowRow, own: bool) -> Self {
        Self {
            window_id: row.window.to_string(),
            session_id: row.session.to_string(),
            session: row.session_name,
            index: row.index,
            name: row.name,
            panes: row.panes,
            active: row.active,
            layout: row.layout,
            width: row.width,
            height: row.height,
            own,
        }
    }

    /// The window as one row of text.
    pub fn row(&self) -> String {
        let Self { window_id, session_id, index, width, height, layout, .. } = self;
        let (session, name) = (field(&self.session), field(&self.name));
        FactRow::new(format!("{window_id} {session_id} {session}:{index} {name}"))
            .fact(count(self.panes, "pane"))
            .fact(format!("{width}x{height}"))
            .fact(format!("layout {}", field(layout)))
            .flag(self.active, "active")
            .flag(self.own, "own")
            .into()
    }
}

impl Pane {
    /// A pane with our standing on it.
    pub fn new(host: &Host, row: PaneRow) -> Self {
        let PaneRow { session, window, pane } = row;
        Self {
            own: host.owns(&pane.owner),
            is_caller: host.is_caller(pane.id, pane.pid),
            exit_code: pane.process_state.exit_code(),
            status: Status::of(pane.process_state),
            window_index: window.index,
            pane_id: pane.id.to_string(),
            window_id: window.id.to_string(),
            session_id: session.id.to_string(),
            session: session.name,
            window: window.name,
            index: pane.index,
            title: pane.title,
            command: pane.command,
            path: pane.path,
            pid: pane.pid,
            width: pane.width,
            height: pane.height,
            active: pane.active,
        }
    }

    /// The pane as one row of text.
    pub fn row(&self) -> String {
        let Self { pane_id, window_id, session_id, index, width, height, .. } = self;
        let (session, window) = (field(&self.session), field(&self.window));
        let address = format!("{session}:{}.{index}", self.window_index);
        let program = match (self.status, self.exit_code) {
            (Status::Running, _) => field(&self.command),
            (Status::Exited, Some(code)) => format!("exited {code}"),
            (Status::Exited, None) => "exited".to_owned(),
        };
        FactRow::new(format!("{pane_id} {window_id} {session_id} {address} {window}"))
            .fact(program)
            .maybe((!self.path.is_empty()).then(|| field(&self.path)))
            .maybe(self.own_title().map(|title| format!("title {}", field(title))))
            .fact(format!("{width}x{height}"))
            .flag(self.active, "active")
            .flag(self.own, "own")
            .flag(self.is_caller, "is_caller")
            .into()
    }

    /// The title, unless it is the one every pane begins with: the name of the machine.
    fn own_title(&self) -> Option<&str> {
        let is_default = rustix::system::uname().nodename().to_bytes() == self.title.as_bytes();
        Some(self.title.as_str()).filter(|title| !title.is_empty() && !is_default)
    }
}

impl Output for Window {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        self.row()
    }
}

impl Output for Pane {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        self.row()
    }
}

/// What is in front now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Selected {
    /// The session.
    pub session_id: String,
    /// Its window.
    pub window_id: String,
    /// That window's active pane.
    pub pane_id: String,
}

impl From<PaneState> for Selected {
    fn from(row: PaneState) -> Self {
        Self {
            session_id: row.session.to_string(),
            window_id: row.window.to_string(),
            pane_id: row.pane.to_string(),
        }
    }
}

impl Output for Selected {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        format!("selected {} in {} in {}", self.pane_id, self.window_id, self.session_id)
    }
}
