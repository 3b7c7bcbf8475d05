//! `get_info`: all facts about one session, window or pane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::target::Level;
use tmux_control::{PaneId, row};

use crate::actions::arrange::pane_gone;
use crate::context::{Cx, Tool, VisibleTree};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::host::{PaneRow, SessionRow, WindowRow};
use crate::results::objects::{Pane, Session, Window};
use crate::results::words::{FactRow, field};

pub(super) struct GetInfo;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Session, window or pane.
    target: Target,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ObjectInfo {
    /// Kind of target: session, window or pane.
    kind: String,
    /// The session.
    session: Session,
    /// The window, for a window or a pane.
    window: Option<Window>,
    /// The pane, for a pane.
    pane: Option<PaneDetails>,
}

#[derive(Serialize, JsonSchema)]
struct PaneDetails {
    #[serde(flatten)]
    pane: Pane,
    /// First column in the window.
    left: u32,
    /// First row in the window.
    top: u32,
    /// Last column in the window.
    right: u32,
    /// Last row in the window.
    bottom: u32,
    /// Whether the pane touches the window's left edge.
    at_left: bool,
    /// Whether the pane touches the top edge.
    at_top: bool,
    /// Whether the pane touches the right edge.
    at_right: bool,
    /// Whether the pane touches the bottom edge.
    at_bottom: bool,
    /// Column of the cursor.
    cursor_x: u32,
    /// Row of the cursor.
    cursor_y: u32,
    /// Lines scrolled off the screen.
    history: i64,
    /// Maximum of history lines.
    history_limit: u32,
    /// Terminal device.
    tty: String,
    /// Command line the pane was started with.
    start_command: String,
    /// Mode the pane is in, such as copy-mode.
    mode: String,
    /// Whether a program uses the alternate screen.
    alternate_screen: bool,
    /// Whether input is synchronized with other panes of the window.
    synchronized: bool,
    /// Whether input is switched off.
    input_off: bool,
    /// Whether the pane is zoomed.
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

impl PaneDetails {
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

    /// The facts that the row of the pane does not have.
    fn row(&self) -> String {
        let Self { left, top, right, bottom, cursor_x, cursor_y, history, .. } = self;
        let edges: Vec<&str> = [
            (self.at_left, "left"),
            (self.at_top, "top"),
            (self.at_right, "right"),
            (self.at_bottom, "bottom"),
        ]
        .into_iter()
        .filter_map(|(touches, edge)| touches.then_some(edge))
        .collect();
        let started = Some(&self.start_command).filter(|command| !command.is_empty());
        let mode = Some(&self.mode).filter(|mode| !mode.is_empty());
        FactRow::new(format!("columns {left}-{right}, rows {top}-{bottom}"))
            .maybe((!edges.is_empty()).then(|| format!("at edges {}", edges.join(", "))))
            .fact(format!("cursor {cursor_x},{cursor_y}"))
            .fact(format!("{history} of {} history lines", self.history_limit))
            .fact(format!("tty {}", field(&self.tty)))
            .fact(format!("pid {}", self.pane.pid))
            .maybe(started.map(|command| format!("started with {}", field(command))))
            .maybe(mode.map(|mode| format!("mode {}", field(mode))))
            .flag(self.alternate_screen, "alternate_screen")
            .flag(self.synchronized, "synchronized")
            .flag(self.input_off, "input_off")
            .flag(self.zoomed, "zoomed")
            .into()
    }
}

impl Output for ObjectInfo {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let mut rows = vec![format!("session {}", self.session.row())];
        rows.extend(self.window.as_ref().map(|window| format!("window {}", window.row())));
        if let Some(details) = &self.pane {
            rows.push(format!("pane {}", details.pane.row()));
            rows.push(details.row());
        }
        rows.join("\n")
    }
}

impl Tool for GetInfo {
    const META: Meta = Meta {
        name: "get_info",
        title: "Get info",
        description: "Show all facts about one session, window or pane: geometry, cursor, history, modes.",
        group: Group::Object,
        tier: Tier::Read,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = ObjectInfo;

    async fn call(cx: &Cx, args: Args) -> Result<ObjectInfo, ToolError> {
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
        Ok(ObjectInfo {
            kind: found.level.to_string(),
            session: Session::new(session, attached, own_session),
            window: (found.level >= Level::Window).then(|| Window::new(window, own_window)),
            pane: match found.level {
                Level::Pane => {
                    let row = panes.into_iter().find(|row| {
                        (row.session.id, row.pane.id) == (found.pane.session, found.pane.pane)
                    });
                    let row = row.ok_or_else(|| pane_gone(found.pane.pane))?;
                    Some(PaneDetails::new(cx, row, details?))
                }
                _ => None,
            },
        })
    }
}
