//! One input of an interpreter and the answer to it.
//!
//! The output is followed on a screen of the pane's size. A line of input is one line of that screen, so
//! the lines below it, up to the row in which the program reads again, are its answer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tmux_control::keys::{TmuxKey, type_text};
use tmux_control::paste::Paste;
use tmux_control::stream::ring::Chunk;
use tmux_control::{Command, row};
use tokio::time::Instant;

use super::answer_screen::AnswerScreen;
use super::gate::AtPrompt;
use super::interpreters::Entry;
use super::prompts::{Prompts, RowIs, looks_like_prompt};
use super::{Reader, ReplAnswer, Standing, input};
use crate::host::PaneState;
use crate::input_probe;
use crate::run::cursor_row::CursorRow;
use crate::run::limits::{
    EXIT_NOTICE_TIMEOUT, RELAY_QUIET, SHELL_RESPONSE_TIMEOUT, UNKNOWN_ROW_QUIET,
};
use crate::run::pane_size::{SizedItem, SizedStream};
use crate::run::viewers::Viewers;
use crate::run::{Engine, Job, Refusal};
use process::{InputState, ShellKind};

/// Probes that only yield before the first one that sleeps.
const YIELDS: u32 = 20;
/// Longest time between two probes of a silent program.
const MAX_PROBE_INTERVAL: Duration = Duration::from_secs(2);

row! {
    DeadFacts {
        is_dead: bool = "pane_dead",
        status: Option<i32> = "pane_dead_status",
    }
}

/// One input and the answer to it.
pub(super) struct Exchange<'a> {
    engine: &'a Engine,
    pane: &'a PaneState,
    reader: Reader,
    prompts: Prompts,
    /// The command that started the interpreter.
    job: Option<Arc<Job>>,
    viewers: Viewers,
    stream: SizedStream,
    screen: AnswerScreen,
    /// Lines that are still to be entered.
    lines: VecDeque<String>,
    /// Number of the line on which the last input was entered.
    input_line: usize,
    /// What must be typed before the first line, and hold for it.
    first: Option<(bool, String)>,
    answer: Vec<String>,
    cut: bool,
    last_output: Instant,
    is_gone: bool,
}

impl<'a> Exchange<'a> {
    /// An exchange that begins at a prompt.
    pub(super) fn begin(
        engine: &'a Engine,
        pane: &'a PaneState,
        passed: AtPrompt,
        text: &str,
    ) -> Self {
        let AtPrompt { reader, prompts, viewers, stream, cursor, blank_typed, condition, .. } =
            passed;
        let lines = match prompts.entry() {
            Entry::IndentedBlocks => input::indented_lines(text),
            Entry::Paste => VecDeque::from([input::whole(text)]),
            Entry::LineByLine => input::lines(text),
        };
        Self {
            engine,
            pane,
            reader,
            prompts,
            job: engine.running_in(pane.pane),
            viewers,
            stream: SizedStream::new(stream, engine.tmux().clone(), pane.pane),
            screen: AnswerScreen::at(&cursor),
            lines,
            input_line: 0,
            first: Some((blank_typed, condition)),
            answer: Vec::new(),
            cut: false,
            last_output: Instant::now(),
            is_gone: false,
        }
    }

    pub(super) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Enters the first line. False if the pane has changed since it was checked; then nothing is typed.
    pub(super) async fn enter(&mut self, until: Instant) -> Result<bool, Refusal> {
        let Some((blank_typed, condition)) = self.first.take() else { return Ok(true) };
        let erase = TmuxKey::Named("BSpace".to_owned()).press(self.pane.pane);
        let erase = if blank_typed { vec![erase] } else { Vec::new() };
        let line = self.lines.pop_front().unwrap_or_default();
        let typed = match line.contains('\n') {
            true => self.paste(erase, &line, &condition, until).await?,
            false => self.type_line(erase, &line, &condition).await?,
        };
        if !typed && blank_typed {
            let erase = TmuxKey::Named("BSpace".to_owned()).press(self.pane.pane);
            let (pane, unchanged) = (self.pane.pane, self.viewers.unchanged());
            self.engine.tmux().type_if(&pane.into(), &unchanged, vec![erase]).await?;
        }
        Ok(typed)
    }

    /// Reads the answer to the entered line, and enters the other lines at the prompts that follow.
    pub(super) async fn answer(&mut self, until: Instant) -> Result<Standing, Refusal> {
        let mut is_closed = false;
        loop {
            let standing = self.stand(until).await?;
            self.take_answer(&standing).await;
            let is_open = matches!(standing, Standing::Open { .. });
            let is_paste =
                self.prompts.interpreter.is_some() && self.prompts.entry() == Entry::Paste;
            if !standing.takes_line() {
                return Ok(standing);
            }
            let line = match self.lines.pop_front() {
                Some(line) => line,
                // A line editor of its own adds lines to a block until an empty one is entered.
                None if is_open && is_paste && !is_closed => {
                    is_closed = true;
                    String::new()
                }
                None => return Ok(standing),
            };
            if !self.enter_next(&line).await? {
                self.lines.push_front(line);
                return Ok(standing);
            }
        }
    }

    /// Enters a further line, unless a person has pressed a key since the first one.
    async fn enter_next(&mut self, line: &str) -> Result<bool, Refusal> {
        let cursor = CursorRow::read(self.engine.tmux(), self.pane.pane).await?;
        let condition = self.viewers.unchanged_at(&cursor);
        self.type_line(Vec::new(), line, &condition).await
    }

    /// Types a line with its Enter: a key of a person comes before both or after both.
    async fn type_line(
        &mut self,
        mut keys: Vec<Command>,
        line: &str,
        condition: &str,
    ) -> Result<bool, Refusal> {
        let pane = self.pane.pane;
        self.input_line = self.screen.cursor_line().0;
        keys.extend(type_text(pane, line));
        keys.push(TmuxKey::enter().press(pane));
        let typed = self.engine.tmux().type_if(&pane.into(), condition, keys).await?;
        self.last_output = Instant::now();
        Ok(typed)
    }

    /// Pastes several lines, waits until the line editor has taken them, and presses Enter.
    async fn paste(
        &mut self,
        keys: Vec<Command>,
        text: &str,
        condition: &str,
        until: Instant,
    ) -> Result<bool, Refusal> {
        let (tmux, pane) = (self.engine.tmux().clone(), self.pane.pane);
        let check = if keys.is_empty() { type_text(pane, "") } else { keys };
        if !tmux.type_if(&pane.into(), condition, check).await? {
            return Ok(false);
        }
        let buffer = self.engine.host().temporary_buffer_name();
        Paste { buffer: &buffer, text, bracketed: true }.into(&tmux, pane).await?;
        self.last_output = Instant::now();
        let mut probes = 0;
        while Instant::now() < until && !self.is_gone {
            self.pause(&mut probes, until).await;
            if self.is_waiting().await.is_some() {
                break;
            }
        }
        let enter = vec![TmuxKey::enter().press(pane)];
        self.input_line = self.screen.cursor_line().0;
        if !tmux.type_if(&pane.into(), &self.viewers.unchanged(), enter).await? {
            return Err(Refusal::PersonActive { pane });
        }
        self.last_output = Instant::now();
        Ok(true)
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
            {
                return Ok(standing);
            }
            if Instant::now() >= until {
                return Ok(Standing::Running);
            }
        }
    }

    /// Waits for output, or until the next probe is due: soon after the last output, then ever later.
    async fn pause(&mut self, probes: &mut u32, until: Instant) {
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
    async fn is_waiting(&mut self) -> Option<Reader> {
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
        let is_below = line > self.input_line;
        if is_below && reader.is_same(&self.reader) {
            let is_learned = self.prompts.is_learned();
            match self.prompts.judge(&row) {
                RowIs::Prompt(at) => {
                    let row = row.get(at..).unwrap_or_default().to_owned();
                    return Some(Standing::AtPrompt { row, is_learned });
                }
                RowIs::Continuation => return Some(Standing::Open { row }),
                // The prompt of a shell may hold a directory; it alone reads keys there.
                RowIs::Other if reader.shell.is_some() && !row.trim().is_empty() => {
                    return Some(Standing::AtPrompt { row, is_learned: false });
                }
                RowIs::Other => {}
            }
        }
        if quiet < UNKNOWN_ROW_QUIET || !is_below && quiet < SHELL_RESPONSE_TIMEOUT {
            return None;
        }
        if is_below && row.trim().is_empty() && self.prompts.shell == Some(ShellKind::Fish) {
            return Some(Standing::Open { row });
        }
        // It reads all the time, so only its row says that the program behind it waits.
        if reader.is_relay && !input_probe::is_question(&row) {
            return None;
        }
        let is_prompt = self.prompts.is_learned() && looks_like_prompt(&row);
        Some(match is_prompt && reader.is_same(&self.reader) {
            true => Standing::AtPrompt { row, is_learned: true },
            false => Standing::Asks { row },
        })
    }

    /// The standing after the program has exited: what is in its place, and its exit code.
    async fn left(&mut self) -> Result<Standing, Refusal> {
        let until = Instant::now() + EXIT_NOTICE_TIMEOUT;
        let mut probes = 0;
        while Instant::now() < until {
            self.pause(&mut probes, until).await;
            if self.is_gone {
                return Ok(Standing::PaneGone);
            }
            if let Some(reader) = self.is_waiting().await {
                let code = match &self.job {
                    Some(job) => {
                        job.wait_for_end_until(Instant::now() + SHELL_RESPONSE_TIMEOUT).await;
                        job.exit_code()
                    }
                    None => None,
                };
                return Ok(Standing::Left { back_in: Some(reader.program.name), code });
            }
            let pane = self.pane.pane.to_string();
            if let Ok(DeadFacts { is_dead: true, status }) =
                self.engine.tmux().row::<DeadFacts>(&pane).await
            {
                return Ok(Standing::Left { back_in: None, code: status });
            }
        }
        Ok(Standing::Left { back_in: None, code: None })
    }

    fn handle(&mut self, item: SizedItem) {
        match item {
            SizedItem::Chunk(Chunk::Bytes { bytes, .. }) => self.screen.feed(&bytes),
            SizedItem::Size(width, height) => self.screen.resize(width, height),
            SizedItem::Chunk(Chunk::Gap { .. }) => self.cut = true,
            SizedItem::Chunk(Chunk::End(_)) => self.is_gone = true,
        }
        self.last_output = Instant::now();
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
        let (lines, is_cut) = self.screen.lines(self.input_line + 1..end);
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
