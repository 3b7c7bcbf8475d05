//! Start of a command behind a relay: the loader line, the shell's answer, and the script.

use std::sync::Arc;

use tmux_control::keys::{TmuxKey, type_text};
use tmux_control::stream::PaneStream;
use tmux_control::stream::ring::Chunk;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::follow::RemoteFollower;
use super::loader::{self, ReadyShell, Script};
use super::prompt::{EmptyPrompt, Patience, RemotePrompt};
use super::relay::Relay;
use super::status_query::StatusQuery;
use super::{RemoteLease, RemoteRecord};
use crate::host::PaneState;
use crate::random;
use crate::run::command_file::ScriptInput;
use crate::run::cursor_row::CursorRow;
use crate::run::delivery::{LineGeometry, LinePlace};
use crate::run::home::Attendance;
use crate::run::job::JobStatus;
use crate::run::job_feed::JobFeed;
use crate::run::limits::{REMOTE_ANSWER_TIMEOUT, SETTLE_TIME};
use crate::run::line_place;
use crate::run::marks::MarkKeys;
use crate::run::output_filter::OutputFilter;
use crate::run::pane_size::{self, PlacedStream, SizedStream};
use crate::run::prompt::Prompt;
use crate::run::viewers::Viewers;
use crate::run::{Engine, Job, Refusal, StartedCall, StartedJob, TypingGuard};
use terminal::screen::Screen;

/// Bytes of the key in the answer of a shell.
const KEY_BYTES: usize = 12;

/// Bytes of the longest answer of a shell: a mark with the names of a user and a host.
const MAX_ANSWER_BYTES: usize = 1024;

/// A command that is being started behind a relay.
pub(super) struct RemoteStart {
    pub(super) engine: Arc<Engine>,
    pub(super) lease: RemoteLease,
    pub(super) relay: Relay,
    pub(super) pane: PaneState,
    pub(super) command: String,
}

/// The end of the typing.
enum Typed {
    Script(Box<TypedScript>),
    /// The keys no longer reach the relay. The command has not run.
    Lost(Box<StartedJob>),
    /// The caller has gone before the loader line.
    Nothing,
}

/// A command whose script was typed.
struct TypedScript {
    job: Arc<Job>,
    outer: Option<Arc<Job>>,
    shell: ReadyShell,
    output: Output,
    keys: MarkKeys,
    prompt: Prompt,
    last_typed: u64,
    viewers: Viewers,
    typing: TypingGuard,
}

/// The output of the terminal since the loader line.
struct Output {
    stream: PaneStream,
    /// Screen of the stream up to here.
    echo: Screen,
}

impl RemoteStart {
    pub(super) async fn run(self, sender: oneshot::Sender<Result<StartedCall, Refusal>>) {
        let typed = match self.type_command(&sender).await {
            Ok(Typed::Script(typed)) => *typed,
            Ok(Typed::Nothing) => return,
            Ok(Typed::Lost(job)) => {
                drop(self);
                let attendance = Attendance::of(&job.job);
                let call =
                    StartedCall { job: *job, directory: None, other_shell: None, attendance };
                let _ = sender.send(Ok(call));
                return;
            }
            Err(refusal) => {
                // The caller may call again at once.
                drop(self);
                let _ = sender.send(Err(refusal));
                return;
            }
        };
        let TypedScript { job, outer, shell, output, keys, prompt, last_typed, viewers, typing } =
            typed;
        let Self { engine, mut lease, relay, pane, .. } = self;
        lease.typing = Some(typing);
        let Output { stream, echo } = output;
        tracing::info!("command {} started in {}", job.id, job.pane);
        let started = StartedJob {
            job: Arc::clone(&job),
            pane: pane.clone(),
            shell: relay.pid,
            prompt: prompt.clone(),
            stream: stream.clone(),
            output_filter: OutputFilter::new(keys.clone()),
            last_typed,
        };
        let attendance = Attendance::of(&job);
        let call = StartedCall { job: started, directory: None, other_shell: None, attendance };
        let _ = sender.send(Ok(call));
        let terminal = &relay.terminal;
        let stream = SizedStream::new(stream, terminal.tmux.clone(), terminal.pane.pane);
        let feed = JobFeed::new(Arc::clone(&job), keys.clone(), echo);
        let follower = RemoteFollower {
            engine,
            lease,
            relay,
            pane: pane.pane,
            job,
            outer,
            kind: shell.kind,
            prompt,
            stream,
            feed,
            keys,
            typed_at: Instant::now(),
            viewers,
            query: StatusQuery::default(),
        };
        follower.run().await;
    }

    /// Types the command at the prompt.
    async fn type_command(
        &self,
        sender: &oneshot::Sender<Result<StartedCall, Refusal>>,
    ) -> Result<Typed, Refusal> {
        let Self { engine, pane, relay, .. } = self;
        let (pane, terminal) = (pane.pane, &relay.terminal);
        engine.forget_dead_relays().await;
        let new_key = random::hex(KEY_BYTES)?;
        let keys = MarkKeys::new()?.asking_for_line()?;
        let (last_end, loader) = engine.change_remote(pane, relay, |record| {
            (record.last_end, record.loader.get_or_insert(new_key).clone())
        });
        let prompt_check = RemotePrompt { engine, pane, relay };
        // Attaching for the stream would look like a key of a person after the check.
        let PlacedStream { stream, place, .. } =
            pane_size::stream_with_place(&terminal.tmux, &terminal.pane).await?;
        let mut output = Output { stream, echo: Screen::for_output(&place) };
        let empty = prompt_check.require_empty(Patience::after(last_end)).await?;
        if sender.is_closed() {
            prompt_check.press(&empty.viewers, &["BSpace"]).await?;
            return Ok(Typed::Nothing);
        }
        let geometry = LineGeometry { column: empty.cursor.column, width: empty.cursor.width };
        let line = loader::loader_line(&loader, geometry);
        if let Err(refusal) = prompt_check.enter(&empty, &line).await {
            if let Refusal::Tmux(_) = refusal {
                // tmux may have typed the line.
                self.end_loader(&loader).await?;
            }
            return Err(refusal);
        }
        let has_earlier_line = engine.change_remote(pane, relay, |record| {
            std::mem::replace(&mut record.has_earlier_line, true)
        });
        let typing = ScriptTyping {
            start: self,
            empty: &empty,
            loader: &loader,
            has_earlier_line,
            keys: &keys,
        };
        let outer = engine.remote_job(pane);
        match typing.run(&mut output, &line).await {
            Ok((job, shell, last_typed)) => {
                let known = engine.remote_known_prompt(pane, relay);
                let row = known.map_or_else(|| empty.cursor.before.clone(), |known| known.row);
                let prompt = Prompt { row, rows: None };
                let EmptyPrompt { viewers, typing, .. } = empty;
                Ok(Typed::Script(Box::new(TypedScript {
                    job,
                    outer,
                    shell,
                    output,
                    keys,
                    prompt,
                    last_typed,
                    viewers,
                    typing,
                })))
            }
            Err(refusal) => {
                let is_gone = !relay.has_terminal().await;
                self.end_loader(&loader).await?;
                match is_gone {
                    true => {
                        Ok(Typed::Lost(Box::new(self.lost(output, keys, &empty.cursor.before))))
                    }
                    false => Err(refusal),
                }
            }
        }
    }

    /// Ends the program that reads our lines without an echo: it would take those of a person. Once the relay has lost
    /// its terminal, another program may read there, which gets no key.
    async fn end_loader(&self, loader: &str) -> Result<(), Refusal> {
        if self.relay.has_terminal().await || self.relay.shows_loader(loader).await {
            self.relay.terminal.press_interrupt().await?;
        }
        Ok(())
    }

    /// The command whose relay has lost its terminal before the script was typed.
    fn lost(&self, output: Output, keys: MarkKeys, row: &str) -> StartedJob {
        let Self { engine, pane, relay, command, .. } = self;
        let id = engine.records().new_id();
        let job = Arc::new(Job::new(id, pane.pane, command.clone(), &output.echo.place()));
        engine.jobs().add(Arc::clone(&job), engine.shared.options.results);
        job.finish(JobStatus::Lost(format!(
            "`{}` has exited or was stopped before its shell read the command, which has not run; a line that begins \
             with `eval` may have been entered in another shell",
            relay.program
        )));
        StartedJob {
            job,
            pane: pane.clone(),
            shell: relay.pid,
            prompt: Prompt { row: row.to_owned(), rows: None },
            stream: output.stream,
            output_filter: OutputFilter::new(keys),
            last_typed: engine.shared.typed_input.last_line(pane.pane),
        }
    }
}

/// The lines that are typed once the loader reads. An error leaves it reading.
struct ScriptTyping<'a> {
    start: &'a RemoteStart,
    empty: &'a EmptyPrompt,
    /// Key of the loader line.
    loader: &'a str,
    has_earlier_line: bool,
    keys: &'a MarkKeys,
}

impl ScriptTyping<'_> {
    /// Makes the shell read and run the script, and returns the number of the line that was typed last. `line` is
    /// the loader line.
    async fn run(
        &self,
        output: &mut Output,
        line: &str,
    ) -> Result<(Arc<Job>, ReadyShell, u64), Refusal> {
        let Self { start, loader, has_earlier_line, keys, .. } = *self;
        let RemoteStart { engine, relay, command, .. } = start;
        let pane = start.pane.pane;
        let is_loaded = |bytes: &[u8]| loader::is_loaded(bytes, loader).then_some(());
        output.wait_for(relay, is_loaded).await.ok_or_else(|| self.no_answer())?;
        let shell = self.recognise(output).await?;
        let (place, scrolls_sideways) = self.place_of(line).await?;
        let previous_status = engine.read_remote(pane, relay, RemoteRecord::status_before);
        let previous_status = previous_status.unwrap_or_default();
        let terminal = shell.terminal;
        let input = ScriptInput { keys, command, previous_status, terminal };
        let identity = keys.query.as_str();
        let script =
            Script { kind: shell.kind, input, loader, has_earlier_line, identity, place }.encoded();
        let id = engine.records().new_id();
        let job = Arc::new(Job::new(id, pane, command.clone(), &output.echo.place()));
        job.set_ran_as(shell.identity.clone());
        engine.shared.typed_input.record(pane, command, true);
        let last_typed = engine.shared.typed_input.last_line(pane);
        engine.forget_standing(pane);
        engine.jobs().add(Arc::clone(&job), engine.shared.options.results);
        if let Err(refusal) = self.type_lines(&script).await {
            engine.jobs().remove(&job.id);
            return Err(refusal);
        }
        let mut records = engine.records();
        if start.lease.pane.is_some() {
            records.job_starts(pane, &job.id);
            records.job_started(&job, relay.pid);
        }
        drop(records);
        engine.change_remote(pane, relay, |record| {
            record.shell = Some(shell.kind);
            record.scrolls_sideways = scrolls_sideways;
            (record.last_end, record.end_place) = (None, None);
            record.jobs.push(Arc::clone(&job));
        });
        Ok((job, shell, last_typed))
    }

    /// Where the loader line stands on the screen, and whether its editor has shown only a part of it, in one row. A
    /// trace or a transient prompt may have moved the line.
    async fn place_of(&self, line: &str) -> Result<(LinePlace, bool), Refusal> {
        let RemoteStart { engine, pane, relay, .. } = self.start;
        let terminal = &relay.terminal;
        let before = &self.empty.cursor;
        if let Some(place) =
            line_place::find_on_screen(&terminal.tmux, terminal.pane.pane, line).await?
        {
            return Ok((place, false));
        }
        // It has scrolled off the screen, or was never on it.
        let now = RemotePrompt { engine, pane: pane.pane, relay }.read_row().await?;
        let place = |row: &CursorRow| row.history + row.row;
        let rows_up = place(&now).saturating_sub(place(before)).max(1) as usize;
        let (above, _) = CursorRow::read_above(&terminal.tmux, terminal.pane.pane).await?;
        let row = above.len().checked_sub(rows_up).and_then(|at| above.get(at));
        let is_scrolled = row.is_some_and(|row| !row.starts_with(before.before.trim_end()));
        let column = if is_scrolled { 0 } else { before.column as usize };
        Ok((LinePlace { rows_up, column }, rows_up == 1))
    }

    /// Asks the shell which one it is.
    async fn recognise(&self, output: &mut Output) -> Result<ReadyShell, Refusal> {
        let key = random::hex(KEY_BYTES)?;
        self.type_lines(&[loader::reader_line(self.loader, &key)]).await?;
        let is_ready = |bytes: &[u8]| loader::find_ready(bytes, &key);
        let ready = output.wait_for(&self.start.relay, is_ready).await;
        ready.ok_or_else(|| self.no_answer())
    }

    fn no_answer(&self) -> Refusal {
        let RemoteStart { pane, relay, .. } = self.start;
        Refusal::NoAnswer { pane: pane.pane, program: relay.program.clone() }
    }

    /// Types lines unless a person has pressed a key. The answer to the line before may be that of a shell around the
    /// relay: then the relay has lost its terminal, and nothing is typed.
    async fn type_lines(&self, lines: &[String]) -> Result<(), Refusal> {
        let RemoteStart { engine, pane, relay, .. } = self.start;
        let (pane, target) = (pane.pane, relay.terminal.pane.pane);
        let typed = lines.iter().flat_map(|line| {
            let mut commands = type_text(target, line);
            commands.push(TmuxKey::enter().press(target));
            commands
        });
        let (commands, unchanged) = (typed.collect(), self.empty.viewers.unchanged());
        match (RemotePrompt { engine, pane, relay }).type_if(&unchanged, commands).await? {
            true => Ok(()),
            false => Err(Refusal::PersonActive { pane }),
        }
    }
}

impl Output {
    /// Reads the stream up to an answer of the shell. `None` if none comes in time. After the exit of the relay, a shell
    /// around it may still read the line that asks.
    async fn wait_for<T>(
        &mut self,
        relay: &Relay,
        answer: impl Fn(&[u8]) -> Option<T>,
    ) -> Option<T> {
        let mut until = Instant::now() + REMOTE_ANSWER_TIMEOUT;
        let mut seen = Vec::new();
        let mut has_exited = false;
        let relay_exit = relay.terminal.processes.exited(relay.pid);
        tokio::pin!(relay_exit);
        loop {
            let chunk = tokio::select! {
                chunk = timeout_at(until, self.stream.next()) => chunk.ok()?,
                () = &mut relay_exit, if !has_exited => {
                    has_exited = true;
                    until = until.min(Instant::now() + SETTLE_TIME);
                    continue;
                }
            };
            match chunk {
                Chunk::Bytes { bytes, .. } => {
                    self.echo.feed(&bytes, &mut |_| {});
                    seen.extend_from_slice(&bytes);
                    if let Some(found) = answer(&seen) {
                        return Some(found);
                    }
                    // The answer may have come in part.
                    seen.drain(..seen.len().saturating_sub(MAX_ANSWER_BYTES));
                }
                Chunk::Gap { .. } => {}
                Chunk::End(_) => return None,
            }
        }
    }
}
