//! The query for the status of a command whose shell may have dropped it: on an interrupt, and on some errors,
//! a shell skips the rest of a script, and so the end mark.

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::follow::RemoteFollower;
use super::loader;
use super::prompt::{Patience, RemotePrompt};
use super::{RemoteRecord, prompt_row};
use crate::run::Refusal;
use crate::run::delivery::LineGeometry;
use crate::run::job::JobStatus;
use crate::run::limits::{QUERY_INTERVAL, RELAY_QUIET, REMOTE_ANSWER_TIMEOUT};
use crate::run::pane_records::TypingLease;
use crate::run::prompt::same_prompt;

/// The query, and what is known from the earlier ones.
#[derive(Debug, Default)]
pub(super) struct StatusQuery {
    state: QueryState,
    /// Whether a shell that the command has started answered an earlier query: then the command goes on.
    met_other_shell: bool,
}

#[derive(Debug, Default)]
enum QueryState {
    #[default]
    NotAsked,
    Asked {
        at: Instant,
        /// Whether the query was typed at the command's own prompt. Another one may be that of a program which the
        /// command has started, and which knows no such line.
        at_own_prompt: bool,
    },
    /// The query reached a shell that the command has started, and that shows the same prompt.
    OtherShell,
    /// That shell is at its prompt again, with this number of lines of output.
    OtherShellAt(u64),
    /// The query was refused in this row, at this time.
    Refused(String, Instant),
}

impl StatusQuery {
    /// Records that a shell has evaluated the query. The command's own shell has reported the status with it.
    pub(super) fn answered(&mut self) {
        *self = Self { state: QueryState::OtherShell, met_other_shell: true };
    }

    /// Forgets which shell reads: keys were typed.
    pub(super) fn forget(&mut self) {
        if !matches!(self.state, QueryState::Asked { .. }) {
            self.state = QueryState::NotAsked;
        }
    }

    /// Whether the command's shell has not answered in time. A shell that the command has started may have begun
    /// something else meanwhile.
    pub(super) fn has_failed(&mut self) -> bool {
        let QueryState::Asked { at, at_own_prompt } = self.state else { return false };
        let has_timed_out = at.elapsed() > REMOTE_ANSWER_TIMEOUT;
        let is_own = at_own_prompt && !self.met_other_shell;
        if has_timed_out && !is_own {
            self.state = QueryState::OtherShell;
        }
        has_timed_out && is_own
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
        let (row, interrupted) = (self.job.last_row(), self.job.was_just_interrupted());
        // The command may have changed the directory in the prompt.
        let own = &self.prompt.row;
        let ends_alike = || row.trim_end().chars().last() == own.trim_end().chars().last();
        let may_be_own = same_prompt(&row, own)
            || (interrupted && ends_alike() && prompt_row::ends_as_shell(&row));
        let has_inner =
            |record: &RemoteRecord| record.jobs.last().is_some_and(|last| last.id != self.job.id);
        if !may_be_own || self.engine.read_remote(self.pane, &self.relay, has_inner) == Some(true) {
            return PromptAgain::No;
        }
        let lines = self.job.lines();
        match &self.query.state {
            QueryState::Asked { .. } => return PromptAgain::Perhaps,
            QueryState::OtherShell => {
                self.query.state = QueryState::OtherShellAt(lines);
                return PromptAgain::No;
            }
            QueryState::OtherShellAt(before) if *before == lines => return PromptAgain::No,
            QueryState::Refused(before, at) if *before == row && at.elapsed() < QUERY_INTERVAL => {
                return PromptAgain::No;
            }
            QueryState::NotAsked | QueryState::OtherShellAt(_) | QueryState::Refused(..) => {}
        }
        match interrupted || self.feed.probes.quiet() >= RELAY_QUIET {
            true => PromptAgain::Yes,
            false => PromptAgain::Perhaps,
        }
    }

    /// Types the query at the prompt. A row in which nothing can be typed says nothing about the command: the query
    /// is typed once there is another one, or later, since the connection may have stalled. If only a person or another
    /// call is in the way, it is typed at the next probe.
    pub(super) async fn ask_status(&mut self) {
        let at_own_prompt = same_prompt(&self.job.last_row(), &self.prompt.row);
        self.query.state = match self.type_query().await {
            Ok(()) => QueryState::Asked { at: Instant::now(), at_own_prompt },
            Err(Refusal::PersonActive { .. } | Refusal::Contended { .. }) => QueryState::NotAsked,
            // The terminal edits the line, for a program that asks with the text of the prompt.
            Err(Refusal::NoEditor { .. }) => QueryState::OtherShell,
            Err(_) => QueryState::Refused(self.job.last_row(), Instant::now()),
        };
    }

    async fn type_query(&self) -> Result<(), Refusal> {
        let (engine, pane) = (&self.engine, self.pane);
        // Other calls wait for the end of the typing.
        let soon = CancellationToken::new();
        soon.cancel();
        let _lease = TypingLease::acquire(engine, pane, &soon).await?;
        let prompt = RemotePrompt { engine, pane, relay: &self.relay };
        let empty = prompt.require_empty(Patience::none()).await?;
        let geometry = LineGeometry { column: empty.cursor.column, width: empty.cursor.width };
        let asked = self.keys.line.as_deref().unwrap_or_default();
        prompt.enter(&empty, &loader::status_line(self.kind, asked, geometry)).await
    }
}
