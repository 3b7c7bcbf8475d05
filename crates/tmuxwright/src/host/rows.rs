//! What is asked of tmux about its objects.

use tmux_control::format::Cell;
use tmux_control::{PaneId, SessionId, WindowId, row};

/// What became of a pane's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// It runs.
    Running,
    /// It has exited: with a status, or by a signal (128 and its number; tmux tells from 3.3 on).
    Exited(Option<i32>),
}

impl ProcessState {
    /// Whether it has exited.
    pub fn has_exited(self) -> bool {
        self != Self::Running
    }

    /// With which code, if tmux knows it.
    pub fn exit_code(self) -> Option<i32> {
        match self {
            Self::Running => None,
            Self::Exited(code) => code,
        }
    }
}

impl Cell for ProcessState {
    fn parse(text: String) -> Option<Self> {
        let Some(left) = text.strip_prefix('x') else {
            return Some(Self::Running);
        };
        let (status, signal) = left.split_once('/')?;
        let by_signal = signal.parse::<i32>().ok().map(|number| 128 + number);
        Some(Self::Exited(by_signal.or_else(|| status.parse().ok())))
    }
}

row! {
    /// A pane that a call is about: where it is and what it does with what is typed into it.
    pub PaneState {
        /// Its id.
        pane: PaneId = "pane_id",
        /// Its session.
        session: SessionId = "session_id",
        /// Its session's name.
        session_name: String = "session_name",
        /// Its window.
        window: WindowId = "window_id",
        /// Its first process.
        pid: u32 = "pane_pid",
        /// Whether its process runs, and what it left if not.
        process_state: ProcessState = "?pane_dead,x#{pane_dead_status}/#{pane_dead_signal},",
        /// The mode it is in, such as `copy-mode`.
        mode: String = "pane_mode",
        /// Whether typing into it is switched off.
        input_off: bool = "pane_input_off",
        /// Whether what is typed into it goes to the other panes of its window too.
        synchronized: bool = "pane_synchronized",
        /// Who made it.
        owner: String = "@mcp_owner",
    }
}

row! {
    /// Whether a pane stays when its program has exited.
    pub(super) RemainOnExit {
        pane: PaneId = "pane_id",
        remain_on_exit: String = "remain-on-exit",
    }
}

impl RemainOnExit {
    /// Whether it does; some versions print words, some numbers.
    pub(super) fn is_on(&self) -> bool {
        !matches!(self.remain_on_exit.as_str(), "" | "0" | "off")
    }
}

row! {
    /// A window.
    pub WindowRow {
        /// Its id.
        window: WindowId = "window_id",
        /// Its session.
        session: SessionId = "session_id",
        /// Its session's name.
        session_name: String = "session_name",
        /// Its index in the session.
        index: u32 = "window_index",
        /// Its name.
        name: String = "window_name",
        /// How many panes it has.
        panes: u32 = "window_panes",
        /// Whether it is the current one of its session.
        active: bool = "window_active",
        /// How its panes are arranged.
        layout: String = "window_layout",
        /// Its width.
        width: u32 = "window_width",
        /// Its height.
        height: u32 = "window_height",
        /// Whether one of its panes fills it.
        zoomed: bool = "window_zoomed_flag",
    }
}

row! {
    /// A session.
    pub SessionRow {
        /// Its id.
        session: SessionId = "session_id",
        /// Its name.
        name: String = "session_name",
        /// How many windows it has.
        windows: u32 = "session_windows",
        /// When it was made, in seconds since the epoch.
        created: u64 = "session_created",
    }
}

row! {
    /// A client.
    pub ClientRow {
        /// The session it is attached to.
        session: Option<SessionId> = "session_id",
        /// That session's name.
        session_name: String = "session_name",
        /// Its flags, separated by commas.
        flags: String = "client_flags",
        /// Its name, by which tmux finds it.
        name: String = "client_name",
        /// Its terminal.
        tty: String = "client_tty",
        /// Its process.
        pid: u32 = "client_pid",
        /// Its width; programs may have none.
        width: Option<u32> = "client_width",
        /// Its height.
        height: Option<u32> = "client_height",
        /// When it was last used, in seconds since the epoch.
        activity: u64 = "client_activity",
    }
}

impl ClientRow {
    /// Control clients that count for no size are programs like this one. Those of terminals that
    /// speak control mode themselves do count, since a person looks through them.
    pub fn is_person(&self) -> bool {
        !(self.is_control() && self.has("ignore-size"))
    }

    /// Whether it speaks control mode.
    pub fn is_control(&self) -> bool {
        self.has("control-mode")
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.split(',').any(|f| f == flag)
    }
}

row! {
    /// What a command that creates something prints.
    pub CreatedPane {
        /// The session.
        session: SessionId = "session_id",
        /// Its name.
        session_name: String = "session_name",
        /// The window.
        window: WindowId = "window_id",
        /// Its index.
        index: u32 = "window_index",
        /// The pane.
        pane: PaneId = "pane_id",
    }
}
