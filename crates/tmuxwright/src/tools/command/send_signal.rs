//! `send_signal`: a signal to the program that has a pane's terminal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{Cx, Tool};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError};
use terminal::text::inline;

pub(super) struct SendSignal;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// Such as TERM, INT, HUP, KILL, USR1.
    #[schemars(extend("x-clear" = true))]
    signal: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Signalled {
    /// The pane.
    pane_id: String,
    /// The process that leads those that got it.
    pid: u32,
    /// The program.
    foreground: String,
}

impl Output for Signalled {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let Self { pane_id, pid, foreground } = self;
        format!("signalled `{}` (pid {pid}) in {pane_id}", inline(foreground))
    }
}

impl Tool for SendSignal {
    const META: Meta = Meta {
        name: "send_signal",
        title: "Send signal",
        description: "Send a signal to a pane's foreground program, when C-c is not enough.",
        group: Group::Command,
        tier: Tier::DestroyOwn,
        sets: &[],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Signalled;

    async fn call(cx: &Cx, args: Args) -> Result<Signalled, ToolError> {
        let Some(signal) = process::parse_signal(&args.signal) else {
            return Err(ToolError::invalid_argument(format!(
                "`signal`: `{}` is no signal",
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
                .hint("capture_pane reads what it left"));
        }
        cx.note_signal(&pane).await?;
        let program = process::signal_foreground(pane.pid, signal).map_err(|error| {
            ToolError::new(
                Code::Denied,
                format!("the program in {id} cannot be signalled: {error}"),
            )
            .hint("pane programs of another user are out of reach; try interrupt")
        })?;
        Ok(Signalled {
            pane_id: id.to_string(),
            pid: program.pid,
            foreground: program.argv.join(" "),
        })
    }
}
