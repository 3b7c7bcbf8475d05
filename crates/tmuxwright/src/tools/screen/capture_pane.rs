//! `capture_pane`: reads the text of a pane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::capture::Capture;
use tmux_control::{PaneId, row};

use crate::actions::read::{ReadRequest, program_or_end, read};
use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::{FactRow, count};
use terminal::text::keep_tail;

pub(super) struct CapturePane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane, such as %3.
    target: Target,
    /// Last N lines, history included (default: the screen).
    lines: Option<u32>,
    /// First line: 0 is the top of the screen, -1 the newest of history.
    start: Option<i64>,
    /// Last line, counted like `start`.
    end: Option<i64>,
    /// Keep colours as escape sequences.
    colors: Option<bool>,
    /// Join wrapped lines (default true).
    join: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct CapturedText {
    /// Pane id.
    pane_id: String,
    /// Text of the screen, or of the lines asked for.
    text: String,
    /// Width of the pane in columns.
    width: u32,
    /// Height of the pane in rows.
    height: u32,
    /// Lines of history above the screen.
    history: i64,
    /// Lines cut from the beginning of the text because it was too long.
    lines_cut: usize,
    /// Whether lines were cut.
    truncated: bool,
    /// The foreground program, or how the pane's process ended.
    #[serde(skip)]
    state: String,
    #[serde(skip)]
    colors: bool,
}

row! {
    CaptureFacts {
        pane: PaneId = "pane_id",
        command: String = "pane_current_command",
        width: u32 = "pane_width",
        height: u32 = "pane_height",
        history: i64 = "history_size",
    }
}

impl Output for CapturedText {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let Self { pane_id, width, height, history, state, lines_cut, .. } = self;
        let cut = || {
            format!("first {} cut; read them with start and end", count(*lines_cut as u64, "line"))
        };
        let facts = FactRow::new(pane_id)
            .fact(state)
            .fact(format!("{width}x{height}"))
            .fact(count(history.unsigned_abs(), "line") + " of history")
            .maybe(self.truncated.then(cut));
        format!("{}\n{}", String::from(facts), self.text)
    }

    fn limit(&mut self, max: usize) {
        self.lines_cut = keep_tail(&mut self.text, max);
        self.truncated = self.lines_cut > 0;
    }

    fn colors(&self) -> bool {
        self.colors
    }
}

impl Tool for CapturePane {
    const META: Meta = Meta {
        name: "capture_pane",
        title: "Capture pane",
        description: "Read a pane's screen, or its last lines with history. Works on exited panes.",
        group: Group::Screen,
        tier: Tier::Read,
        sets: &[Toolset::Debug, Toolset::Agent, Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::Always,
    };
    type Args = Args;
    type Output = CapturedText;

    async fn call(cx: &Cx, args: Args) -> Result<CapturedText, ToolError> {
        if args.lines.is_some() && (args.start.is_some() || args.end.is_some()) {
            return Err(ToolError::invalid_argument(
                "`lines` cannot be combined with `start` or `end`",
            )
            .hint("give `lines` for the newest lines, or `start` and `end` for a range"));
        }
        if let (Some(start), Some(end)) = (args.start, args.end)
            && start > end
        {
            return Err(ToolError::invalid_argument(format!(
                "`start` {start} is after `end` {end}"
            ))
            .hint("swap them; lines count downwards"));
        }
        let colors = args.colors.unwrap_or(false);
        let part =
            Capture { start: args.start, end: args.end, join: args.join.unwrap_or(true), colors };
        let wanted = ReadRequest { part, lines: args.lines };
        let (pane, facts, text) =
            read(cx, &args.target, wanted, |facts: &CaptureFacts| facts.history).await?;
        Ok(CapturedText {
            text,
            state: program_or_end(pane.process_state, &facts.command),
            pane_id: pane.pane.to_string(),
            width: facts.width,
            height: facts.height,
            history: facts.history,
            lines_cut: 0,
            truncated: false,
            colors,
        })
    }
}
