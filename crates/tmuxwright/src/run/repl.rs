//! Entering input into an interpreter (REPL) and reading its answer up to the next prompt.
//!
//! An interpreter prints no marks, so the end of an answer is recognised by its prompt and by silence.

use std::time::Duration;

use futures::FutureExt;
use tmux_control::keys::{TmuxKey, type_text};
use tmux_control::paste::Paste;
use tmux_control::stream::PaneStream;
use tmux_control::stream::ring::Chunk;
use tokio::time::{Instant, timeout_at};

use super::cursor_row::CursorRow;
use super::gate::{self, Readiness};
use super::limits::{
    CHANGED_PROMPT_QUIET, FIRST_INTERVAL, INPUT_ECHO_QUIET, INPUT_ECHO_TIMEOUT, LONGEST_INTERVAL,
    PROMPT_QUIET, REPL_PROMPT_INTERVAL,
};
use super::pane_records::ReplLease;
use super::prompt::same_prompt;
use super::repl_input;
use super::{Engine, Refusal};
use crate::host::PaneState;
use process::InputState;
use terminal::screen::Screen;

/// Lines of an answer that are kept.
const MAX_ANSWER_LINES: usize = 100_000;

/// Answer of an interpreter.
#[derive(Debug)]
pub struct ReplAnswer {
    /// Text between the input and the next prompt.
    pub output: String,
    /// Name of the interpreter.
    pub program: String,
    /// Whether the interpreter is back at a prompt.
    pub complete: bool,
    /// Whether the beginning of the text is lost.
    pub cut: bool,
    /// Time from the call to the end of the answer.
    pub took: Duration,
}

/// One input and the answer to it.
struct ReplExchange<'a> {
    engine: &'a Engine,
    pane: &'a PaneState,
    stream: PaneStream,
    screen: Screen,
    /// The row of the prompt before the input.
    prompt: String,
    /// The rows above from which the prompt seems to wrap.
    prompt_start: String,
    lines: Vec<String>,
    /// Whether each line waits for its own prompt: the terminal echoes lines typed ahead at once,
    /// in the midst of the output, if the program reads lines.
    by_line: bool,
    /// Rows that have scrolled off the screen.
    scrolled_off: Vec<String>,
    cut: bool,
    last_output: Instant,
    stream_ended: bool,
}

impl Engine {
    /// Enters input at an interpreter's prompt and reads up to the next one. `prompt` is the end of
    /// the prompt, if the caller knows it.
    pub async fn run_in_repl(
        &self,
        pane: &PaneState,
        input: &str,
        prompt: Option<&str>,
        timeout: Duration,
    ) -> Result<ReplAnswer, Refusal> {
        let _lease = ReplLease::acquire(self, pane.pane)?;
        let begun = Instant::now();
        let until = begun + timeout;
        let (program, input_mode) = self.reading_program(pane, until).await?;
        self.repl_prompt(pane, &program, prompt, until).await?;
        let queries = CursorRow::queries(pane.pane);
        let (stream, replies) = self.tmux().stream_from(pane.session, pane.pane, queries).await?;
        let cursor = CursorRow::from_replies(replies)?;
        let mut screen = Screen::new(cursor.height as usize);
        screen.resize(cursor.width as usize, cursor.height as usize, &mut |_| {});
        screen.feed(cursor.before.as_bytes(), &mut |_| {});
        let mut exchange = ReplExchange {
            engine: self,
            pane,
            stream,
            screen,
            prompt: cursor.before,
            prompt_start: cursor.wrapped,
            lines: repl_input::lines(input, &program),
            by_line: input_mode == InputState::Line,
            scrolled_off: Vec::new(),
            cut: false,
            last_output: Instant::now(),
            stream_ended: false,
        };
        exchange.enter(until).await?;
        let complete = exchange.read_answer(until).await?;
        let cut = exchange.cut;
        let output = exchange.into_output(complete);
        Ok(ReplAnswer { output, program, complete, cut, took: begun.elapsed() })
    }

    /// Waits for a foreground program that reads input, and returns its name and input mode.
    async fn reading_program(
        &self,
        pane: &PaneState,
        until: Instant,
    ) -> Result<(String, InputState), Refusal> {
        let mut pause = FIRST_INTERVAL;
        loop {
            let program = match gate::readiness(pane.pid, self.declared()) {
                Readiness::AtPrompt(shell, input) => {
                    return Ok((shell.kind.name().to_owned(), input));
                }
                Readiness::BusyShell(program, input) | Readiness::Program(program, input) => {
                    if input != InputState::None {
                        return Ok((program.name, input));
                    }
                    program.argv.join(" ")
                }
                Readiness::Unknown => "?".to_owned(),
            };
            if Instant::now() >= until {
                return Err(Refusal::NoReader { pane: pane.pane, program, row: None });
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_INTERVAL);
        }
    }

    /// Waits until the interpreter has printed its prompt.
    async fn repl_prompt(
        &self,
        pane: &PaneState,
        program: &str,
        wanted: Option<&str>,
        until: Instant,
    ) -> Result<(), Refusal> {
        let any_prompt_deadline = Instant::now() + CHANGED_PROMPT_QUIET;
        loop {
            let cursor = CursorRow::read(self.tmux(), pane.pane).await?;
            let row = cursor.before.trim_end();
            let (printed, deadline) = match wanted {
                Some(wanted) => (row.ends_with(wanted.trim_end()), until),
                None => (!row.is_empty(), any_prompt_deadline.min(until)),
            };
            if printed {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return match wanted {
                    None => Ok(()),
                    Some(_) => Err(Refusal::NoReader {
                        pane: pane.pane,
                        program: program.to_owned(),
                        row: Some(row.to_owned()),
                    }),
                };
            }
            tokio::time::sleep(REPL_PROMPT_INTERVAL).await;
        }
    }
}

impl ReplExchange<'_> {
    /// Types the input, waits for its echo, and presses Enter. Some interpreters treat an Enter that
    /// comes at once as part of a paste.
    async fn enter(&mut self, until: Instant) -> Result<(), Refusal> {
        if self.by_line {
            let lines = self.lines.clone();
            for (index, line) in lines.iter().enumerate() {
                if index > 0 {
                    while !self.stream_ended && Instant::now() < until {
                        let quiet = self.quiet_for(PROMPT_QUIET, until).await;
                        if quiet && self.is_waiting().await && !self.cursor_line().1.is_empty() {
                            break;
                        }
                    }
                }
                self.type_line(line).await?;
            }
            return Ok(());
        }
        match self.lines.as_slice() {
            [line] => self.type_line(&line.clone()).await,
            lines => {
                let text = lines.join("\n");
                let buffer = self.engine.host().temporary_buffer_name();
                let paste = Paste { buffer: &buffer, text: &text, bracketed: true };
                paste.into(self.engine.tmux(), self.pane.pane).await?;
                self.wait_for_echo().await;
                self.press_enter().await
            }
        }
    }

    async fn type_line(&mut self, line: &str) -> Result<(), Refusal> {
        self.engine.tmux().run_all(type_text(self.pane.pane, line)).await?;
        self.wait_for_echo().await;
        self.press_enter().await
    }

    async fn wait_for_echo(&mut self) {
        let until = Instant::now() + INPUT_ECHO_TIMEOUT;
        while Instant::now() < until && !self.quiet_for(INPUT_ECHO_QUIET, until).await {}
    }

    async fn press_enter(&mut self) -> Result<(), Refusal> {
        self.engine.tmux().run(TmuxKey::enter().press(self.pane.pane)).await?;
        self.last_output = Instant::now();
        Ok(())
    }

    /// Reads until the interpreter is at its next prompt. False if `until` came first.
    async fn read_answer(&mut self, until: Instant) -> Result<bool, Refusal> {
        let mut block_closed = false;
        let mut any_output = false;
        while !self.stream_ended && Instant::now() < until {
            any_output |= !self.quiet_for(PROMPT_QUIET, until).await;
            if !any_output || !self.is_waiting().await {
                continue;
            }
            let (lines_above, row) = self.cursor_line();
            let quiet = self.last_output.elapsed();
            let same = ends_with_prompt(&row, &self.prompt);
            if lines_above + self.scrolled_off.len() > 0 && same {
                return Ok(true);
            }
            if quiet < CHANGED_PROMPT_QUIET {
                continue;
            }
            // An empty line closes a block that is still open.
            let open = self.lines.len() > 1 && !row.trim().is_empty() || row.trim() == "...";
            if !block_closed && open {
                block_closed = true;
                self.press_enter().await?;
                continue;
            }
            if self.prompt.trim().is_empty() || !row.trim().is_empty() {
                return Ok(true);
            }
        }
        Ok(self.stream_ended)
    }

    /// Whether the interpreter reads input and all its output has arrived.
    async fn is_waiting(&mut self) -> bool {
        let reads = match gate::readiness(self.pane.pid, self.engine.declared()) {
            Readiness::AtPrompt(..) => true,
            Readiness::BusyShell(_, input) | Readiness::Program(_, input) => {
                input != InputState::None
            }
            Readiness::Unknown => false,
        };
        if !reads {
            return false;
        }
        let (chunk, caught_up) = tokio::select! {
            biased;
            chunk = self.stream.next() => (Some(chunk), false),
            // A reader that is being woken has not read what has come.
            caught_up = self.engine.catch_up(self.pane) => {
                (self.stream.next().now_or_never(), caught_up)
            }
        };
        let Some(chunk) = chunk else { return caught_up };
        self.handle(chunk);
        false
    }

    /// Handles one chunk of output, or returns true if none arrives for the time of `quiet`.
    async fn quiet_for(&mut self, quiet: Duration, until: Instant) -> bool {
        let deadline = (Instant::now() + quiet).min(until);
        let Ok(chunk) = timeout_at(deadline, self.stream.next()).await else {
            return true;
        };
        self.handle(chunk);
        false
    }

    fn handle(&mut self, chunk: Chunk) {
        match chunk {
            Chunk::Bytes { bytes, .. } => {
                let Self { screen, scrolled_off, .. } = self;
                screen.feed(&bytes, &mut |line| scrolled_off.push(line.to_owned()));
                let rows = self.scrolled_off.len();
                if rows > MAX_ANSWER_LINES {
                    self.scrolled_off.drain(1..rows - MAX_ANSWER_LINES / 2);
                    self.cut = true;
                }
            }
            Chunk::Gap { .. } => self.cut = true,
            Chunk::End(_) => self.stream_ended = true,
        }
        self.last_output = Instant::now();
    }

    /// The number of lines above the cursor's, and the text of its line before it, with the rows from
    /// which it wraps.
    fn cursor_line(&self) -> (usize, String) {
        let (lines, row) = (self.screen.visible_lines(), self.screen.before_cursor());
        let at_cursor = lines.iter().find_map(|line| {
            let row_start = line.cursor?.saturating_sub(row.len());
            Some((line.index, line.text.get(..row_start).unwrap_or_default()))
        });
        let (lines_above, wrapped) = at_cursor.unwrap_or((lines.len(), ""));
        (lines_above, format!("{wrapped}{row}"))
    }

    /// The answer without the echo of the input and without the prompt.
    fn into_output(self, complete: bool) -> String {
        let (lines_above, before) = self.cursor_line();
        let mut rows = self.scrolled_off;
        let pending = self.screen.pending();
        rows.extend(pending.into_iter().take(if complete { lines_above } else { usize::MAX }));
        if complete
            && let Some(rest) = before.strip_suffix(&self.prompt)
            && !rest.is_empty()
            && rest != self.prompt_start
        {
            // The last line of the answer has no end; the prompt follows it in the same row.
            rows.push(rest.to_owned());
        }
        repl_input::without_echo(rows, &self.lines, &self.prompt).join("\n")
    }
}

/// Whether a row ends with the prompt, ignoring differences in digits, such as a counter.
fn ends_with_prompt(row: &str, prompt: &str) -> bool {
    let row = row.trim_end();
    let length = prompt.trim_end().chars().count();
    let skip = row.chars().count().saturating_sub(length);
    let tail: String = row.chars().skip(skip).collect();
    same_prompt(&tail, prompt) || same_prompt(row, prompt)
}
