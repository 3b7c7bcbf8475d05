//! `snapshot_pane`: the text of a pane with everything about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::capture::Capture;
use tmux_control::{PaneId, row};

use crate::actions::read::{Wanted, program_or_end, read};
use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError};
use crate::results::objects::Status;
use terminal::text::{inline, keep_tail};

pub(super) struct SnapshotPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// The last lines, history included; the screen if not given.
    lines: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Snapshot {
    /// The pane.
    pane_id: String,
    /// Its text.
    text: String,
    /// The cursor's column.
    cursor_x: u32,
    /// The cursor's row on the screen.
    cursor_y: u32,
    /// Its width.
    width: u32,
    /// Its height.
    height: u32,
    /// The mode it is in, such as copy-mode.
    mode: String,
    /// How many lines it is scrolled up in that mode.
    scroll_position: u32,
    /// Lines scrolled off the screen.
    history: i64,
    /// Whether a program has taken over the screen.
    alternate_screen: bool,
    /// Its title.
    title: String,
    /// The program in its foreground.
    command: String,
    /// That program's directory.
    path: String,
    /// Whether its first process runs.
    status: Status,
    /// What that process exited with.
    exit_code: Option<i32>,
    /// Lines cut from the start of the text because it was too long.
    lines_cut: usize,
    /// Whether any were.
    truncated: bool,
    #[serde(skip)]
    state: String,
}

row! {
    Facts {
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

impl Output for Snapshot {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let Self { pane_id, state, width, height, cursor_x, cursor_y, history, .. } = self;
        let mut facts = vec![
            format!("{pane_id} · {state} · {width}x{height} · cursor {cursor_x},{cursor_y}"),
            format!("{history} lines of history"),
        ];
        if !self.mode.is_empty() {
            facts.push(format!("{}, {} lines up", inline(&self.mode), self.scroll_position));
        }
        if self.alternate_screen {
            facts.push("alternate screen".to_owned());
        }
        facts.extend([&self.title, &self.path].iter().filter(|t| !t.is_empty()).map(|t| inline(t)));
        if self.truncated {
            facts.push(format!("the first {} lines are cut; use capture_pane", self.lines_cut));
        }
        format!("{}\n{}", facts.join(" · "), self.text)
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
        description: "A pane's text together with cursor, mode, scroll position, title and program.",
        group: Group::Screen,
        tier: Tier::Read,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Snapshot;

    async fn call(cx: &Cx, args: Args) -> Result<Snapshot, ToolError> {
        let part = Capture { start: None, end: None, join: true, colors: false };
        let wanted = Wanted { part, lines: args.lines };
        let (pane, facts, text) =
            read(cx, &args.target, wanted, |facts: &Facts| facts.history).await?;
        Ok(Snapshot {
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
            status: Status::of(pane.process_state),
            exit_code: pane.process_state.exit_code(),
            lines_cut: 0,
            truncated: false,
        })
    }
}
