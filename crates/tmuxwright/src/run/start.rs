//! Typing a command: the gate, the choice between the two ways, the job.

use std::sync::Arc;
use std::time::Duration;

use tmux_control::keys::{TmuxKey, type_text};
use tmux_control::stream::PaneStream;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tracing::Instrument;

use super::carry::{self, Cargo, Place};
use super::follow::{Follow, Keys, Progress};
use super::gate::{self, Shell};
use super::launch;
use super::look::Look;
use super::memory::{Lease, Marks};
use super::prompt::{Prompt, similar};
use super::trail::{Started, Trail};
use super::{Engine, Job, Refusal};
use crate::host::PaneState;
use process::ShellKind;

/// How long after a command nobody but its shell can have written to the pane.
const JUST_NOW: Duration = Duration::from_millis(100);

/// How long after a command its shell may have something else in the foreground.
const SETTLING: Duration = Duration::from_secs(1);

/// How long a shell that we have just started may take to its first prompt.
const OWN_START: Duration = Duration::from_secs(20);

/// How long a prompt may take from the shell to tmux.
const PROMPT_ON_ITS_WAY: Duration = Duration::from_millis(50);

/// The height of a pane whose height was not asked for.
const HEIGHT: u32 = 50;

/// Types a command and follows it. Once it is being typed it is seen through, even if the caller
/// goes away.
pub(super) async fn command(
    engine: &Arc<Engine>,
    lease: Lease,
    pane: PaneState,
    command: String,
) -> Result<Started, Refusal> {
    let (tell, told) = oneshot::channel();
    let start = Start { engine: Arc::clone(engine), lease, pane, command };
    let id = start.pane.pane;
    tokio::spawn(start.conduct(tell).in_current_span());
    told.await.unwrap_or(Err(Refusal::Contended { pane: id }))
}

struct Start {
    engine: Arc<Engine>,
    lease: Lease,
    pane: PaneState,
    command: String,
}

/// Everything that was found out before typing.
struct Ready {
    shell: Shell,
    stream: PaneStream,
    marks: Marks,
    prompt: Prompt,
    look: Option<Look>,
}

/// What is typed.
struct Typing {
    line: String,
    keys: Keys,
}

impl Start {
    async fn conduct(self, tell: oneshot::Sender<Result<Started, Refusal>>) {
        let ready = match self.make_ready().await {
            Ok(ready) => ready,
            Err(refusal) => {
                let _ = tell.send(Err(refusal));
                return;
            }
        };
        if tell.is_closed() {
            return;
        }
        match self.begin(ready).await {
            Ok(follow) => {
                tracing::info!("command {} started in {}", follow.job.id, follow.job.pane);
                let _ = tell.send(Ok(Started {
                    job: Arc::clone(&follow.job),
                    pane: follow.pane.clone(),
                    shell: follow.shell.pid,
                    stream: follow.stream.clone(),
                    trail: Trail::new(follow.keys.clone()),
                }));
                follow.run().await;
            }
            Err(refusal) => {
                let _ = tell.send(Err(refusal));
            }
        }
    }

    /// Sees to it that a shell is at its prompt and nothing is typed there.
    async fn make_ready(&self) -> Result<Ready, Refusal> {
        let Self { engine, pane, .. } = self;
        if pane.synchronized {
            return Err(Refusal::Synchronized { pane: pane.pane });
        }
        let (marks, prompt, ended, untouched, clean) = {
            let mut memory = engine.memory();
            let known = memory.pane(pane);
            let untouched = !known.typed && !known.settled;
            let clean = known.clean && known.pooled.is_some();
            (known.marks.clone(), known.prompt.clone(), known.ended, untouched, clean)
        };
        let own_start = matches!(marks, Marks::Expected(_));
        // A shell that has run a command is no longer starting.
        let patience = match ended {
            _ if own_start => OWN_START,
            Some(_) => Duration::ZERO,
            None => gate::START.saturating_sub(process::age(pane.pid).unwrap_or(gate::START)),
        };
        let settling = SETTLING.saturating_sub(ended.map_or(SETTLING, |ended| ended.elapsed()));
        let shell = gate::shell_at_prompt(pane, engine.declared(), patience, settling).await;
        let shell = shell.map_err(|refusal| match refusal {
            Refusal::ShellBusy { pane, shell, .. } if own_start => {
                Refusal::Starting { pane, shell, seconds: OWN_START.as_secs() }
            }
            other => other,
        })?;
        let marks = self.look_for_marks(marks);
        let stream = engine.tmux().stream_in(pane.session, pane.pane).await?;
        let as_it_is = self.is_typed_as_it_is(shell.kind, &marks);
        let just_ended = untouched && ended.is_some_and(|ended| ended.elapsed() < JUST_NOW);
        if as_it_is && (own_start || (just_ended && clean)) {
            let prompt = prompt.unwrap_or(Prompt { row: String::new(), rows: 1 });
            return Ok(Ready { shell, stream, marks, prompt, look: None });
        }
        if !as_it_is {
            gate::must_reach(pane.pane, shell)?;
        }
        // fish draws its prompt so slowly that a person can be quicker.
        let fresh = own_start || (just_ended && shell.kind != ShellKind::Fish);
        let look = self.empty_prompt(shell.kind, prompt.as_ref(), fresh).await?;
        let rows = prompt.map_or(1, |prompt| prompt.rows);
        let prompt = Prompt { row: look.before.clone(), rows };
        Ok(Ready { shell, stream, marks, prompt, look: Some(look) })
    }

    /// The row of the prompt, with nothing typed. It is the one known from before, or, where a
    /// command has just ended, another one that does not go on behind it; else it is tried.
    async fn empty_prompt(
        &self,
        kind: ShellKind,
        known: Option<&Prompt>,
        fresh: bool,
    ) -> Result<Look, Refusal> {
        let (tmux, pane) = (self.engine.tmux(), self.pane.pane);
        let known = known.map(|known| known.row.as_str());
        let is_known = |look: &Look| {
            !look.has_text_behind() && known.is_some_and(|known| similar(known, &look.before))
        };
        let look = self.settled_look().await?;
        let row = &look.before;
        // The known one may stand behind a last line of output that has no end.
        let goes_on = |known: &str| row.contains(known) && !row.ends_with(known);
        let typed = |known: &str| !known.is_empty() && (row.starts_with(known) || goes_on(known));
        let new = fresh && !look.has_text_behind() && !known.is_some_and(typed);
        if is_known(&look) || new {
            return Ok(look);
        }
        gate::must_not_continue(pane, kind, &look, known)?;
        if known.is_none() {
            gate::must_look_like_a_prompt(pane, kind, &look)?;
        }
        gate::must_be_empty(tmux, pane, kind, look).await
    }

    /// A look that shows the prompt, which may still be on its way.
    async fn settled_look(&self) -> Result<Look, Refusal> {
        let begun = Instant::now();
        loop {
            let look = Look::at(self.engine.tmux(), self.pane.pane).await?;
            if !look.before.trim().is_empty() || begun.elapsed() > PROMPT_ON_ITS_WAY {
                return Ok(look);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Whether a shell that was told to print marks has read our script.
    fn look_for_marks(&self, marks: Marks) -> Marks {
        let Marks::Expected(key) = marks else {
            return marks;
        };
        let marks = match self.engine.shared.kit.take(&launch::ready_file(&key)) {
            true => Marks::Known(key),
            false => Marks::None,
        };
        self.engine.memory().pane(&self.pane).marks = marks.clone();
        marks
    }

    /// Only bash prints its own marks before what other hooks print; elsewhere commands are carried.
    fn is_typed_as_it_is(&self, kind: ShellKind, marks: &Marks) -> bool {
        matches!(marks, Marks::Known(_))
            && kind == ShellKind::Bash
            && carry::is_plain(&self.command)
    }

    /// Types the command.
    async fn begin(self, ready: Ready) -> Result<Follow, Refusal> {
        let Ready { shell, stream, marks, prompt, look } = ready;
        let id = self.engine.memory().new_id();
        let typing = self.typing(&id, shell.kind, &marks, look.as_ref())?;
        let height = look.map_or(HEIGHT, |look| look.height);
        let Self { engine, lease, pane, command } = self;
        let job = Arc::new(Job::new(id, pane.pane, command, height));
        let progress = Progress::default();
        let mut commands = type_text(pane.pane, &typing.line);
        commands.push(TmuxKey::enter().press(pane.pane));
        engine.shared.typed.note(pane.pane, &job.command, true);
        engine.tmux().sequence(commands).await?;
        engine.jobs().keep(Arc::clone(&job), engine.shared.options.results);
        {
            let mut memory = engine.memory();
            // What a person types ahead of the next prompt can be told from it.
            if !prompt.row.trim().is_empty() {
                memory.pane(&pane).prompt = Some(prompt.clone());
            }
            memory.begun(&job);
        }
        Ok(Follow { engine, job, lease, pane, shell, stream, keys: typing.keys, prompt, progress })
    }

    fn typing(
        &self,
        id: &str,
        kind: ShellKind,
        marks: &Marks,
        look: Option<&Look>,
    ) -> Result<Typing, Refusal> {
        let shells = match marks {
            Marks::Known(key) => Some(key.clone()),
            _ => None,
        };
        let Some(look) = look.filter(|_| !self.is_typed_as_it_is(kind, marks)) else {
            let keys = Keys { command: shells.clone().unwrap_or_default(), shell: shells };
            return Ok(Typing { line: self.command.clone(), keys });
        };
        let key = launch::new_key()?;
        let place = Place { column: look.column, width: look.width };
        let path = self.engine.shared.kit.dir()?.join(id).to_string_lossy().into_owned();
        let before = self.engine.memory().pane(&self.pane).status;
        let cargo = Cargo { key: &key, command: &self.command, before };
        let text = carry::file(kind, cargo, &path, place);
        self.engine.shared.kit.put(id, &text)?;
        let line = carry::line(kind, &path, place);
        Ok(Typing { line, keys: Keys { command: key, shell: shells } })
    }
}
