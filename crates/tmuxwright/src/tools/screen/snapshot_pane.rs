//! `snapshot_pane`: reads the text of a pane together with its cursor, mode and program.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::capture::Capture;
use tmux_control::{PaneId, row};

use crate::actions::read::{ReadRequest, program_or_end, read};
use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError};
use crate::results::objects::PaneStatus;
use crate::results::words::{FactRow, count, field};
use terminal::text::keep_tail;

pub(super) struct SnapshotPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane, such as %3.
    target: Target,
    /// Last N lines, history included (default: the screen).
    lines: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct PaneSnapshot {
    /// Pane id.
    pane_id: String,
    /// Text of the screen, or of the lines asked for.
    text: String,
    /// Column of the cursor, from 0.
    cursor_x: u32,
    /// Row of the cursor on the screen, from 0.
    cursor_y: u32,
    /// Width of the pane in columns.
    width: u32,
    /// Height of the pane in rows.
    height: u32,
    /// Mode of the pane, such as copy-mode.
    mode: String,
    /// Lines scrolled up in that mode.
    scroll_position: u32,
    /// Lines of history above the screen.
    history: i64,
    /// Whether a full-screen program shows the alternate screen.
    alternate_screen: bool,
    /// Title of the pane.
    title: String,
    /// Foreground program.
    command: String,
    /// Directory of that program.
    path: String,
    /// Whether the pane's first process runs.
    status: PaneStatus,
    /// Exit code of that process.
    exit_code: Option<i32>,
    /// Lines cut from the beginning of the text because it was too long.
    lines_cut: usize,
    /// Whether lines were cut.
    truncated: bool,
    /// The foreground program, or how the pane's process ended.
    #[serde(skip)]
    state: String,
}

row! {
    SnapshotFacts {
        pane: PaneId = "pane_id",
        cursor_x: u32 = "cursor_x",
        cursor_y: u32 = "cursor_y",
        width: u32 = "pane_width",
        height: u32 = "pane_height",
        scroll_position: Option<u32> = "scroll_position",
        history: i64 = "history_size",
        alternate_screen: bool = "alternate_on",
        title: String = "pane_title",
        command: String = "pane_current_command",
        path: String = "pane_current_path",
    }
}

impl Output for PaneSnapshot {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let Self { pane_id, state, width, height, cursor_x, cursor_y, history, .. } = self;
        let labelled = |label: &str, text: &str| {
            (!text.is_empty()).then(|| format!("{label} {}", field(text)))
        };
        let scrolled = || format!("{}, {} lines up", field(&self.mode), self.scroll_position);
        let lines_cut = count(self.lines_cut as u64, "line");
        let cut = || format!("first {lines_cut} cut; read them with capture_pane");
        let facts = FactRow::new(pane_id)
            .fact(state)
            .fact(format!("{width}x{height}"))
            .fact(format!("cursor {cursor_x},{cursor_y}"))
            .fact(count(history.unsigned_abs(), "line") + " of history")
            .maybe((!self.mode.is_empty()).then(scrolled))
            .maybe(labelled("path", &self.path))
            .maybe(labelled("title", &self.title))
            .flag(self.alternate_screen, "alternate screen")
            .maybe(self.truncated.then(cut));
        format!("{}\n{}", String::from(facts), self.text)
    }

    fn limit(&mut self, max: usize) {
        self.lines_cut = keep_tail(&mut self.text, max);
        self.truncated = self.lines_cut > 0;
    }
}

impl Tool for SnapshotPane {
    const META: Meta = Meta {
        name: "snapshot_pane",
        title: "Snapshot pane",
        description: "Read a pane's text with its cursor, mode, scroll position, title and program.",
        group: Group::Screen,
        tier: Tier::Read,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = PaneSnapshot;

    async fn call(cx: &Cx, args: Args) -> Result<PaneSnapshot, ToolError> {
        let part = Capture { start: None, end: None, join: true, colors: false };
        let wanted = ReadRequest { part, lines: args.lines };
        let (pane, facts, text) =
            read(cx, &args.target, wanted, |facts: &SnapshotFacts| facts.history).await?;
        Ok(PaneSnapshot {
            pane_id: pane.pane.to_string(),
            text,
            cursor_x: facts.cursor_x,
            cursor_y: facts.cursor_y,
            width: facts.width,
            height: facts.height,
            mode: pane.mode,
            scroll_position: facts.scroll_position.unwrap_or(0),
            history: facts.history,
            alternate_screen: facts.alternate_screen,
            title: facts.title,
            state: program_or_end(pane.process_state, &facts.command),
            command: facts.command,
            path: facts.path,
            status: PaneStatus::of(pane.process_state),
            exit_code: pane.process_state.exit_code(),
            lines_cut: 0,
            truncated: false,
        })
    }
}
