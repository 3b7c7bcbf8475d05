//! Typing into panes: the check that a pane takes input, and Enter as a key press of its own.

use std::time::Duration;

use tmux_control::keys::TmuxKey;
use tmux_control::receivers::Receivers;
use tmux_control::{PaneId, row};

use crate::context::Cx;
use crate::contract::{Code, ToolError};
use crate::host::PaneState;

/// Pause after which a program no longer takes an Enter for a part of a paste (the longest measured is
/// 120 ms).
const PASTE_WINDOW: Duration = Duration::from_millis(200);

/// The sequence that ends a bracketed paste. Inside pasted text it would make the rest count as typed.
pub(crate) const PASTE_END: &str = "\u{1b}[201~";

/// Refuses a pane that takes no input. Text, unlike keys, is refused in copy mode too, where it would be
/// taken for commands.
pub(crate) fn must_take_input(pane: &PaneState, has_text: bool) -> Result<(), ToolError> {
    let id = pane.pane;
    let refuse =
        |message: String, hint: &str| Err(ToolError::new(Code::NotReady, message).hint(hint));
    if pane.process_state.has_exited() {
        return refuse(
            format!("the program in {id} has exited"),
            "capture_pane reads its last output; create_pane starts another program",
        );
    }
    if pane.input_off {
        return refuse(
            format!("input to {id} is switched off"),
            "a person disabled it with `tmux select-pane -d`; ask them",
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

/// Waits, for `at_least` this long, until an Enter no longer counts as a part of the text before it. A
/// shell at its prompt needs no pause.
pub(crate) async fn pause_before_enter(
    cx: &Cx,
    pane: &PaneState,
    at_least: Duration,
) -> Result<(), ToolError> {
    let program: Program = cx.tmux().row(&pane.pane.to_string()).await?;
    let shell = is_shell_at_prompt(cx, &program.name, pane.pid).await;
    let pause = if shell { at_least } else { at_least.max(PASTE_WINDOW) };
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    Ok(())
}

/// Whether the foreground is a shell without children: while a shell runs a script, a child may read the
/// input instead.
async fn is_shell_at_prompt(cx: &Cx, program: &str, pid: u32) -> bool {
    process::is_shell_name(program)
        && cx.host.processes().inspect(pid).await.foreground_has_child() != Some(true)
}

/// Presses Enter as a separate event.
pub(crate) async fn press_enter(cx: &Cx, receivers: &Receivers) -> Result<(), ToolError> {
    let enter = TmuxKey::enter().press(receivers.pane());
    Ok(cx.tmux().type_into(receivers, vec![enter]).await?)
}
