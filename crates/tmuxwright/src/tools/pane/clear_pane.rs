//! `clear_pane`: an empty screen without history.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::capture::Capture;
use tmux_control::{Command, PaneId, row};
use unicode_width::UnicodeWidthStr;

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::host::PaneState;
use crate::run::activity::Standing;

pub(super) struct ClearPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Cleared {
    /// The pane.
    pane_id: String,
    /// Lines of history it has now.
    history: u32,
    /// Whether its screen is as before: a full-screen program's, or out of reach.
    screen_kept: bool,
}

row! {
    Facts {
        pane: PaneId = "pane_id",
        row: u32 = "cursor_y",
        width: u32 = "pane_width",
        alternate_screen: bool = "alternate_on",
        history: u32 = "history_size",
    }
}

impl Output for Cleared {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let what = if self.screen_kept { "history cleared, not the screen" } else { "cleared" };
        format!("{} · {what}", self.pane_id)
    }
}

impl Tool for ClearPane {
    const META: Meta = Meta {
        name: "clear_pane",
        title: "Clear pane",
        description: "Clear the screen and history of a pane that this server made; a prompt stays.",
        group: Group::Pane,
        tier: Tier::DestroyOwn,
        sets: &[Toolset::Primitives],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Cleared;

    async fn call(cx: &Cx, args: Args) -> Result<Cleared, ToolError> {
        let pane = cx.pane(&args.target).await?;
        let id = pane.pane.to_string();
        let facts: Facts = cx.tmux().row(&id).await?;
        let cleared = !facts.alternate_screen && clear_screen(cx, &pane).await?;
        let clear = Command::action("clear-history").option("-t", pane.pane);
        cx.tmux().run(clear).await?;
        let now: Facts = cx.tmux().row(&id).await?;
        Ok(Cleared { pane_id: id, history: now.history, screen_kept: !cleared })
    }
}

/// Clears the screen; false if it is out of reach.
///
/// tmux itself can only reset the whole terminal: the prompt is gone then, and what the program has
/// set. It is done where nobody minds, and where what is printed to the terminal would be taken for
/// a command's output.
async fn clear_screen(cx: &Cx, pane: &PaneState) -> Result<bool, ToolError> {
    if pane.process_state.has_exited() || cx.runs.running_in(pane.pane).is_some() {
        cx.tmux().run(Command::action("send-keys").arg("-R").option("-t", pane.pane)).await?;
        return Ok(true);
    }
    let above = rows_above(cx, pane).await?;
    if above == 0 {
        return Ok(true);
    }
    // Not erased, which would push it into history.
    let delete = format!("\x1b7\x1b[H\x1b[{above}M\x1b8\x1b[{above}A");
    if !process::print(pane.pid, delete.as_bytes()) {
        return Ok(false);
    }
    // tmux may get it together with the next question and read it after that.
    cx.tmux().row::<Facts>(&pane.pane.to_string()).await?;
    Ok(true)
}

/// How many rows are above the line in which the cursor is, or above the prompt it belongs to.
async fn rows_above(cx: &Cx, pane: &PaneState) -> Result<u32, ToolError> {
    // A shell may be at something just now, such as what was typed last; its prompt is there all the
    // same.
    let sight = Standing::of(&cx.runs, pane).await.sight;
    let prompt = match sight.is_some_and(|sight| sight.shell.is_some()) {
        true => cx.runs.prompt_rows(pane).await,
        false => 1,
    };
    let facts: Facts = cx.tmux().row(&pane.pane.to_string()).await?;
    let part = Capture { start: Some(0), end: Some(facts.row.into()), join: true, colors: false };
    let text = cx.tmux().run(part.of(pane.pane)).await?.text();
    let line = text.strip_suffix('\n').unwrap_or(&text).rsplit('\n').next().unwrap_or_default();
    let columns = u32::try_from(line.width()).unwrap_or(u32::MAX);
    let rows = columns.div_ceil(facts.width.max(1)).max(1);
    Ok((facts.row + 1).saturating_sub(rows + prompt - 1))
}
