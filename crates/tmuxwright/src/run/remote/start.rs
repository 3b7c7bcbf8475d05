//! Start of a command behind a relay: the loader line, the shell's answer, and the script.

use std::sync::Arc;

use tmux_control::keys::{TmuxKey, type_text};
use tmux_control::stream::PaneStream;
use tmux_control::stream::ring::Chunk;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::RemoteLease;
use super::follow::RemoteFollower;
use super::loader::{self, ReadyShell, Script};
use super::prompt::{Patience, RemotePrompt};
use super::relay::Relay;
use super::status_query::StatusQuery;
use crate::host::PaneState;
use crate::random;
use crate::run::command_file::ScriptInput;
use crate::run::delivery::LineGeometry;
use crate::run::home::Attendance;
use crate::run::job_feed::JobFeed;
use crate::run::limits::REMOTE_ANSWER_TIMEOUT;
use crate::run::line_place;
use crate::run::marks::MarkKeys;
use crate::run::output_filter::OutputFilter;
use crate::run::pane_size::{self, PlacedStream, SizedStream};
use crate::run::prompt::Prompt;
use crate::run::viewers::Viewers;
use crate::run::{Engine, Job, Refusal, StartedCall, StartedJob};
use terminal::screen::Screen;

/// Bytes of the key in the answer of a shell.
const KEY_BYTES: usize = 12;

/// A command that is being started behind a relay.
pub(super) struct RemoteStart {
    pub(super) engine: Arc<Engine>,
    pub(super) lease: RemoteLease,
    pub(super) relay: Relay,
    pub(super) pane: PaneState,
    pub(super) command: String,
}

/// A command whose script was typed.
struct TypedScript {
    job: Arc<Job>,
    shell: ReadyShell,
    output: Output,
    keys: MarkKeys,
    prompt: Prompt,
    last_typed: u64,
}

/// The output of the terminal since the loader line.
struct Output {
    stream: PaneStream,
    /// Screen of the stream up to here.
    echo: Screen,
}

impl RemoteStart {
    pub(super) async fn run(self, sender: oneshot::Sender<Result<StartedCall, Refusal>>) {
        let typed = match self.type_command().await {
            Ok(typed) => typed,
            Err(refusal) => {
                let _ = sender.send(Err(refusal));
                return;
            }
        };
        let TypedScript { job, shell, output, keys, prompt, last_typed } = typed;
        let Self { engine, lease, relay, pane, .. } = self;
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
            kind: shell.kind,
            prompt,
            stream,
            feed,
            keys,
            typed_at: Instant::now(),
            query: StatusQuery::default(),
        };
        follower.run().await;
    }

    async fn type_command(&self) -> Result<TypedScript, Refusal> {
        let Self { engine, pane, relay, .. } = self;
        let (pane, terminal) = (pane.pane, &relay.terminal);
        let new_key = random::hex(KEY_BYTES)?;
        let (last_end, previous_status, key) = engine.remote_record(pane, relay, |record| {
            let key = record.loader.get_or_insert(new_key).clone();
            (record.last_end, record.last_status, key)
        });
        let prompt_check = RemotePrompt { engine, pane, relay };
        // Attaching for the stream would look like a key of a person after the check.
        let PlacedStream { stream, place, .. } =
            pane_size::stream_with_place(&terminal.tmux, &terminal.pane).await?;
        let mut output = Output { stream, echo: Screen::for_output(&place) };
        let empty = prompt_check.require_empty(Patience::after(last_end)).await?;
        let geometry = LineGeometry { column: empty.cursor.column, width: empty.cursor.width };
        let line = loader::loader_line(&key, geometry);
        prompt_check.enter(&empty, &line).await?;
        let viewers = &empty.viewers;
        let shell = match self.load(&mut output, &key, viewers).await {
            Ok(Some(shell)) => shell,
            Ok(None) => {
                // A shell that answers later must not go on reading.
                prompt_check.press(viewers, &["C-c"]).await?;
                return Err(Refusal::NoAnswer { pane, program: relay.program.clone() });
            }
            Err(refusal) => {
                self.end_reading().await?;
                return Err(refusal);
            }
        };
        // It is where it was typed unless it has scrolled away: a trace or a transient prompt may have moved it.
        let found = line_place::find_on_screen(&terminal.tmux, terminal.pane.pane, &line).await?;
        let place = found.unwrap_or_else(|| geometry.place_of(&line));
        let keys = MarkKeys::new()?.asking_for_line()?;
        let input = ScriptInput { keys: &keys, command: &self.command, previous_status };
        let (kind, loader, identity) = (shell.kind, key.as_str(), keys.query.as_str());
        let script = Script { kind, input, loader, identity, place }.encoded();
        let id = engine.records().new_id();
        let job = Arc::new(Job::new(id, pane, self.command.clone(), &output.echo.place()));
        job.set_ran_as(shell.identity.clone());
        engine.shared.typed_input.record(pane, &self.command, true);
        engine.forget_standing(pane);
        let last_typed = engine.shared.typed_input.last_line(pane);
        engine.jobs().add(Arc::clone(&job), engine.shared.options.results);
        if !matches!(self.type_lines(&script, viewers).await, Ok(true)) {
            engine.jobs().remove(&job.id);
            self.end_reading().await?;
            return Err(Refusal::PersonActive { pane });
        }
        let mut records = engine.records();
        if self.lease.pane.is_some() {
            records.job_starts(pane, &job.id);
            records.job_started(&job, relay.pid);
        }
        drop(records);
        engine.remote_record(pane, relay, |record| record.job = Some(Arc::clone(&job)));
        let known = engine.remote_known_prompt(pane, relay);
        let row = known.map_or_else(|| empty.cursor.before.clone(), |known| known.row);
        let prompt = Prompt { row, rows: None };
        Ok(TypedScript { job, shell, output, keys, prompt, last_typed })
    }

    /// Makes the shell read a script, and returns which shell it is. `None` if no answer comes in time.
    async fn load(
        &self,
        output: &mut Output,
        loader: &str,
        viewers: &Viewers,
    ) -> Result<Option<ReadyShell>, Refusal> {
        let key = random::hex(KEY_BYTES)?;
        let loaded = |bytes: &[u8]| loader::is_loaded(bytes, loader).then_some(());
        if output.wait_for(loaded).await.is_none() {
            return Ok(None);
        }
        if !self.type_lines(&[loader::reader_line(loader, &key)], viewers).await? {
            return Err(Refusal::PersonActive { pane: self.pane.pane });
        }
        Ok(output.wait_for(|bytes| loader::find_ready(bytes, &key)).await)
    }

    /// Ends the `sh` that reads lines without an echo, after a person has pressed a key: it takes their keys.
    async fn end_reading(&self) -> Result<(), Refusal> {
        let terminal = &self.relay.terminal;
        terminal.tmux.run(TmuxKey::Named("C-c".to_owned()).press(terminal.pane.pane)).await?;
        Ok(())
    }

    /// Types lines unless a person has pressed a key.
    async fn type_lines(&self, lines: &[String], viewers: &Viewers) -> Result<bool, Refusal> {
        let (engine, pane, relay) = (&self.engine, self.pane.pane, &self.relay);
        let target = relay.terminal.pane.pane;
        let enter = || TmuxKey::enter().press(target);
        let typed = lines.iter().flat_map(|line| {
            let mut commands = type_text(target, line);
            commands.push(enter());
            commands
        });
        let commands = typed.collect();
        RemotePrompt { engine, pane, relay }.type_if(&viewers.unchanged(), commands).await
    }
}

impl Output {
    /// Reads the stream up to an answer of the shell. `None` if none comes in time.
    async fn wait_for<T>(&mut self, answer: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
        let until = Instant::now() + REMOTE_ANSWER_TIMEOUT;
        let mut seen = Vec::new();
        loop {
            match timeout_at(until, self.stream.next()).await.ok()? {
                Chunk::Bytes { bytes, .. } => {
                    self.echo.feed(&bytes, &mut |_| {});
                    seen.extend_from_slice(&bytes);
                    if let Some(found) = answer(&seen) {
                        return Some(found);
                    }
                }
                Chunk::Gap { .. } => {}
                Chunk::End(_) => return None,
            }
        }
    }
}
