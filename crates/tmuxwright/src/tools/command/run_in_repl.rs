//! `run_in_repl`: sends input to an interpreter and returns its output up to the next prompt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actions::typing::must_take_input;
use crate::context::{Cx, Keystroke, Tool};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::{FactRow, field, seconds};
use crate::run::Standing;
use terminal::text::keep_tail;

pub(super) struct RunInRepl;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane, such as %3.
    target: Target,
    /// One or more lines.
    input: String,
    /// End of its prompt, such as `>>> ` (default: detected).
    prompt: Option<String>,
    /// Seconds to wait (default 10).
    timeout: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ReplAnswer {
    /// Pane id.
    pane_id: String,
    /// Text printed between the input and the next prompt.
    output: String,
    /// Program that answered.
    foreground: String,
    /// Where the program stands now, such as `at >>>` or `asks: Sure? (y or n)`.
    state: String,
    /// Whether the output reports an error.
    error: bool,
    /// Lines of the input that were not entered, without empty ones.
    lines_left: usize,
    /// Whether no prompt came in time; the output is what was printed until then.
    timed_out: bool,
    /// Whether the beginning of the output is cut.
    truncated: bool,
    /// The state, with text of the terminal quoted.
    #[serde(skip)]
    shown_state: String,
    /// Duration in seconds.
    #[serde(skip)]
    took: f64,
}

impl Output for ReplAnswer {
    const FORM: Form = Form::Text;

    fn text(&self) -> String {
        let facts = FactRow::new(&self.pane_id)
            .fact(field(&self.foreground))
            .fact(seconds(self.took))
            .flag(self.error, "error")
            .fact(&self.shown_state)
            .maybe((self.lines_left > 0).then(|| format!("{} lines not entered", self.lines_left)))
            .flag(self.timed_out, "capture_since shows more, interrupt stops it")
            .flag(self.truncated, "beginning cut; capture_pane with lines shows it");
        let facts = String::from(facts);
        if self.output.is_empty() { facts } else { format!("{facts}\n{}", self.output) }
    }

    fn limit(&mut self, max: usize) {
        self.truncated |= keep_tail(&mut self.output, max) > 0;
    }
}

/// Refuses an input with characters that are keys to a line editor, such as C-c or Escape.
fn refuse_keys(input: &str) -> Result<(), ToolError> {
    let text = input.replace("\r\n", "\n");
    let key =
        text.trim_end_matches('\r').chars().find(|&c| c.is_control() && c != '\n' && c != '\t');
    let Some(key) = key else { return Ok(()) };
    let message =
        format!("`input` holds `{}`, which a line editor takes as a key", key.escape_default());
    Err(ToolError::new(Code::InvalidArgument, message)
        .hint("write it as an escape of the language, such as `\\x1b`; send_keys presses keys"))
}

impl Tool for RunInRepl {
    const META: Meta = Meta {
        name: "run_in_repl",
        title: "Run in REPL",
        description: "Send input to a REPL at its prompt (python, node, psql, a shell) and return its output up to the next prompt.",
        group: Group::Command,
        tier: Tier::Mutate,
        sets: &[Toolset::Agent],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = ReplAnswer;

    async fn call(cx: &Cx, args: Args) -> Result<ReplAnswer, ToolError> {
        let patience = cx.max_wait("timeout", args.timeout.unwrap_or(10.0))?;
        let pane = cx.pane(&args.target).await?;
        must_take_input(&pane, true)?;
        refuse_keys(&args.input)?;
        if args.prompt.as_ref().is_some_and(|prompt| prompt.trim().is_empty()) {
            let error = ToolError::new(Code::InvalidArgument, "`prompt` is blank");
            return Err(error.hint("leave it out, and the prompt is detected"));
        }
        let enter = Some(Keystroke::Enter);
        let turn = cx.turn(&pane, Keystroke::of_text(&args.input).chain(enter)).await?;
        let answer = cx.runs.run_in_repl(&pane, args.input, args.prompt, patience).await?;
        turn.done();
        Ok(ReplAnswer {
            pane_id: pane.pane.to_string(),
            output: cx.redacted(answer.output),
            foreground: answer.program,
            state: cx.redacted(answer.standing.words(str::to_owned)),
            shown_state: cx.redacted(answer.standing.words(|text| field(text).to_string())),
            error: answer.has_error,
            lines_left: answer.lines_left,
            timed_out: answer.standing == Standing::Running,
            truncated: answer.cut,
            took: answer.took.as_secs_f64(),
        })
    }
}
