//! `send_signal`: sends a Unix signal to the foreground process group of a pane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Tool};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError};
use crate::results::words::{FactRow, field};
use process::SignalError;

pub(super) struct SendSignal;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane, such as %3.
    target: Target,
    /// Signal name, such as TERM, INT, HUP, KILL or USR1.
    #[schemars(extend("x-clear" = true))]
    signal: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SignalledProgram {
    /// Pane id.
    pane_id: String,
    /// Leader of the process group that got the signal.
    pid: u32,
    /// Command line of that process.
    foreground: String,
}

impl Output for SignalledProgram {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let Self { pane_id, pid, foreground } = self;
        FactRow::new(format!("signalled pid {pid} in {pane_id}")).fact(field(foreground)).into()
    }
}

impl Tool for SendSignal {
    const META: Meta = Meta {
        name: "send_signal",
        title: "Send signal",
        description: "Send a signal (kill) to a pane's foreground program, when Ctrl-C is not enough.",
        group: Group::Command,
        tier: Tier::DestroyOwn,
        sets: &[],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = SignalledProgram;

    async fn call(cx: &Cx, args: Args) -> Result<SignalledProgram, ToolError> {
        let Some(signal) = process::parse_signal(&args.signal) else {
            return Err(ToolError::invalid_argument(format!(
                "`signal`: `{}` is not a signal",
                args.signal
            ))
            .hint(format!(
                "use one of {}",
                process::signal_names().collect::<Vec<_>>().join(", ")
            )));
        };
        let pane = cx.pane(&args.target).await?;
        let id = pane.pane;
        if pane.process_state.has_exited() {
            return Err(ToolError::new(Code::NotReady, format!("the program in {id} has exited"))
                .hint("capture_pane reads its last output"));
        }
        cx.note_signal(&pane).await?;
        let program =
            cx.host.processes().signal_foreground(pane.pid, signal).await.map_err(|error| {
                match error {
                    // The shell may not have taken the terminal back yet; the signal was not meant for it.
                    SignalError::NoForeground(_) => ToolError::new(
                        Code::NotReady,
                        format!("the program in {id} has just exited"),
                    )
                    .hint("pane_state reports what runs there now"),
                    SignalError::Refused { .. } => ToolError::new(
                        Code::Denied,
                        format!("the program in {id} cannot be signalled: {error}"),
                    )
                    .hint("programs of another user cannot be signalled; try interrupt"),
                }
            })?;
        Ok(SignalledProgram {
            pane_id: id.to_string(),
            pid: program.pid,
            foreground: program.argv.join(" "),
        })
    }
}
