//! Typing the lines of an input at the prompts of an interpreter.

use tmux_control::Command;
use tmux_control::keys::{TmuxKey, type_text};
use tmux_control::paste::Paste;
use tokio::time::Instant;
use unicode_width::UnicodeWidthStr;

use super::exchange::Exchange;
use super::interpreters::{Entry, TabEntry};
use super::{Reader, Standing};
use crate::run::cursor_row::CursorRow;
use crate::run::keys_read::ReadBefore;
use crate::run::{Refusal, TypingGuard};

/// Key that erases the line before the cursor, in the line editors that add indentation.
const ERASE_TO_START: &str = "C-u";

/// The row in which the first line is typed.
pub(super) struct FirstLine {
    /// Whether a blank was typed there.
    pub(super) blank_typed: bool,
    /// A format that must be true for the pane.
    pub(super) condition: String,
    /// Number of blanks that the line editor has added.
    pub(super) indentation: usize,
    /// Held until the line is entered.
    pub(super) typing: TypingGuard,
}

/// The part of a line that was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Typed {
    /// Nothing, since the pane has changed.
    Nothing,
    /// The text, without Enter: a person has pressed a key.
    Text,
    /// The line.
    Line,
}

impl Exchange<'_> {
    /// Enters the first line.
    pub(super) async fn enter(&mut self) -> Result<Typed, Refusal> {
        let Some(first) = self.first.take() else { return Ok(Typed::Line) };
        let FirstLine { blank_typed, condition, indentation, typing } = first;
        let is_abandoned = self.call.cancelled.is_cancelled();
        let typed = match is_abandoned {
            true => Typed::Nothing,
            false => self.enter_first(blank_typed, &condition, indentation).await?,
        };
        if typed == Typed::Nothing && blank_typed {
            let erase = TmuxKey::Named("BSpace".to_owned()).press(self.pane.pane);
            let (pane, unchanged) = (self.pane.pane, self.viewers.unchanged());
            self.engine.tmux().type_if(&pane.into(), &unchanged, vec![erase]).await?;
        }
        drop(typing);
        if is_abandoned { Err(self.call.abandoned()) } else { Ok(typed) }
    }

    async fn enter_first(
        &mut self,
        blank_typed: bool,
        condition: &str,
        indentation: usize,
    ) -> Result<Typed, Refusal> {
        let key = |name: &str| TmuxKey::Named(name.to_owned()).press(self.pane.pane);
        let mut erase = Vec::new();
        erase.extend(blank_typed.then(|| key("BSpace")));
        erase.extend((indentation > 0).then(|| key(ERASE_TO_START)));
        let line = self.lines.pop_front().unwrap_or_default();
        // Until the answer is there, nobody knows where the program stands.
        let last = self.engine.forget_standing(self.pane.pane);
        let typed = match self.needs_paste(&line) {
            true => self.paste(erase, &line, condition).await?,
            false => self.type_line(erase, &line, condition).await?,
        };
        if typed == Typed::Nothing {
            self.engine.remember_standing(self.pane.pane, last).await;
        }
        Ok(typed)
    }

    /// Where the program stands with a line that was typed, but not entered.
    pub(super) async fn not_entered(&mut self) -> Result<Standing, Refusal> {
        match self.reader.is_alive(self.engine).await {
            true => Ok(Standing::NotTaken { row: self.screen.cursor_line().1 }),
            false => self.left().await,
        }
    }

    /// Whether the program at whose prompt the next line belongs has the terminal.
    async fn has_next_reader(&self) -> bool {
        let reader = Reader::probe(self.engine, self.pane).await;
        reader.is_some_and(|it| it.is_same(&self.next_reader))
    }

    /// Whether a text is pasted: the line editor takes each input as a paste, or the text has a tab, which
    /// would complete the word if it were typed and cannot be quoted.
    fn needs_paste(&self, text: &str) -> bool {
        let entry = self.prompts.entry();
        let takes_paste = self.prompts.interpreter.is_some()
            && matches!(entry, Entry::Paste | Entry::PastedBlocks);
        let has_tab = text.contains('\t')
            && self.reader.has_editor()
            && self.prompts.tab() == TabEntry::Pasted;
        // tmux has no empty buffers.
        !text.is_empty() && (text.contains('\n') || takes_paste || has_tab)
    }

    /// Enters a further line, unless a person or another call has pressed a key since the first one, or the program has
    /// exited since it was seen at its prompt.
    pub(super) async fn enter_next(&mut self, line: &str) -> Result<Typed, Refusal> {
        let typing = self.engine.typing(self.pane.pane).await;
        if typing.is_err() || self.engine.inputs(self.pane.pane) != self.inputs {
            return Ok(Typed::Nothing);
        }
        let cursor = CursorRow::read(self.engine.tmux(), self.pane.pane).await?;
        // Probed behind it: so the row is still that of the program.
        if !self.has_next_reader().await {
            return Ok(Typed::Nothing);
        }
        let condition = self.viewers.unchanged_at(&cursor);
        let interpreter = self.prompts.interpreter;
        let is_indented = interpreter.is_some_and(|it| it.indentation(&cursor.line()) > 0);
        let key = TmuxKey::Named(ERASE_TO_START.to_owned()).press(self.pane.pane);
        let keys = Vec::from_iter(is_indented.then_some(key));
        match self.needs_paste(line) {
            true => self.paste(keys, line, &condition).await,
            false => self.type_line(keys, line, &condition).await,
        }
    }

    /// Drops empty lines between commands, if Enter at the prompt would repeat the last command.
    pub(super) fn skip_repeating_lines(&mut self, standing: &Standing) {
        let repeats = self.prompts.interpreter.is_some_and(|it| it.repeats());
        while repeats
            && matches!(standing, Standing::AtPrompt { .. })
            && self.lines.front().is_some_and(|line| line.trim().is_empty())
        {
            self.lines.pop_front();
        }
    }

    /// Types a line with its Enter: a key of a person comes before both or after both. A line editor may
    /// break a line that is longer than the pane is wide into rows of its own, so that Enter follows once it
    /// has.
    async fn type_line(
        &mut self,
        mut keys: Vec<Command>,
        line: &str,
        condition: &str,
    ) -> Result<Typed, Refusal> {
        let pane = self.pane.pane;
        self.note_line(line);
        self.echo = format!("{}{line}", self.input_row);
        let quoted = match self.prompts.tab() {
            TabEntry::Quoted => line.replace('\t', "\u{16}\t"),
            TabEntry::Pasted | TabEntry::Refused => line.to_owned(),
        };
        // At the beginning of a line, ssh takes a tilde for a command to itself.
        if self.next_reader.is_relay && line.starts_with('~') {
            let erase = TmuxKey::Named("BSpace".to_owned()).press(pane);
            keys.extend(type_text(pane, " ").into_iter().chain([erase]));
        }
        keys.extend(type_text(pane, &quoted));
        let is_long = self.input_row.width() + line.width() >= self.screen.width();
        let is_separate = is_long && self.reader.has_editor() && self.reader.shell.is_none();
        if !is_separate {
            keys.push(TmuxKey::enter().press(pane));
        }
        self.note_read().await;
        let typed = self.engine.tmux().type_if(&pane.into(), condition, keys).await?;
        match typed {
            false => Ok(Typed::Nothing),
            true if is_separate => self.press_enter().await,
            true => Ok(Typed::Line),
        }
    }

    /// Pastes text, and presses Enter.
    async fn paste(
        &mut self,
        keys: Vec<Command>,
        text: &str,
        condition: &str,
    ) -> Result<Typed, Refusal> {
        let (tmux, pane) = (self.engine.tmux().clone(), self.pane.pane);
        self.note_line(text.lines().next_back().unwrap_or_default());
        let buffer = self.engine.host().temporary_buffer_name();
        // At the beginning of a line, ssh takes a tilde for a command to itself, and two for one.
        let is_escape = self.next_reader.program.name == "ssh" && text.contains("\n~");
        let escaped = is_escape.then(|| text.replace("\n~", "\n~~"));
        let text = escaped.as_deref().unwrap_or(text);
        let paste = Paste { buffer: &buffer, text, bracketed: true };
        self.note_read().await;
        if !paste.into_if(&tmux, pane, condition, keys).await? {
            return Ok(Typed::Nothing);
        }
        self.press_enter().await
    }

    /// Waits until the line editor has taken the text, and presses Enter. Not if another program reads by then: the
    /// terminal has kept the text for it.
    async fn press_enter(&mut self) -> Result<Typed, Refusal> {
        let (pane, until) = (self.pane.pane, self.call.until);
        self.last_output = Instant::now();
        let mut probes = 0;
        while Instant::now() < until && !self.is_gone {
            self.pause(&mut probes, until).await;
            if self.is_waiting().await.is_some() {
                break;
            }
        }
        if !self.has_next_reader().await {
            return Ok(Typed::Text);
        }
        let enter = vec![TmuxKey::enter().press(pane)];
        self.input_line = self.screen.cursor_line().0;
        self.is_answered = false;
        let unchanged = self.viewers.unchanged();
        self.note_read().await;
        let is_entered = self.engine.tmux().type_if(&pane.into(), &unchanged, enter).await?;
        self.last_output = Instant::now();
        Ok(if is_entered { Typed::Line } else { Typed::Text })
    }

    /// Notes what the program has read before keys are pressed. One that cannot be inspected, or whose terminal edits the
    /// line, does not read each key.
    async fn note_read(&mut self) {
        let reader = &self.next_reader;
        self.read_before = match reader.reads_each_key() {
            true => ReadBefore::of(self.engine, reader.program.pid).await,
            false => ReadBefore::default(),
        };
    }

    /// Notes the line that is about to be entered, and where.
    fn note_line(&mut self, line: &str) {
        (self.input_line, self.input_row) = self.screen.cursor_line();
        self.echo_line = self.input_line;
        self.echo.clear();
        line.clone_into(&mut self.entered);
        (self.is_answered, self.has_osc) = (false, false);
        self.last_output = Instant::now();
    }
}
