//! `clear_pane`: clears a pane's screen and history, but keeps its prompt.
//!
//! tmux can only reset the whole terminal, with the prompt and the modes the program has set. So the rows
//! above the prompt are deleted by a sequence printed to the pane's terminal, as any program in it could.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::capture::Capture;
use tmux_control::{Command, PaneId, row};
use unicode_width::UnicodeWidthStr;

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::host::PaneState;
use crate::results::words::{FactRow, count};
use crate::run::activity::Activity;

pub(super) struct ClearPane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Cleared {
    /// Pane id.
    pane_id: String,
    /// Lines of history left.
    history: u32,
    /// Whether the screen was not cleared: it belongs to a full-screen program, or its terminal cannot be
    /// written to.
    screen_kept: bool,
}

row! {
    ClearFacts {
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
        FactRow::new(&self.pane_id)
            .fact("cleared")
            .fact(format!("{} left", count(self.history, "history line")))
            .flag(self.screen_kept, "screen_kept")
            .into()
    }
}

impl Tool for ClearPane {
    const META: Meta = Meta {
        name: "clear_pane",
        title: "Clear pane",
        description: "Clear the screen and history of a pane that this server made; the prompt line stays.",
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
        let before: ClearFacts = cx.tmux().row(&id).await?;
        let cleared = !before.alternate_screen && clear_screen(cx, &pane).await?;
        let clear = Command::action("clear-history").option("-t", pane.pane);
        cx.tmux().run(clear).await?;
        let now: ClearFacts = cx.tmux().row(&id).await?;
        Ok(Cleared { pane_id: id, history: now.history, screen_kept: !cleared })
    }
}

/// Clears the screen; false if the pane's terminal cannot be written to.
///
/// The whole terminal is reset where that does no harm: in a pane whose program has exited, and in one
/// where a command of the run engine runs, since a printed sequence would count as its output.
async fn clear_screen(cx: &Cx, pane: &PaneState) -> Result<bool, ToolError> {
    if pane.process_state.has_exited() || cx.runs.running_in(pane.pane).is_some() {
        cx.tmux().run(Command::action("send-keys").arg("-R").option("-t", pane.pane)).await?;
        return Ok(true);
    }
    let above = rows_above(cx, pane).await?;
    if above == 0 {
        return Ok(true);
    }
    // Rows are deleted and not erased, since tmux pushes erased rows into history.
    let delete = format!("\x1b7\x1b[H\x1b[{above}M\x1b8\x1b[{above}A");
    let written = cx.host.processes().write_to_terminal(pane.pid, delete.as_bytes()).await;
    if written.is_err() {
        return Ok(false);
    }
    // tmux may answer a query before it reads the sequence, but not a second one. This is the first.
    cx.tmux().row::<ClearFacts>(&pane.pane.to_string()).await?;
    Ok(true)
}

/// The number of rows above the cursor's line, or above the prompt that line belongs to.
async fn rows_above(cx: &Cx, pane: &PaneState) -> Result<u32, ToolError> {
    // A shell that is busy, for example with the line typed last, still shows its prompt.
    let program = Activity::probe(&cx.runs, pane).await.foreground;
    let prompt = match program.is_some_and(|program| program.shell.is_some()) {
        true => cx.runs.prompt_rows(pane).await,
        false => 1,
    };
    let facts: ClearFacts = cx.tmux().row(&pane.pane.to_string()).await?;
    let part = Capture { start: Some(0), end: Some(facts.row.into()), join: true, colors: false };
    let text = cx.tmux().run(part.of(pane.pane)).await?.text();
    let line = text.strip_suffix('\n').unwrap_or(&text).rsplit('\n').next().unwrap_or_default();
    let columns = u32::try_from(line.width()).unwrap_or(u32::MAX);
    let rows = columns.div_ceil(facts.width.max(1)).max(1);
    Ok((facts.row + 1).saturating_sub(rows + prompt - 1))
}
