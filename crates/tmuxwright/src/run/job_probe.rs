//! Probes of the pane in which a job runs: whether its program waits for input, or its shell is back
//! without an end mark.

use tmux_control::keys::{TmuxKey, type_text};
use tokio::time::Instant;

use super::Refusal;
use super::command_file;
use super::cursor_row::CursorRow;
use super::delivery::{self, LineGeometry};
use super::follow::JobFollower;
use super::gate::{self, ForegroundProgram, ProbePause, Readiness, Shell};
use super::job::{AlternateScreen, AwaitedInput, JobStatus};
use super::limits::{DISTURBANCE_TIMEOUT, SHELL_RESPONSE_TIMEOUT};
use super::pane_size::CatchUp;
use super::prompt::same_prompt;
use super::prompt_check::{Checked, PromptCheck};
use super::viewers::Viewers;
use crate::input_probe::{ShownRow, awaited_input, reads_without_question};
use process::InputWait;

impl JobFollower {
    /// Probes the pane's foreground program. Returns the status if the job is lost.
    pub(super) async fn probe(&mut self) -> Option<JobStatus> {
        if self.state.status_asked.is_some_and(|asked| asked.elapsed() > SHELL_RESPONSE_TIMEOUT) {
            let why = "its shell dropped it and does not report its status";
            return Some(JobStatus::Lost(why.to_owned()));
        }
        let inputs = self.engine.inputs(self.pane.pane);
        // Typed keys must have reached the terminal before the probe.
        if let Err(status) = self.settle().await {
            return status;
        }
        let found = gate::probe(&self.engine, &self.pane).await;
        // What was printed before it may not have arrived yet, even the end mark.
        if let Err(status) = self.settle().await {
            return status;
        }
        // What was found before the last input says nothing about the program any more.
        let found = found.filter(|_| self.engine.inputs(self.pane.pane) == inputs);
        let waiting = match found {
            Some((program, true)) if self.is_own_shell(&program) => {
                if !self.feed.filter.has_begun() {
                    self.feed.probes.record(None);
                    return match self.state.typed_at.elapsed() > SHELL_RESPONSE_TIMEOUT {
                        true => Some(self.not_begun().await),
                        false => None,
                    };
                }
                if self.is_dropped() {
                    self.feed.probes.record(None);
                    return self.ask_status_once(program.prompting_shell()).await;
                }
                self.awaited(&program.wait)
            }
            Some((program, _)) => self.awaited(&program.wait),
            None => None,
        };
        self.feed.probes.record(waiting);
        self.job.set_waiting(self.feed.probes.settled());
        None
    }

    /// The status of a command whose start mark did not come. A command file that still has its text was not
    /// evaluated.
    async fn not_begun(&self) -> JobStatus {
        self.engine.records().pane(&self.pane).is_unusable = true;
        let why = match self.engine.private_dir().has_text(&self.job.id).await {
            true => "its shell did not begin it",
            false => "its shell printed no mark: it is not known whether the command has run",
        };
        JobStatus::Lost(why.to_owned())
    }

    /// Waits until all output and typed keys have arrived. `Err` if output came meanwhile, with the
    /// status if the job is lost.
    async fn settle(&mut self) -> Result<(), Option<JobStatus>> {
        match self.stream.catch_up(self.engine.catch_up(&self.pane)).await {
            CatchUp::Done => Ok(()),
            CatchUp::Item(item) => Err(self.handle(item)),
            CatchUp::TimedOut => {
                self.feed.probes.record(None);
                Err(None)
            }
        }
    }

    /// Whether a program is the shell that runs the command. A shell that the command has started may
    /// show the same prompt.
    fn is_own_shell(&self, program: &ForegroundProgram) -> bool {
        program.process.pid == self.shell.pid
    }

    /// The input for which the program waits, judged by what it printed. Notes a program that reads
    /// without a question.
    fn awaited(&self, wait: &InputWait) -> Option<AwaitedInput> {
        if self.feed.filter.holds_end() {
            // The shell reads its next line; the end is confirmed soon.
            return None;
        }
        let row = self.job.last_row();
        let alternate = self.job.facts().alternate == Some(AlternateScreen::Active);
        let shown = ShownRow { row: &row, alternate, quiet: self.feed.probes.quiet() };
        let awaited = awaited_input(wait, shown);
        self.job.set_reading(reads_without_question(wait).filter(|_| awaited.is_none()));
        awaited
    }

    /// Whether the command's shell, which reads keys, is at its prompt although no end mark came: an
    /// interrupt and some errors make a shell skip the rest of a command file. `read -e` reads keys too.
    fn is_dropped(&self) -> bool {
        let is_back = || same_prompt(&self.job.last_row(), &self.prompt.row);
        !self.feed.filter.holds_end() && (self.job.was_interrupted() || is_back())
    }

    async fn ask_status_once(&mut self, shell: Option<Shell>) -> Option<JobStatus> {
        let shell = shell.filter(|_| self.state.status_asked.is_none())?;
        let refusal = self.ask_status(shell).await.err()?;
        Some(JobStatus::Lost(format!(
            "its shell dropped it, and was not asked for the status: {refusal}"
        )))
    }

    /// Types a query for the status of a command that the shell has dropped, unless a person uses the
    /// prompt: often it was a person who interrupted the command.
    pub(super) async fn ask_status(&mut self, shell: Shell) -> Result<(), Refusal> {
        // A line that a person has entered before the cursor is asked for is in the output that is read
        // then; one that is entered later moves the prompt.
        let place = |cursor: &CursorRow| (cursor.history, cursor.row);
        let prompt_place = place(&CursorRow::read(self.engine.tmux(), self.pane.pane).await?);
        if self.read_printed().await.is_err() || self.feed.filter.holds_end() {
            return Ok(());
        }
        let entered = self.job.shows_entered_line(&self.prompt.row);
        self.job.close_before_prompt(self.prompt.rows() as usize);
        let look = self.engine.processes().inspect(self.pane.pid).await;
        gate::require_shared_files(&look, self.pane.pane, shell)?;
        self.state.has_status_file = true;
        let (tmux, pane) = (self.engine.tmux(), self.pane.pane);
        let pooled = self.engine.records().pane(&self.pane).pool_client.is_some();
        let until = Instant::now() + DISTURBANCE_TIMEOUT;
        let mut pause = ProbePause::default();
        loop {
            let viewers = Viewers::read(tmux, &self.pane).await?;
            let at_prompt = match gate::readiness(&self.engine, self.pane.pid).await {
                Readiness::AtPrompt(now) => now.pid == shell.pid,
                // A person has entered a line.
                Readiness::Program(..) => return Err(Refusal::PersonActive { pane }),
                // A shell is awake for a moment to redraw its line.
                Readiness::BusyShell(..) | Readiness::Unknown => false,
            };
            let mut cursor = CursorRow::read(tmux, pane).await?;
            // A line that a person enters has a status of its own.
            let moved = place(&cursor) != prompt_place;
            if !viewers.is_empty() && (entered || moved) {
                return Err(Refusal::PersonActive { pane });
            }
            let (engine, viewers) = (&self.engine, &viewers);
            let check = PromptCheck { engine, pane: &self.pane, shell, viewers, pooled };
            // Without a line editor, text typed before the prompt is in the terminal and not shown.
            if !check.has_line_editor().await && viewers.typed_within(self.state.typed_at.elapsed())
            {
                return Err(Refusal::PersonActive { pane });
            }
            if let Some(wait) = viewers.wait() {
                tokio::time::sleep(wait).await;
            } else if at_prompt {
                // An interrupted program may have left text there; nobody has opened a menu.
                cursor.has_text_below &= !viewers.is_empty();
                let _typing = self.engine.typing_until(pane, until).await?;
                if let Checked::Done(()) = check.require_empty(&cursor, &self.prompt.row).await?
                    && self.type_query(&check, &cursor).await?
                {
                    break;
                }
            } else {
                pause.wait().await;
            }
            if Instant::now() > until {
                return Err(Refusal::PersonActive { pane });
            }
        }
        self.shell = shell;
        self.state.status_asked = Some(Instant::now());
        self.feed.filter.begin();
        Ok(())
    }

    /// Types the query. False if the pane has changed since it was checked; then nothing is typed.
    async fn type_query(
        &self,
        check: &PromptCheck<'_>,
        cursor: &CursorRow,
    ) -> Result<bool, Refusal> {
        let (pane, kind) = (self.pane.pane, check.shell.kind);
        let geometry = LineGeometry { column: cursor.column, width: cursor.width };
        let (private_dir, file) = (self.engine.private_dir(), self.status_file());
        let path = private_dir.path().await?.join(&file).to_string_lossy().into_owned();
        let (key, rows) = (&self.keys.query, self.prompt.rows());
        let text = command_file::status_query_file(kind, key, &path, geometry, rows);
        private_dir.write_file(&file, &text).await?;
        let line = delivery::status_query_line(kind, &path, geometry);
        // The line begins with a blank. In vi normal mode that is not shown, and the rest would be taken
        // as commands.
        let behind_blank = match check.has_line_editor().await {
            true => match check.type_blank(cursor).await? {
                Checked::Done(behind_blank) => Some(behind_blank),
                Checked::Disturbed => return Ok(false),
            },
            false => None,
        };
        let rest = if behind_blank.is_some() { line.trim_start() } else { &line };
        let mut commands = type_text(pane, rest);
        commands.push(TmuxKey::enter().press(pane));
        let condition = check.condition(behind_blank.as_ref().unwrap_or(cursor));
        let is_typed = self.engine.tmux().type_if(&pane.into(), &condition, commands).await?;
        if !is_typed && behind_blank.is_some() {
            check.take_back(1).await?;
        }
        Ok(is_typed)
    }
}
