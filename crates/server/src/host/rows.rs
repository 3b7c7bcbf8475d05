//! What is asked of tmux about its objects.

use tmux::{PaneId, SessionId, WindowId, row};

row! {
    /// A pane.
    pub PaneRow {
        /// Its id.
        pane: PaneId = "pane_id",
        /// Its session.
        session: SessionId = "session_id",
        /// Its session's name.
        session_name: String = "session_name",
        /// Its window.
        window: WindowId = "window_id",
        /// Its window's index.
        window_index: u32 = "window_index",
        /// Its window's name.
        window_name: String = "window_name",
        /// Its index in the window.
        index: u32 = "pane_index",
        /// Its title.
        title: String = "pane_title",
        /// The program in its foreground.
        command: String = "pane_current_command",
        /// That program's directory.
        path: String = "pane_current_path",
        /// Its first process.
        pid: u32 = "pane_pid",
        /// Its width.
        width: u32 = "pane_width",
        /// Its height.
        height: u32 = "pane_height",
        /// Whether it is the active one of its window.
        active: bool = "pane_active",
        /// Whether its process has exited.
        dead: bool = "pane_dead",
        /// With which status.
        dead_status: Option<i32> = "pane_dead_status",
        /// By which signal (tmux 3.3 and later tell).
        dead_signal: Option<i32> = "pane_dead_signal",
        /// The mode it is in, such as `copy-mode`.
        mode: String = "pane_mode",
        /// Whether typing into it is switched off.
        input_off: bool = "pane_input_off",
        /// How many lines have scrolled off its screen.
        history: i64 = "history_size",
        /// Who made it.
        owner: String = "@mcp_owner",
    }
}

impl PaneRow {
    /// The exit code of a pane whose process has exited; 128 and the number for a signal.
    pub fn exit_code(&self) -> Option<i32> {
        match self.dead_signal {
            Some(signal) if self.dead => Some(128 + signal),
            _ => self.dead_status.filter(|_| self.dead),
        }
    }

    /// The pane as a person would write it: `dev:2.0`.
    pub fn address(&self) -> String {
        format!("{}:{}.{}", self.session_name, self.window_index, self.index)
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
        /// Its flags, separated by commas.
        flags: String = "client_flags",
    }
}

impl ClientRow {
    /// Control clients that count for no size are programs like this one. Those of terminals that
    /// speak control mode themselves do count, since a person looks through them.
    pub fn is_person(&self) -> bool {
        let has = |flag| self.flags.split(',').any(|f| f == flag);
        !(has("control-mode") && has("ignore-size"))
    }
}

row! {
    /// What a command that creates something prints.
    pub Created {
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
