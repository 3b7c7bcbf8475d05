//! `interrupt`: C-c, and whether it helped.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actions::typing::must_take_input;
use crate::context::{Cx, Keystroke, Tool, Turn};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::run::Status;
use terminal::text::inline;

pub(super) struct Interrupt;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// Seconds to wait for the prompt (default 5).
    timeout: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Stopped {
    /// The pane.
    pane_id: String,
    /// Whether its shell is back at its prompt.
    at_prompt: bool,
    /// The program that has the terminal now.
    foreground: String,
    /// The command of run_command that ran there.
    command_id: Option<String>,
    /// Its exit code.
    exit_code: Option<i32>,
}

impl Output for Stopped {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let Self { pane_id, foreground, .. } = self;
        let state = match self.at_prompt {
            true => format!("{pane_id} is at its prompt"),
            false if foreground.is_empty() => format!("{pane_id} is not at its prompt"),
            false => format!(
                "{pane_id} is not at its prompt: `{}` goes on. Next: wait, or use its own way to quit",
                inline(foreground)
            ),
        };
        match (&self.command_id, self.exit_code) {
            (Some(id), Some(code)) => format!("{state} · command {id} ended with exit {code}"),
            (Some(id), None) => format!("{state} · command {id} runs"),
            _ => state,
        }
    }
}

impl Tool for Interrupt {
    const META: Meta = Meta {
        name: "interrupt",
        title: "Interrupt",
        description: "Press C-c in a pane and wait until its shell is back at its prompt. Says whether it is.",
        group: Group::Command,
        tier: Tier::Mutate,
        sets: &[Toolset::Agent],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Stopped;

    async fn call(cx: &Cx, args: Args) -> Result<Stopped, ToolError> {
        let patience = cx.max_wait("timeout", args.timeout.unwrap_or(5.0))?;
        let pane = cx.pane(&args.target).await?;
        must_take_input(&pane, true)?;
        // A talk is not typing all the time, and its lines are never cut in two.
        let turn = match cx.runs.talks_to(pane.pane) {
            true => None,
            false => Some(cx.turn(&pane, Some(Keystroke::Abort).into_iter()).await?),
        };
        let done = cx.runs.interrupt(&pane, patience).await?;
        turn.into_iter().for_each(Turn::done);
        let status = done.job.as_ref().map(|job| job.facts().status);
        Ok(Stopped {
            pane_id: pane.pane.to_string(),
            at_prompt: done.at_prompt,
            foreground: done.foreground,
            command_id: done.job.map(|job| job.id.clone()),
            exit_code: match status {
                Some(Status::Exited(code)) => Some(code),
                _ => None,
            },
        })
    }
}
