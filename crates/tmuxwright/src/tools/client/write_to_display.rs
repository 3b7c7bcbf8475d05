//! `write_to_display`: shows people text in a display pane, which has no program, beside another pane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, PaneId, Row, row};

use crate::actions::create::create;
use crate::context::{Cx, Tool};
use crate::contract::{CreateLocation, Form, Group, Load, Meta, Output, Target, Tier, ToolError};
use crate::host::{CreatedPane, PaneState};
use crate::results::words::{FactRow, count};
use terminal::text::clean;

/// The pane option that marks a display pane.
const DISPLAY_OPTION: &str = "@mcp_display";

/// The width of a new display pane.
const DISPLAY_WIDTH: &str = "40%";

/// Resets colours, clears screen and history, and moves the cursor to the top.
const CLEAR_SEQUENCE: &str = "\u{1b}[m\u{1b}[2J\u{1b}[3J\u{1b}[H";

pub(super) struct WriteToDisplay;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane to show the text beside.
    target: Target,
    /// Text to append; colours (SGR) are kept.
    text: String,
    /// Clear the display first.
    clear: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Written {
    /// Id of the display pane.
    pane_id: String,
    /// Window id.
    window_id: String,
    /// Number of bytes written.
    bytes: usize,
    /// Whether the display pane is new.
    created: bool,
}

row! {
    NeighbourRow {
        pane: PaneId = "pane_id",
        display: bool = "@mcp_display[0=0]",
        owner: String = "@mcp_owner[0=0]",
    }
}

impl Output for Written {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        FactRow::new(format!("display {} {}", self.pane_id, self.window_id))
            .fact(format!("{} written", count(self.bytes as u64, "byte")))
            .flag(self.created, "created")
            .into()
    }
}

impl Tool for WriteToDisplay {
    const META: Meta = Meta {
        name: "write_to_display",
        title: "Write to display",
        description: "Show a person text in a display pane beside a pane; it is created on first use.",
        group: Group::Client,
        tier: Tier::Mutate,
        sets: &[],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Written;

    async fn call(cx: &Cx, args: Args) -> Result<Written, ToolError> {
        let clear = args.clear.unwrap_or(false);
        let mut text = clean(&args.text, true);
        if text.is_empty() && !clear {
            return Err(ToolError::invalid_argument("`text` has no visible characters")
                .hint("give text to show, or clear: true"));
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let beside = cx.pane(&args.target).await?;
        let (display, created) = match find_display(cx, &beside).await? {
            Some(display) => (display, false),
            None => (create_display(cx, &beside).await?, true),
        };
        let bytes = text.len();
        let text = if clear { format!("{CLEAR_SEQUENCE}{text}") } else { text };
        cx.tmux().write_to_empty_pane(display, &text).await?;
        let window_id = beside.window.to_string();
        Ok(Written { pane_id: display.to_string(), window_id, bytes, created })
    }
}

/// The display pane in the same window.
async fn find_display(cx: &Cx, beside: &PaneState) -> Result<Option<PaneId>, ToolError> {
    let panes: Vec<NeighbourRow> = cx.window_panes(beside).await?;
    let is_ours = |pane: &&NeighbourRow| pane.display && cx.host.owns(&pane.owner);
    Ok(panes.iter().find(is_ours).map(|pane| pane.pane))
}

/// Creates a pane without a program beside another. The active pane and the zoom stay as they are.
async fn create_display(cx: &Cx, beside: &PaneState) -> Result<PaneId, ToolError> {
    let split = Command::action("split-window")
        .args(["-d", "-h", "-Z", "-P", "-F"])
        .arg(CreatedPane::format())
        .option("-t", beside.pane)
        .option("-l", DISPLAY_WIDTH)
        // An empty command creates a pane without a program.
        .arg("");
    let made = create(cx, CreateLocation::Existing, [split]).await?;
    let mark = Command::action("set-option").arg("-p").option("-t", made.pane).arg(DISPLAY_OPTION);
    cx.tmux().run(mark.arg("1")).await?;
    Ok(made.pane)
}
