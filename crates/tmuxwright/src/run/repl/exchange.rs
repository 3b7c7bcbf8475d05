//! One input of an interpreter and the answer to it.
//!
//! The output is followed on a screen of the pane's size. A line of input is one line of that screen, so
//! the lines below it, up to the row in which the program reads again, are its answer.

mod echo;
mod judgement;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tmux_control::stream::ring::Chunk;
use tokio::time::Instant;

use super::answer_screen::AnswerScreen;
use super::entering::{FirstLine, Typed};
use super::gate::AtPrompt;
use super::interpreters::{Entry, Interpreter};
use super::kept_lines::KeptLines;
use super::prompts::{Prompts, RowIs};
use super::{LastStanding, Reader, ReplAnswer, ReplCall, Standing, input, python_lines};
use crate::host::PaneState;
use crate::run::pane_size::{CatchUp, SizedItem, SizedStream};
use crate::run::viewers::Viewers;
use crate::run::{Engine, Job, Refusal};
use process::{ReadCount, ShellKind};

/// Probes that only yield before the first one that sleeps.
const YIELDS: u32 = 20;
/// Longest time between two probes of a silent program.
const MAX_PROBE_INTERVAL: Duration = Duration::from_secs(2);

/// One input and the answer to it.
pub(super) struct Exchange<'a> {
    pub(super) call: &'a ReplCall,
    pub(super) engine: &'a Arc<Engine>,
    pub(super) pane: &'a PaneState,
    pub(super) reader: Reader,
    /// The program at whose prompt the next line is entered: the same, or one that the input has started.
    pub(super) next_reader: Reader,
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
    /// Number of the line on which its echo begins.
    pub(super) echo_line: usize,
    /// The row before the last line that was typed, and the line; empty if it was pasted.
    pub(super) echo: String,
    /// The row before the input was typed.
    pub(super) input_row: String,
    /// The last line that was entered.
    pub(super) entered: String,
    /// Whether output has come since then.
    pub(super) is_answered: bool,
    /// Whether an OSC sequence was part of it. fish sets the title before it runs a command.
    pub(super) has_osc: bool,
    /// Whether that line continued a statement.
    is_open: bool,
    pub(super) first: Option<FirstLine>,
    /// Count of the inputs of other calls when this one began to type.
    pub(super) inputs: u64,
    /// What the program had read when it was last seen to wait.
    read_count: Option<ReadCount>,
    answer: KeptLines,
    cut: bool,
    pub(super) last_output: Instant,
    pub(super) is_gone: bool,
}

impl<'a> Exchange<'a> {
    /// An exchange that begins at a prompt.
    pub(super) fn begin(call: &'a ReplCall, passed: AtPrompt) -> Self {
        let ReplCall { engine, pane, input: text, .. } = call;
        let AtPrompt {
            reader,
            prompts,
            viewers,
            stream,
            cursor,
            above,
            blank_typed,
            condition,
            typing,
        } = passed;
        let entry = prompts.entry();
        let mut lines = match entry {
            Entry::IndentedBlocks => python_lines::indented_lines(text),
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
        let ends_block =
            entry == Entry::PastedBlocks && !is_open && python_lines::ends_in_block(text);
        Self {
            call,
            engine,
            pane,
            next_reader: reader.clone(),
            reader,
            prompts,
            job: engine.remote_job(pane.pane).or_else(|| engine.running_in(pane.pane)),
            viewers,
            stream: SizedStream::new(stream, engine.tmux().clone(), pane.pane),
            screen: AnswerScreen::at(&cursor, &above),
            lines,
            ends_block,
            input_line: 0,
            echo_line: 0,
            echo: String::new(),
            input_row: String::new(),
            entered: String::new(),
            is_answered: true,
            has_osc: false,
            is_open,
            first: Some(FirstLine { blank_typed, condition, indentation, typing }),
            inputs: engine.inputs(pane.pane),
            read_count: None,
            answer: KeptLines::default(),
            cut: false,
            last_output: Instant::now(),
            is_gone: false,
        }
    }

    pub(super) fn last_standing(&self, standing: &Standing) -> Option<LastStanding> {
        let (program, read_count) = (&self.reader.program, self.read_count);
        LastStanding::of(program, self.prompts.interpreter, standing, read_count)
    }

    /// Reads the answer to the entered line, and enters the other lines at the prompts that follow.
    pub(super) async fn answer(&mut self) -> Result<Standing, Refusal> {
        let call = self.call;
        loop {
            let standing = call.wait(self.stand(call.until)).await??;
            self.take_answer(&standing).await;
            if !standing.takes_line() || self.is_other_prompt(&standing) {
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
            match self.enter_next(&line).await? {
                Typed::Line => {}
                Typed::Text => return self.not_entered().await,
                Typed::Nothing => {
                    self.lines.push_front(line);
                    return Ok(standing);
                }
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
            if !self.reader.is_alive(self.engine).await || self.has_left_relayed() {
                return self.left().await;
            }
            if let Some(reader) = self.is_waiting().await {
                let standing = match self.judge(&reader) {
                    None => self.typed_by_person(&reader).await?,
                    standing => standing,
                };
                if let Some(standing) = standing.filter(|standing| !self.may_exit(standing)) {
                    self.next_reader = reader;
                    return Ok(standing);
                }
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
        let reader = Reader::probe(self.engine, self.pane).await.filter(Reader::reads)?;
        match self.stream.catch_up(self.engine.catch_up(self.pane)).await {
            CatchUp::Done => {}
            CatchUp::Item(item) => {
                self.handle(item);
                return None;
            }
            CatchUp::TimedOut => return None,
        }
        self.read_count = self.engine.processes().read_count(reader.program.pid).await;
        let again = Reader::probe(self.engine, self.pane).await.filter(Reader::reads)?;
        again.is_same(&reader).then_some(again)
    }

    fn handle(&mut self, item: SizedItem) {
        match item {
            SizedItem::Chunk(Chunk::Bytes { bytes, .. }) => {
                self.has_osc |= memchr::memmem::find(&bytes, b"\x1b]").is_some();
                self.screen.feed(&bytes);
            }
            SizedItem::Size(width, height) => self.screen.resize(width, height),
            SizedItem::Chunk(Chunk::Gap { .. }) => self.cut = true,
            SizedItem::Chunk(Chunk::End(_)) => self.is_gone = true,
        }
        self.last_output = Instant::now();
        self.is_answered = true;
    }

    /// Adds the lines below the input to the answer, up to the row in which the program reads.
    async fn take_answer(&mut self, standing: &Standing) {
        let (mut end, row) = (self.screen.cursor_line().0, self.answer_row().1);
        let (last_input, at) = self.input_end();
        let mut rest = None;
        match standing {
            Standing::AtPrompt { row: prompt, .. } => {
                rest = row.strip_suffix(prompt.as_str()).map(str::to_owned);
            }
            Standing::Left { back_in: Some(_), .. } => {
                end -= (self.engine.prompt_rows(self.pane).await as usize - 1).min(end);
            }
            Standing::Open { .. }
            | Standing::NotTaken { .. }
            | Standing::Asks { .. }
            | Standing::AsksPassword => {}
            _ => end = usize::MAX,
        }
        // Where the echo ends at the right margin, the answer goes on in its line.
        let (input, _) = self.screen.lines(last_input..end.min(last_input + 1));
        let behind_echo = input.first().and_then(|line| line.get(at..));
        if let Some(behind) = behind_echo.filter(|it| !it.is_empty()) {
            self.answer.push(behind.to_owned());
        }
        let mut begin = last_input + 1;
        let interpreter = self.prompts.interpreter;
        let ends_block = |it: &Interpreter| it.reuses_row() && it.is_continuation(&self.input_row);
        if interpreter.is_some_and(ends_block) {
            let (row, _) = self.screen.lines(last_input..begin);
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
        if matches!(self.prompts.shell, Some(ShellKind::Zsh | ShellKind::Fish))
            && let Some(last) = lines.last_mut()
        {
            self.screen.trim_end_mark(last);
        }
        self.is_open = matches!(standing, Standing::Open { .. });
        lines.into_iter().for_each(|line| self.answer.push(line));
        self.cut |= is_cut;
        if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
            self.answer.push(rest);
        }
    }

    /// Number of the lines that were not entered, without empty ones and those that the caller has not given.
    fn lines_left(&self) -> usize {
        let is_given = |line: &&str| match self.prompts.entry() {
            Entry::DelimitedBlocks => !matches!(line.trim(), "" | ":{" | ":}"),
            _ => !line.trim().is_empty(),
        };
        self.lines.iter().flat_map(|line| line.lines()).filter(is_given).count()
    }

    pub(super) fn into_answer(self, standing: Standing, took: Duration) -> ReplAnswer {
        let is_error = |line: &str| self.prompts.interpreter.is_some_and(|it| it.is_error(line));
        let lines_left = self.lines_left();
        ReplAnswer {
            has_error: self.answer.iter().any(is_error),
            output: self.answer.joined(),
            program: self.reader.program.name,
            standing,
            lines_left,
            cut: self.cut || self.answer.dropped() > 0,
            took,
        }
    }
}
