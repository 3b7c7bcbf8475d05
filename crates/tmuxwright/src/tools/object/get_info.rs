//! `get_info`: everything about one session, window or pane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::target::Level;
use tmux_control::{PaneId, row};

use crate::context::{Cx, Tool, VisibleTree};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::host::{PaneRow, SessionRow, WindowRow};
use crate::results::objects::{Pane, Session, Window};

pub(super) struct GetInfo;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Session, window or pane.
    target: Target,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Info {
    /// What the target is.
    kind: String,
    /// The session.
    session: Session,
    /// The window, if the target is one or a pane.
    window: Option<Window>,
    /// The pane, if the target is one.
    pane: Option<Details>,
}

#[derive(Serialize, JsonSchema)]
struct Details {
    #[serde(flatten)]
    pane: Pane,
    /// Its first column in the window.
    left: u32,
    /// Its first row in the window.
    top: u32,
    /// Its last column.
    right: u32,
    /// Its last row.
    bottom: u32,
    /// Whether it touches the window's left edge.
    at_left: bool,
    /// Whether it touches the top edge.
    at_top: bool,
    /// Whether it touches the right edge.
    at_right: bool,
    /// Whether it touches the bottom edge.
    at_bottom: bool,
    /// The cursor's column.
    cursor_x: u32,
    /// The cursor's row.
    cursor_y: u32,
    /// Lines scrolled off the screen.
    history: i64,
    /// How many are kept.
    history_limit: u32,
    /// Its terminal.
    tty: String,
    /// What it was started with.
    start_command: String,
    /// The mode it is in, such as copy-mode.
    mode: String,
    /// Whether a program has taken over the screen.
    alternate_screen: bool,
    /// Whether typing goes to all panes of the window.
    synchronized: bool,
    /// Whether typing is switched off.
    input_off: bool,
    /// Whether it fills its window.
    zoomed: bool,
}

row! {
    DetailRow {
        pane: PaneId = "pane_id",
        left: u32 = "pane_left",
        top: u32 = "pane_top",
        right: u32 = "pane_right",
        bottom: u32 = "pane_bottom",
        at_left: bool = "pane_at_left",
        at_top: bool = "pane_at_top",
        at_right: bool = "pane_at_right",
        at_bottom: bool = "pane_at_bottom",
        cursor_x: u32 = "cursor_x",
        cursor_y: u32 = "cursor_y",
        history: i64 = "history_size",
        history_limit: u32 = "history_limit",
        mode: String = "pane_mode",
        input_off: bool = "pane_input_off",
        tty: String = "pane_tty",
        start_command: String = "pane_start_command",
        alternate_screen: bool = "alternate_on",
        synchronized: bool = "pane_synchronized",
        active: bool = "pane_active",
        zoomed: bool = "window_zoomed_flag",
    }
}

impl Details {
    fn new(cx: &Cx, pane: PaneRow, row: DetailRow) -> Self {
        Self {
            left: row.left,
            top: row.top,
            right: row.right,
            bottom: row.bottom,
            at_left: row.at_left,
            at_top: row.at_top,
            at_right: row.at_right,
            at_bottom: row.at_bottom,
            cursor_x: row.cursor_x,
            cursor_y: row.cursor_y,
            history: row.history,
            history_limit: row.history_limit,
            tty: row.tty,
            start_command: row.start_command,
            mode: row.mode,
            alternate_screen: row.alternate_screen,
            synchronized: row.synchronized,
            input_off: row.input_off,
            zoomed: row.zoomed && row.active,
            pane: Pane::new(&cx.host, pane),
        }
    }
}

impl Output for Info {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let mut rows = vec![format!("session {}", self.session.row())];
        rows.extend(self.window.as_ref().map(|window| format!("window {}", window.row())));
        if let Some(info) = &self.pane {
            let Details { left, top, right, bottom, cursor_x, cursor_y, history, .. } = info;
            rows.push(format!("pane {}", info.pane.row()));
            rows.push(format!(
                "columns {left}-{right}, rows {top}-{bottom} · cursor {cursor_x},{cursor_y} · \
                 {history} of {} history lines · {} · pid {}",
                info.history_limit, info.tty, info.pane.pid
            ));
        }
        rows.join("\n")
    }
}

impl Tool for GetInfo {
    const META: Meta = Meta {
        name: "get_info",
        title: "Get info",
        description: "Everything about one session, window or pane, with geometry.",
        group: Group::Object,
        tier: Tier::Read,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Info;

    async fn call(cx: &Cx, args: Args) -> Result<Info, ToolError> {
        let found = cx.resolve(&args.target).await?;
        let target = format!("{}:{}.{}", found.pane.session, found.pane.window, found.pane.pane);
        let (session, window, details, tree, people) = tokio::join!(
            cx.tmux().row::<SessionRow>(&target),
            cx.tmux().row::<WindowRow>(&target),
            cx.tmux().row::<DetailRow>(&target),
            cx.tree(),
            cx.host.people(),
        );
        let VisibleTree { panes, ownership, .. } = tree?;
        let (session, window, people) = (session?, window?, people?);
        let attached = people.iter().filter(|p| p.session == Some(session.session)).count();
        let (own_session, own_window) =
            (ownership.session(session.session), ownership.window(window.window));
        Ok(Info {
            kind: found.level.to_string(),
            session: Session::new(session, attached, own_session),
            window: (found.level >= Level::Window).then(|| Window::new(window, own_window)),
            pane: match found.level {
                Level::Pane => {
                    let row = panes.into_iter().find(|row| {
                        (row.session.id, row.pane.id) == (found.pane.session, found.pane.pane)
                    });
                    let gone = || {
                        ToolError::new(Code::NotFound, format!("{} is gone", found.pane.pane))
                            .hint("list_panes shows what there is")
                    };
                    Some(Details::new(cx, row.ok_or_else(gone)?, details?))
                }
                _ => None,
            },
        })
    }
}
