//! `write_to_display`: text for people, in a pane beside what they look at.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, PaneId, Row, row};

use crate::actions::create::create;
use crate::context::{Cx, Tool};
use crate::contract::{CreateLocation, Form, Group, Load, Meta, Output, Target, Tier, ToolError};
use crate::host::{CreatedPane, PaneState};
use terminal::text::clean;

/// The user option of a pane that shows what is written to it.
const DISPLAY: &str = "@mcp_display";

/// How much of the width it takes.
const SHARE: &str = "40%";

/// Empties screen and history, and starts at the top.
const CLEAR: &str = "\u{1b}[m\u{1b}[2J\u{1b}[3J\u{1b}[H";

pub(super) struct WriteToDisplay;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Beside this pane.
    target: Target,
    /// Colours (SGR) are kept.
    text: String,
    /// Empty it first.
    clear: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Written {
    /// The display.
    pane_id: String,
    /// Its window.
    window_id: String,
    /// How many bytes were written.
    bytes: usize,
    /// Whether it was made for this.
    created: bool,
}

row! {
    Beside {
        pane: PaneId = "pane_id",
        display: bool = "@mcp_display",
        owner: String = "@mcp_owner",
    }
}

impl Output for Written {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let created = if self.created { " · new" } else { "" };
        format!("{} bytes shown in {} in {}{created}", self.bytes, self.pane_id, self.window_id)
    }
}

impl Tool for WriteToDisplay {
    const META: Meta = Meta {
        name: "write_to_display",
        title: "Write to display",
        description: "Show a person text in a display pane beside a pane, made when first used.",
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
            return Err(ToolError::invalid_argument("`text` has nothing to show")
                .hint("give text, or clear: true"));
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let beside = cx.pane(&args.target).await?;
        let (display, created) = match find(cx, &beside).await? {
            Some(display) => (display, false),
            None => (make(cx, &beside).await?, true),
        };
        let bytes = text.len();
        let text = if clear { format!("{CLEAR}{text}") } else { text };
        cx.tmux().feed(display, &text).await?;
        let window_id = beside.window.to_string();
        Ok(Written { pane_id: display.to_string(), window_id, bytes, created })
    }
}

/// The display in the same window.
async fn find(cx: &Cx, beside: &PaneState) -> Result<Option<PaneId>, ToolError> {
    let panes: Vec<Beside> = cx.window_panes(beside).await?;
    let ours = |pane: &&Beside| pane.display && cx.host.owns(&pane.owner);
    Ok(panes.iter().find(ours).map(|pane| pane.pane))
}

/// A pane without a program, beside another. Whoever looks there stays where they are.
async fn make(cx: &Cx, beside: &PaneState) -> Result<PaneId, ToolError> {
    let split = Command::action("split-window")
        .args(["-d", "-h", "-Z", "-P", "-F"])
        .arg(CreatedPane::format())
        .option("-t", beside.pane)
        .option("-l", SHARE)
        // No command at all: the pane has no program.
        .arg("");
    let made = create(cx, CreateLocation::Existing, [split]).await?;
    let mark = Command::action("set-option").arg("-p").option("-t", made.pane).arg(DISPLAY);
    cx.tmux().run(mark.arg("1")).await?;
    Ok(made.pane)
}
