//! Following of one job until its shell is back at the prompt: output, awaited input, status.

use std::sync::Arc;

use tokio::time::Instant;

use super::Engine;
use super::gate::{self, ProbePause, Readiness, Shell};
use super::job::{Job, JobStatus};
use super::job_feed::JobFeed;
use super::limits::HOOK_MARK_TIMEOUT;
use super::line_place::CommandLine;
use super::marks::MarkKeys;
use super::pane_records::{PaneLease, ShellMarks};
use super::pane_size::{SizedItem, SizedStream};
use super::prompt::Prompt;
use crate::host::PaneState;
use process::{InputState, Inspection};

/// The task that follows one job. Holds the lease on the pane while the command runs.
pub(super) struct JobFollower {
    pub(super) engine: Arc<Engine>,
    pub(super) job: Arc<Job>,
    pub(super) lease: PaneLease,
    pub(super) pane: PaneState,
    pub(super) shell: Shell,
    pub(super) stream: SizedStream,
    pub(super) feed: JobFeed,
    pub(super) keys: MarkKeys,
    pub(super) prompt: Prompt,
    pub(super) state: FollowState,
}

/// State of the follower. The phases of the command itself are those of the feed's filter.
#[derive(Debug)]
pub(super) struct FollowState {
    /// Whether the shell prints an end mark at its prompt even if it drops the command file.
    marks_prompt: bool,
    pub(super) typed_at: Instant,
    /// Count of the inputs into the pane that the probes take into account.
    pub(super) inputs: u64,
    /// The typed line, unless the command itself was typed; the shell may ask for its place.
    pub(super) command_line: Option<CommandLine>,
    /// When the shell was asked for the status.
    pub(super) status_asked: Option<Instant>,
    /// Whether there may be a command file, and a file through which the status is asked.
    has_command_file: bool,
    pub(super) has_status_file: bool,
    /// The inspection by which the end was confirmed, if another system was asked.
    pub(super) look_at_end: Option<Inspection>,
    /// Bytes after the end mark: the shell's prompt.
    pub(super) after_end: Vec<u8>,
}

impl FollowState {
    pub(super) fn new(marks_prompt: bool, command_line: Option<CommandLine>) -> Self {
        Self {
            marks_prompt,
            typed_at: Instant::now(),
            inputs: 0,
            has_command_file: command_line.is_some(),
            has_status_file: false,
            look_at_end: None,
            command_line,
            status_asked: None,
            after_end: Vec::new(),
        }
    }
}

impl JobFollower {
    /// Whether an end mark is held, and not only because the one at the prompt is still on its way.
    fn may_have_ended(&self) -> bool {
        let JobFeed { filter, probes, .. } = &self.feed;
        let on_its_way = self.state.marks_prompt && filter.awaits_last_mark();
        filter.holds_end() && !(on_its_way && probes.quiet() < HOOK_MARK_TIMEOUT)
    }

    /// Follows the command to its end, then releases the pane.
    pub(super) async fn run(mut self) {
        let processes = self.engine.processes().clone();
        let shell_exit = processes.exited(self.shell.pid);
        tokio::pin!(shell_exit);
        let mut end_pause = ProbePause::default();
        let status = loop {
            if self.feed.filter.take_line_query() {
                self.answer_line_query().await;
            }
            tokio::select! {
                item = self.stream.next() => {
                    if let Some(status) = self.handle(item) {
                        break status;
                    }
                    end_pause = ProbePause::default();
                }
                () = end_pause.wait(), if self.may_have_ended() => {
                    if let Some(status) = self.confirm_end().await {
                        break status;
                    }
                }
                () = self.engine.input_beyond(self.pane.pane, self.state.inputs) => {
                    self.state.inputs = self.engine.inputs(self.pane.pane);
                    self.feed.probes.reset(Instant::now());
                }
                () = tokio::time::sleep_until(self.feed.probes.due()) => {
                    if let Some(status) = self.probe().await {
                        break status;
                    }
                }
                () = &mut shell_exit => break self.status_after_exit().await,
            }
        };
        self.discard_files();
        let code = if let JobStatus::Exited(code) = status { Some(code) } else { None };
        let unfinished = self.job.last_row();
        let newline = unfinished.is_empty();
        let reading_prompt =
            code.map(|code| self.engine.records().pane(&self.pane).command_ended(code, newline));
        let look = self.state.look_at_end.as_ref();
        let directory = look.and_then(|look| look.cwd(self.shell.pid));
        self.engine.note_directory(self.pane.pane, self.shell.pid, directory).await;
        self.job.finish(status);
        self.engine.jobs().evict_oldest(self.engine.shared.options.results);
        if reading_prompt.is_some() {
            self.read_prompt(&unfinished).await;
        }
    }

    /// Handles an item of the stream. Returns the status if the job is lost.
    pub(super) fn handle(&mut self, item: SizedItem) -> Option<JobStatus> {
        let had_begun = self.feed.filter.has_begun();
        let status = self.feed.handle(item);
        let is_local = self.engine.host().system().is_local();
        if self.feed.filter.has_begun() && !had_begun && is_local {
            // The command file has emptied itself. Elsewhere it costs a script less to remove it with the others.
            self.engine.private_dir().discard(&[&self.job.id]);
        }
        status
    }

    /// Removes the files of the job.
    fn discard_files(&self) {
        let (line_file, status_file) = (self.line_file(), self.status_file());
        let mut files = Vec::new();
        if self.state.has_command_file {
            files.extend([self.job.id.as_str(), &line_file]);
        }
        if self.state.has_status_file {
            files.push(&status_file);
        }
        if !files.is_empty() {
            self.engine.private_dir().discard(&files);
        }
    }

    /// Confirms the held end mark once the shell has its terminal back. Both marks, of the command file
    /// and at the prompt, are enough then. After one alone the shell must also read its next line:
    /// before that, a program may have printed the mark; after it, the last mark is the shell's own.
    pub(super) async fn confirm_end(&mut self) -> Option<JobStatus> {
        let shell = self.shell.pid;
        if self.feed.filter.holds_last_mark() {
            let look = self.engine.processes().inspect(self.pane.pid).await;
            look.foreground().filter(|it| it.pid == shell)?;
            self.note_look(look);
            return self.take_end();
        }
        let look = self.engine.processes().inspect(self.pane.pid).await;
        match gate::readiness_by(&self.engine, self.pane.pid, &look) {
            Readiness::AtPrompt(at_prompt) if at_prompt.pid == shell => {}
            // Without a line editor, `stty -echo` makes the prompt look like that for a password.
            Readiness::BusyShell(busy, InputState::Line | InputState::Password)
                if busy.pid == shell => {}
            _ => return None,
        }
        if let Err(status) = self.read_printed().await {
            return status;
        }
        self.note_look(look);
        self.take_end()
    }

    /// Keeps an inspection of another system, which shows the shell after the command.
    fn note_look(&mut self, look: Inspection) {
        self.state.look_at_end = Some(look).filter(|_| !self.engine.host().system().is_local());
    }

    /// Reads all that the pane has printed by now: a mark may not have arrived yet. Without a timeout,
    /// since output of other panes in the session may be in front of it. `Err` has the status if the
    /// job is lost.
    pub(super) async fn read_printed(&mut self) -> Result<(), Option<JobStatus>> {
        let tmux = self.engine.tmux().clone();
        let caught_up = tmux.catch_up(self.pane.session, self.pane.pane);
        tokio::pin!(caught_up);
        loop {
            let item = tokio::select! {
                item = self.stream.next() => item,
                caught_up = &mut caught_up => match caught_up {
                    Ok(()) => break,
                    Err(_) => return Err(None),
                },
            };
            self.handle(item).map_or(Ok(()), |status| Err(Some(status)))?;
        }
        while let Some(item) = self.stream.next_arrived().await {
            self.handle(item).map_or(Ok(()), |status| Err(Some(status)))?;
        }
        Ok(())
    }

    /// The status by the held end mark, if there is one.
    pub(super) fn take_end(&mut self) -> Option<JobStatus> {
        // The hook at the prompt has been removed: no command can be typed as it is any more.
        let hook_is_gone = self.state.marks_prompt && self.feed.filter.awaits_last_mark();
        let (code, after) = self.feed.filter.confirm()?;
        if hook_is_gone && self.state.status_asked.is_none() {
            self.engine.records().pane(&self.pane).marks = ShellMarks::None;
        }
        self.state.after_end = after;
        Some(code.map_or_else(
            || {
                let why = "it has ended, but a hook of its shell has replaced its status";
                JobStatus::Lost(why.to_owned())
            },
            JobStatus::Exited,
        ))
    }

    /// Name of the file through which the status is asked.
    pub(super) fn status_file(&self) -> String {
        format!("{}-status", self.job.id)
    }
}
