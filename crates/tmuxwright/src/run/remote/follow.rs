//! Following of a command behind a relay: its output, its end mark, and the end of the connection.

use std::sync::Arc;

use process::{InputState, ShellKind};
use tmux_control::PaneId;
use tokio::time::Instant;

use super::RemoteLease;
use super::prompt::RemotePrompt;
use super::prompt_row::{self, RowLook};
use super::relay::{Relay, ShellTerminal};
use super::status_query::{PromptAgain, StatusQuery};
use crate::input_probe::{
    ShownRow, awaited_input, hidden_input, reads_without_question, terminal_input,
};
use crate::run::job::{AlternateScreen, JobStatus};
use crate::run::job_feed::JobFeed;
use crate::run::limits::{REMOTE_ANSWER_TIMEOUT, REMOTE_START_TIMEOUT};
use crate::run::marks::MarkKeys;
use crate::run::pane_size::{CatchUp, SizedItem, SizedStream};
use crate::run::prompt::Prompt;
use crate::run::viewers::Viewers;
use crate::run::{Engine, Job};

/// The task that follows one command behind a relay.
pub(super) struct RemoteFollower {
    pub(super) engine: Arc<Engine>,
    pub(super) lease: RemoteLease,
    pub(super) relay: Relay,
    /// The pane of the call.
    pub(super) pane: PaneId,
    pub(super) job: Arc<Job>,
    /// The command behind the relay that has started the shell of this one.
    pub(super) outer: Option<Arc<Job>>,
    pub(super) kind: ShellKind,
    pub(super) prompt: Prompt,
    pub(super) stream: SizedStream,
    pub(super) feed: JobFeed,
    pub(super) keys: MarkKeys,
    pub(super) typed_at: Instant,
    /// The people who saw the script being typed.
    pub(super) viewers: Viewers,
    pub(super) query: StatusQuery,
}

impl RemoteFollower {
    /// Follows the command to its end, then releases the pane.
    pub(super) async fn run(mut self) {
        let processes = self.relay.terminal.processes.clone();
        let relay_exit = processes.exited(self.relay.pid);
        let outer = self.outer.clone();
        let outer_end = async {
            match &outer {
                Some(outer) => outer.wait_for_end().await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(relay_exit, outer_end);
        let mut inputs = self.engine.inputs(self.pane);
        let status = loop {
            tokio::select! {
                biased;
                item = self.stream.next() => {
                    if let Some(status) = self.handle(item) {
                        break status;
                    }
                }
                () = &mut relay_exit => break self.status_after_exit().await,
                _ = &mut outer_end => break self.status_after_exit().await,
                () = self.engine.input_beyond(self.pane, inputs) => {
                    inputs = self.engine.inputs(self.pane);
                    self.feed.probes.reset(Instant::now());
                    self.query.forget();
                    self.job.forget_waiting();
                }
                () = tokio::time::sleep_until(self.feed.probes.due()) => {
                    if let Some(status) = self.probe().await {
                        break status;
                    }
                }
            }
        };
        self.engine.remote_job_ended(self.pane, &self.relay, &self.job, &status);
        let has_exited = matches!(status, JobStatus::Exited(_));
        self.job.finish(status);
        if has_exited {
            RemotePrompt { engine: &self.engine, pane: self.pane, relay: &self.relay }
                .record_end()
                .await;
        }
        self.engine.jobs().evict_oldest(self.engine.shared.options.results);
        drop(self.lease);
    }

    /// Handles an item of the stream. Returns the status if the command has ended or is lost.
    fn handle(&mut self, item: SizedItem) -> Option<JobStatus> {
        if let Some(lost) = self.feed.handle(item) {
            return Some(lost);
        }
        if self.feed.filter.has_begun() {
            self.lease.command_has_begun();
        }
        let answered = self.feed.filter.take_line_query();
        if answered {
            self.query.answered();
        }
        // The keys of the marks have left this process only in the script, so no other program knows them.
        let Some((code, _)) = self.feed.filter.confirm() else {
            // A shell that does not know the command is at its prompt.
            return (answered && self.feed.has_gap)
                .then(|| StatusQuery::lost("output was lost, and its end with it"));
        };
        let unknown = || JobStatus::Lost("the shell no longer knows its exit code".to_owned());
        Some(code.map_or_else(unknown, JobStatus::Exited))
    }

    /// Probes whether the command waits for input, or its shell has dropped it.
    async fn probe(&mut self) -> Option<JobStatus> {
        let inputs = self.engine.inputs(self.pane);
        // Typed keys must have reached the terminal before the probe.
        if let Err(status) = self.settle().await {
            return status;
        }
        let ShellTerminal { processes, pane, .. } = &self.relay.terminal;
        let look = processes.inspect(pane.pid).await;
        let wait = look.input_wait();
        // What was printed before it may not have arrived yet, even the end mark: a shell that can be inspected
        // reads its next line then.
        if let Err(status) = self.settle().await {
            return status;
        }
        if self.engine.inputs(self.pane) != inputs {
            self.feed.probes.record(None);
            return None;
        }
        if !self.feed.filter.has_begun() {
            self.feed.probes.record(None);
            return self.status_without_mark().await;
        }
        match self.prompt_again() {
            PromptAgain::No => {}
            PromptAgain::Perhaps => {
                self.feed.probes.record(None);
                return None;
            }
            PromptAgain::Yes => {
                self.feed.probes.record(None);
                self.ask_status().await;
                return None;
            }
        }
        let row = self.job.last_row();
        let alternate = self.job.facts().alternate == Some(AlternateScreen::Active);
        let shown = ShownRow { row: &row, alternate, quiet: self.feed.probes.quiet() };
        let awaited = match wait.state {
            // The processes of another user.
            InputState::Unknown => hidden_input(terminal_input(&look), &row),
            _ => awaited_input(&wait, shown),
        };
        // Of a program behind ssh nothing is known but the row.
        let is_unasked = awaited.is_none() && !self.relay.passes_keys;
        self.job.set_reading(reads_without_question(&wait).filter(|_| is_unasked));
        self.feed.probes.record(awaited);
        self.job.set_waiting(self.feed.probes.settled());
        None
    }

    /// Waits until all output and typed keys have arrived. `Err` if output came meanwhile, with the status if the
    /// command has ended.
    async fn settle(&mut self) -> Result<(), Option<JobStatus>> {
        let caught_up = self.relay.terminal.catch_up();
        match self.stream.catch_up(caught_up).await {
            CatchUp::Done => Ok(()),
            CatchUp::Item(item) => Err(self.handle(item)),
            CatchUp::TimedOut => {
                self.feed.probes.record(None);
                Err(None)
            }
        }
    }

    /// The status of a command whose shell has printed no mark, once none can be expected: the shell is at its prompt
    /// again, as after an interrupt, or too much time has passed.
    async fn status_without_mark(&self) -> Option<JobStatus> {
        let prompt = RemotePrompt { engine: &self.engine, pane: self.pane, relay: &self.relay };
        let is_quiet = self.feed.probes.quiet() > REMOTE_ANSWER_TIMEOUT;
        let row = if is_quiet { prompt.read_row().await.ok() } else { None };
        if row.is_some_and(|row| prompt.look(&row) == RowLook::Known) {
            let why = "its shell is at its prompt again, and has not read the whole command";
            return Some(JobStatus::Lost(why.to_owned()));
        }
        if self.typed_at.elapsed() <= REMOTE_START_TIMEOUT {
            return None;
        }
        // A shell that still reads the script would take the next line of a person for a part of it. Once a person has
        // pressed a key, the shell may run a program of theirs instead.
        let stopped = match prompt.press(&self.viewers, &["C-c"]).await {
            Ok(true) => "it was interrupted",
            Ok(false) | Err(_) => "it could not be interrupted",
        };
        let why =
            format!("its shell printed no mark, and {stopped}: whether it has run is unknown");
        Some(JobStatus::Lost(why))
    }

    /// The status after the relay, or the command that has started the shell, has exited: what was printed last
    /// may hold the end mark.
    async fn status_after_exit(&mut self) -> JobStatus {
        self.relay.terminal.catch_up().await;
        while let Some(item) = self.stream.next_arrived().await {
            if let Some(status) = self.handle(item) {
                return status;
            }
        }
        // The shell around it has printed its prompt.
        if prompt_row::ends_as_shell(&self.job.last_row()) {
            self.job.close_before_prompt(1);
        }
        let ended = self.outer.as_ref().filter(|outer| !outer.is_running());
        let program = &self.relay.program;
        JobStatus::Lost(match ended {
            Some(outer) => {
                format!(
                    "its shell has exited, and with it command {}, which had started it",
                    outer.id
                )
            }
            None if self.relay.passes_keys => format!("the connection of `{program}` has ended"),
            None => format!("its shell `{program}` has exited"),
        })
    }
}
