//! The gate of an interpreter: checks that the program in a pane is at its prompt and that nothing is
//! typed there, before input is entered.

use tmux_control::keys::{TmuxKey, type_text};
use tmux_control::stream::PaneStream;
use tokio::sync::OwnedRwLockReadGuard;
use tokio::time::Instant;

use super::interpreters::Interpreter;
use super::prompts::{Prompts, RowIs, looks_like_prompt};
use super::{LastStanding, Reader};
use crate::host::PaneState;
use crate::run::cursor_row::CursorRow;
use crate::run::gate::ProbePause;
use crate::run::limits::{
    DISTURBANCE_TIMEOUT, PROMPT_TIMEOUT, REPL_PROMPT_INTERVAL, UNKNOWN_ROW_QUIET,
};
use crate::run::prompt_check::{self, Checked, PromptCheck};
use crate::run::viewers::Viewers;
use crate::run::{Engine, Refusal};
use process::InputState;

/// An interpreter at its prompt, with nothing typed there.
pub(super) struct AtPrompt {
    pub(super) reader: Reader,
    pub(super) prompts: Prompts,
    pub(super) stream: PaneStream,
    /// The row where the stream begins.
    pub(super) cursor: CursorRow,
    /// The rows above it.
    pub(super) above: Vec<String>,
    pub(super) viewers: Viewers,
    /// Whether a blank was typed to try the line editor.
    pub(super) blank_typed: bool,
    /// A format that must be true for the pane when the input is typed.
    pub(super) condition: String,
    /// Held until the first line is typed.
    pub(super) _typing: OwnedRwLockReadGuard<()>,
}

/// One attempt to pass the gate.
struct ReplGate<'a> {
    engine: &'a Engine,
    pane: &'a PaneState,
    given: Option<&'a str>,
    until: Instant,
}

/// Waits for the prompt of the program in a pane, and checks that nothing is typed there. `given` is the
/// end of the prompt, if the caller knows it.
pub(super) async fn pass(
    engine: &Engine,
    pane: &PaneState,
    given: Option<&str>,
    until: Instant,
) -> Result<AtPrompt, Refusal> {
    if pane.synchronized {
        return Err(Refusal::Synchronized { pane: pane.pane });
    }
    let gate = ReplGate { engine, pane, given, until };
    let disturbed_until = Instant::now() + DISTURBANCE_TIMEOUT;
    loop {
        if let Checked::Done(passed) = gate.attempt(disturbed_until).await? {
            return Ok(passed);
        }
        if Instant::now() > disturbed_until {
            return Err(Refusal::PersonActive { pane: pane.pane });
        }
    }
}

impl ReplGate<'_> {
    async fn attempt(&self, disturbed_until: Instant) -> Result<Checked<AtPrompt>, Refusal> {
        let Self { engine, pane, .. } = self;
        let reader = self.wait_for_reader().await?;
        let queries = CursorRow::queries(pane.pane);
        let (stream, replies) = engine.tmux().stream_from(pane.session, pane.pane, queries).await?;
        let (cursor, above) = CursorRow::with_rows_above(replies)?;
        let viewers = Viewers::read(engine.tmux(), pane).await?;
        let prompts = match reader.shell {
            Some(shell) => self.shell_prompts(shell.kind, &cursor),
            None if reader.is_busy_shell => {
                let (pane, shell) = (pane.pane, reader.program.name);
                return Err(Refusal::ShellBusy { pane, shell, does: "reads input for a command" });
            }
            None => self.require_prompt(&reader, &cursor, &viewers)?,
        };
        if let Some(wait) = viewers.wait() {
            if Instant::now() + wait > disturbed_until {
                return Err(Refusal::PersonActive { pane: pane.pane });
            }
            tokio::time::sleep(wait).await;
            return Ok(Checked::Disturbed);
        }
        let typing = engine.typing().await;
        let try_out = KeyTrial { engine, pane, reader: &reader, viewers: &viewers };
        let behind_blank = match try_out.run(&prompts, &cursor).await? {
            Checked::Done(behind_blank) => behind_blank,
            Checked::Disturbed => return Ok(Checked::Disturbed),
        };
        let condition = viewers.unchanged_at(behind_blank.as_ref().unwrap_or(&cursor));
        let blank_typed = behind_blank.is_some();
        Ok(Checked::Done(AtPrompt {
            reader,
            prompts,
            stream,
            cursor,
            above,
            viewers,
            blank_typed,
            condition,
            _typing: typing,
        }))
    }

    /// Waits until the foreground program reads, and its row can be its prompt.
    async fn wait_for_reader(&self) -> Result<Reader, Refusal> {
        let Self { engine, pane, .. } = self;
        let mut pause = ProbePause::default();
        let mut row_since = None;
        loop {
            let reader = Reader::probe(pane, engine.declared());
            let reads = reader.as_ref().is_some_and(|it| it.reads());
            if let Some(reader) = reader.filter(|_| reads) {
                let cursor = CursorRow::read(engine.tmux(), pane.pane).await?;
                let begun = *row_since.get_or_insert_with(Instant::now);
                let table = Interpreter::of(Some(&reader.program), &cursor.line());
                // Some read while a statement runs, any program may before it prints its prompt.
                let may_work = table.is_some_and(Interpreter::reads_at_work);
                let wait = match self.given.is_some() || may_work {
                    true => self.until,
                    false => begun + UNKNOWN_ROW_QUIET,
                };
                if self.may_be_ready(&reader, &cursor) || Instant::now() >= wait {
                    return Ok(reader);
                }
                tokio::time::sleep(REPL_PROMPT_INTERVAL).await;
                continue;
            }
            if Instant::now() >= self.until {
                let program = Reader::probe(pane, engine.declared());
                let program =
                    program.map_or_else(|| "?".to_owned(), |it| it.program.argv.join(" "));
                return Err(Refusal::NoReader { pane: pane.pane, program, row: None });
            }
            pause.wait().await;
        }
    }

    fn may_be_ready(&self, reader: &Reader, cursor: &CursorRow) -> bool {
        let row = cursor.line();
        match self.given {
            Some(given) => row.trim_end().ends_with(given.trim_end()),
            None => {
                let table = Interpreter::of(Some(&reader.program), &row);
                !row.trim().is_empty() || table.is_some_and(|it| it.is_prompt(&row))
            }
        }
    }

    fn shell_prompts(&self, kind: process::ShellKind, cursor: &CursorRow) -> Prompts {
        let learned = Some(cursor.line());
        Prompts {
            interpreter: None,
            shell: Some(kind),
            given: self.given.map(str::to_owned),
            learned,
        }
    }

    /// The prompts of a program that is not a shell, if its row is a prompt with nothing typed behind it.
    fn require_prompt(
        &self,
        reader: &Reader,
        cursor: &CursorRow,
        viewers: &Viewers,
    ) -> Result<Prompts, Refusal> {
        let (pane, row) = (self.pane.pane, cursor.line());
        let program = reader.program.argv.join(" ");
        if cursor.alternate {
            return Err(Refusal::FullScreen { pane, program });
        }
        if reader.input == InputState::Password {
            return Err(Refusal::Question { pane, program, row, hidden: true });
        }
        let last = self.last_standing(reader);
        // Output without an end may precede the prompt in its row.
        let left_row = last.as_ref().filter(|last| last.shows(&row)).map_or(&row, |last| &last.row);
        let interpreter = Interpreter::of(Some(&reader.program), left_row);
        let given = self.given.map(str::to_owned);
        let left_at_prompt = last.as_ref().filter(|last| last.at_prompt && last.shows(&row));
        let learned = left_at_prompt.map(|last| last.row.clone());
        let mut prompts = Prompts { interpreter, shell: None, given, learned };
        let is_left_there = |last: &LastStanding| last.shows(&row);
        let judged = prompts.judge(&row);
        let is_prompt = match judged {
            RowIs::Prompt(0) => true,
            // Without an end of the output, text that is typed could be taken for output.
            RowIs::Prompt(_) => reader.has_editor() || last.as_ref().is_some_and(is_left_there),
            RowIs::Continuation if last.as_ref().is_some_and(is_left_there) => {
                return Ok(Prompts { learned: None, ..prompts });
            }
            RowIs::Other if last.as_ref().is_some_and(|it| !it.at_prompt && it.shows(&row)) => {
                return Ok(prompts);
            }
            RowIs::Continuation => {
                return Err(Refusal::Continuation { pane, row: row.trim_end().to_owned() });
            }
            RowIs::Other => {
                let untouched = |last: &LastStanding| {
                    let is_quiet = !viewers.session_typed_within(last.at.elapsed());
                    last.at_prompt && (last.shows(&row) || is_quiet)
                };
                // Output of a task in the background has displaced the prompt.
                let is_displaced = last.as_ref().is_some_and(untouched);
                is_displaced || (prompts.is_learned() && looks_like_prompt(&row))
            }
        };
        if self.given.is_some() && !self.may_be_ready(reader, cursor) {
            let row = Some(row.trim_end().to_owned());
            return Err(Refusal::NoReader { pane, program, row });
        }
        if cursor.has_text_after() || cursor.has_text_below {
            return Err(Refusal::HalfTyped { pane });
        }
        if !is_prompt {
            let typed = interpreter.is_some_and(|it| it.has_text_behind_prompt(&row))
                || (prompts.is_learned() && looks_like_typed(&row));
            return Err(match typed {
                true => Refusal::HalfTyped { pane },
                false => Refusal::Question { pane, program, row, hidden: false },
            });
        }
        prompts.learned = Some(match judged {
            RowIs::Prompt(at) => row.get(at..).unwrap_or_default().to_owned(),
            _ => row,
        });
        Ok(prompts)
    }

    /// Where an earlier call has left this interpreter.
    fn last_standing(&self, reader: &Reader) -> Option<LastStanding> {
        let records = self.engine.records();
        records.standings.get(&self.pane.pane).filter(|it| it.is_of(&reader.program)).cloned()
    }
}

/// Whether a row looks like the prompt of an unknown program with text behind it.
fn looks_like_typed(row: &str) -> bool {
    let behind = prompt_check::text_behind_prompt(row);
    !behind.is_empty() && looks_like_prompt(row.strip_suffix(behind).unwrap_or(row))
}

/// The keys that are pressed at a prompt and change nothing: they tell whether a line editor takes
/// letters as text, and whether the row holds typed text.
struct KeyTrial<'a> {
    engine: &'a Engine,
    pane: &'a PaneState,
    reader: &'a Reader,
    viewers: &'a Viewers,
}

impl KeyTrial<'_> {
    /// Returns the row behind a blank, if one was typed.
    async fn run(
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
            let look = prompt_check::inspect(pane.pane, shell.kind, cursor, known)?;
            if let Checked::Disturbed = check.require_nothing_typed(look, cursor, known).await? {
                return Ok(Checked::Disturbed);
            }
            return Ok(match check.has_line_editor() {
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
        let is_certain = prompts.interpreter.is_some_and(|it| it.is_prompt(&row) || it.is_continuation(&row))
                // The left arrow would move into the earlier rows of an open statement.
                || (prompts.learned.is_none() && prompts.continues_blank());
        if !is_certain && !self.reader.is_relay && self.left_moves(cursor).await? {
            return Err(Refusal::HalfTyped { pane: pane.pane });
        }
        self.blank(cursor).await
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
        let Some(now) = self.press(cursor, "Space").await? else {
            return Ok(Checked::Disturbed);
        };
        let viewers = Viewers::read(self.engine.tmux(), self.pane).await?;
        if !self.viewers.have_been_idle(&viewers) {
            return Ok(Checked::Disturbed);
        }
        let wraps = cursor.column + 1 >= now.width && now.column == 0;
        match now.before.strip_prefix(cursor.before.as_str()) {
            Some(" ") => Ok(Checked::Done(Some(now))),
            _ if wraps => Ok(Checked::Done(Some(now))),
            shown => {
                let erase = TmuxKey::Named("BSpace".to_owned()).press(pane);
                let condition = self.viewers.unchanged();
                self.engine.tmux().type_if(&pane.into(), &condition, vec![erase]).await?;
                self.wait_for_reaction(&now).await?;
                match shown {
                    Some("") => Err(Refusal::KeysAreCommands { pane }),
                    _ => Ok(Checked::Disturbed),
                }
            }
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
        if !tmux.type_if(&pane.into(), &self.viewers.unchanged_at(cursor), keys).await? {
            return Ok(None);
        }
        self.wait_for_reaction(cursor).await.map(Some)
    }

    /// Waits until the program has acted on a key, and returns the row of the cursor. A program behind a
    /// relay cannot be inspected: there the cursor has to move.
    async fn wait_for_reaction(&self, before: &CursorRow) -> Result<CursorRow, Refusal> {
        let (tmux, pane) = (self.engine.tmux(), self.pane.pane);
        let begun = Instant::now();
        let mut pause = ProbePause::default();
        loop {
            self.engine.catch_up(self.pane).await;
            let reader = Reader::probe(self.pane, self.engine.declared());
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
