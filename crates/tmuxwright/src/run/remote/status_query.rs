//! The query for the status of a command whose shell may have dropped it: on an interrupt, and on some errors,
//! a shell skips the rest of a script, and so the end mark.

use std::sync::Arc;

use tokio::time::Instant;

use super::follow::RemoteFollower;
use super::loader;
use super::prompt::{Patience, RemotePrompt};
use super::{RemoteRecord, prompt_row};
use crate::run::Refusal;
use crate::run::delivery::LineGeometry;
use crate::run::job::JobStatus;
use crate::run::limits::{RELAY_QUIET, SHELL_RESPONSE_TIMEOUT};
use crate::run::prompt::same_prompt;

/// State of the query.
#[derive(Debug, Default)]
pub(super) enum StatusQuery {
    #[default]
    NotAsked,
    Asked(Instant),
    /// Another shell has evaluated it, which the command has started and which shows the same prompt.
    OtherShell,
    /// That shell is at its prompt again, with this number of lines of output.
    OtherShellAt(u64),
}

impl StatusQuery {
    /// Records that a shell has evaluated the query. The command's own shell has reported the status with it.
    pub(super) fn answered(&mut self) {
        *self = Self::OtherShell;
    }

    /// Forgets which shell reads: keys were typed.
    pub(super) fn forget(&mut self) {
        if !matches!(self, Self::Asked(_)) {
            *self = Self::NotAsked;
        }
    }

    /// Whether the query has timed out.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self, Self::Asked(asked) if asked.elapsed() > SHELL_RESPONSE_TIMEOUT)
    }

    /// The status of a command that was dropped, and whose status is not known for this reason.
    pub(super) fn lost(why: &str) -> JobStatus {
        JobStatus::Lost(format!("the shell abandoned it, and its exit code is unknown: {why}"))
    }
}

/// Whether a shell is at the prompt of a command's own shell again without an end mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromptAgain {
    /// The row is another one, or of another shell.
    No,
    /// A mark may be on its way.
    Perhaps,
    /// The shell is to be asked.
    Yes,
}

impl RemoteFollower {
    pub(super) fn prompt_again(&mut self) -> PromptAgain {
        let (row, interrupted) = self.job.last_row();
        // The command may have changed the directory in the prompt.
        let may_be_own =
            same_prompt(&row, &self.prompt.row) || (interrupted && prompt_row::ends_as_shell(&row));
        let has_inner = |record: &mut RemoteRecord| {
            record.jobs.last().is_some_and(|last| last.id != self.job.id)
        };
        if !may_be_own || self.engine.remote_record(self.pane, &self.relay, has_inner) {
            return PromptAgain::No;
        }
        let lines = self.job.lines();
        match self.query {
            StatusQuery::Asked(_) => return PromptAgain::Perhaps,
            StatusQuery::OtherShell => {
                self.query = StatusQuery::OtherShellAt(lines);
                return PromptAgain::No;
            }
            StatusQuery::OtherShellAt(before) if before == lines => return PromptAgain::No,
            StatusQuery::NotAsked | StatusQuery::OtherShellAt(_) => {}
        }
        match interrupted || self.feed.probes.quiet() >= RELAY_QUIET {
            true => PromptAgain::Yes,
            false => PromptAgain::Perhaps,
        }
    }

    /// Types the query at the prompt.
    pub(super) async fn ask_status(&mut self) -> Result<(), Refusal> {
        let (engine, pane) = (Arc::clone(&self.engine), self.pane);
        let prompt = RemotePrompt { engine: &engine, pane, relay: &self.relay };
        let empty = match prompt.require_empty(Patience::none()).await {
            // The terminal edits the line, for a program that asks with the text of the prompt.
            Err(Refusal::NoEditor { .. }) => {
                self.query = StatusQuery::OtherShell;
                return Ok(());
            }
            empty => empty?,
        };
        let geometry = LineGeometry { column: empty.cursor.column, width: empty.cursor.width };
        let asked = self.keys.line.as_deref().unwrap_or_default();
        let line = loader::status_line(self.kind, asked, geometry);
        prompt.enter(&empty, &line).await?;
        self.query = StatusQuery::Asked(Instant::now());
        Ok(())
    }
}
