//! Stopping what runs in a pane, as a person would.

use std::sync::Arc;
use std::time::Duration;

use tmux_control::keys::TmuxKey;
use tokio::time::Instant;

use super::gate::{self, Front};
use super::look::Look;
use super::prompt::Prompt;
use super::{Engine, Job};
use crate::host::PaneState;

/// How long a shell takes at least to act on a key.
const KEY_TIME: Duration = Duration::from_millis(20);

/// What came of an interrupt.
#[derive(Debug)]
pub struct Interrupted {
    /// Whether the pane is back at its shell's prompt.
    pub at_prompt: bool,
    /// The program that has the terminal.
    pub foreground: String,
    /// The command of this client that ran there.
    pub job: Option<Arc<Job>>,
}

impl Engine {
    /// Presses C-c and waits until the pane's shell is back at its prompt, or time is up.
    pub async fn interrupt(
        &self,
        pane: &PaneState,
        timeout: Duration,
    ) -> Result<Interrupted, tmux_control::Error> {
        let job = self.running_in(pane.pane);
        let uses = self.memory().pane(pane).uses;
        let until = Instant::now() + timeout;
        self.tmux().run(TmuxKey::Named("C-c".to_owned()).press(pane.pane)).await?;
        if let Some(job) = &job {
            job.ended(until).await;
        }
        let mut pause = KEY_TIME;
        loop {
            tokio::time::sleep(pause.min(until.saturating_duration_since(Instant::now()))).await;
            let (at_prompt, foreground) = match gate::front(pane.pid, self.declared()) {
                Front::Prompt(shell, _) => (true, shell.kind.name().to_owned()),
                Front::Shell(program, _) | Front::Program(program, _) => {
                    (false, program.argv.join(" "))
                }
                Front::Unknown => (false, String::new()),
            };
            // A shell may read keys for a command that goes on.
            let at_prompt = at_prompt && job.as_ref().is_none_or(|job| !job.is_running());
            if at_prompt && let Ok(look) = Look::at(self.tmux(), pane.pane).await {
                let rows = self.memory().pane(pane).prompt.as_ref().map_or(1, |prompt| prompt.rows);
                self.learn(pane, uses, Prompt { row: look.before, rows });
            }
            if at_prompt || Instant::now() >= until {
                let job = job.filter(|job| self.is_ours(job));
                return Ok(Interrupted { at_prompt, foreground, job });
            }
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    }
}
