//! Rows of tmux formats: the facts about objects that tmux is asked for.

use tmux_control::format::FieldValue;
use tmux_control::{PaneId, SessionId, WindowId, row};

/// The state of a pane's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// The process runs.
    Running,
    /// The process has exited, with its exit code: a status, or 128 plus the number of a signal, which
    /// tmux reports from 3.3 on. `None` if tmux missed the exit.
    Exited(Option<i32>),
}

impl ProcessState {
    /// Whether the process has exited.
    pub fn has_exited(self) -> bool {
        self != Self::Running
    }

    /// The exit code, if the process has exited and tmux knows it.
    pub fn exit_code(self) -> Option<i32> {
        match self {
            Self::Running => None,
            Self::Exited(code) => code,
        }
    }
}

impl FieldValue for ProcessState {
    fn parse(text: String) -> Option<Self> {
        let Some(rest) = text.strip_prefix('x') else {
            return Some(Self::Running);
        };
        let (status, signal) = rest.split_once('/')?;
        let by_signal = signal.parse::<i32>().ok().map(|number| 128 + number);
        Some(Self::Exited(by_signal.or_else(|| status.parse().ok())))
    }
}

row! {
    /// The state of the pane that a call uses: its place, process, mode and input.
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
        /// The state of its process.
        process_state: ProcessState = "?pane_dead,x#{pane_dead_status}/#{pane_dead_signal},",
        /// The mode it is in, such as `copy-mode`.
        mode: String = "pane_mode",
        /// Whether its input is switched off.
        input_off: bool = "pane_input_off",
        /// Whether its input also goes to other panes of its window (synchronize-panes).
        synchronized: bool = "pane_synchronized",
        /// The token of its owner; empty for a person's pane.
        owner: String = "@mcp_owner[0=0]",
    }
}

row! {
    /// Whether a pane remains when its program has exited.
    pub(super) RemainOnExit {
        pane: PaneId = "pane_id",
        remain_on_exit: String = "remain-on-exit",
    }
}

impl RemainOnExit {
    /// Whether the option is on; some versions of tmux print words, some numbers.
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
        /// Whether it is the current window of its session.
        active: bool = "window_active",
        /// Its layout string.
        layout: String = "window_layout",
        /// Its width.
        width: u32 = "window_width",
        /// Its height.
        height: u32 = "window_height",
        /// Whether its active pane is zoomed.
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
    /// A tmux client.
    pub ClientRow {
        /// The session it is attached to.
        session: Option<SessionId> = "session_id",
        /// That session's name.
        session_name: String = "session_name",
        /// Its flags, separated by commas.
        flags: String = "client_flags",
        /// Its name, which tmux takes as `-t`.
        name: String = "client_name",
        /// Its terminal.
        tty: String = "client_tty",
        /// Its process.
        pid: u32 = "client_pid",
        /// Its width; control clients may have none.
        width: Option<u32> = "client_width",
        /// Its height.
        height: Option<u32> = "client_height",
        /// When it was last used, in seconds since the epoch.
        activity: u64 = "client_activity",
    }
}

impl ClientRow {
    /// Whether a person uses the client. Control clients with `ignore-size` are programs like this one;
    /// other control clients belong to terminals in which a person works, such as iTerm2.
    pub fn is_person(&self) -> bool {
        !(self.is_control() && self.has("ignore-size"))
    }

    /// Whether it is in control mode.
    pub fn is_control(&self) -> bool {
        self.has("control-mode")
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.split(',').any(|f| f == flag)
    }
}

row! {
    /// The pane that a command created, as it prints it with `-P`.
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
