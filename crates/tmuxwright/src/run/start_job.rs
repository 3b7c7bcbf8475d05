//! Start of a job: passes the gate, prepares the delivery, types the command, and spawns its follower.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tmux_control::PaneId;
use tmux_control::keys::{TmuxKey, type_text};
use tmux_control::stream::PaneStream;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tracing::Instrument;

use super::cursor_row::CursorRow;
use super::delivery::{self, LineGeometry, ScriptInput};
use super::follow::{FollowState, JobFollower};
use super::gate::{self, Shell};
use super::home::{Attendance, Obstacle, OtherShell};
use super::launch::Handover;
use super::marks::MarkKeys;
use super::output_filter::OutputFilter;
use super::pane_records::{PaneLease, ShellMarks};
use super::prompt::Prompt;
use super::prompt_check::{self, Checked, PromptCheck, PromptLook};
use super::viewers::{self, Viewers};
use super::{Engine, Job, Refusal, pane_size};
use crate::host::PaneState;
use process::ShellKind;
use terminal::screen::Screen;

/// Time after a command within which a person cannot have typed at the new prompt.
const FRESH_PROMPT_TIME: Duration = Duration::from_millis(100);

/// Time after a command within which a hook of its shell may be in the foreground.
const SETTLE_TIME: Duration = Duration::from_secs(1);

/// Time in which a shell of the pool must reach its first prompt.
const POOL_START_TIMEOUT: Duration = Duration::from_secs(20);

/// Time that a prompt may take from the shell to tmux.
const PROMPT_ARRIVAL_TIMEOUT: Duration = Duration::from_millis(50);

/// Time for which the keys of a person, or a prompt that changes, may keep a command from being typed.
const DISTURBANCE_TIMEOUT: Duration = Duration::from_secs(5);

/// A job that was started, with the raw output of its pane for a watch.
pub struct StartedJob {
    /// The job.
    pub job: Arc<Job>,
    /// The pane in which it runs.
    pub pane: PaneState,
    /// Process id of the shell that runs it.
    pub(crate) shell: u32,
    /// The prompt of that shell before the command.
    pub(crate) prompt: Prompt,
    /// The output stream of the pane, from before the command was typed.
    pub(crate) stream: PaneStream,
    /// Finds the job's output in that stream.
    pub(crate) output_filter: OutputFilter,
}

/// A job that was started for a call, which keeps this value until it returns.
pub struct StartedCall {
    /// The job.
    pub job: StartedJob,
    /// Directory of the shell before the command was typed.
    pub(super) directory: Option<PathBuf>,
    /// The shell, if it is not the one of the previous command without a target.
    pub other_shell: Option<OtherShell>,
    /// Dropped when the call returns.
    pub attendance: Attendance,
}

impl StartedCall {
    /// Records that the command runs in a shell other than the home shell.
    pub(super) fn note(&mut self, is_new: bool, obstacle: Option<(PaneId, Obstacle)>) {
        let (pane, directory) = (self.job.pane.pane, self.directory.clone());
        self.other_shell = Some(OtherShell { pane, directory, is_new, obstacle });
    }
}

/// Types a command and follows it. Runs in a task of its own: once typing has begun, the job is
/// completed even if the caller is cancelled.
pub(super) async fn start_job(
    engine: &Arc<Engine>,
    lease: PaneLease,
    pane: PaneState,
    command: String,
) -> Result<StartedCall, Refusal> {
    let (sender, started) = oneshot::channel();
    let start = JobStart { engine: Arc::clone(engine), lease, pane, command };
    let id = start.pane.pane;
    tokio::spawn(start.run(sender).in_current_span());
    started.await.unwrap_or(Err(Refusal::Contended { pane: id }))
}

/// A command that is being started.
struct JobStart {
    engine: Arc<Engine>,
    lease: PaneLease,
    pane: PaneState,
    command: String,
}

/// Facts that the gate has established.
struct GatePassed {
    shell: Shell,
    stream: PaneStream,
    /// Screen that shows the stream from its beginning on.
    echo: Screen,
    marks: ShellMarks,
    prompt: Prompt,
    /// `None` if the command is typed as it is at a prompt that is known to be empty.
    cursor: Option<CursorRow>,
    /// The people who look at the pane, if a blank was typed.
    blank_typed: Option<Viewers>,
    /// A format that must be true for the pane when the command is typed.
    condition: String,
}

/// A command that was typed.
struct TypedCommand {
    job: Arc<Job>,
    shell: Shell,
    /// Directory of the shell before.
    directory: Option<PathBuf>,
    stream: PaneStream,
    echo: Screen,
    keys: MarkKeys,
    prompt: Prompt,
    state: FollowState,
}

impl JobStart {
    async fn run(self, sender: oneshot::Sender<Result<StartedCall, Refusal>>) {
        match self.pass_gate_and_type(&sender).await {
            Ok(None) => {}
            Ok(Some(typed)) => {
                let TypedCommand { job, shell, directory, stream, echo, keys, prompt, state } =
                    typed;
                let Self { engine, lease, pane, .. } = self;
                let layout = stream.clone();
                let follower = JobFollower {
                    engine,
                    job,
                    lease,
                    pane,
                    shell,
                    stream,
                    layout,
                    echo,
                    keys,
                    prompt,
                    state,
                };
                tracing::info!("command {} started in {}", follower.job.id, follower.job.pane);
                let job = StartedJob {
                    job: Arc::clone(&follower.job),
                    pane: follower.pane.clone(),
                    shell: follower.shell.pid,
                    prompt: follower.prompt.clone(),
                    stream: follower.stream.clone(),
                    output_filter: OutputFilter::new(follower.keys.clone()),
                };
                let attendance = Attendance::of(&follower.job);
                let call = StartedCall { job, directory, other_shell: None, attendance };
                let _ = sender.send(Ok(call));
                follower.run().await;
            }
            Err(refusal) => {
                let _ = sender.send(Err(refusal));
            }
        }
    }

    /// Repeats the checks until the pane does not change between them and the typing. `None` if the
    /// caller is gone.
    async fn pass_gate_and_type(
        &self,
        sender: &oneshot::Sender<Result<StartedCall, Refusal>>,
    ) -> Result<Option<TypedCommand>, Refusal> {
        let until = Instant::now() + DISTURBANCE_TIMEOUT;
        let mut first_try = true;
        loop {
            if let Checked::Done(passed) = self.pass_gate(first_try, until).await? {
                if sender.is_closed() {
                    self.take_back_blank(&passed).await?;
                    return Ok(None);
                }
                if let Some(typed) = self.type_command(passed).await? {
                    return Ok(Some(typed));
                }
            }
            first_try = false;
            if Instant::now() > until {
                let (pane, shell) = (self.pane.pane, "?".to_owned());
                return Err(Refusal::ShellBusy { pane, shell, does: "keeps changing its prompt" });
            }
        }
    }

    /// Checks that a shell is at its prompt with nothing typed.
    async fn pass_gate(
        &self,
        first_try: bool,
        until: Instant,
    ) -> Result<Checked<GatePassed>, Refusal> {
        let Self { engine, pane, .. } = self;
        if pane.synchronized {
            return Err(Refusal::Synchronized { pane: pane.pane });
        }
        let (marks, prompt, last_end, untouched, clean) = {
            let mut records = engine.records();
            let record = records.pane(pane);
            let untouched = !record.typed_since && !record.prompt_is_current;
            let clean = record.ended_with_newline && record.pool_client.is_some();
            (record.marks.clone(), record.prompt.clone(), record.last_end, untouched, clean)
        };
        let first_command = matches!(marks, ShellMarks::Expected(_));
        let shell = self.wait_for_shell(first_command, last_end).await?;
        let marks = self.confirm_marks(marks);
        let (stream, place) = pane_size::stream_with_place(engine.tmux(), pane).await?;
        let echo = Screen::for_output(&place);
        let since_end = last_end.map_or(Duration::MAX, |ended| ended.elapsed());
        let just_ended = untouched && since_end < FRESH_PROMPT_TIME;
        let as_it_is = self.shell_key(shell.kind, &marks).is_some();
        if as_it_is && first_try && (first_command || (just_ended && clean)) {
            let prompt = prompt.unwrap_or(Prompt { row: String::new(), rows: 1 });
            let condition = viewers::no_recent_key();
            let (cursor, blank_typed) = (None, None);
            return Ok(Checked::Done(GatePassed {
                shell,
                stream,
                echo,
                marks,
                prompt,
                cursor,
                blank_typed,
                condition,
            }));
        }
        gate::require_shared_files(pane.pane, shell)?;
        let viewers = Viewers::read(engine.tmux(), pane.pane).await?;
        let last_start = engine.records().pane(pane).last_start;
        let since_start = last_start.map_or(Duration::ZERO, |typed| typed.elapsed());
        let fresh = (first_command || just_ended) && !viewers.typed_within(since_start);
        let check = PromptCheck { engine, pane, shell, viewers: &viewers };
        let known = prompt.as_ref().map(|known| known.row.as_str());
        let Checked::Done((cursor, behind_blank)) =
            self.empty_prompt(&check, known, fresh, until).await?
        else {
            return Ok(Checked::Disturbed);
        };
        let condition = check.condition(behind_blank.as_ref().unwrap_or(&cursor));
        let rows = prompt.map_or(1, |prompt| prompt.rows);
        let prompt = Prompt { row: cursor.line(), rows };
        let blank_typed = behind_blank.is_some().then_some(viewers);
        let cursor = Some(cursor);
        Ok(Checked::Done(GatePassed {
            shell,
            stream,
            echo,
            marks,
            prompt,
            cursor,
            blank_typed,
            condition,
        }))
    }

    /// Waits for the shell's prompt.
    async fn wait_for_shell(
        &self,
        first_command: bool,
        last_end: Option<Instant>,
    ) -> Result<Shell, Refusal> {
        let Self { engine, pane, .. } = self;
        // A shell that has run a command is no longer starting.
        let starting = match last_end {
            _ if first_command => POOL_START_TIMEOUT,
            Some(_) => Duration::ZERO,
            None => {
                let limit = gate::SHELL_START_TIMEOUT;
                limit.saturating_sub(process::age(pane.pid).unwrap_or(limit))
            }
        };
        let settling =
            SETTLE_TIME.saturating_sub(last_end.map_or(SETTLE_TIME, |ended| ended.elapsed()));
        let shell = gate::shell_at_prompt(pane, engine.declared(), starting, settling).await;
        shell.map_err(|refusal| match refusal {
            Refusal::ShellBusy { pane, shell, .. } if first_command => {
                Refusal::Starting { pane, shell, seconds: POOL_START_TIMEOUT.as_secs() }
            }
            other => other,
        })
    }

    /// The row of the prompt, with nothing typed after it, and the same behind a blank if one was
    /// typed to try the line editor. At a `fresh` prompt nobody can have typed, so any row that is not
    /// the known prompt with more text is accepted as it is.
    async fn empty_prompt(
        &self,
        check: &PromptCheck<'_>,
        known: Option<&str>,
        fresh: bool,
        until: Instant,
    ) -> Result<Checked<(CursorRow, Option<CursorRow>)>, Refusal> {
        let pane = self.pane.pane;
        let cursor = self.settled_row().await?;
        let accepted = fresh && prompt_check::is_new_prompt(&cursor, known);
        let look = match accepted {
            true => PromptLook::Known,
            false => prompt_check::inspect(pane, check.shell.kind, &cursor, known)?,
        };
        if let Some(wait) = check.viewers.wait() {
            if Instant::now() + wait > until {
                return Err(Refusal::PersonActive { pane });
            }
            tokio::time::sleep(wait).await;
            return Ok(Checked::Disturbed);
        }
        if accepted {
            return Ok(Checked::Done((cursor, None)));
        }
        if look == PromptLook::Other
            && let Checked::Disturbed = check.require_nothing_typed(&cursor).await?
        {
            return Ok(Checked::Disturbed);
        }
        if !check.has_line_editor() {
            return Ok(Checked::Done((cursor, None)));
        }
        match check.type_blank(&cursor).await? {
            Checked::Done(behind_blank) => Ok(Checked::Done((cursor, Some(behind_blank)))),
            Checked::Disturbed => Ok(Checked::Disturbed),
        }
    }

    /// Erases the blank that was typed to try the line editor.
    async fn take_back_blank(&self, passed: &GatePassed) -> Result<(), Refusal> {
        let Some(viewers) = &passed.blank_typed else { return Ok(()) };
        let (engine, pane, shell) = (&self.engine, &self.pane, passed.shell);
        PromptCheck { engine, pane, shell, viewers }.take_back(1).await
    }

    /// The cursor's row once it is not blank, since the prompt may not have reached tmux yet.
    async fn settled_row(&self) -> Result<CursorRow, Refusal> {
        let begun = Instant::now();
        loop {
            let cursor = CursorRow::read(self.engine.tmux(), self.pane.pane).await?;
            if !cursor.before.trim().is_empty() || begun.elapsed() > PROMPT_ARRIVAL_TIMEOUT {
                return Ok(cursor);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Checks whether a shell that was started with our script has read it.
    fn confirm_marks(&self, marks: ShellMarks) -> ShellMarks {
        let ShellMarks::Expected(Handover { ready_file, key }) = marks else {
            return marks;
        };
        let remove = |file: &str| self.engine.private_dir().remove_file(file);
        let key = key.map(|(key_file, key)| {
            remove(&key_file);
            key
        });
        let marks = match remove(&ready_file) {
            true => ShellMarks::Confirmed(key),
            false => ShellMarks::None,
        };
        self.engine.records().pane(&self.pane).marks = marks.clone();
        marks
    }

    /// The key of the shell's own marks, if the command is typed as it is. Only bash prints its mark
    /// before the output of other hooks; the other shells need a command file.
    fn shell_key<'a>(&self, kind: ShellKind, marks: &'a ShellMarks) -> Option<&'a String> {
        let ShellMarks::Confirmed(key) = marks else { return None };
        key.as_ref().filter(|_| kind == ShellKind::Bash && delivery::is_plain(&self.command))
    }

    /// Types the command. `None` if the pane has changed since it was checked; then nothing is typed.
    async fn type_command(&self, passed: GatePassed) -> Result<Option<TypedCommand>, Refusal> {
        let id = self.engine.records().new_id();
        let shell_key = self.shell_key(passed.shell.kind, &passed.marks);
        let (keys, line) = match (shell_key, &passed.cursor) {
            (Some(key), _) => (MarkKeys::of_shell(key)?, self.command.clone()),
            (None, Some(cursor)) => {
                let keys = MarkKeys::new()?;
                let line = self.write_command_file(&id, passed.shell.kind, &keys, cursor)?;
                (keys, line)
            }
            (None, None) => return Err(Refusal::Contended { pane: self.pane.pane }),
        };
        let (engine, pane) = (&self.engine, &self.pane);
        let directory = process::cwd(passed.shell.pid);
        let mut commands = Vec::new();
        let mut rest = line.as_str();
        if passed.blank_typed.is_some() {
            match line.strip_prefix(' ') {
                Some(behind_blank) => rest = behind_blank,
                None => commands.push(TmuxKey::Named("BSpace".to_owned()).press(pane.pane)),
            }
        }
        commands.extend(type_text(pane.pane, rest));
        commands.push(TmuxKey::enter().press(pane.pane));
        engine.shared.typed_input.record(pane.pane, &self.command, true);
        // With Enter in the same sequence, a key of a person comes before the line or after it.
        if !engine.tmux().type_if(&pane.pane.into(), &passed.condition, commands).await? {
            engine.private_dir().remove_file(&id);
            self.take_back_blank(&passed).await?;
            return Ok(None);
        }
        let GatePassed { shell, stream, echo, marks, prompt, .. } = passed;
        let job = Arc::new(Job::new(id, pane.pane, self.command.clone(), &echo.place()));
        let state = FollowState::new(keys.clone(), matches!(marks, ShellMarks::Confirmed(_)));
        engine.jobs().add(Arc::clone(&job), engine.shared.options.results);
        let mut records = engine.records();
        // Lets text that a person types ahead be distinguished from the next prompt.
        if !prompt.row.trim().is_empty() {
            records.pane(pane).prompt = Some(prompt.clone());
        }
        records.job_started(&job);
        Ok(Some(TypedCommand { job, shell, directory, stream, echo, keys, prompt, state }))
    }

    /// Writes the command file and returns the line to type.
    fn write_command_file(
        &self,
        id: &str,
        kind: ShellKind,
        keys: &MarkKeys,
        cursor: &CursorRow,
    ) -> Result<String, Refusal> {
        let geometry = LineGeometry { column: cursor.column, width: cursor.width };
        let private_dir = self.engine.private_dir();
        let path = private_dir.path()?.join(id).to_string_lossy().into_owned();
        let previous_status = self.engine.records().pane(&self.pane).last_status;
        let input = ScriptInput { keys, command: &self.command, previous_status };
        private_dir.write_file(id, &delivery::command_file(kind, input, &path, geometry))?;
        Ok(delivery::eval_line(kind, &path, geometry))
    }
}
