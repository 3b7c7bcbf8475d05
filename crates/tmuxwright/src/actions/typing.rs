//! What the tools that type have in common.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tmux_control::keys::Key;
use tmux_control::{PaneId, row};

use crate::context::Cx;
use crate::contract::{Code, Form, Output, ToolError};
use crate::host::PaneState;

/// Longer than any program known takes an Enter for a part of a paste (120 ms is the longest seen).
const PASTE_WINDOW: Duration = Duration::from_millis(200);

/// What ends a bracketed paste; in the text it would let the rest be taken for typing.
pub(crate) const PASTE_END: &str = "\u{1b}[201~";

/// Programs that read a line and its Enter at any speed.
const SHELLS: &[&str] =
    &["bash", "zsh", "fish", "sh", "dash", "ash", "ksh", "mksh", "tcsh", "csh", "nu", "elvish"];

/// The pane that was typed into.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Typed {
    /// The pane.
    pub(crate) pane_id: String,
}

impl Typed {
    pub(crate) fn into(pane: &PaneState) -> Self {
        Self { pane_id: pane.pane.to_string() }
    }
}

impl Output for Typed {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        format!("typed into {}", self.pane_id)
    }
}

/// Refuses to type into a pane that would not take it. Text, unlike keys, is refused in copy mode
/// too, where it would be taken for commands.
pub(crate) fn must_take_input(pane: &PaneState, has_text: bool) -> Result<(), ToolError> {
    let id = pane.pane;
    let refuse = |what: String, hint: &str| Err(ToolError::new(Code::NotReady, what).hint(hint));
    if pane.process_state.has_exited() {
        return refuse(
            format!("the program in {id} has exited"),
            "capture_pane reads what it left; create_pane starts another",
        );
    }
    if pane.input_off {
        return refuse(
            format!("input to {id} is switched off"),
            "a person did this with `tmux select-pane -d`; ask them",
        );
    }
    if has_text && !pane.mode.is_empty() {
        return refuse(
            format!("{id} is in {}: text would not reach its program", pane.mode),
            "a person may be reading there; send_keys with keys [\"q\"] leaves it",
        );
    }
    Ok(())
}

row! {
    Program {
        pane: PaneId = "pane_id",
        name: String = "pane_current_command",
    }
}

/// Waits, for this long at least, until an Enter is no longer taken for a part of the text before
/// it. A shell at its prompt never does that.
pub(crate) async fn pause_before_enter(
    cx: &Cx,
    pane: &PaneState,
    at_least: Duration,
) -> Result<(), ToolError> {
    let program: Program = cx.tmux().row(&pane.pane.to_string()).await?;
    let shell = is_shell_at_prompt(&program.name, pane.pid);
    let pause = if shell { at_least } else { at_least.max(PASTE_WINDOW) };
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    Ok(())
}

/// A shell that runs a script has the name of one too, but there its child reads what is typed.
fn is_shell_at_prompt(program: &str, pid: u32) -> bool {
    SHELLS.contains(&program.trim_start_matches('-'))
        && process::foreground_has_child(pid) != Some(true)
}

/// Presses Enter as an event of its own.
pub(crate) async fn press_enter(cx: &Cx, pane: &PaneState) -> Result<(), ToolError> {
    cx.tmux().run(Key::enter().press(pane.pane)).await?;
    Ok(())
}
