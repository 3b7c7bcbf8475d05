//! The keys that are pressed at a prompt and change nothing.

use process::ShellKind;
use tmux_control::keys::{TmuxKey, type_text};
use tokio::time::Instant;

use super::super::Reader;
use super::super::interpreters::Interpreter;
use super::super::prompts::Prompts;
use crate::host::PaneState;
use crate::run::cursor_row::CursorRow;
use crate::run::gate::ProbePause;
use crate::run::keys_read::ReadBefore;
use crate::run::left_and_blank::{ERASE_ECHO, Reaction, TrialKeys, UNDO, try_row};
use crate::run::limits::PROMPT_TIMEOUT;
use crate::run::prompt_check::{self, Checked, PromptCheck, PromptLook};
use crate::run::viewers::Viewers;
use crate::run::{Engine, Refusal};

/// Words of the longest prompt where no key tells text behind it.
const MAX_PROMPT_WORDS: usize = 2;

/// The keys that are pressed at a prompt and change nothing: they tell whether a line editor takes
/// letters as text, and whether the row holds typed text.
pub(super) struct KeyTrial<'a> {
    pub(super) engine: &'a Engine,
    pub(super) pane: &'a PaneState,
    pub(super) reader: &'a Reader,
    pub(super) interpreter: Option<&'static Interpreter>,
    pub(super) viewers: &'a Viewers,
}

impl KeyTrial<'_> {
    /// Returns the row behind a blank, if one was typed.
    pub(super) async fn run(
        &self,
        prompts: &Prompts,
        cursor: &CursorRow,
    ) -> Result<Checked<Option<CursorRow>>, Refusal> {
        let Self { engine, pane, viewers, .. } = self;
        if let Some(shell) = self.reader.shell {
            let (known, pooled) = {
                let mut records = engine.records();
                let record = records.pane(pane);
                (record.prompt.as_ref().map(|it| it.row.clone()), record.pool_client.is_some())
            };
            let check = PromptCheck { engine, pane, shell, viewers, pooled };
            let known = known.as_deref();
            let look = match &prompts.learned {
                // The lines of an open command are one text for this line editor.
                None if shell.kind == ShellKind::Fish => PromptLook::Known,
                Some(learned) if *learned == cursor.line() => {
                    prompt_check::inspect(pane.pane, shell.kind, cursor, known)?
                }
                _ if cursor.has_text_after() => return Err(Refusal::HalfTyped { pane: pane.pane }),
                _ => PromptLook::Unproven,
            };
            if let Checked::Disturbed = check.require_nothing_typed(look, cursor, known).await? {
                return Ok(Checked::Disturbed);
            }
            return Ok(match check.has_line_editor().await {
                false => Checked::Done(None),
                true => match check.type_blank(cursor).await? {
                    Checked::Done(behind) => Checked::Done(Some(behind)),
                    Checked::Disturbed => Checked::Disturbed,
                },
            });
        }
        if !self.reader.has_editor() {
            return Ok(Checked::Done(None));
        }
        let row = cursor.line();
        // Blanks behind the prompt of an open statement are the editor's indentation.
        let is_prompt = |it: &Interpreter| it.is_prompt(&row) || it.is_continuation(&row);
        // The left arrow would move into the earlier rows of an open statement.
        let is_blank_open = prompts.learned.is_none() && prompts.continues_blank();
        let is_certain = is_blank_open || prompts.interpreter.is_some_and(is_prompt);
        match (is_certain, self.reader.is_relay) {
            (true, _) => self.blank(cursor).await,
            (false, true) => self.left_and_blank(cursor).await,
            (false, false) if self.left_moves(cursor).await? => {
                Err(Refusal::HalfTyped { pane: pane.pane })
            }
            (false, false) => self.blank(cursor).await,
        }
    }

    /// Presses the left arrow and a blank, and returns the row behind the blank if the line is empty. No pause tells
    /// when a program behind a relay has acted on the arrow alone.
    async fn left_and_blank(
        &self,
        cursor: &CursorRow,
    ) -> Result<Checked<Option<CursorRow>>, Refusal> {
        let Self { engine, pane, viewers, .. } = *self;
        let trial = TrialKeys::LeftAndBlank;
        let tried = try_row(engine.tmux(), pane, viewers, cursor, trial).await?;
        let Some((reaction, now)) = tried else { return Ok(Checked::Disturbed) };
        let pane = pane.pane;
        match reaction {
            Reaction::Empty => Ok(Checked::Done(Some(now))),
            Reaction::EchoedArrow => {
                self.take_back(ERASE_ECHO).await?;
                self.blank_without_editor(cursor).await
            }
            Reaction::HalfTyped => {
                self.take_back(UNDO).await?;
                Err(Refusal::HalfTyped { pane })
            }
            Reaction::Pending => {
                self.take_back(UNDO).await?;
                // The blank at the end of a text moves to the right unseen.
                let is_empty = prompt_check::text_behind_prompt(&cursor.line()).is_empty();
                let program = self.reader.program.argv.join(" ");
                Err(match is_empty {
                    true => Refusal::NoReaction { pane, program },
                    false => Refusal::HalfTyped { pane },
                })
            }
        }
    }

    /// Types a blank in a terminal that edits the line itself. No key tells text from the prompt there, so a row of
    /// more words than prompts have is refused.
    async fn blank_without_editor(
        &self,
        cursor: &CursorRow,
    ) -> Result<Checked<Option<CursorRow>>, Refusal> {
        let row = cursor.line();
        let is_short = row.split_whitespace().count() <= MAX_PROMPT_WORDS;
        if !is_short || !prompt_check::text_behind_prompt(&row).is_empty() {
            return Err(Refusal::HalfTyped { pane: self.pane.pane });
        }
        let until = Instant::now() + PROMPT_TIMEOUT;
        let mut pause = ProbePause::default();
        loop {
            let now = CursorRow::read(self.engine.tmux(), self.pane.pane).await?;
            if now.before == cursor.before {
                return self.blank(cursor).await;
            }
            if Instant::now() > until {
                return Ok(Checked::Disturbed);
            }
            pause.wait().await;
        }
    }

    /// Takes keys back, unless a person has pressed one.
    async fn take_back(&self, keys: &[&str]) -> Result<(), Refusal> {
        let pane = self.pane.pane;
        let keys = keys.iter().map(|&key| TmuxKey::Named(key.to_owned()).press(pane)).collect();
        self.engine.tmux().type_if(&pane.into(), &self.viewers.unchanged(), keys).await?;
        Ok(())
    }

    /// Whether the left arrow moves the cursor, so that there is text before it. The right arrow moves it
    /// back.
    async fn left_moves(&self, cursor: &CursorRow) -> Result<bool, Refusal> {
        let Some(now) = self.press(cursor, "Left").await? else { return Ok(false) };
        let moved = (now.row, now.column) != (cursor.row, cursor.column);
        if moved {
            let right = TmuxKey::Named("Right".to_owned()).press(self.pane.pane);
            self.engine.tmux().run(right).await?;
        }
        Ok(moved)
    }

    /// Types a blank, which must appear as text.
    async fn blank(&self, cursor: &CursorRow) -> Result<Checked<Option<CursorRow>>, Refusal> {
        let pane = self.pane.pane;
        let now = match self.press(cursor, "Space").await {
            Ok(Some(now)) => now,
            Ok(None) => return Ok(Checked::Disturbed),
            Err(refusal) => {
                // A connection that has stalled may still pass the blank on.
                self.take_back(&["BSpace"]).await?;
                return Err(refusal);
            }
        };
        let viewers = Viewers::read(self.engine.tmux(), self.pane).await?;
        if !self.viewers.have_been_idle(&viewers) {
            return Ok(Checked::Disturbed);
        }
        let wraps = cursor.column + 1 >= now.width && now.column == 0;
        match now.before.strip_prefix(cursor.before.as_str()) {
            Some(" ") => Ok(Checked::Done(Some(now))),
            _ if wraps => Ok(Checked::Done(Some(now))),
            _ if self.shows_blank(cursor, &now) => Ok(Checked::Done(Some(now))),
            shown => {
                let before = self.read_before().await;
                self.take_back(&["BSpace"]).await?;
                self.wait_for_reaction(&now, before).await?;
                match shown {
                    Some("") => Err(Refusal::KeysAreCommands { pane }),
                    _ => Ok(Checked::Disturbed),
                }
            }
        }
    }

    /// Whether the blank stands behind another prompt in the same place.
    fn shows_blank(&self, cursor: &CursorRow, now: &CursorRow) -> bool {
        (now.row, now.column) == (cursor.row, cursor.column + 1)
            && self.interpreter.is_some_and(|it| it.shows_blank(&now.line()))
    }

    /// What the program has read before a key is pressed. A program that cannot be inspected, or whose terminal edits the
    /// line, does not read each key.
    async fn read_before(&self) -> ReadBefore {
        match self.reader.reads_each_key() {
            true => ReadBefore::of(self.engine, self.reader.program.pid).await,
            false => ReadBefore::default(),
        }
    }

    /// Presses a key and waits until the program has acted on it. `None` if the pane has changed; then
    /// nothing is pressed.
    async fn press(&self, cursor: &CursorRow, key: &str) -> Result<Option<CursorRow>, Refusal> {
        let (tmux, pane) = (self.engine.tmux(), self.pane.pane);
        let keys = match key {
            "Space" => type_text(pane, " "),
            key => vec![TmuxKey::Named(key.to_owned()).press(pane)],
        };
        let before = self.read_before().await;
        if !tmux.type_if(&pane.into(), &self.viewers.unchanged_at(cursor), keys).await? {
            return Ok(None);
        }
        self.wait_for_reaction(cursor, before).await.map(Some)
    }

    /// Waits until the program has acted on a key, and returns the row of the cursor. A program behind a
    /// relay cannot be inspected: there the cursor has to move.
    async fn wait_for_reaction(
        &self,
        before: &CursorRow,
        read_before: ReadBefore,
    ) -> Result<CursorRow, Refusal> {
        let (tmux, pane) = (self.engine.tmux(), self.pane.pane);
        let begun = Instant::now();
        let mut pause = ProbePause::default();
        loop {
            self.engine.catch_up(self.pane).await;
            let has_read = read_before.has_read(self.engine, 1).await;
            let reader = Reader::probe(self.engine, self.pane).await.filter(|_| has_read);
            let reads = reader.is_some_and(|it| it.reads() && it.is_same(self.reader));
            if reads {
                self.engine.catch_up(self.pane).await;
                let now = CursorRow::read(tmux, pane).await?;
                let moved = (now.row, now.column) != (before.row, before.column);
                if moved || !self.reader.is_relay {
                    return Ok(now);
                }
            }
            if begun.elapsed() > PROMPT_TIMEOUT {
                let program = self.reader.program.argv.join(" ");
                return Err(Refusal::NoReader { pane, program, row: None });
            }
            pause.wait().await;
        }
    }
}
