//! `interrupt`: presses Ctrl-C in a pane and reports whether the shell is back at its prompt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actions::typing::must_take_input;
use crate::context::{Cx, Keystroke, Tool, Turn};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::{FactRow, field};
use crate::run::{JobStatus, Unpressed};

pub(super) struct Interrupt;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane, such as %3.
    target: Target,
    /// Seconds to wait (default 5).
    timeout: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct InterruptResult {
    /// Pane id.
    pane_id: String,
    /// Whether the shell or interpreter is back at its prompt.
    at_prompt: bool,
    /// Where an interpreter stands now, such as `at >>>`.
    state: Option<String>,
    /// Why C-c was not pressed.
    #[serde(skip)]
    unpressed: Option<Unpressed>,
    /// Input that leaves the interpreter.
    #[serde(skip)]
    leave: Option<&'static str>,
    /// The state, with text of the terminal quoted.
    #[serde(skip)]
    shown_state: Option<String>,
    /// Command line of the foreground program now.
    foreground: String,
    /// Id of the command that ran in the pane.
    command_id: Option<String>,
    /// Exit code of that command, once it has ended.
    exit_code: Option<i32>,
    /// Whether that command still runs.
    #[serde(skip)]
    is_running: bool,
}

impl Output for InterruptResult {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let Self { pane_id, at_prompt, foreground, .. } = self;
        let command = self.command_id.as_ref().map(|id| match self.exit_code {
            Some(code) => format!("command {id} exit {code}"),
            None if self.is_running => format!("command {id} still running"),
            None => format!("command {id} without exit code"),
        });
        let next = match (self.unpressed, self.leave) {
            (Some(Unpressed::TextTyped), _) => {
                "Next: send_keys with keys [\"C-u\"] drops the text, if it is yours".to_owned()
            }
            (Some(Unpressed::WouldLeaveQuestion), _) => "Next: send_keys answers it".to_owned(),
            (Some(_), _) => "Next: run_in_repl with the rest of the statement".to_owned(),
            (None, Some(leave)) => {
                format!("Next: capture_pane shows its screen; run_in_repl `{leave}` leaves it")
            }
            (None, None) => {
                "Next: wait_for prompt, or quit the program with its own key or command".to_owned()
            }
        };
        FactRow::new(pane_id)
            .fact(if *at_prompt { "at prompt" } else { "not at prompt" })
            .maybe(self.unpressed.map(|reason| match reason {
                Unpressed::NothingRuns => "nothing to interrupt, C-c not pressed",
                Unpressed::WouldLeave | Unpressed::WouldLeaveQuestion => {
                    "C-c not pressed, it would leave the REPL"
                }
                Unpressed::TextTyped => "C-c not pressed, it would not just drop the typed text",
                Unpressed::StaysOpen => "C-c not pressed, the statement would stay open",
            }))
            .maybe(self.shown_state.clone())
            .maybe((!foreground.is_empty()).then(|| format!("foreground {}", field(foreground))))
            .maybe(command)
            .maybe((!at_prompt).then_some(next))
            .into()
    }
}

impl Tool for Interrupt {
    const META: Meta = Meta {
        name: "interrupt",
        title: "Interrupt",
        description: "Press Ctrl-C in a pane and wait for its shell or REPL prompt; says if it came.",
        group: Group::Command,
        tier: Tier::Mutate,
        sets: &[Toolset::Agent],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = InterruptResult;

    async fn call(cx: &Cx, args: Args) -> Result<InterruptResult, ToolError> {
        let patience = cx.max_wait("timeout", args.timeout.unwrap_or(5.0))?;
        let pane = cx.pane(&args.target).await?;
        must_take_input(&pane, true)?;
        // `run_in_repl` holds the pane's turn until the answer, and C-c must not wait for that. The engine lets no
        // C-c into a line that is being typed.
        let turn = match cx.runs.is_typed_into(pane.pane) {
            true => None,
            false => Some(cx.turn(&pane, Some(Keystroke::Abort).into_iter()).await?),
        };
        let done = cx.runs.interrupt(&pane, patience).await?;
        turn.into_iter().for_each(Turn::done);
        let status = done.job.as_ref().map(|job| job.facts().status);
        let words = |quote: &dyn Fn(&str) -> String| {
            done.interpreter.as_ref().map(|(standing, _)| standing.words(quote))
        };
        Ok(InterruptResult {
            pane_id: pane.pane.to_string(),
            at_prompt: done.at_prompt,
            unpressed: done.unpressed,
            state: words(&str::to_owned).map(|text| cx.redacted(text)),
            shown_state: words(&|text| field(text).to_string()).map(|text| cx.redacted(text)),
            leave: done.interpreter.as_ref().map(|it| it.1).filter(|leave| !leave.is_empty()),
            foreground: done.foreground,
            command_id: done.job.map(|job| job.id.clone()),
            is_running: status == Some(JobStatus::Running),
            exit_code: match status {
                Some(JobStatus::Exited(code)) => Some(code),
                _ => None,
            },
        })
    }
}
