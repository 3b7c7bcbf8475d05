//! What the tools that type have in common.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tmux::keys::Key;

use crate::host::PaneRow;
use crate::text::inline;
use crate::tool::{Code, Cx, Form, Output, ToolError};

/// Longer than any program known takes an Enter for a part of a paste (120 ms is the longest seen).
const PASTE_WINDOW: Duration = Duration::from_millis(200);

/// Programs that read a line and its Enter at any speed.
const SHELLS: &[&str] =
    &["bash", "zsh", "fish", "sh", "dash", "ash", "ksh", "mksh", "tcsh", "csh", "nu", "elvish"];

/// The pane that was typed into.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Typed {
    /// The pane.
    pub(crate) pane_id: String,
    /// The program that got it.
    pub(crate) command: String,
}

impl Typed {
    pub(crate) fn into(pane: PaneRow) -> Self {
        Self { pane_id: pane.pane.to_string(), command: pane.command }
    }
}

impl Output for Typed {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        format!("typed into {} ({})", self.pane_id, inline(&self.command))
    }
}

/// Refuses text for a pane that is in copy mode, where it would be taken for commands.
pub(crate) fn must_reach_program(pane: &PaneRow) -> Result<(), ToolError> {
    if pane.mode.is_empty() {
        return Ok(());
    }
    let (id, mode) = (pane.pane, &pane.mode);
    Err(ToolError::new(
        Code::NotReady,
        format!("{id} is in {mode}: text would not reach its program"),
    )
    .hint("a person may be reading there; send_keys with keys [\"q\"] leaves it"))
}

/// Presses Enter as an event of its own. After text, programs that are not shells get a pause, or
/// they would take it for a part of a paste.
pub(crate) async fn press_enter(
    cx: &Cx,
    pane: &PaneRow,
    after_text: bool,
    pause: Option<Duration>,
) -> Result<(), ToolError> {
    if after_text {
        let shell = SHELLS.contains(&pane.command.trim_start_matches('-'));
        let pause = pause.unwrap_or(if shell { Duration::ZERO } else { PASTE_WINDOW });
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
    }
    cx.tmux().run(Key::Named("Enter".to_owned()).press(pane.pane)).await?;
    Ok(())
}
