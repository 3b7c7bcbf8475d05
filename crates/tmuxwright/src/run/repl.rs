//! Entering something into an interpreter and reading what it says until it asks for more.

use std::time::Duration;

use tmux_control::keys::{Key, type_text};
use tmux_control::paste::Paste;
use tmux_control::stream::PaneStream;
use tmux_control::stream::ring::Chunk;
use tokio::time::{Instant, timeout_at};

use super::block;
use super::gate::{self, Front};
use super::look::Look;
use super::memory::Talk;
use super::prompt::similar;
use super::{Engine, Refusal};
use crate::host::PaneState;
use process::Input;
use terminal::screen::Screen;

/// How long an echo takes to come, and how long a pause in it is none.
const ECHO_TIME: Duration = Duration::from_millis(500);
const ECHO_PAUSE: Duration = Duration::from_millis(15);

/// How long a program that shows its prompt must be silent.
const QUIET: Duration = Duration::from_millis(20);

/// The same for one whose prompt has changed, or that has none.
const LONG_QUIET: Duration = Duration::from_millis(300);

/// How many lines of an answer are kept.
const MOST_LINES: usize = 100_000;

/// What an interpreter said.
#[derive(Debug)]
pub struct Answer {
    /// The text between the input and the next prompt.
    pub output: String,
    /// The program.
    pub program: String,
    /// Whether it is back at a prompt.
    pub complete: bool,
    /// Whether the start of the text is lost.
    pub cut: bool,
    /// How long it took.
    pub took: Duration,
}

/// One exchange.
struct Exchange<'a> {
    engine: &'a Engine,
    pane: &'a PaneState,
    stream: PaneStream,
    screen: Screen,
    /// The prompt before the input.
    prompt: String,
    lines: Vec<String>,
    /// Whether each line must wait for its own prompt: the terminal echoes at once what is typed
    /// into a program that reads lines.
    by_line: bool,
    gone: Vec<String>,
    cut: bool,
    last_output: Instant,
    ended: bool,
}

impl Engine {
    /// Enters input at an interpreter's prompt and reads until the next. `prompt` is how it ends,
    /// if the caller knows.
    pub async fn converse(
        &self,
        pane: &PaneState,
        input: &str,
        prompt: Option<&str>,
        timeout: Duration,
    ) -> Result<Answer, Refusal> {
        let _talk = Talk::begin(self, pane.pane)?;
        let begun = Instant::now();
        let until = begun + timeout;
        let (program, input_kind) = self.reader(pane, until).await?;
        let stream = self.tmux().stream_in(pane.session, pane.pane).await?;
        let look = self.prompt(pane, &program, prompt, until).await?;
        let mut screen = Screen::new(look.height as usize);
        screen.feed(look.before.as_bytes(), &mut |_| {});
        let mut exchange = Exchange {
            engine: self,
            pane,
            stream,
            screen,
            prompt: look.before,
            lines: block::lines(input, &program),
            by_line: input_kind == Input::Line,
            gone: Vec::new(),
            cut: false,
            last_output: Instant::now(),
            ended: false,
        };
        exchange.enter(until).await?;
        let complete = exchange.answer(until).await?;
        let cut = exchange.cut;
        let output = exchange.output(complete);
        Ok(Answer { output, program, complete, cut, took: begun.elapsed() })
    }

    /// The program that waits for input, which may take a moment to start.
    async fn reader(&self, pane: &PaneState, until: Instant) -> Result<(String, Input), Refusal> {
        let mut pause = Duration::from_millis(2);
        loop {
            let program = match gate::front(pane.pid, self.declared()) {
                Front::Prompt(shell, input) => return Ok((shell.kind.name().to_owned(), input)),
                Front::Shell(program, input) | Front::Program(program, input) => {
                    if input != Input::None {
                        return Ok((program.name, input));
                    }
                    program.argv.join(" ")
                }
                Front::Unknown => "?".to_owned(),
            };
            if Instant::now() >= until {
                return Err(Refusal::NoReader { pane: pane.pane, program, row: None });
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// The row of its prompt, which may still be on its way.
    async fn prompt(
        &self,
        pane: &PaneState,
        program: &str,
        wanted: Option<&str>,
        until: Instant,
    ) -> Result<Look, Refusal> {
        let soon = Instant::now() + LONG_QUIET;
        loop {
            let look = Look::at(self.tmux(), pane.pane).await?;
            let row = look.before.trim_end();
            let (there, patience) = match wanted {
                Some(wanted) => (row.ends_with(wanted.trim_end()), until),
                None => (!row.is_empty(), soon.min(until)),
            };
            if there {
                return Ok(look);
            }
            if Instant::now() >= patience {
                return match wanted {
                    None => Ok(look),
                    Some(_) => Err(Refusal::NoReader {
                        pane: pane.pane,
                        program: program.to_owned(),
                        row: Some(row.to_owned()),
                    }),
                };
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Exchange<'_> {
    /// Types the input, waits until it is echoed, and presses Enter: some interpreters take an
    /// Enter that comes at once for a part of a paste.
    async fn enter(&mut self, until: Instant) -> Result<(), Refusal> {
        if self.by_line {
            let lines = self.lines.clone();
            for (index, line) in lines.iter().enumerate() {
                if index > 0 {
                    while !self.ended && Instant::now() < until {
                        let quiet = self.quiet_for(QUIET, until).await;
                        if quiet && self.waits().await && !self.screen.before_cursor().is_empty() {
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
                self.echoed().await;
                self.press_enter().await
            }
        }
    }

    async fn type_line(&mut self, line: &str) -> Result<(), Refusal> {
        self.engine.tmux().run_all(type_text(self.pane.pane, line)).await?;
        self.echoed().await;
        self.press_enter().await
    }

    async fn echoed(&mut self) {
        let latest = Instant::now() + ECHO_TIME;
        while Instant::now() < latest && !self.quiet_for(ECHO_PAUSE, latest).await {}
    }

    async fn press_enter(&mut self) -> Result<(), Refusal> {
        self.engine.tmux().run(Key::enter().press(self.pane.pane)).await?;
        self.last_output = Instant::now();
        Ok(())
    }

    /// Reads until the interpreter asks for more. False if time was up first.
    async fn answer(&mut self, until: Instant) -> Result<bool, Refusal> {
        let mut closed = false;
        let mut moved = false;
        while !self.ended && Instant::now() < until {
            moved |= !self.quiet_for(QUIET, until).await;
            if !moved || !self.waits().await {
                continue;
            }
            let row = self.screen.before_cursor();
            let quiet = self.last_output.elapsed();
            let same = similar_end(&row, &self.prompt);
            if self.screen.cursor_row() + self.gone.len() > 0 && same {
                return Ok(true);
            }
            if quiet < LONG_QUIET {
                continue;
            }
            // An empty line closes the block it is still in.
            let open = self.lines.len() > 1 && !row.trim().is_empty() || row.trim() == "...";
            if !closed && open {
                closed = true;
                self.press_enter().await?;
                continue;
            }
            if self.prompt.trim().is_empty() || !row.trim().is_empty() {
                return Ok(true);
            }
        }
        Ok(self.ended)
    }

    /// Whether it reads and all that it has said before has come.
    async fn waits(&mut self) -> bool {
        let reads = match gate::front(self.pane.pid, self.engine.declared()) {
            Front::Prompt(..) => true,
            Front::Shell(_, input) | Front::Program(_, input) => input != Input::None,
            Front::Unknown => false,
        };
        if !reads {
            return false;
        }
        let chunk = tokio::select! {
            biased;
            chunk = self.stream.next() => chunk,
            come = self.engine.catch_up(self.pane) => return come,
        };
        self.take(chunk);
        false
    }

    /// Takes what comes; true if nothing did for so long.
    async fn quiet_for(&mut self, pause: Duration, until: Instant) -> bool {
        let soon = (Instant::now() + pause).min(until);
        let Ok(chunk) = timeout_at(soon, self.stream.next()).await else {
            return true;
        };
        self.take(chunk);
        false
    }

    fn take(&mut self, chunk: Chunk) {
        match chunk {
            Chunk::Bytes { bytes, .. } => {
                let Self { screen, gone, .. } = self;
                screen.feed(&bytes, &mut |line| gone.push(line.to_owned()));
                if self.gone.len() > MOST_LINES {
                    self.gone.drain(1..self.gone.len() - MOST_LINES / 2);
                    self.cut = true;
                }
            }
            Chunk::Gap { .. } => self.cut = true,
            Chunk::End(_) => self.ended = true,
        }
        self.last_output = Instant::now();
    }

    /// The answer without the echo of the input and without the prompt.
    fn output(self, complete: bool) -> String {
        let row = self.screen.cursor_row();
        let mut rows = self.gone;
        let pending = self.screen.pending();
        let before = self.screen.before_cursor();
        rows.extend(pending.into_iter().take(if complete { row } else { usize::MAX }));
        if complete
            && let Some(rest) = before.strip_suffix(&self.prompt)
            && !rest.is_empty()
        {
            // The last line of the answer had no end, and the prompt came right behind it.
            rows.push(rest.to_owned());
        }
        block::without_echo(rows, &self.lines, &self.prompt).join("\n")
    }
}

/// Whether a row ends as the prompt did, but for a counter in it.
fn similar_end(row: &str, prompt: &str) -> bool {
    let row = row.trim_end();
    let length = prompt.trim_end().chars().count();
    let skip = row.chars().count().saturating_sub(length);
    let tail: String = row.chars().skip(skip).collect();
    similar(&tail, prompt) || similar(row, prompt)
}
