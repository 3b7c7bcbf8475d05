//! Interrupting the program in a pane with C-c, and waiting for the shell's prompt.

use std::sync::Arc;
use std::time::Duration;

use tmux_control::keys::TmuxKey;
use tokio::time::Instant;

use super::cursor_row::CursorRow;
use super::gate::{self, Readiness, Shell};
use super::limits::{INTERRUPT_REACTION_TIME, JOB_END_INTERVAL, LONGEST_INTERVAL};
use super::prompt::Prompt;
use super::prompt_check::PromptCheck;
use super::remote::RemoteInterrupt;
use super::repl::{InterpreterState, Unpressed};
use super::viewers::Viewers;
use super::{Engine, Job, Refusal, Standing};
use crate::host::PaneState;

/// Outcome of an interrupt.
#[derive(Debug)]
pub struct Interrupted {
    /// Whether the pane's shell or interpreter is back at its prompt.
    pub at_prompt: bool,
    /// Why C-c was not pressed. `None` if it was.
    pub unpressed: Option<Unpressed>,
    /// Where a known interpreter stands, and the input that leaves it.
    pub interpreter: Option<(Standing, &'static str)>,
    /// Command line of the foreground program.
    pub foreground: String,
    /// The job of this client that ran in the pane.
    pub job: Option<Arc<Job>>,
}

/// A shell at its prompt before an interrupt, perhaps with text.
struct PromptBefore {
    shell: Shell,
    cursor: CursorRow,
    since: Instant,
}

impl Engine {
    /// Presses C-c and waits until the pane's shell is back at its prompt or the timeout expires.
    pub async fn interrupt(
        &self,
        pane: &PaneState,
        timeout: Duration,
    ) -> Result<Interrupted, Refusal> {
        let until = Instant::now() + timeout;
        // The key would end the line, or the script, that a call is typing.
        let typing = self.typing_until(pane.pane, until).await?;
        let remote = RemoteInterrupt::of(self, pane).await;
        let job = match &remote {
            Some(remote) => remote.job.clone(),
            None => self.running_in(pane.pane),
        };
        let generation = self.records().pane(pane).generation;
        let before = self.prompt_before(pane).await;
        if let Some(InterpreterState { name, leave, standing, unpressed: Some(unpressed) }) =
            self.interpreter_standing(pane).await
        {
            return Ok(Interrupted {
                at_prompt: unpressed == Unpressed::NothingRuns,
                unpressed: Some(unpressed),
                foreground: name.to_owned(),
                interpreter: Some((standing, leave)),
                job: job.filter(|job| self.is_own_job(job)),
            });
        }
        if let Some(remote) = remote {
            return remote.press(typing, until).await;
        }
        // The terminal drops text that was not entered.
        self.shared.typed_input.record(pane.pane, "", true);
        self.tmux().run(TmuxKey::Named("C-c".to_owned()).press(pane.pane)).await?;
        drop(typing);
        let mut pause = INTERRUPT_REACTION_TIME;
        loop {
            if let Some(job) = &job {
                job.wait_for_end_until((Instant::now() + JOB_END_INTERVAL).min(until)).await;
            }
            tokio::time::sleep(pause.min(until.saturating_duration_since(Instant::now()))).await;
            let (at_prompt, foreground) = match gate::readiness(self, pane.pid).await {
                Readiness::AtPrompt(shell) => (true, shell.kind.name().to_owned()),
                Readiness::BusyShell(program, _) | Readiness::Program(program, _) => {
                    (false, program.argv.join(" "))
                }
                Readiness::Unknown => (false, String::new()),
            };
            // A shell that reads keys may do so for a command that still runs.
            let at_prompt = at_prompt && job.as_ref().is_none_or(|job| !job.is_running());
            if at_prompt
                && let Some(before) = &before
                && let Some(row) = self.prompt_after(pane, before).await?
            {
                let rows = self.records().pane(pane).prompt.as_ref().and_then(|prompt| prompt.rows);
                self.remember_prompt(pane, generation, Prompt { row, rows }, true);
            }
            let interpreter = if at_prompt { None } else { self.interpreter_standing(pane).await };
            let interpreter = interpreter.map(|it| (it.standing, it.leave));
            let is_back = matches!(interpreter, Some((Standing::AtPrompt { .. }, _)));
            if at_prompt || is_back || Instant::now() >= until {
                let job = job.filter(|job| self.is_own_job(job));
                let at_prompt = at_prompt || is_back;
                return Ok(Interrupted {
                    at_prompt,
                    unpressed: None,
                    foreground,
                    interpreter,
                    job,
                });
            }
            pause = (pause * 2).min(LONGEST_INTERVAL);
        }
    }

    /// The row of the pane's shell, if it is at its prompt. While a program runs, text may be typed ahead
    /// that nobody can tell from the prompt that follows.
    async fn prompt_before(&self, pane: &PaneState) -> Option<PromptBefore> {
        let since = Instant::now();
        let Readiness::AtPrompt(shell) = gate::readiness(self, pane.pid).await else {
            return None;
        };
        let cursor = CursorRow::read(self.tmux(), pane.pane).await.ok()?;
        Some(PromptBefore { shell, cursor, since })
    }

    /// The row of the prompt that the shell has printed after an interrupt, if it is certain that nothing
    /// is typed there. The key does not always clear a line: it may be trapped or bound otherwise, or only
    /// leave a menu, and the line may be drawn again below. And a person may have typed since.
    async fn prompt_after(
        &self,
        pane: &PaneState,
        before: &PromptBefore,
    ) -> Result<Option<String>, tmux_control::Error> {
        let cursor = CursorRow::read(self.tmux(), pane.pane).await?;
        let place = |it: &CursorRow| (it.history, it.row);
        let (line, line_before) = (cursor.line(), before.cursor.line());
        let Some(cleared) = line_before.strip_prefix(&line) else { return Ok(None) };
        let viewers = Viewers::read(self.tmux(), pane).await?;
        let is_new = !line.trim().is_empty()
            && place(&before.cursor) != place(&cursor)
            && !viewers.session_typed_within(before.since.elapsed());
        let check = PromptCheck {
            engine: self,
            pane,
            shell: before.shell,
            viewers: &viewers,
            pooled: false,
        };
        let is_certain = is_new && (!cleared.is_empty() || check.is_drawn_empty(&cursor).await);
        Ok(is_certain.then_some(cursor.before))
    }
}
