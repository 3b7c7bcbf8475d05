//! A job: one command that was typed, its output so far, its status and the input it awaits.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use tmux_control::PaneId;
use tokio::sync::Notify;
use tokio::time::Instant;

use process::ShellKind;
use terminal::screen::{Screen, ScreenPlace};
use terminal::transcript::TranscriptView;

use super::job_output::JobOutput;
pub use crate::input_probe::AwaitedInput;
use crate::lock::lock;

/// Status of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobStatus {
    /// The command runs.
    Running,
    /// The command has ended with this code.
    Exited(i32),
    /// The exit code is not known, for this reason.
    Lost(String),
}

/// A command started by the run engine.
pub struct Job {
    /// The id, such as `c7`.
    pub id: String,
    /// The pane in which the command runs.
    pub pane: PaneId,
    /// The command.
    pub command: String,
    started: Instant,
    state: Mutex<JobState>,
    /// Notified when the status or the awaited input changes.
    changed: Notify,
    /// Notified when output arrives.
    printed: Notify,
    /// Whether the call that started the command has returned.
    is_left: AtomicBool,
    /// User and host of a shell behind ssh or the like.
    ran_as: OnceLock<String>,
}

/// Progress of a job, to compare with a later one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JobProgress {
    status: JobStatus,
    waiting: Option<AwaitedInput>,
    bytes: u64,
}

impl JobProgress {
    /// Whether the command has ended.
    pub(crate) fn has_exited(&self) -> bool {
        self.status != JobStatus::Running
    }
}

/// The mutable part of a job.
struct JobState {
    status: JobStatus,
    ended: Option<Instant>,
    waiting: Option<AwaitedInput>,
    /// What a program does that reads its terminal without a question.
    reading: Option<String>,
    output: JobOutput,
    /// Bytes of output when a waiting caller was last notified of awaited input.
    reported_at: Option<u64>,
}

/// State of a job at one moment.
#[derive(Debug, Clone)]
pub struct JobFacts {
    /// The status.
    pub status: JobStatus,
    /// Input that the command waits for, if it does.
    pub waiting: Option<AwaitedInput>,
    /// A sentence about a program that reads its terminal without a question.
    pub reading: Option<String>,
    /// Run time until now or until the end.
    pub duration: Duration,
    /// Use of the alternate screen, if the command has made any.
    pub alternate: Option<AlternateScreen>,
    /// Number of lines that could not be kept, and the reason.
    pub unkept: Option<(u64, String)>,
    /// Whether tmux may have discarded the last output.
    pub may_lack_end: bool,
}

/// Use of the alternate screen, whose content is not part of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlternateScreen {
    /// The command shows the alternate screen.
    Active,
    /// The command has left the alternate screen.
    Left,
}

impl Job {
    /// A job whose output will begin at about `place`.
    pub(super) fn new(id: String, pane: PaneId, command: String, place: &ScreenPlace) -> Self {
        Self {
            id,
            pane,
            command,
            started: Instant::now(),
            state: Mutex::new(JobState {
                status: JobStatus::Running,
                ended: None,
                waiting: None,
                reading: None,
                output: JobOutput::new(place),
                reported_at: None,
            }),
            changed: Notify::new(),
            printed: Notify::new(),
            is_left: AtomicBool::new(false),
            ran_as: OnceLock::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, JobState> {
        lock(&self.state)
    }

    /// The state of the job now.
    pub fn facts(&self) -> JobFacts {
        let state = self.state();
        let JobOutput { screen, transcript, .. } = &state.output;
        JobFacts {
            status: state.status.clone(),
            waiting: state.waiting,
            reading: state.reading.clone(),
            duration: state.ended.unwrap_or_else(Instant::now).duration_since(self.started),
            alternate: match (screen.in_alternate(), screen.had_alternate()) {
                (true, _) => Some(AlternateScreen::Active),
                (false, true) => Some(AlternateScreen::Left),
                (false, false) => None,
            },
            unkept: transcript
                .storage_error()
                .map(|trouble| (transcript.lost_lines(), trouble.to_owned())),
            may_lack_end: state.output.may_lack_end,
        }
    }

    /// The exit code, if the command has ended with one.
    pub fn exit_code(&self) -> Option<i32> {
        match self.state().status {
            JobStatus::Exited(code) => Some(code),
            _ => None,
        }
    }

    /// Whether the command still runs.
    pub fn is_running(&self) -> bool {
        self.state().status == JobStatus::Running
    }

    /// Records the user and host of the shell.
    pub(super) fn set_ran_as(&self, identity: String) {
        let _ = self.ran_as.set(identity);
    }

    /// User and host of the shell, such as `me@host`, if it is behind ssh or the like.
    pub(crate) fn ran_as(&self) -> Option<&str> {
        self.ran_as.get().map(String::as_str)
    }

    /// Records that the call that started the job has returned.
    pub(super) fn set_left(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// Whether the call that started the job has returned.
    pub(super) fn is_left(&self) -> bool {
        self.is_left.load(Ordering::Relaxed)
    }

    /// Calls `read` with a view of the output so far.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&TranscriptView<'_>) -> T) -> T {
        let state = self.state();
        let pending = state.output.pending();
        read(&TranscriptView::new(&state.output.transcript, &pending))
    }

    /// Number of output lines so far.
    pub fn lines(&self) -> u64 {
        self.read(|view| view.lines())
    }

    /// Waits for the end of the command, for awaited input that no caller was notified of, or for
    /// `until`.
    pub async fn wait(&self, until: Instant) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.has_unreported_state() || tokio::time::timeout_at(until, changed).await.is_err()
            {
                return;
            }
        }
    }

    /// Whether the command has ended, or awaits input that is now reported for the first time.
    fn has_unreported_state(&self) -> bool {
        let mut state = self.state();
        if state.status != JobStatus::Running {
            return true;
        }
        let unreported = state.waiting.is_some() && state.reported_at != Some(state.output.bytes);
        if unreported {
            state.reported_at = Some(state.output.bytes);
        }
        unreported
    }

    /// Waits until the command has ended. False if `until` came first.
    pub(super) async fn wait_for_end_until(&self, until: Instant) -> bool {
        tokio::time::timeout_at(until, self.wait_for_end()).await.is_ok()
    }

    /// Waits until the command has ended and returns the exit code, if it is known.
    pub(crate) async fn wait_for_end(&self) -> Option<i32> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            match self.state().status {
                JobStatus::Running => {}
                JobStatus::Exited(code) => return Some(code),
                JobStatus::Lost(_) => return None,
            }
            changed.await;
        }
    }

    /// The progress of the job now.
    pub(crate) fn progress(&self) -> JobProgress {
        let state = self.state();
        let JobState { status, waiting, output, .. } = &*state;
        JobProgress { status: status.clone(), waiting: *waiting, bytes: output.bytes }
    }

    /// Waits for progress beyond an earlier one: output, another awaited input, or the end. Never
    /// returns if the job had already ended then.
    pub(crate) async fn progress_beyond(&self, earlier: &JobProgress) -> JobProgress {
        loop {
            let (changed, printed) = (self.changed.notified(), self.printed.notified());
            tokio::pin!(changed, printed);
            changed.as_mut().enable();
            printed.as_mut().enable();
            let now = self.progress();
            if now != *earlier {
                return now;
            }
            tokio::select! {
                () = changed => {}
                () = printed => {}
            }
        }
    }

    /// Begins the output at a place of the pane's screen.
    pub(super) fn begin_output(&self, place: &ScreenPlace) {
        self.state().output.screen = Screen::for_output(place);
    }

    /// Changes the size of the screen on which the command prints.
    pub(super) fn resize(&self, width: usize, height: usize) {
        self.state().output.resize(width, height);
    }

    /// Appends output.
    pub(super) fn feed(&self, bytes: &[u8]) {
        let mut state = self.state();
        (state.waiting, state.reading) = (None, None);
        state.output.feed(bytes);
        drop(state);
        self.printed.notify_waiters();
    }

    /// Inserts a note that output was lost here.
    pub(super) fn output_lost(&self, bytes: Option<u64>) {
        let count = bytes.map_or("an unknown number of".to_owned(), |bytes| bytes.to_string());
        self.feed(format!("\r\n[{count} bytes of output were lost here]\r\n").as_bytes());
    }

    /// Sets the input that the command waits for, and notifies the callers that wait for the job.
    pub(super) fn set_waiting(&self, waiting: Option<AwaitedInput>) {
        self.state().waiting = waiting;
        self.changed.notify_waiters();
    }

    /// Sets the sentence about a program that reads its terminal without a question.
    pub(super) fn set_reading(&self, reading: Option<String>) {
        self.state().reading = reading;
    }

    /// Forgets the awaited input after keys were typed: the same question is a new one then.
    pub(super) fn forget_waiting(&self) {
        self.state().reported_at = None;
        self.set_waiting(None);
    }

    /// The last row of the output up to the cursor.
    pub(super) fn last_row(&self) -> String {
        self.state().output.screen.before_cursor()
    }

    /// Whether the terminal has echoed an interrupt into the output.
    pub(super) fn was_interrupted(&self) -> bool {
        self.state().output.interrupted
    }

    /// Whether it has done so right above the last row.
    pub(super) fn was_just_interrupted(&self) -> bool {
        self.state().output.was_just_interrupted()
    }

    /// Whether this prompt follows the interrupt with text behind it, which a person has entered. It need
    /// not begin a line: zsh wraps it into a row of its own.
    pub(super) fn shows_entered_line(&self, prompt: &str) -> bool {
        self.state().output.shows_entered_line(prompt)
    }

    /// Records that tmux may have discarded the last output.
    pub(super) fn set_may_lack_end(&self) {
        self.state().output.may_lack_end = true;
    }

    /// Ends the output before its last rows, the prompt of a shell that dropped the command.
    pub(super) fn close_before_prompt(&self, prompt_rows: usize) {
        let mut state = self.state();
        let interrupted = state.output.interrupted;
        state.output.close(prompt_rows, interrupted);
    }

    /// Ends the output before the `exit` or `logout` that bash prints when a command makes it exit.
    pub(super) fn trim_shell_exit_message(&self, shell: ShellKind) {
        self.state().output.trim_shell_exit_message(shell, &self.command);
    }

    /// Whether the output held a query to which the terminal types a reply.
    pub(super) fn queried_terminal(&self) -> bool {
        self.state().output.screen.was_queried()
    }

    /// Ends the job with a status.
    pub(super) fn finish(&self, status: JobStatus) {
        let mut state = self.state();
        if state.status != JobStatus::Running {
            return;
        }
        state.output.close(0, status == JobStatus::Exited(130));
        let Self { id, pane, .. } = self;
        match status {
            JobStatus::Exited(code) => tracing::info!("command {id} in {pane} exited with {code}"),
            _ => tracing::info!("command {id} in {pane} was lost"),
        }
        state.status = status;
        (state.waiting, state.reading) = (None, None);
        state.ended = Some(Instant::now());
        drop(state);
        self.changed.notify_waiters();
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("id", &self.id)
            .field("pane", &self.pane)
            .finish_non_exhaustive()
    }
}
