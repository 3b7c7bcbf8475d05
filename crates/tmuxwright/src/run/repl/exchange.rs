//! One input of an interpreter and the answer to it.
//!
//! The output is followed on a screen of the pane's size. A line of input is one line of that screen, so
//! the lines below it, up to the row in which the program reads again, are its answer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tmux_control::stream::ring::Chunk;
use tokio::time::Instant;

use super::answer_screen::AnswerScreen;
use super::entering::FirstLine;
use super::gate::AtPrompt;
use super::interpreters::{Entry, Interpreter};
use super::prompts::{Prompts, RowIs, looks_like_prompt};
use super::{Reader, ReplAnswer, Standing, input};
use crate::host::PaneState;
use crate::input_probe;
use crate::run::limits::{RELAY_QUIET, SHELL_RESPONSE_TIMEOUT, UNKNOWN_ROW_QUIET};
use crate::run::pane_size::{SizedItem, SizedStream};
use crate::run::viewers::Viewers;
use crate::run::{Engine, Job, Refusal};
use process::InputState;

/// Probes that only yield before the first one that sleeps.
const YIELDS: u32 = 20;
/// Longest time between two probes of a silent program.
const MAX_PROBE_INTERVAL: Duration = Duration::from_secs(2);

/// One input and the answer to it.
pub(super) struct Exchange<'a> {
    pub(super) engine: &'a Engine,
    pub(super) pane: &'a PaneState,
    pub(super) reader: Reader,
    pub(super) prompts: Prompts,
    /// The command that started the interpreter.
    pub(super) job: Option<Arc<Job>>,
    pub(super) viewers: Viewers,
    stream: SizedStream,
    pub(super) screen: AnswerScreen,
    /// Lines that are still to be entered.
    pub(super) lines: VecDeque<String>,
    /// Whether a further Enter ends the block with which the input ends.
    ends_block: bool,
    /// Number of the line on which the last input was entered.
    pub(super) input_line: usize,
    /// Its row, before the input was typed.
    pub(super) input_row: String,
    /// The last line that was entered.
    pub(super) entered: String,
    /// Whether output has come since then.
    pub(super) is_answered: bool,
    /// Whether that line continued a statement.
    is_open: bool,
    pub(super) first: Option<FirstLine>,
    answer: Vec<String>,
    cut: bool,
    pub(super) last_output: Instant,
    pub(super) is_gone: bool,
}

impl<'a> Exchange<'a> {
    /// An exchange that begins at a prompt.
    pub(super) fn begin(
        engine: &'a Engine,
        pane: &'a PaneState,
        passed: AtPrompt,
        text: &str,
    ) -> Self {
        let AtPrompt {
            reader,
            prompts,
            viewers,
            stream,
            cursor,
            above,
            blank_typed,
            condition,
            ..
        } = passed;
        let entry = prompts.entry();
        let mut lines = match entry {
            Entry::IndentedBlocks => input::indented_lines(text),
            Entry::Paste | Entry::PastedBlocks => VecDeque::from([input::whole(text)]),
            Entry::DelimitedBlocks => input::delimited_lines(text),
            Entry::LineByLine => input::lines(text),
        };
        if prompts.learned.is_some() && prompts.interpreter.is_some_and(|it| it.repeats()) {
            while lines.len() > 1 && lines.front().is_some_and(|line| line.trim().is_empty()) {
                lines.pop_front();
            }
        }
        let indentation = prompts.interpreter.map_or(0, |it| it.indentation(&cursor.line()));
        let is_open = prompts.learned.is_none();
        let ends_block = entry == Entry::PastedBlocks && !is_open && input::ends_in_block(text);
        Self {
            engine,
            pane,
            reader,
            prompts,
            job: engine.running_in(pane.pane),
            viewers,
            stream: SizedStream::new(stream, engine.tmux().clone(), pane.pane),
            screen: AnswerScreen::at(&cursor, &above),
            lines,
            ends_block,
            input_line: 0,
            input_row: String::new(),
            entered: String::new(),
            is_answered: true,
            is_open,
            first: Some(FirstLine { blank_typed, condition, indentation }),
            answer: Vec::new(),
            cut: false,
            last_output: Instant::now(),
            is_gone: false,
        }
    }

    pub(super) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Reads the answer to the entered line, and enters the other lines at the prompts that follow.
    pub(super) async fn answer(&mut self, until: Instant) -> Result<Standing, Refusal> {
        loop {
            let standing = self.stand(until).await?;
            self.take_answer(&standing).await;
            if !standing.takes_line() {
                return Ok(standing);
            }
            self.skip_repeating_lines(&standing);
            let line = match self.lines.pop_front() {
                Some(line) => line,
                None if self.ends_block && matches!(standing, Standing::Open { .. }) => {
                    self.ends_block = false;
                    String::new()
                }
                None => return Ok(standing),
            };
            if !self.enter_next(&line, until).await? {
                self.lines.push_front(line);
                return Ok(standing);
            }
        }
    }

    /// Waits until the program reads again, and says for what.
    async fn stand(&mut self, until: Instant) -> Result<Standing, Refusal> {
        let mut probes = 0;
        loop {
            self.pause(&mut probes, until).await;
            if self.is_gone {
                return Ok(Standing::PaneGone);
            }
            if !self.reader.is_alive() {
                return self.left().await;
            }
            if let Some(reader) = self.is_waiting().await
                && let Some(standing) = self.judge(&reader)
                && !self.may_exit(&standing)
            {
                return Ok(standing);
            }
            if Instant::now() >= until {
                return Ok(Standing::Running);
            }
        }
    }

    /// Waits for output, or until the next probe is due: soon after the last output, then ever later.
    pub(super) async fn pause(&mut self, probes: &mut u32, until: Instant) {
        *probes += 1;
        let item = if *probes <= YIELDS {
            tokio::task::yield_now().await;
            self.stream.next_arrived().await
        } else {
            let quiet = self.last_output.elapsed() / 4;
            let interval = quiet.clamp(Duration::from_millis(1), MAX_PROBE_INTERVAL);
            let due = (Instant::now() + interval).min(until);
            tokio::time::timeout_at(due, self.stream.next()).await.ok()
        };
        if let Some(item) = item {
            self.handle(item);
            *probes = 0;
        }
    }

    /// The foreground program, if it reads and all its output has come.
    pub(super) async fn is_waiting(&mut self) -> Option<Reader> {
        let reader = Reader::probe(self.pane, self.engine.declared()).filter(Reader::reads)?;
        let caught_up = tokio::select! {
            biased;
            item = self.stream.next() => {
                self.handle(item);
                return None;
            }
            caught_up = self.engine.catch_up(self.pane) => caught_up,
        };
        if let Some(item) = self.stream.next_arrived().await {
            self.handle(item);
            return None;
        }
        let again = Reader::probe(self.pane, self.engine.declared()).filter(Reader::reads)?;
        (caught_up && again.is_same(&reader)).then_some(again)
    }

    /// Judges the row in which a program reads. `None` if it may not be what the program waits for yet.
    fn judge(&self, reader: &Reader) -> Option<Standing> {
        let (line, row) = self.screen.cursor_line();
        let quiet = self.last_output.elapsed();
        if self.screen.in_alternate() {
            let program = reader.program.name.clone();
            return (quiet >= UNKNOWN_ROW_QUIET).then_some(Standing::FullScreen { program });
        }
        if reader.input == InputState::Password {
            return (quiet >= RELAY_QUIET || !reader.is_relay).then_some(Standing::AsksPassword);
        }
        // A program that cannot be inspected may be about to print.
        if reader.is_relay && quiet < RELAY_QUIET {
            return None;
        }
        let is_below = line > self.input_line || (self.is_answered && self.may_stay_in_row());
        if is_below && reader.is_same(&self.reader) {
            let is_learned = self.prompts.is_learned();
            match self.prompts.judge(&row) {
                RowIs::Prompt(at) => {
                    let row = row.get(at..).unwrap_or_default().to_owned();
                    return Some(match self.is_left_open(line) {
                        true => Standing::Open { row },
                        false => Standing::AtPrompt { row, is_learned },
                    });
                }
                RowIs::Continuation => return Some(Standing::Open { row }),
                // The prompt of a shell may hold a directory; it alone reads keys there.
                RowIs::Other if reader.shell.is_some() && !row.trim().is_empty() => {
                    return Some(Standing::AtPrompt { row, is_learned: false });
                }
                RowIs::Other => {}
            }
        }
        // Another interpreter may have been started: pdb by Python, any by a shell.
        let started = Interpreter::of(Some(&reader.program), &row);
        if is_below && reader.shell.is_none() && started.is_some_and(|it| it.is_shown_by(&row)) {
            return Some(Standing::AtPrompt { row, is_learned: false });
        }
        if quiet < UNKNOWN_ROW_QUIET || !is_below && quiet < SHELL_RESPONSE_TIMEOUT {
            return None;
        }
        let may_be_open = self.prompts.continues_blank() && reader.has_editor();
        if is_below && row.trim().is_empty() && may_be_open {
            return Some(Standing::Open { row });
        }
        // It reads all the time, so only its row says that the program behind it waits.
        if (reader.is_relay || self.prompts.reads_at_work()) && !input_probe::is_question(&row) {
            return None;
        }
        let is_prompt = self.prompts.is_learned() && looks_like_prompt(&row);
        Some(match is_prompt && reader.is_same(&self.reader) {
            true => Standing::AtPrompt { row, is_learned: true },
            false => Standing::Asks { row },
        })
    }

    /// Whether the answer may begin in the row of the input: readline prints no line feed for an empty line
    /// behind an empty prompt, and editline goes back to the row in which a block was ended.
    fn may_stay_in_row(&self) -> bool {
        self.entered.is_empty() || self.prompts.interpreter.is_some_and(|it| it.reuses_row())
    }

    /// Whether the last line has left a statement open, though the prompt in this line is not another one.
    fn is_left_open(&self, line: usize) -> bool {
        let is_silent = line <= self.input_line + 1;
        let leaves_open = |it: &Interpreter| match self.entered.trim().is_empty() {
            true => self.is_open && it.has_statement_end(),
            false => it.leaves_open(&self.entered),
        };
        let was_prompt = |it: &Interpreter| {
            it.prompt_in(&self.input_row).is_some() || it.is_continuation(&self.input_row)
        };
        let interpreter = self.prompts.interpreter.filter(|it| was_prompt(it));
        is_silent && interpreter.is_some_and(leaves_open)
    }

    fn handle(&mut self, item: SizedItem) {
        match item {
            SizedItem::Chunk(Chunk::Bytes { bytes, .. }) => self.screen.feed(&bytes),
            SizedItem::Size(width, height) => self.screen.resize(width, height),
            SizedItem::Chunk(Chunk::Gap { .. }) => self.cut = true,
            SizedItem::Chunk(Chunk::End(_)) => self.is_gone = true,
        }
        self.last_output = Instant::now();
        self.is_answered = true;
    }

    /// Adds the lines below the input to the answer, up to the row in which the program reads.
    async fn take_answer(&mut self, standing: &Standing) {
        let (mut end, row) = self.screen.cursor_line();
        let mut rest = None;
        match standing {
            Standing::AtPrompt { row: prompt, .. } => {
                rest = row.strip_suffix(prompt.as_str()).map(str::to_owned);
            }
            Standing::Left { back_in: Some(_), .. } => {
                end -= (self.engine.prompt_rows(self.pane).await as usize - 1).min(end);
            }
            Standing::Open { .. } | Standing::Asks { .. } | Standing::AsksPassword => {}
            _ => end = usize::MAX,
        }
        let mut begin = self.input_line + 1;
        let interpreter = self.prompts.interpreter;
        let ends_block = |it: &Interpreter| it.reuses_row() && it.is_continuation(&self.input_row);
        if interpreter.is_some_and(ends_block) {
            let (row, _) = self.screen.lines(self.input_line..begin);
            let is_reused = |row: &String| !row.starts_with(self.input_row.trim_end());
            begin -= usize::from(row.first().is_some_and(is_reused));
        }
        let (mut lines, is_cut) = self.screen.lines(begin..end.max(begin));
        let is_spaced = interpreter.is_some_and(|it| it.is_spaced());
        if is_spaced && rest.as_ref().is_some_and(String::is_empty) {
            lines.pop_if(|line| line.is_empty());
        }
        let is_gone = matches!(standing, Standing::Left { .. } | Standing::PaneGone);
        if is_gone && self.exits_soon() {
            lines.pop_if(|line| self.prompts.judge(line) == RowIs::Prompt(0));
        }
        self.is_open = matches!(standing, Standing::Open { .. });
        self.answer.extend(lines);
        self.cut |= is_cut;
        if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
            self.answer.push(rest);
        }
    }

    pub(super) fn into_answer(self, standing: Standing, took: Duration) -> ReplAnswer {
        let is_error = |line: &String| self.prompts.interpreter.is_some_and(|it| it.is_error(line));
        ReplAnswer {
            has_error: self.answer.iter().any(is_error),
            output: self.answer.join("\n"),
            program: self.reader.program.name,
            standing,
            lines_left: self.lines.len(),
            cut: self.cut,
            took,
        }
    }
}
