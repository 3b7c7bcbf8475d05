//! The gate of an interpreter: checks that the program in a pane is at its prompt and that nothing is
//! typed there, before input is entered.

mod key_trial;

use tmux_control::stream::PaneStream;
use tokio::time::Instant;

use super::interpreters::{Interpreter, TabEntry};
use super::prompts::{Prompts, RowIs, looks_like_prompt};
use super::standing::LastKind;
use super::{LastStanding, Reader, ReplCall};
use crate::host::PaneState;
use crate::run::cursor_row::CursorRow;
use crate::run::gate::ProbePause;
use crate::run::limits::{LATE_PROMPT_INTERVAL, REPL_PROMPT_INTERVAL, UNKNOWN_ROW_QUIET};
use crate::run::prompt_check::{self, Checked};
use crate::run::viewers::Viewers;
use crate::run::{Engine, Refusal, TypingGuard};
use key_trial::KeyTrial;
use process::{InputState, ShellKind};
use terminal::text::first_columns;

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
    pub(super) typing: TypingGuard,
}

/// Waits for the prompt of the program in a pane, and checks that nothing is typed there. `disturbed_until` limits how
/// long keys of people and a prompt that changes are waited for.
pub(super) async fn pass(call: &ReplCall, disturbed_until: Instant) -> Result<AtPrompt, Refusal> {
    let pane = call.pane.pane;
    if call.pane.synchronized {
        return Err(Refusal::Synchronized { pane });
    }
    let gate = ReplGate { engine: &call.engine, pane: &call.pane, call };
    loop {
        let shown = call.wait(gate.wait_for_prompt(disturbed_until)).await??;
        if let Checked::Done(passed) = gate.try_keys(shown).await? {
            return Ok(passed);
        }
        if Instant::now() > disturbed_until {
            return Err(Refusal::PersonActive { pane });
        }
    }
}

/// One attempt to pass the gate.
struct ReplGate<'a> {
    engine: &'a Engine,
    pane: &'a PaneState,
    call: &'a ReplCall,
}

/// A row that looks like the prompt of the program that reads.
struct ShownPrompt {
    reader: Reader,
    prompts: Prompts,
    stream: PaneStream,
    cursor: CursorRow,
    above: Vec<String>,
    viewers: Viewers,
}

impl ReplGate<'_> {
    /// Waits for the prompt, and until no person presses keys. Types nothing.
    async fn wait_for_prompt(&self, disturbed_until: Instant) -> Result<ShownPrompt, Refusal> {
        loop {
            let shown = self.find_prompt().await?;
            let Some(wait) = shown.viewers.wait() else { return Ok(shown) };
            if Instant::now() + wait > disturbed_until {
                return Err(Refusal::PersonActive { pane: self.pane.pane });
            }
            tokio::time::sleep(wait).await;
        }
    }

    async fn find_prompt(&self) -> Result<ShownPrompt, Refusal> {
        let Self { engine, pane, .. } = self;
        let reader = self.wait_for_reader().await?;
        let queries = CursorRow::queries(pane.pane);
        let (stream, replies) = engine.tmux().stream_from(pane.session, pane.pane, queries).await?;
        let (cursor, above) = CursorRow::with_rows_above(replies)?;
        let cursor = self.joined_at_margin(&reader, cursor, &above);
        let viewers = Viewers::read(engine.tmux(), pane).await?;
        let prompts = match reader.shell {
            Some(shell) => self.shell_prompts(&reader, shell.kind, &cursor, &viewers).await?,
            None if reader.is_busy_shell => {
                let (pane, shell) = (pane.pane, reader.program.name);
                return Err(Refusal::ShellBusy { pane, shell, does: "reads input for a command" });
            }
            None => self.require_prompt(&reader, &cursor).await?,
        };
        let has_tab = self.call.input.contains('\t') && reader.has_editor();
        if has_tab && prompts.tab() == TabEntry::Refused {
            return Err(Refusal::TabIsKey { pane: pane.pane, program: reader.program.name });
        }
        Ok(ShownPrompt { reader, prompts, stream, cursor, above, viewers })
    }

    /// The cursor's row with the row above it, if the prompt of the last answer ends there at the right margin: the
    /// blank at its end is not on the screen.
    fn joined_at_margin(&self, reader: &Reader, cursor: CursorRow, above: &[String]) -> CursorRow {
        let row = above.last().map(|row| first_columns(row, cursor.width as usize));
        let is_prompt = |row: &String| {
            let last = self.last_standing(reader);
            last.is_some_and(|last| last.kind == LastKind::Prompt && row.ends_with(&last.row))
        };
        match row.filter(is_prompt) {
            Some(wrapped) if cursor.line().is_empty() => CursorRow { wrapped, ..cursor },
            _ => cursor,
        }
    }

    /// Presses the keys that tell an empty prompt.
    async fn try_keys(&self, shown: ShownPrompt) -> Result<Checked<AtPrompt>, Refusal> {
        let Self { engine, pane, .. } = self;
        let typing = engine.typing(pane.pane).await?;
        let ShownPrompt { reader, prompts, stream, cursor, above, viewers } = shown;
        let interpreter = prompts.interpreter;
        let try_out = KeyTrial { engine, pane, reader: &reader, interpreter, viewers: &viewers };
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
            typing,
        }))
    }

    /// Waits until the foreground program reads, and its row can be its prompt.
    async fn wait_for_reader(&self) -> Result<Reader, Refusal> {
        let Self { engine, pane, .. } = self;
        let mut pause = ProbePause::default();
        let mut row_since = None;
        loop {
            let reader = Reader::probe(engine, pane).await;
            let reads = reader.as_ref().is_some_and(|it| it.reads());
            if let Some(reader) = reader.filter(|_| reads) {
                let cursor = CursorRow::read(engine.tmux(), pane.pane).await?;
                let begun = *row_since.get_or_insert_with(Instant::now);
                let table = engine.interpreters().of(Some(&reader.program), &cursor.line());
                // Some read while a statement runs, any program may before it prints its prompt.
                let may_work = table.is_some_and(Interpreter::reads_at_work);
                let wait = match self.call.given.is_some() || may_work {
                    true => self.call.until,
                    false => begun + UNKNOWN_ROW_QUIET,
                };
                if self.may_be_ready(&reader, &cursor)
                    || self.is_displaced(&reader).await
                    || Instant::now() >= wait
                {
                    return Ok(reader);
                }
                let interval = begun.elapsed().clamp(REPL_PROMPT_INTERVAL, LATE_PROMPT_INTERVAL);
                tokio::time::sleep(interval.min(wait.saturating_duration_since(Instant::now())))
                    .await;
                continue;
            }
            if Instant::now() >= self.call.until {
                let program = Reader::probe(engine, pane).await;
                let program =
                    program.map_or_else(|| "?".to_owned(), |it| it.program.argv.join(" "));
                return Err(Refusal::NoReader { pane: pane.pane, program, row: None });
            }
            pause.wait().await;
        }
    }

    fn may_be_ready(&self, reader: &Reader, cursor: &CursorRow) -> bool {
        let row = cursor.line();
        match &self.call.given {
            Some(given) => row.trim_end().ends_with(given.trim_end()),
            None => {
                let table = self.engine.interpreters().of(Some(&reader.program), &row);
                !row.trim().is_empty() || table.is_some_and(|it| it.is_prompt(&row))
            }
        }
    }

    /// Whether an earlier call has left the program at its prompt, and the program has read no key since: what the
    /// row shows instead is output of a task in the background.
    async fn is_displaced(&self, reader: &Reader) -> bool {
        if self.call.given.is_some() || !reader.has_editor() {
            return false;
        }
        match self.last_standing(reader).filter(|last| last.kind == LastKind::Prompt) {
            Some(last) => last.has_read_no_key(self.engine).await,
            None => false,
        }
    }

    /// The prompts of a shell. None is learned if an earlier call has left a command open. If a job in the
    /// background has printed over the prompt, the learned one is that of the earlier call.
    async fn shell_prompts(
        &self,
        reader: &Reader,
        kind: ShellKind,
        cursor: &CursorRow,
        viewers: &Viewers,
    ) -> Result<Prompts, Refusal> {
        let row = cursor.line();
        let untouched = |last: &LastStanding| !viewers.session_typed_within(last.at.elapsed());
        let last = self.last_standing(reader).filter(untouched);
        let asks = |last: &LastStanding| last.kind == LastKind::Question && last.shows(&row);
        if self.call.given.is_none() && last.as_ref().is_some_and(asks) {
            let (pane, program) = (self.pane.pane, reader.program.argv.join(" "));
            return Err(Refusal::Question { pane, program, row, hidden: false });
        }
        let may_be_displaced = reader.has_editor() || row.trim().is_empty();
        let learned = match last {
            Some(last) if last.kind == LastKind::Continuation && last.shows(&row) => None,
            Some(last) if last.kind == LastKind::Prompt && may_be_displaced => {
                match last.has_read_no_key(self.engine).await {
                    true => Some(last.row),
                    false => Some(row),
                }
            }
            _ => Some(row),
        };
        let given = self.call.given.clone();
        let table = self.engine.interpreters();
        Ok(Prompts { table, interpreter: None, shell: Some(kind), given, learned })
    }

    /// The prompts of a program that is not a shell, if its row is a prompt with nothing typed behind it.
    async fn require_prompt(
        &self,
        reader: &Reader,
        cursor: &CursorRow,
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
        let is_left_there =
            |last: &LastStanding| last.kind != LastKind::Question && last.shows(&row);
        let table = self.engine.interpreters();
        let left = last.as_ref().filter(|last| is_left_there(last));
        let interpreter = match left {
            Some(last) if last.kind == LastKind::Continuation => last.interpreter,
            // Output without an end may precede the prompt in its row.
            _ => table.of(Some(&reader.program), left.map_or(&row, |last| &last.row)),
        };
        let given = self.call.given.clone();
        let left_at_prompt = left.filter(|last| last.kind == LastKind::Prompt);
        let learned = left_at_prompt.map(|last| last.row.clone());
        let was_left_at_prompt = learned.is_some();
        let mut prompts = Prompts { table, interpreter, shell: None, given, learned };
        let is_left_open = left.is_some_and(|it| it.kind == LastKind::Continuation);
        let is_blank_open = interpreter.is_none_or(Interpreter::continues_blank);
        let judged = prompts.judge(&row);
        let is_prompt = match judged {
            RowIs::Prompt(0) => true,
            // Without an end of the output, text that is typed could be taken for output.
            RowIs::Prompt(_) => reader.has_editor() || left.is_some() || self.call.given.is_some(),
            RowIs::Continuation if left.is_some() => {
                return Ok(Prompts { learned: None, ..prompts });
            }
            RowIs::Other if is_blank_open && is_left_open => {
                return Ok(prompts);
            }
            RowIs::Continuation => {
                return Err(Refusal::Continuation { pane, row: row.trim_end().to_owned() });
            }
            RowIs::Other => {
                let is_displaced = was_left_at_prompt || self.is_displaced(reader).await;
                is_displaced || (prompts.is_learned() && looks_like_prompt(&row))
            }
        };
        if self.call.given.is_some() && !self.may_be_ready(reader, cursor) {
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
        // A person may have put more into a prompt that begins with a name, which the table takes for output.
        let is_whole = left.is_none() && interpreter.is_some_and(Interpreter::begins_with_name);
        prompts.learned = Some(match judged {
            RowIs::Prompt(at) if !is_whole => row.get(at..).unwrap_or_default().to_owned(),
            _ => row,
        });
        Ok(prompts)
    }

    /// Where an earlier call has left this interpreter.
    fn last_standing(&self, reader: &Reader) -> Option<LastStanding> {
        let records = self.engine.records();
        let last = records.standings.get(&self.pane.pane);
        last.filter(|it| it.is_of(&reader.program)).cloned()
    }
}

/// Whether a row looks like the prompt of an unknown program with text behind it.
fn looks_like_typed(row: &str) -> bool {
    let behind = prompt_check::text_behind_prompt(row);
    !behind.is_empty() && looks_like_prompt(row.strip_suffix(behind).unwrap_or(row))
}
