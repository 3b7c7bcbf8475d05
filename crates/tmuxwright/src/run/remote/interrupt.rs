//! Interrupting the command of a shell behind a relay, and waiting for the prompt.

use std::sync::Arc;
use std::time::Duration;

use tmux_control::keys::TmuxKey;
use tokio::time::Instant;

use super::prompt::RemotePrompt;
use super::prompt_row::RowLook;
use super::relay::Relay;
use crate::host::PaneState;
use crate::run::cursor_row::CursorRow;
use crate::run::job::AwaitedInput;
use crate::run::limits::{
    INTERRUPT_REACTION_TIME, JOB_END_INTERVAL, LONGEST_INTERVAL, RELAY_QUIET,
    SHELL_RESPONSE_TIMEOUT,
};
use crate::run::repl::InterpreterState;
use crate::run::{Engine, Interrupted, Job, Refusal, Standing, TypingGuard};

/// A shell behind a relay before an interrupt.
pub(in crate::run) struct RemoteInterrupt<'a> {
    engine: &'a Engine,
    pane: &'a PaneState,
    relay: Relay,
    /// The command that runs in the shell.
    pub(in crate::run) job: Option<Arc<Job>>,
    before: CursorRow,
}

impl<'a> RemoteInterrupt<'a> {
    /// `None` if the pane shows neither a command of ours behind a relay nor the prompt of a shell there.
    pub(in crate::run) async fn of(engine: &'a Engine, pane: &'a PaneState) -> Option<Self> {
        let relay = Relay::in_pane(engine, pane).await.ok()?;
        let (job, terminal) = (engine.remote_job(pane.pane), &relay.terminal);
        let before = CursorRow::read(&terminal.tmux, terminal.pane.pane).await.ok()?;
        let found = Self { engine, pane, relay, job, before };
        (found.job.is_some() || found.look(&found.before) != RowLook::Other).then_some(found)
    }

    fn look(&self, cursor: &CursorRow) -> RowLook {
        RemotePrompt { engine: self.engine, pane: self.pane.pane, relay: &self.relay }.look(cursor)
    }

    /// Presses C-c and waits for the prompt of the shell, or of an interpreter that the command has started.
    pub(in crate::run) async fn press(
        self,
        typing: TypingGuard,
        until: Instant,
    ) -> Result<Interrupted, Refusal> {
        let (engine, pane, terminal) = (self.engine, self.pane.pane, &self.relay.terminal);
        // The terminal drops text that was not entered.
        engine.shared.typed_input.record(pane, "", true);
        engine.tmux().run(TmuxKey::Named("C-c".to_owned()).press(pane)).await?;
        drop(typing);
        let pressed = Instant::now();
        let mut pause = INTERRUPT_REACTION_TIME;
        let mut interpreter = None;
        let at_prompt = loop {
            let now = Instant::now();
            if let Some(job) = &self.job {
                if job.wait_for_end_until((now + JOB_END_INTERVAL).min(until)).await {
                    break true;
                }
                interpreter = engine.interpreter_standing(self.pane).await;
            } else {
                tokio::time::sleep(pause.min(until.saturating_duration_since(now))).await;
                pause = (pause * 2).min(LONGEST_INTERVAL);
            }
            let is_back = |it: &InterpreterState| matches!(it.standing, Standing::AtPrompt { .. });
            if interpreter.as_ref().is_some_and(is_back) {
                break true;
            }
            let cursor = CursorRow::read(&terminal.tmux, terminal.pane.pane).await?;
            if pressed.elapsed() > self.reaction_time(&cursor)
                && matches!(self.look(&cursor), RowLook::Known | RowLook::Unknown)
            {
                break true;
            }
            if Instant::now() >= until {
                break false;
            }
        };
        let job = self.job.filter(|job| engine.is_own_job(job));
        let interpreter = interpreter.map(|it| (it.standing, it.leave));
        let foreground = self.relay.program;
        Ok(Interrupted { at_prompt, unpressed: None, interpreter, foreground, job })
    }

    /// Time after which a row that looks like a prompt was printed after the key. While a command runs, the prompt
    /// is that of a shell which the command has started; else the command's own shell reports its end.
    fn reaction_time(&self, cursor: &CursorRow) -> Duration {
        let place = |it: &CursorRow| (it.history, it.row);
        let waits = |job: &Arc<Job>| job.facts().waiting == Some(AwaitedInput::Keys);
        match &self.job {
            Some(job) if !waits(job) => SHELL_RESPONSE_TIMEOUT,
            _ if place(cursor) == place(&self.before) => RELAY_QUIET,
            _ => Duration::ZERO,
        }
    }
}
