//! Start of a job: passes the gate, prepares the delivery, types the command, and spawns its follower.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tmux_control::PaneId;
use tmux_control::keys::{TmuxKey, type_text};
use tmux_control::stream::PaneStream;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::command_file::{self, ScriptInput};
use super::cursor_row::CursorRow;
use super::delivery::{self, LineGeometry};
use super::follow::{FollowState, JobFollower};
use super::gate::{ProbePause, PromptingShell, Shell};
use super::home::{Attendance, Obstacle, OtherShell};
use super::job_feed::JobFeed;
use super::launch::Handover;
use super::limits::{DISTURBANCE_TIMEOUT, PROMPT_TIMEOUT};
use super::line_place::CommandLine;
use super::marks::MarkKeys;
use super::output_filter::OutputFilter;
use super::pane_records::{PaneLease, ShellMarks, TypingLease};
use super::pane_size::SizedStream;
use super::pass_gate::GatePassed;
use super::prompt::Prompt;
use super::prompt_check::{Checked, PromptCheck};
use super::{Engine, Job, Refusal};
use crate::host::PaneState;
use process::ShellKind;
use terminal::screen::Screen;

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
    /// Number of the line that tools had typed last into the pane: the command itself. Text typed for its
    /// program comes later, though perhaps before a watch begins.
    pub(crate) last_typed: u64,
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
/// completed even if the caller is cancelled. `shell` is the pane's shell, if the caller has found it at its prompt.
pub(super) async fn start_job(
    engine: &Arc<Engine>,
    lease: PaneLease,
    pane: PaneState,
    command: String,
    shell: Option<PromptingShell>,
) -> Result<StartedCall, Refusal> {
    let id = pane.pane;
    let typing = TypingLease::acquire(engine, id, &CancellationToken::new()).await?;
    let (sender, started) = oneshot::channel();
    let (engine, job_id) = (Arc::clone(engine), OnceLock::new());
    let start = JobStart { engine, lease, typing, pane, command, shell, id: job_id };
    tokio::spawn(start.run(sender).in_current_span());
    started.await.unwrap_or(Err(Refusal::Contended { pane: id }))
}

/// A command that is being started.
pub(super) struct JobStart {
    pub(super) engine: Arc<Engine>,
    lease: PaneLease,
    typing: TypingLease,
    pub(super) pane: PaneState,
    command: String,
    /// The shell, if the caller has found it at its prompt.
    pub(super) shell: Option<PromptingShell>,
    /// Id of the job, once there is one.
    id: OnceLock<String>,
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
    last_typed: u64,
}

impl JobStart {
    async fn run(self, sender: oneshot::Sender<Result<StartedCall, Refusal>>) {
        match self.pass_gate_and_type(&sender).await {
            Ok(None) => {}
            Ok(Some(typed)) => {
                let TypedCommand {
                    job,
                    shell,
                    directory,
                    stream,
                    echo,
                    keys,
                    prompt,
                    state,
                    last_typed,
                } = typed;
                let Self { engine, lease, typing, pane, .. } = self;
                drop(typing);
                let stream = SizedStream::new(stream, engine.tmux().clone(), pane.pane);
                let feed = JobFeed::new(Arc::clone(&job), keys.clone(), echo);
                let follower = JobFollower {
                    engine,
                    job,
                    lease,
                    pane,
                    shell,
                    stream,
                    feed,
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
                    stream: follower.stream.reader(),
                    output_filter: OutputFilter::new(follower.keys.clone()),
                    last_typed,
                };
                let attendance = Attendance::of(&follower.job);
                let call = StartedCall { job, directory, other_shell: None, attendance };
                let _ = sender.send(Ok(call));
                follower.run().await;
            }
            Err(refusal) => {
                // The caller may call again at once.
                drop(self);
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

    /// Erases the blank that was typed to try the line editor.
    async fn take_back_blank(&self, passed: &GatePassed) -> Result<(), Refusal> {
        let Some(viewers) = &passed.blank_typed else { return Ok(()) };
        let (engine, pane, shell) = (&self.engine, &self.pane, passed.shell);
        PromptCheck { engine, pane, shell, viewers, pooled: false }.take_back(1).await
    }

    /// Checks whether a shell that was started with our script has read it. On another system it may take some time.
    pub(super) async fn confirm_marks(&self, marks: ShellMarks) -> ShellMarks {
        let ShellMarks::Expected(Handover { ready_file, key }) = marks else {
            return marks;
        };
        let private_dir = self.engine.private_dir();
        let key = key.map(|(key_file, key)| {
            private_dir.discard(&[&key_file]);
            key
        });
        let begun = Instant::now();
        let mut pause = ProbePause::default();
        let mut is_ready = private_dir.remove_file(&ready_file).await;
        // There a shell that waits for a program of its start-up files may look like one that waits for keys.
        let is_local = self.engine.host().system().is_local();
        while !is_ready && !is_local && begun.elapsed() < PROMPT_TIMEOUT {
            pause.wait().await;
            is_ready = private_dir.remove_file(&ready_file).await;
        }
        let marks = match is_ready {
            true => ShellMarks::Confirmed(key),
            false => ShellMarks::None,
        };
        self.engine.records().pane(&self.pane).marks = marks.clone();
        marks
    }

    /// The key of the shell's own marks, if the command is typed as it is. Only bash prints its mark
    /// before the output of other hooks; the other shells need a command file.
    pub(super) fn shell_key<'a>(
        &self,
        kind: ShellKind,
        marks: &'a ShellMarks,
    ) -> Option<&'a String> {
        let ShellMarks::Confirmed(key) = marks else { return None };
        key.as_ref().filter(|_| kind == ShellKind::Bash && delivery::is_plain(&self.command))
    }

    /// Types the command. `None` if the pane has changed since it was checked; then nothing is typed.
    async fn type_command(&self, passed: GatePassed) -> Result<Option<TypedCommand>, Refusal> {
        let id = self.id.get_or_init(|| self.engine.records().new_id()).clone();
        let shell_key = self.shell_key(passed.shell.kind, &passed.marks);
        let (keys, line, command_line) = match (shell_key, &passed.cursor) {
            (Some(key), _) => (MarkKeys::of_shell(key)?, self.command.clone(), None),
            (None, Some(cursor)) => {
                let keys = self.command_keys(passed.shell.kind)?;
                let written = self.write_command_file(&id, passed.shell.kind, &keys, cursor).await;
                let typed = match written {
                    Ok(typed) => typed,
                    Err(refusal) => {
                        self.take_back_blank(&passed).await?;
                        return Err(refusal);
                    }
                };
                let text = typed.text.clone();
                (keys, text, Some(typed))
            }
            (None, None) => return Err(Refusal::Contended { pane: self.pane.pane }),
        };
        let (engine, pane) = (&self.engine, &self.pane);
        let directory = passed.look.cwd(passed.shell.pid);
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
        let job = Arc::new(Job::new(id, pane.pane, self.command.clone(), &passed.echo.place()));
        engine.shared.typed_input.record(pane.pane, &self.command, true);
        engine.forget_standing(pane.pane);
        let last_typed = engine.shared.typed_input.last_line(pane.pane);
        engine.records().job_starts(pane.pane, &job.id);
        // The command may begin before tmux has answered, and a caller may ask for it then.
        engine.jobs().add(Arc::clone(&job), engine.shared.options.results);
        // With Enter in the same sequence, a key of a person comes before the line or after it.
        let typed = engine.tmux().type_if(&pane.pane.into(), &passed.condition, commands).await;
        if !matches!(typed, Ok(true)) {
            engine.jobs().remove(&job.id);
            engine.records().job_not_typed(pane.pane);
            typed?;
            // The next attempt writes a file of the same name.
            engine.private_dir().remove_file(&job.id).await;
            self.take_back_blank(&passed).await?;
            return Ok(None);
        }
        let GatePassed { shell, stream, echo, marks, prompt, cursor, .. } = passed;
        let state = FollowState::new(matches!(marks, ShellMarks::Confirmed(_)), command_line);
        let mut records = engine.records();
        // Lets text that a person types ahead be distinguished from the next prompt.
        if !prompt.row.trim().is_empty() {
            let record = records.pane(pane);
            record.prompt = Some(prompt.clone());
            // Without a cursor the command was typed at a prompt that was not inspected.
            record.prompt_is_proven |= cursor.is_some();
        }
        records.job_started(&job, shell.pid);
        Ok(Some(TypedCommand {
            job,
            shell,
            directory,
            stream,
            echo,
            keys,
            prompt,
            state,
            last_typed,
        }))
    }

    /// Keys for a command file. The shells with a line editor that may move the typed line ask for its
    /// place until they are known to leave it where it is.
    fn command_keys(&self, kind: ShellKind) -> Result<MarkKeys, Refusal> {
        let keys = MarkKeys::new()?;
        let may_move = matches!(kind, ShellKind::Zsh | ShellKind::Fish)
            && !self.engine.records().pane(&self.pane).line_stays;
        Ok(if may_move { keys.asking_for_line()? } else { keys })
    }

    /// Writes the command file and returns the line to type.
    async fn write_command_file(
        &self,
        id: &str,
        kind: ShellKind,
        keys: &MarkKeys,
        cursor: &CursorRow,
    ) -> Result<CommandLine, Refusal> {
        let geometry = LineGeometry { column: cursor.column, width: cursor.width };
        let private_dir = self.engine.private_dir();
        let path = private_dir.path().await?.join(id).to_string_lossy().into_owned();
        let previous_status = self.engine.records().pane(&self.pane).last_status;
        let input = ScriptInput {
            keys,
            command: &self.command,
            previous_status,
            terminal: command_file::TERMINAL,
        };
        let text = command_file::command_file(kind, input, &path, geometry);
        private_dir.write_file(id, &text).await?;
        let text = delivery::eval_line(kind, &path, geometry);
        Ok(CommandLine { predicted: geometry.place_of(&text), text })
    }
}
