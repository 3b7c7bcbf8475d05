//! Following of one job until its shell is back at the prompt: output, awaited input, status.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tmux_control::keys::{TmuxKey, type_text};
use tmux_control::stream::PaneStream;
use tmux_control::stream::ring::{Chunk, StreamEnd};
use tokio::time::Instant;

use super::cursor_row::CursorRow;
use super::delivery::{self, LineGeometry};
use super::gate::{self, KEY_REACTION_TIME, ProbePause, Readiness, Shell};
use super::job::{AwaitedInput, Job, JobStatus};
use super::marks::MarkKeys;
use super::output_filter::{OutputFilter, OutputPart};
use super::pane_records::PaneLease;
use super::prompt::{Prompt, same_prompt};
use super::repl_input::PROMPT_ENDS;
use super::{Engine, Refusal};
use crate::host::PaneState;
use process::InputState;
use terminal::screen::{Screen, ScreenPlace};

/// Milliseconds after the last output at which the foreground program is probed: a program that
/// begins to wait, or a shell that drops its command, has mostly just printed something.
const PROBE_DELAYS_MS: &[u64] = &[30, 60, 150, 350, 1_050, 3_000];
/// Interval of the later probes, for programs that begin to wait without printing.
const LATE_PROBE_INTERVAL: Duration = Duration::from_secs(5);

/// Silence after which a program that reads keys counts as waiting for them; some programs read keys
/// while they work.
const KEY_READER_QUIET: Duration = Duration::from_secs(1);
/// The same for a program that shows a prompt or the alternate screen.
const PROMPTING_QUIET: Duration = Duration::from_millis(300);

/// Silence after which a shell that prints marks by itself has dropped a command without one.
const SHELL_MARK_QUIET: Duration = Duration::from_millis(300);

/// Time in which a shell must begin a command, or answer a query for its status.
pub(super) const SHELL_RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);

/// Time that printed text may take from the shell to the stream.
const OUTPUT_ARRIVAL_TIME: Duration = Duration::from_millis(3);

/// Rows of the tallest prompt.
const MAX_PROMPT_ROWS: usize = 5;

/// The task that follows one job. Holds the lease on the pane while the command runs.
pub(super) struct JobFollower {
    pub(super) engine: Arc<Engine>,
    pub(super) job: Arc<Job>,
    pub(super) lease: PaneLease,
    pub(super) pane: PaneState,
    pub(super) shell: Shell,
    pub(super) stream: PaneStream,
    /// A copy of the stream that waits for changes of the pane's size.
    pub(super) layout: PaneStream,
    /// Screen that shows the stream up to the command's output, to find the place where it begins.
    pub(super) echo: Screen,
    pub(super) keys: MarkKeys,
    pub(super) prompt: Prompt,
    pub(super) state: FollowState,
}

/// State of the follower.
#[derive(Debug)]
pub(super) struct FollowState {
    filter: OutputFilter,
    /// Whether the shell prints an end mark at its prompt even if it drops the command file.
    marks_prompt: bool,
    typed_at: Instant,
    last_output: Instant,
    /// Number of probes since the last output.
    probes: usize,
    /// Input that the command awaited at the last probe.
    waiting: Option<AwaitedInput>,
    /// When the shell was asked for the status.
    status_asked: Option<Instant>,
    /// Bytes after the end mark: the shell's prompt.
    after_end: Vec<u8>,
}

impl FollowState {
    pub(super) fn new(keys: MarkKeys, marks_prompt: bool) -> Self {
        let now = Instant::now();
        Self {
            filter: OutputFilter::new(keys),
            marks_prompt,
            typed_at: now,
            last_output: now,
            probes: 0,
            waiting: None,
            status_asked: None,
            after_end: Vec::new(),
        }
    }

    fn next_probe(&self) -> Instant {
        match PROBE_DELAYS_MS.get(self.probes) {
            Some(&after) => self.last_output + Duration::from_millis(after),
            None => {
                let late =
                    u32::try_from(self.probes - PROBE_DELAYS_MS.len() + 1).unwrap_or(u32::MAX);
                self.last_output + LATE_PROBE_INTERVAL.saturating_mul(late)
            }
        }
    }

    fn quiet(&self) -> Duration {
        self.last_output.elapsed()
    }

    /// Whether an end mark is held, and not only because the one at the prompt is still on its way.
    fn may_have_ended(&self) -> bool {
        let on_its_way = self.marks_prompt && self.filter.awaits_last_mark();
        self.filter.holds_end() && !(on_its_way && self.quiet() < SHELL_MARK_QUIET)
    }
}

impl JobFollower {
    /// Follows the command to its end, then releases the pane.
    pub(super) async fn run(mut self) {
        let shell_exit = process::exited(self.shell.pid);
        tokio::pin!(shell_exit);
        let mut end_pause = ProbePause::default();
        let status = loop {
            tokio::select! {
                at = self.layout.layout_changed() => {
                    if let Some(status) = self.resize_at(at).await {
                        break status;
                    }
                }
                chunk = self.stream.next() => {
                    if let Some(status) = self.handle(chunk) {
                        break status;
                    }
                    end_pause = ProbePause::default();
                }
                () = end_pause.wait(), if self.state.may_have_ended() => {
                    if let Some(status) = self.confirm_end().await {
                        break status;
                    }
                }
                () = tokio::time::sleep_until(self.state.next_probe()) => {
                    self.state.probes += 1;
                    if let Some(status) = self.probe().await {
                        break status;
                    }
                }
                () = &mut shell_exit => break self.status_after_exit().await,
            }
        };
        for file in [&self.job.id, &self.status_file()] {
            self.engine.shared.private_dir.remove_file(file);
        }
        let code = if let JobStatus::Exited(code) = status { Some(code) } else { None };
        let (unfinished, _) = self.job.last_row();
        let newline = unfinished.is_empty();
        let reading_prompt =
            code.map(|code| self.engine.records().pane(&self.pane).command_ended(code, newline));
        self.engine.note_directory(self.pane.pane, self.shell.pid);
        self.job.finish(status);
        self.engine.jobs().evict_oldest(self.engine.shared.options.results);
        if reading_prompt.is_some() {
            self.read_prompt(&unfinished).await;
        }
    }

    /// Handles a chunk of the stream. Returns the status if the job is lost.
    pub(super) fn handle(&mut self, chunk: Chunk) -> Option<JobStatus> {
        match chunk {
            Chunk::Bytes { bytes, .. } => {
                self.scan(&bytes);
                None
            }
            Chunk::Gap { missed, .. } => {
                // The gap may have held the start mark.
                self.state.filter.begin();
                self.job.output_lost(missed);
                None
            }
            Chunk::End(StreamEnd::PaneGone) => Some(JobStatus::Lost("its pane is gone".to_owned())),
            Chunk::End(StreamEnd::ServerGone) => {
                Some(JobStatus::Lost("the tmux server went away".to_owned()))
            }
        }
    }

    /// Adds the output among these bytes to the job's.
    pub(super) fn scan(&mut self, bytes: &[u8]) {
        let Self { job, state, echo, .. } = self;
        let had_begun = state.filter.has_begun();
        let parts = state.filter.parts(bytes);
        if !had_begun {
            echo.feed(&state.filter.take_echo(), &mut |_| {});
            if state.filter.has_begun() {
                job.begin_output(&ScreenPlace { column: 0, ..echo.place() });
            }
        }
        for part in parts {
            match part {
                OutputPart::Text(text) => job.feed(&text),
                OutputPart::Lost(bytes) => job.output_lost(Some(bytes)),
            }
        }
        if state.filter.has_begun() && !had_begun {
            // The command file has emptied itself.
            self.engine.shared.private_dir.remove_file(&job.id);
        }
        state.last_output = Instant::now();
        state.probes = 0;
        state.waiting = None;
    }

    /// Confirms the held end mark once the shell has its terminal back. Both marks, of the command file
    /// and at the prompt, are enough then. After one alone the shell must also read its next line:
    /// before that, a program may have printed the mark; after it, the last mark is the shell's own.
    pub(super) async fn confirm_end(&mut self) -> Option<JobStatus> {
        let shell = self.shell.pid;
        if self.state.filter.holds_last_mark() {
            let foreground = process::foreground(self.pane.pid);
            return foreground.filter(|it| it.pid == shell).and_then(|_| self.take_end());
        }
        match gate::readiness(self.pane.pid, self.engine.declared()) {
            Readiness::AtPrompt(at_prompt, _) if at_prompt.pid == shell => {}
            // Without a line editor, `stty -echo` makes the prompt look like that for a password.
            Readiness::BusyShell(busy, InputState::Line | InputState::Password)
                if busy.pid == shell => {}
            _ => return None,
        }
        if let Err(status) = self.read_printed().await {
            return status;
        }
        self.take_end()
    }

    /// Reads all that the pane has printed by now: a mark may not have arrived yet. Without a timeout,
    /// since output of other panes in the session may be in front of it. `Err` has the status if the
    /// job is lost.
    async fn read_printed(&mut self) -> Result<(), Option<JobStatus>> {
        let tmux = self.engine.tmux().clone();
        let caught_up = tmux.catch_up(self.pane.session, self.pane.pane);
        tokio::pin!(caught_up);
        loop {
            let chunk = tokio::select! {
                chunk = self.stream.next() => chunk,
                caught_up = &mut caught_up => match caught_up {
                    Ok(()) => break,
                    Err(_) => return Err(None),
                },
            };
            self.handle(chunk).map_or(Ok(()), |status| Err(Some(status)))?;
        }
        while let Some(chunk) = self.stream.next().now_or_never() {
            self.handle(chunk).map_or(Ok(()), |status| Err(Some(status)))?;
        }
        Ok(())
    }

    /// The status by the held end mark, if there is one.
    pub(super) fn take_end(&mut self) -> Option<JobStatus> {
        let (code, after) = self.state.filter.confirm()?;
        self.state.after_end = after;
        Some(JobStatus::Exited(code))
    }

    /// Probes the pane's foreground program. Returns the status if the job has ended.
    async fn probe(&mut self) -> Option<JobStatus> {
        let quiet = self.state.quiet();
        if self.state.status_asked.is_some_and(|asked| asked.elapsed() > SHELL_RESPONSE_TIMEOUT) {
            let why = "its shell dropped it and does not report its status";
            return Some(JobStatus::Lost(why.to_owned()));
        }
        let readiness = gate::readiness(self.pane.pid, self.engine.declared());
        // Output printed before the probe may not have arrived yet, even the end mark.
        tokio::select! {
            biased;
            chunk = self.stream.next() => return self.handle(chunk),
            caught_up = self.engine.catch_up(&self.pane) => if !caught_up {
                return None;
            },
        }
        let waiting = match readiness {
            Readiness::AtPrompt(..) if !self.state.filter.has_begun() => {
                return (self.state.typed_at.elapsed() > SHELL_RESPONSE_TIMEOUT)
                    .then(|| JobStatus::Lost("its shell did not begin it".to_owned()));
            }
            Readiness::AtPrompt(shell, _) if self.is_dropped(quiet) => {
                if self.state.status_asked.is_none()
                    && let Err(error) = self.ask_status(shell).await
                {
                    return Some(JobStatus::Lost(error.to_string()));
                }
                return None;
            }
            Readiness::AtPrompt(_, input)
            | Readiness::BusyShell(_, input)
            | Readiness::Program(_, input) => match input {
                InputState::Line => Some(AwaitedInput::Line),
                InputState::Password => Some(AwaitedInput::Password),
                InputState::Raw => self.awaited_keys(quiet),
                InputState::None | InputState::Unknown => None,
            },
            Readiness::Unknown => None,
        };
        // Two probes must agree: a script between two programs can seem to wait for input.
        let twice = waiting == self.state.waiting;
        self.state.waiting = waiting;
        self.job.set_waiting(waiting.filter(|_| twice));
        None
    }

    /// `Keys` if a program that reads keys has been silent for long enough to be waiting for them.
    fn awaited_keys(&self, quiet: Duration) -> Option<AwaitedInput> {
        let prompts = self.job.last_row().0.trim_end().ends_with(PROMPT_ENDS);
        let prompting = prompts || self.job.facts().alternate.is_some();
        (quiet >= if prompting { PROMPTING_QUIET } else { KEY_READER_QUIET })
            .then_some(AwaitedInput::Keys)
    }

    /// Whether a shell that reads keys is back at its prompt although no end mark came: an interrupt
    /// and some errors make a shell skip the rest of a command file.
    fn is_dropped(&self, quiet: Duration) -> bool {
        let (row, interrupted) = self.job.last_row();
        let no_mark_to_come = !self.state.marks_prompt || quiet >= SHELL_MARK_QUIET;
        let no_mark = no_mark_to_come && !self.state.filter.holds_end();
        no_mark && (interrupted || same_prompt(&row, &self.prompt.row))
    }

    /// Types a query for the status of a command that the shell has dropped.
    pub(super) async fn ask_status(&mut self, shell: Shell) -> Result<(), Refusal> {
        self.job.close_before_prompt(self.prompt.rows as usize);
        gate::require_shared_files(self.pane.pane, shell)?;
        let tmux = self.engine.tmux();
        let cursor = CursorRow::read(tmux, self.pane.pane).await?;
        let geometry = LineGeometry { column: cursor.column, width: cursor.width };
        let (private_dir, file) = (&self.engine.shared.private_dir, self.status_file());
        let path = private_dir.path()?.join(&file).to_string_lossy().into_owned();
        let (key, rows) = (&self.keys.query, self.prompt.rows);
        let text = delivery::status_query_file(shell.kind, key, &path, geometry, rows);
        private_dir.write_file(&file, &text)?;
        let line = delivery::status_query_line(shell.kind, &path, geometry);
        let mut commands = type_text(self.pane.pane, &line);
        commands.push(TmuxKey::enter().press(self.pane.pane));
        tmux.sequence(commands).await?;
        self.shell = shell;
        self.state.status_asked = Some(Instant::now());
        self.state.filter.begin();
        Ok(())
    }

    /// Name of the file through which the status is asked.
    fn status_file(&self) -> String {
        format!("{}-status", self.job.id)
    }

    /// Reads the shell's prompt after the command and records it, so that text a person types there
    /// later can be distinguished from it. `unfinished` is the last output line if it has no end.
    async fn read_prompt(self, unfinished: &str) {
        let Self { engine, job, lease, pane, mut stream, state, echo, prompt, .. } = self;
        let queried = job.queried_terminal();
        let generation = lease.generation();
        // Releases the pane for the next command, unless a key has to be pressed below.
        let kept = queried.then_some(lease);
        let mut after = echo.blank(MAX_PROMPT_ROWS);
        // The prompt follows an unfinished line in the same row.
        after.feed(unfinished.as_bytes(), &mut |_| {});
        after.feed(&state.after_end, &mut |_| {});
        let begun = Instant::now();
        // A later command reads the prompt at its own end.
        while engine.records().pane(&pane).generation == generation {
            // Once the shell reads, its prompt is printed, and a person has not typed there yet.
            let reads =
                matches!(gate::readiness(pane.pid, engine.declared()), Readiness::AtPrompt(..))
                    && engine.catch_up(&pane).await;
            match tokio::time::timeout(OUTPUT_ARRIVAL_TIME, stream.next()).await {
                Ok(Chunk::Bytes { bytes, .. }) => after.feed(&bytes, &mut |_| {}),
                Ok(_) => return,
                Err(_) if reads => break,
                Err(_) if begun.elapsed() > SHELL_RESPONSE_TIMEOUT => return,
                Err(_) => {}
            }
        }
        if queried {
            // The terminal's reply to a query of the program is now typed at the prompt.
            let clear = TmuxKey::Named("C-u".to_owned()).press(pane.pane);
            let _ = engine.tmux().run(clear).await;
            tokio::time::sleep(KEY_REACTION_TIME).await;
            if let Ok(cursor) = CursorRow::read(engine.tmux(), pane.pane).await {
                let prompt = Prompt { row: cursor.before, rows: prompt.rows };
                engine.remember_prompt(&pane, generation, prompt);
            }
        } else {
            let now = Prompt::below_output(&after.pending(), after.before_cursor(), &prompt.row);
            engine.remember_prompt(&pane, generation, now);
        }
        drop(kept);
    }
}
