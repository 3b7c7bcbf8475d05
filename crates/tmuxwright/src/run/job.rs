//! One command: what it has printed so far and what became of it.

use std::fmt;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tmux_control::PaneId;
use tokio::sync::Notify;
use tokio::time::Instant;

use process::ShellKind;
use terminal::screen::Screen;
use terminal::transcript::{Transcript, TranscriptView};

use crate::lock::lock;

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It runs.
    Running,
    /// It has ended with this code.
    Exited(i32),
    /// Nobody knows: this is why.
    Lost(String),
}

/// What a running command waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// A line of input.
    Line,
    /// A line that is not echoed.
    Password,
    /// Keys: it is a line editor or has taken over the screen.
    Keys,
}

/// A command that was typed.
pub struct Job {
    /// Its id, such as `c7`.
    pub id: String,
    /// Where it runs.
    pub pane: PaneId,
    /// The command.
    pub command: String,
    started: Instant,
    state: Mutex<State>,
    changed: Notify,
    printed: Notify,
}

/// How far a command has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stage {
    status: Status,
    waiting: Option<Waiting>,
    bytes: u64,
}

impl Stage {
    /// Whether the command has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.status != Status::Running
    }
}

struct State {
    status: Status,
    ended: Option<Instant>,
    waiting: Option<Waiting>,
    output: Output,
    /// How many bytes had come when somebody was last told that it waits.
    told_at: Option<u64>,
}

/// What a command has printed.
struct Output {
    screen: Screen,
    transcript: Transcript,
    /// How many bytes it was.
    bytes: u64,
    /// Whether it is complete; what comes now is the shell's.
    closed: bool,
    /// Whether an interrupt was echoed in it.
    interrupted: bool,
}

/// A command as it is at one moment.
#[derive(Debug, Clone)]
pub struct Facts {
    /// What became of it.
    pub status: Status,
    /// What it waits for, if it does.
    pub waiting: Option<Waiting>,
    /// How long it has run, or did.
    pub duration: Duration,
    /// Whether it has taken over the screen now, or ever did.
    pub alternate: Option<Alternate>,
    /// Lines that could not be kept, and why.
    pub unkept: Option<(u64, String)>,
}

/// What a command did with the alternate screen, whose content is not part of its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternate {
    /// It is on it.
    Now,
    /// It has left it.
    Before,
}

impl Job {
    pub(super) fn new(id: String, pane: PaneId, command: String, height: u32) -> Self {
        let output = Output {
            screen: Screen::new(height as usize),
            transcript: Transcript::new(),
            bytes: 0,
            closed: false,
            interrupted: false,
        };
        Self {
            id,
            pane,
            command,
            started: Instant::now(),
            state: Mutex::new(State {
                status: Status::Running,
                ended: None,
                waiting: None,
                output,
                told_at: None,
            }),
            changed: Notify::new(),
            printed: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// How it stands.
    pub fn facts(&self) -> Facts {
        let state = self.state();
        let Output { screen, transcript, .. } = &state.output;
        Facts {
            status: state.status.clone(),
            waiting: state.waiting,
            duration: state.ended.unwrap_or_else(Instant::now).duration_since(self.started),
            alternate: match (screen.in_alternate(), screen.had_alternate()) {
                (true, _) => Some(Alternate::Now),
                (false, true) => Some(Alternate::Before),
                (false, false) => None,
            },
            unkept: transcript
                .storage_error()
                .map(|trouble| (transcript.lost_lines(), trouble.to_owned())),
        }
    }

    /// Its exit code, if it has ended with one.
    pub fn exit_code(&self) -> Option<i32> {
        match self.state().status {
            Status::Exited(code) => Some(code),
            _ => None,
        }
    }

    /// Whether it still runs.
    pub fn is_running(&self) -> bool {
        self.state().status == Status::Running
    }

    /// Reads what it has printed so far.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&TranscriptView<'_>) -> T) -> T {
        let state = self.state();
        let pending = state.output.pending();
        look(&TranscriptView::new(&state.output.transcript, &pending))
    }

    /// How many lines it has printed so far.
    pub fn lines(&self) -> u64 {
        self.read(|view| view.lines())
    }

    /// Waits until it has ended, or waits for input and nobody was told yet, or time is up.
    pub async fn wait(&self, until: Instant) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.has_news() || tokio::time::timeout_at(until, changed).await.is_err() {
                return;
            }
        }
    }

    fn has_news(&self) -> bool {
        let mut state = self.state();
        if state.status != Status::Running {
            return true;
        }
        let news = state.waiting.is_some() && state.told_at != Some(state.output.bytes);
        if news {
            state.told_at = Some(state.output.bytes);
        }
        news
    }

    /// Waits until it has ended. False if time was up first.
    pub(super) async fn ended(&self, until: Instant) -> bool {
        tokio::time::timeout_at(until, self.end()).await.is_ok()
    }

    /// Waits until it has ended. Its exit code, if that is known.
    pub(crate) async fn end(&self) -> Option<i32> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            match self.state().status {
                Status::Running => {}
                Status::Exited(code) => return Some(code),
                Status::Lost(_) => return None,
            }
            changed.await;
        }
    }

    /// How far it has come.
    pub(crate) fn stage(&self) -> Stage {
        let state = self.state();
        let State { status, waiting, output, .. } = &*state;
        Stage { status: status.clone(), waiting: *waiting, bytes: output.bytes }
    }

    /// Waits until it has come further: has printed something, waits for input, or has ended.
    /// Waits for ever for one that had ended then.
    pub(crate) async fn beyond(&self, stage: &Stage) -> Stage {
        loop {
            let (changed, printed) = (self.changed.notified(), self.printed.notified());
            tokio::pin!(changed, printed);
            changed.as_mut().enable();
            printed.as_mut().enable();
            let now = self.stage();
            if now != *stage {
                return now;
            }
            tokio::select! {
                () = changed => {}
                () = printed => {}
            }
        }
    }

    /// Takes more of its output.
    pub(super) fn feed(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.waiting = None;
        state.output.feed(bytes);
        drop(state);
        self.printed.notify_waiters();
    }

    /// Notes that output is missing here.
    pub(super) fn missed(&self, bytes: Option<u64>) {
        let count = bytes.map_or("an unknown number of".to_owned(), |bytes| bytes.to_string());
        self.feed(format!("\r\n[{count} bytes of output were lost here]\r\n").as_bytes());
    }

    /// Notes that it waits for input. Everybody who waits for it is told.
    pub(super) fn set_waiting(&self, waiting: Option<Waiting>) {
        self.state().waiting = waiting;
        self.changed.notify_waiters();
    }

    /// What the last row of its output says, and whether an interrupt was echoed.
    pub(super) fn last_row(&self) -> (String, bool) {
        let state = self.state();
        (state.output.screen.before_cursor(), state.output.interrupted)
    }

    /// Ends its output, whose last rows are the prompt of a shell that gave the command up.
    pub(super) fn close_before_prompt(&self, prompt_rows: usize) {
        let mut state = self.state();
        let interrupted = state.output.interrupted;
        state.output.close(prompt_rows, interrupted);
    }

    /// Ends its output before the word that bash says by itself when a command makes it exit.
    pub(super) fn close_before_farewell(&self, shell: ShellKind) {
        let mut state = self.state();
        let rows = state.output.screen.pending();
        let words = ["exit", "logout"];
        let said = rows.last().is_some_and(|row| words.contains(&row.as_str()));
        if shell == ShellKind::Bash && said && words.iter().any(|it| self.command.contains(it)) {
            state.output.close(1, false);
        }
    }

    /// Whether what it printed made the terminal type an answer.
    pub(super) fn asked_terminal(&self) -> bool {
        self.state().output.screen.was_queried()
    }

    /// Ends it.
    pub(super) fn finish(&self, status: Status) {
        let mut state = self.state();
        if state.status != Status::Running {
            return;
        }
        state.output.close(0, status == Status::Exited(130));
        let Self { id, pane, .. } = self;
        match status {
            Status::Exited(code) => tracing::info!("command {id} in {pane} exited with {code}"),
            _ => tracing::info!("command {id} in {pane} was lost"),
        }
        state.status = status;
        state.waiting = None;
        state.ended = Some(Instant::now());
        drop(state);
        self.changed.notify_waiters();
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("id", &self.id)
            .field("pane", &self.pane)
            .finish_non_exhaustive()
    }
}

impl Output {
    fn feed(&mut self, bytes: &[u8]) {
        if self.closed {
            return;
        }
        self.bytes += bytes.len() as u64;
        self.interrupted |= bytes.windows(2).any(|pair| pair == b"^C");
        let Self { screen, transcript, .. } = self;
        screen.feed(bytes, &mut |line| transcript.push(line));
    }

    fn pending(&self) -> Vec<String> {
        if self.closed { Vec::new() } else { self.screen.pending() }
    }

    /// Moves what is on the screen into the transcript, but for the last rows and, after an
    /// interrupt, the `^C` that the terminal echoed: the program did not print it.
    fn close(&mut self, but: usize, interrupted: bool) {
        if self.closed {
            return;
        }
        self.closed = true;
        let mut rows = Vec::new();
        self.screen.finish(&mut |row| rows.push(row.to_owned()));
        rows.truncate(rows.len().saturating_sub(but));
        if interrupted
            && let Some(last) = rows.last_mut()
            && last.ends_with("^C")
        {
            last.truncate(last.len() - 2);
            if last.is_empty() {
                rows.pop();
            }
        }
        rows.iter().for_each(|row| self.transcript.push(row));
    }
}
