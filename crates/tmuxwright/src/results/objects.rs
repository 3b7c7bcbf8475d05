//! Sessions, windows and panes as answers show them. The field names are a contract.

use schemars::JsonSchema;
use serde::Serialize;

use super::words::{FactRow, count, field};
use crate::contract::{Form, Output};
use crate::host::{Host, PaneRow, ProcessState, SessionRow, WindowRow};

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Session {
    /// Session id.
    pub(crate) session_id: String,
    /// Session name.
    pub(crate) name: String,
    /// Number of windows.
    pub(crate) windows: u32,
    /// Number of people attached to it.
    pub(crate) attached: usize,
    /// Creation time, in seconds since the epoch.
    pub(crate) created: u64,
    /// Whether this server made it.
    pub(crate) own: bool,
}

/// A window.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Window {
    /// Window id.
    pub(crate) window_id: String,
    /// Session id.
    pub(crate) session_id: String,
    /// Session name.
    pub(crate) session: String,
    /// Index in the session.
    pub(crate) index: u32,
    /// Window name.
    pub(crate) name: String,
    /// Number of panes.
    pub(crate) panes: u32,
    /// Whether it is the current window of its session.
    pub(crate) active: bool,
    /// Arrangement of its panes, for select_layout.
    pub(crate) layout: String,
    /// Columns.
    pub(crate) width: u32,
    /// Rows.
    pub(crate) height: u32,
    /// Whether this server made it.
    pub(crate) own: bool,
}

/// A pane.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Pane {
    /// Pane id.
    pub(crate) pane_id: String,
    /// Window id.
    pub(crate) window_id: String,
    /// Session id.
    pub(crate) session_id: String,
    /// Session name.
    pub(crate) session: String,
    /// Window name.
    pub(crate) window: String,
    /// Index in the window.
    pub(crate) index: u32,
    /// Pane title.
    pub(crate) title: String,
    /// Name of the foreground program.
    pub(crate) command: String,
    /// Working directory of that program.
    pub(crate) path: String,
    /// Process id of the program the pane was started with.
    pub(crate) pid: u32,
    /// Columns.
    pub(crate) width: u32,
    /// Rows.
    pub(crate) height: u32,
    /// Whether it is the active pane of its window.
    pub(crate) active: bool,
    /// Whether the process `pid` runs or has exited.
    pub(crate) status: PaneStatus,
    /// Exit code of that process, once it has exited.
    pub(crate) exit_code: Option<i32>,
    /// Whether this server made it.
    pub(crate) own: bool,
    /// Whether this server runs in it.
    pub(crate) is_caller: bool,
    #[serde(skip)]
    window_index: u32,
}

/// State of the process that a pane was started with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PaneStatus {
    /// The process runs.
    Running,
    /// The process has exited; the pane is still there.
    Exited,
}

impl PaneStatus {
    /// The status of a process.
    pub(crate) fn of(life: ProcessState) -> Self {
        if life.has_exited() { Self::Exited } else { Self::Running }
    }
}

impl Session {
    /// Combines tmux's row with the number of attached people and the ownership.
    pub(crate) fn new(row: SessionRow, attached: usize, own: bool) -> Self {
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
    pub(crate) fn row(&self) -> String {
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
    /// Combines tmux's row with the ownership.
    pub(crate) fn new(row: WindowRow, own: bool) -> Self {
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
    pub(crate) fn row(&self) -> String {
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
    /// Combines tmux's row with the ownership and whether this server runs there.
    pub(crate) fn new(host: &Host, row: PaneRow) -> Self {
        let PaneRow { session, window, pane } = row;
        Self {
            own: host.owns(&pane.owner),
            is_caller: host.is_caller(pane.id, pane.pid),
            exit_code: pane.process_state.exit_code(),
            status: PaneStatus::of(pane.process_state),
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
    pub(crate) fn row(&self) -> String {
        let Self { pane_id, window_id, session_id, index, width, height, .. } = self;
        let (session, window) = (field(&self.session), field(&self.window));
        let address = format!("{session}:{}.{index}", self.window_index);
        FactRow::new(format!("{pane_id} {window_id} {session_id} {address} {window}"))
            .fact(program_or_exit(self.status, self.exit_code, &self.command))
            .maybe((!self.path.is_empty()).then(|| field(&self.path)))
            .maybe(self.own_title().map(|title| format!("title {}", field(title))))
            .fact(format!("{width}x{height}"))
            .flag(self.active, "active")
            .flag(self.own, "own")
            .flag(self.is_caller, "is_caller")
            .into()
    }

    /// The title, unless it is tmux's default for every pane: the host name.
    fn own_title(&self) -> Option<&str> {
        let is_default = rustix::system::uname().nodename().to_bytes() == self.title.as_bytes();
        Some(self.title.as_str()).filter(|title| !title.is_empty() && !is_default)
    }
}

/// The program in a pane's foreground, or its exit code, as one fact of a row.
pub(crate) fn program_or_exit(status: PaneStatus, exit_code: Option<i32>, command: &str) -> String {
    match (status, exit_code) {
        (PaneStatus::Running, _) => field(command),
        (PaneStatus::Exited, Some(code)) => format!("exited {code}"),
        (PaneStatus::Exited, None) => "exited".to_owned(),
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
