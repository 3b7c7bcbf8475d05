//! The query for the status of a command whose shell may have dropped it: on an interrupt, and on some errors,
//! a shell skips the rest of a script, and so the end mark.

use std::time::Duration;

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

/// Doublings of the interval between queries that nobody answers.
const MAX_DOUBLINGS: u32 = 6;

/// The query, and what is known from the earlier ones.
#[derive(Debug, Default)]
pub(super) struct StatusQuery {
    state: QueryState,
    /// Number of queries that no shell has answered.
    unanswered: u32,
}

#[derive(Debug, Default)]
enum QueryState {
    #[default]
    NotAsked,
    Asked(Instant),
    /// The query reached a program that does not know it, and that shows a prompt such as that of the shell.
    Unanswered {
        at: Instant,
        /// Lines of output by then.
        lines: u64,
        /// Whether keys were typed since.
        has_keys: bool,
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
        *self = Self { state: QueryState::OtherShell, unanswered: 0 };
    }

    /// Forgets which shell reads: keys were typed.
    pub(super) fn forget(&mut self) {
        match &mut self.state {
            QueryState::Asked(_) => {}
            QueryState::Unanswered { has_keys, .. } => *has_keys = true,
            state => *state = QueryState::NotAsked,
        }
    }

    /// Notes a query that was not answered in time. The command goes on: it has started the program that read the
    /// query, since its own shell would have answered.
    fn note_silence(&mut self, lines: u64) {
        if let QueryState::Asked(at) = self.state
            && at.elapsed() > REMOTE_ANSWER_TIMEOUT
        {
            self.unanswered += 1;
            self.state = QueryState::Unanswered { at, lines, has_keys: false };
        }
    }

    /// Time until the query is typed again for a program that did not know it, and shows each one on its screen.
    fn interval(&self) -> Duration {
        QUERY_INTERVAL * (1 << self.unanswered.min(MAX_DOUBLINGS))
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
        self.query.note_silence(lines);
        match &self.query.state {
            QueryState::Asked(_) => return PromptAgain::Perhaps,
            // After an interrupt, the command's own shell may be back.
            QueryState::Unanswered { has_keys: true, .. } if interrupted => {}
            QueryState::Unanswered { at, lines: before, .. }
                if *before == lines || at.elapsed() < self.query.interval() =>
            {
                return PromptAgain::No;
            }
            QueryState::OtherShell => {
                self.query.state = QueryState::OtherShellAt(lines);
                return PromptAgain::No;
            }
            QueryState::OtherShellAt(before) if *before == lines => return PromptAgain::No,
            QueryState::Refused(before, at) if *before == row && at.elapsed() < QUERY_INTERVAL => {
                return PromptAgain::No;
            }
            QueryState::NotAsked
            | QueryState::Unanswered { .. }
            | QueryState::OtherShellAt(_)
            | QueryState::Refused(..) => {}
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
        self.query.state = match self.type_query().await {
            Ok(()) => QueryState::Asked(Instant::now()),
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
        let scrolls = engine.read_remote(pane, &self.relay, |record| record.scrolls_sideways);
        let width = if scrolls == Some(true) { u32::MAX } else { empty.cursor.width };
        let geometry = LineGeometry { column: empty.cursor.column, width };
        let asked = self.keys.line.as_deref().unwrap_or_default();
        prompt.enter(&empty, &loader::status_line(self.kind, asked, geometry)).await
    }
}
