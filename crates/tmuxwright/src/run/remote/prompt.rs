//! The empty prompt of a shell behind a relay, proven with keys that change nothing.
//!
//! The left arrow and then a blank are pressed (`left_and_blank`).

use std::sync::Arc;

use tmux_control::keys::{TmuxKey, type_text};
use tmux_control::{Command, PaneId};
use tokio::time::Instant;

use super::prompt_row::{self, RowLook};
use super::relay::Relay;
use super::{EndPlace, RemoteRecord};
use crate::run::cursor_row::CursorRow;
use crate::run::gate::ProbePause;
use crate::run::job::AwaitedInput;
use crate::run::left_and_blank::{ERASE_ECHO, Reaction, TrialKeys, UNDO, try_row};
use crate::run::limits::{DISTURBANCE_TIMEOUT, PROMPT_TIMEOUT, UNKNOWN_ROW_QUIET};
use crate::run::viewers::Viewers;
use crate::run::{Engine, Job, Refusal, TypingGuard};

/// A prompt with one blank typed behind it, and nothing else.
pub(super) struct EmptyPrompt {
    /// The row before the blank.
    pub(super) cursor: CursorRow,
    pub(super) viewers: Viewers,
    /// A format that is true while nothing has changed since.
    condition: String,
    /// Held until the line is typed, or the script behind it has begun.
    pub(super) typing: TypingGuard,
}

/// Deadlines up to which a row that is not an empty prompt is read again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// The prompt of a command that has just ended may be on its way, behind output without an end.
    pub(super) after_command: Instant,
    /// A shell may be drawing its prompt.
    pub(super) while_drawn: Instant,
}

impl Patience {
    /// For a shell that is known to be at its prompt.
    pub(super) fn none() -> Self {
        let now = Instant::now();
        Self { after_command: now, while_drawn: now }
    }

    pub(super) fn after(last_end: Option<Instant>) -> Self {
        let now = Instant::now();
        let after_command = last_end.map_or(now, |ended| ended + PROMPT_TIMEOUT);
        Self { after_command, while_drawn: after_command.max(now + UNKNOWN_ROW_QUIET) }
    }
}

/// The prompt of a relay's shell.
pub(super) struct RemotePrompt<'a> {
    pub(super) engine: &'a Engine,
    /// The pane of the call.
    pub(super) pane: PaneId,
    pub(super) relay: &'a Relay,
}

impl RemotePrompt<'_> {
    /// Proves that the pane shows an empty prompt.
    pub(super) async fn require_empty(&self, patience: Patience) -> Result<EmptyPrompt, Refusal> {
        let (pane, terminal) = (self.pane, &self.relay.terminal);
        let until = Instant::now() + DISTURBANCE_TIMEOUT;
        let mut pause = ProbePause::default();
        loop {
            let viewers = Viewers::read(&terminal.tmux, &terminal.pane).await?;
            let cursor = self.read_row().await?;
            let look = self.look(&cursor);
            match look {
                RowLook::Known | RowLook::Unknown => {}
                RowLook::HalfTyped if Instant::now() < patience.after_command => {
                    pause.wait().await;
                    continue;
                }
                RowLook::Other if Instant::now() < patience.while_drawn => {
                    pause.wait().await;
                    continue;
                }
                RowLook::HalfTyped => return Err(Refusal::HalfTyped { pane }),
                RowLook::Other => return Err(self.not_at_prompt(&cursor)),
            }
            if let Some(wait) = viewers.wait() {
                if Instant::now() + wait > until {
                    return Err(Refusal::PersonActive { pane });
                }
                tokio::time::sleep(wait).await;
                continue;
            }
            let is_known = look == RowLook::Known;
            if let Some(empty) = self.try_keys(cursor, viewers, is_known).await? {
                if !is_known {
                    let row = &empty.cursor.before;
                    let found = |record: &mut RemoteRecord| record.set_prompt(row, true);
                    self.engine.change_remote(self.pane, self.relay, found);
                }
                return Ok(empty);
            }
            if Instant::now() > until {
                return Err(Refusal::PersonActive { pane });
            }
        }
    }

    /// The inner command that runs behind the relay, unless it has started a shell which is at its prompt: then
    /// it waits for keys, as the task that follows it finds soon after the prompt has come. A prompt that follows
    /// the end of a command in that shell may still be on its way.
    pub(super) async fn busy_job(&self) -> Result<Option<Arc<Job>>, Refusal> {
        let last_end = self.engine.read_remote(self.pane, self.relay, |record| record.last_end);
        let drawn = Patience::after(last_end.flatten()).after_command;
        let until = Instant::now() + PROMPT_TIMEOUT;
        let mut pause = ProbePause::default();
        loop {
            let at_work = |job: &Arc<Job>| job.facts().waiting != Some(AwaitedInput::Keys);
            let Some(job) = self.engine.remote_job(self.pane).filter(at_work) else {
                return Ok(None);
            };
            let look = self.look(&self.read_row().await?);
            let waits_until = match look {
                RowLook::Known | RowLook::Unknown => until,
                RowLook::HalfTyped | RowLook::Other => drawn,
            };
            if Instant::now() > waits_until {
                return Ok(Some(job));
            }
            pause.wait().await;
        }
    }

    /// The look of a row, by the prompt that the last command has left.
    pub(super) fn look(&self, cursor: &CursorRow) -> RowLook {
        let known = self.engine.remote_known_prompt(self.pane, self.relay);
        match cursor.alternate {
            true => RowLook::Other,
            false => prompt_row::look(cursor, known.as_ref(), self.follows_command(cursor)),
        }
    }

    /// Whether this is the row below the output of our last command there, and no keys came since.
    fn follows_command(&self, cursor: &CursorRow) -> bool {
        let here = EndPlace::new(cursor, self.engine.inputs(self.pane));
        let end = self.engine.read_remote(self.pane, self.relay, |record| record.end_place);
        end.flatten() == Some(here)
    }

    /// Records the row below the output of the command that has just ended.
    pub(super) async fn record_end(&self) {
        let row = self.read_row().await.ok();
        let inputs = self.engine.inputs(self.pane);
        self.engine.change_remote(self.pane, self.relay, |record| {
            record.end_place = row.map(|row| EndPlace::new(&row, inputs));
        });
    }

    /// The refusal of a row that is not an empty prompt. A shell that a command has started may run a part of
    /// that command itself.
    fn not_at_prompt(&self, cursor: &CursorRow) -> Refusal {
        let (engine, pane) = (self.engine, self.pane);
        let job = engine.remote_job(pane).or_else(|| engine.running_in(pane));
        match job.filter(|job| job.is_running() && !self.relay.passes_keys) {
            Some(job) => {
                let (id, awaited) = (job.id.clone(), job.facts().waiting);
                Refusal::Busy { pane, id, program: None, awaited }
            }
            None => self.relay.without_prompt(pane, &cursor.before),
        }
    }

    fn no_reaction(&self) -> Refusal {
        Refusal::NoReaction { pane: self.pane, program: self.relay.program.clone() }
    }

    /// Presses the keys at the known prompt, or at a row that looks like one. `None` if the pane has changed
    /// meanwhile.
    async fn try_keys(
        &self,
        cursor: CursorRow,
        viewers: Viewers,
        is_known: bool,
    ) -> Result<Option<EmptyPrompt>, Refusal> {
        let (pane, terminal) = (self.pane, &self.relay.terminal);
        let typing = self.engine.typing(pane).await?;
        let trial = match is_known && !self.known_prompt_has_editor() {
            true => TrialKeys::Blank,
            false => TrialKeys::LeftAndBlank,
        };
        self.require_terminal().await?;
        let tried = try_row(&terminal.tmux, &terminal.pane, &viewers, &cursor, trial).await;
        let Some((reaction, now)) = tried.map_err(|refusal| self.of_call(refusal))? else {
            return Ok(None);
        };
        match reaction {
            Reaction::Empty => {}
            Reaction::HalfTyped => {
                self.press(&viewers, UNDO).await?;
                return Err(Refusal::HalfTyped { pane });
            }
            Reaction::EchoedArrow => {
                self.take_back(&viewers, ERASE_ECHO).await?;
                self.wait_for_row(&cursor).await?;
                return self.accept_without_editor(&cursor, is_known).map(|()| None);
            }
            Reaction::Pending => return self.give_up(&cursor, &now, &viewers).await,
        }
        let condition = viewers.unchanged_at(&now);
        Ok(Some(EmptyPrompt { cursor, viewers, condition, typing }))
    }

    /// A refusal of the pane that shows the terminal, as one of the pane of the call.
    fn of_call(&self, refusal: Refusal) -> Refusal {
        match refusal {
            Refusal::PersonActive { .. } => Refusal::PersonActive { pane: self.pane },
            other => other,
        }
    }

    fn known_prompt_has_editor(&self) -> bool {
        let has_editor =
            |record: &RemoteRecord| record.prompt.as_ref().is_none_or(|it| it.has_editor);
        self.engine.read_remote(self.pane, self.relay, has_editor).unwrap_or(true)
    }

    /// Records a prompt in a terminal that edits the line itself: from now on only the blank is typed. No key tells
    /// typed text from the prompt there. If the prompt is that of a shell which edits its line, another program has
    /// printed it, perhaps as a question.
    fn accept_without_editor(&self, cursor: &CursorRow, is_known: bool) -> Result<(), Refusal> {
        let pane = self.pane;
        if is_known {
            return Err(Refusal::NoEditor { pane });
        }
        self.engine.change_remote(pane, self.relay, |record| {
            let prompt = prompt_row::behind_output(&cursor.before, &record.unfinished);
            if !prompt_row::is_plain_prompt(prompt) {
                return Err(match prompt_row::goes_on_after_end(cursor) {
                    true => Refusal::HalfTyped { pane },
                    false => self.relay.without_prompt(pane, &cursor.before),
                });
            }
            record.set_prompt(&cursor.before, false);
            Ok(())
        })
    }

    /// Takes the keys back that did not have their effect. `None` if the row has changed, as where a prompt has
    /// come behind output that looks like one.
    async fn give_up(
        &self,
        cursor: &CursorRow,
        now: &CursorRow,
        viewers: &Viewers,
    ) -> Result<Option<EmptyPrompt>, Refusal> {
        let pane = self.pane;
        let place = |it: &CursorRow| (it.history, it.row, it.before.clone());
        if place(cursor) != place(now) && now.before.ends_with(' ') {
            self.take_back(viewers, &["BSpace"]).await?;
            self.wait_until(|row| row.column < now.column || row.row < now.row).await?;
            return Ok(None);
        }
        // In vi normal mode the keys cancel each other out. So they seem to in a line that ends with a blank.
        self.press(viewers, UNDO).await?;
        Err(match prompt_row::goes_on_after_end(cursor) {
            true => Refusal::HalfTyped { pane },
            false => self.no_reaction(),
        })
    }

    /// Types the rest of a line that begins with a blank, and Enter, in place of the blank at an empty prompt.
    pub(super) async fn enter(&self, empty: &EmptyPrompt, line: &str) -> Result<(), Refusal> {
        let target = self.relay.terminal.pane.pane;
        let mut commands = type_text(target, line.trim_start());
        commands.push(TmuxKey::enter().press(target));
        if self.type_if(&empty.condition, commands).await? {
            return Ok(());
        }
        self.press(&empty.viewers, &["BSpace"]).await?;
        Err(Refusal::PersonActive { pane: self.pane })
    }

    /// Takes keys back. A key that a person has pressed behind them stays, and so do they.
    async fn take_back(&self, viewers: &Viewers, keys: &[&str]) -> Result<(), Refusal> {
        match self.press(viewers, keys).await? {
            true => Ok(()),
            false => Err(Refusal::PersonActive { pane: self.pane }),
        }
    }

    /// Presses keys unless a person has pressed one.
    pub(super) async fn press(&self, viewers: &Viewers, keys: &[&str]) -> Result<bool, Refusal> {
        let target = self.relay.terminal.pane.pane;
        let keys = keys.iter().map(|&key| TmuxKey::Named(key.to_owned()).press(target)).collect();
        self.type_if(&viewers.unchanged(), keys).await
    }

    /// Refuses once the keys would reach another program than the relay.
    async fn require_terminal(&self) -> Result<(), Refusal> {
        if self.relay.has_terminal().await { Ok(()) } else { Err(self.no_reaction()) }
    }

    pub(super) async fn type_if(
        &self,
        condition: &str,
        commands: Vec<Command>,
    ) -> Result<bool, Refusal> {
        self.require_terminal().await?;
        let terminal = &self.relay.terminal;
        let target = terminal.pane.pane.into();
        Ok(terminal.tmux.type_if(&target, condition, commands).await?)
    }

    pub(super) async fn read_row(&self) -> Result<CursorRow, Refusal> {
        let terminal = &self.relay.terminal;
        Ok(CursorRow::read(&terminal.tmux, terminal.pane.pane).await?)
    }

    /// Waits until the cursor's row is as it was.
    async fn wait_for_row(&self, cursor: &CursorRow) -> Result<(), Refusal> {
        self.wait_until(|row| row.before == cursor.before).await
    }

    async fn wait_until(&self, is_met: impl Fn(&CursorRow) -> bool) -> Result<(), Refusal> {
        let until = Instant::now() + PROMPT_TIMEOUT;
        let mut pause = ProbePause::default();
        while !is_met(&self.read_row().await?) {
            if Instant::now() > until {
                return Err(self.no_reaction());
            }
            pause.wait().await;
        }
        Ok(())
    }
}
