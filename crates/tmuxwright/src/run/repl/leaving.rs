//! The end of an interpreter: whether it is about to exit, and the program that replaces it.

use tokio::time::Instant;

use super::Standing;
use super::exchange::Exchange;
use crate::host::{PaneState, ProcessState};
use crate::run::Refusal;
use crate::run::limits::{EXIT_NOTICE_TIMEOUT, SHELL_RESPONSE_TIMEOUT};

impl Exchange<'_> {
    /// Whether the last line leaves an interpreter that prompts once more before it exits.
    pub(super) fn exits_soon(&self) -> bool {
        self.prompts.interpreter.is_some_and(|it| it.answers_before_exit(&self.entered))
    }

    /// Whether the prompt may be the last one before the interpreter exits.
    pub(super) fn may_exit(&self, standing: &Standing) -> bool {
        let is_at_prompt = matches!(standing, Standing::AtPrompt { .. });
        is_at_prompt && self.last_output.elapsed() < SHELL_RESPONSE_TIMEOUT && self.exits_soon()
    }

    /// Whether the program behind a relay has exited: the command that has started it has ended there.
    pub(super) fn has_left_relayed(&self) -> bool {
        self.reader.is_relay && self.job.as_ref().is_some_and(|job| !job.is_running())
    }

    /// The standing after the program has exited: the program that replaced it, and its exit code.
    pub(super) async fn left(&mut self) -> Result<Standing, Refusal> {
        let until = Instant::now() + EXIT_NOTICE_TIMEOUT;
        let mut probes = 0;
        while Instant::now() < until {
            self.pause(&mut probes, until).await;
            if self.is_gone {
                return Ok(Standing::PaneGone);
            }
            if let Some(reader) = self.is_waiting().await {
                let code = match &self.job {
                    Some(job) => {
                        job.wait_for_end_until(Instant::now() + SHELL_RESPONSE_TIMEOUT).await;
                        job.exit_code()
                    }
                    None => None,
                };
                let shell = self.engine.remote_shell(self.pane.pane, reader.program.pid).await;
                let shell = shell.filter(|_| reader.is_relay);
                let name = shell.map_or(reader.program.name, |shell| shell.name().to_owned());
                return Ok(Standing::Left { back_in: Some(name), code });
            }
            let pane = self.engine.host().pane(&self.pane.pane.to_string()).await;
            // tmux may learn the code a moment after the end.
            if let Ok(PaneState { process_state: ProcessState::Exited(code @ Some(_)), .. }) = pane
            {
                return Ok(Standing::Left { back_in: None, code });
            }
        }
        Ok(Standing::Left { back_in: None, code: None })
    }
}
