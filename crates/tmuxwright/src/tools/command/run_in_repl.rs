//! `run_in_repl`: a line or a block for an interpreter, and what it answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actions::typing::must_take_input;
use crate::context::{Cx, Keystroke, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::seconds;
use terminal::text::{inline, keep_tail};

pub(super) struct RunInRepl;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// One line or several.
    input: String,
    /// The end of its prompt, such as `>>> `; learned if not given.
    prompt: Option<String>,
    /// Seconds to wait for the next prompt (default 10).
    timeout: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    /// The pane.
    pane_id: String,
    /// What was printed between the input and the next prompt.
    output: String,
    /// The program that answered.
    foreground: String,
    /// Whether no prompt came in time; the output is what there was until then.
    timed_out: bool,
    /// Whether the start of the output is left out.
    truncated: bool,
    #[serde(skip)]
    took: f64,
}

impl Output for Answer {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let mut facts =
            format!("{} · {} · {}", self.pane_id, inline(&self.foreground), seconds(self.took));
        if self.timed_out {
            facts.push_str(" · no prompt yet; capture_pane shows more, interrupt stops it");
        }
        if self.truncated {
            facts.push_str(" · the start is cut; capture_pane has it");
        }
        if self.output.is_empty() { facts } else { format!("{facts}\n{}", self.output) }
    }

    fn limit(&mut self, max: usize) {
        self.truncated |= keep_tail(&mut self.output, max) > 0;
    }
}

impl Tool for RunInRepl {
    const META: Meta = Meta {
        name: "run_in_repl",
        title: "Run in REPL",
        description: "Enter input into an interpreter at its prompt (python, node, psql, a shell): the text up to its next prompt.",
        group: Group::Command,
        tier: Tier::Mutate,
        sets: &[Toolset::Agent],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Answer;

    async fn call(cx: &Cx, args: Args) -> Result<Answer, ToolError> {
        let patience = cx.max_wait("timeout", args.timeout.unwrap_or(10.0))?;
        let pane = cx.pane(&args.target).await?;
        must_take_input(&pane, true)?;
        let enter = Some(Keystroke::Enter);
        let turn = cx.turn(&pane, Keystroke::of_text(&args.input).chain(enter)).await?;
        let answer = cx.runs.converse(&pane, &args.input, args.prompt.as_deref(), patience).await?;
        turn.done();
        Ok(Answer {
            pane_id: pane.pane.to_string(),
            output: answer.output,
            foreground: answer.program,
            timed_out: !answer.complete,
            truncated: answer.cut,
            took: answer.took.as_secs_f64(),
        })
    }
}
