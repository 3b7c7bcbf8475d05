//! `capture_pane`: the text of a pane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::capture::Capture;
use tmux_control::{PaneId, row};

use crate::actions::read::{Wanted, program_or_end, read};
use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use terminal::text::keep_tail;

pub(super) struct CapturePane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// The last lines, history included; the screen if not given.
    lines: Option<u32>,
    /// First line: 0 is the top of the screen, -1 the newest in history.
    start: Option<i64>,
    /// Last line.
    end: Option<i64>,
    /// Keep colours as escape sequences.
    colors: Option<bool>,
    /// Put wrapped lines together (default true).
    join: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Text {
    /// The pane.
    pane_id: String,
    /// Its text.
    text: String,
    /// Its width.
    width: u32,
    /// Its height.
    height: u32,
    /// Lines scrolled off the screen.
    history: i64,
    /// Lines cut from the start of the text because it was too long.
    lines_cut: usize,
    /// Whether any were.
    truncated: bool,
    #[serde(skip)]
    state: String,
    #[serde(skip)]
    colors: bool,
}

row! {
    Facts {
        pane: PaneId = "pane_id",
        command: String = "pane_current_command",
        width: u32 = "pane_width",
        height: u32 = "pane_height",
        history: i64 = "history_size",
    }
}

impl Output for Text {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let Self { pane_id, width, height, history, state, lines_cut, .. } = self;
        let mut facts =
            format!("{pane_id} · {state} · {width}x{height} · {history} lines of history");
        if self.truncated {
            facts.push_str(&format!(
                " · the first {lines_cut} lines are cut; ask for them with start and end"
            ));
        }
        format!("{facts}\n{}", self.text)
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
    type Output = Text;

    async fn call(cx: &Cx, args: Args) -> Result<Text, ToolError> {
        if args.lines.is_some() && (args.start.is_some() || args.end.is_some()) {
            return Err(ToolError::invalid_argument("`lines` goes with neither `start` nor `end`")
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
        let wanted = Wanted { part, lines: args.lines };
        let (pane, facts, text) =
            read(cx, &args.target, wanted, |facts: &Facts| facts.history).await?;
        Ok(Text {
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
