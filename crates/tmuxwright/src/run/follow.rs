//! Follows one command from the moment it was typed until its shell is back.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tmux_control::keys::{Key, type_text};
use tmux_control::stream::PaneStream;
use tmux_control::stream::ring::{Chunk, End};
use tokio::time::Instant;

use super::Engine;
use super::block::PROMPT_ENDS;
use super::carry::{self, Place};
use super::gate::{self, Front, Shell};
use super::job::{Job, Status, Waiting};
use super::look::Look;
use super::marks::{Piece, Scanner, What};
use super::memory::Lease;
use super::prompt::{Prompt, similar};
use crate::host::{PaneState, ProcessState};
use process::Input;
use terminal::screen::Screen;

/// When to look at the processes, counted from the last output: a program that begins to wait, or a
/// shell that gave up, has mostly just printed something. Later ones catch those that had not.
const CHECKS: &[u64] = &[30, 60, 150, 350, 1_050, 3_000];
const LATER: Duration = Duration::from_secs(5);

/// How long a program that reads keys must be silent to count as waiting for them: some read keys
/// while they work. Less if it shows a prompt or has taken over the screen.
const KEYS_QUIET: Duration = Duration::from_secs(1);
const ASKS_QUIET: Duration = Duration::from_millis(300);

/// How long a shell may take to begin a command, or to tell a status it was asked for.
pub(super) const SHELL_TIME: Duration = Duration::from_secs(3);

/// How long a shell takes to act on a key.
const KEY_TIME: Duration = Duration::from_millis(20);

/// How long what a shell has printed may take to us.
const ON_ITS_WAY: Duration = Duration::from_millis(3);

/// The tallest prompt.
const PROMPT_ROWS: usize = 5;

/// How long tmux may take to see that a pane's process is gone.
const EXIT_TIME: Duration = Duration::from_secs(3);

/// The keys of the marks that count.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    /// That of the marks around this command.
    pub(super) command: String,
    /// That of the marks the shell prints by itself, if it does.
    pub(super) shell: Option<String>,
}

pub(super) struct Follow {
    pub(super) engine: Arc<Engine>,
    pub(super) job: Arc<Job>,
    pub(super) lease: Lease,
    pub(super) pane: PaneState,
    pub(super) shell: Shell,
    pub(super) stream: PaneStream,
    pub(super) keys: Keys,
    pub(super) prompt: Prompt,
    pub(super) progress: Progress,
}

/// How far a command is.
#[derive(Debug)]
pub(super) struct Progress {
    scanner: Scanner,
    begun: Instant,
    last_output: Instant,
    check: usize,
    /// Whether its output has begun.
    started: bool,
    /// What the last check said.
    waiting: Option<Waiting>,
    /// When its status was asked for.
    asked: Option<Instant>,
    /// What came in one piece with its end: the shell's prompt.
    after: Vec<u8>,
}

impl Default for Progress {
    fn default() -> Self {
        let now = Instant::now();
        Self {
            scanner: Scanner::default(),
            begun: now,
            last_output: now,
            check: 0,
            started: false,
            waiting: None,
            asked: None,
            after: Vec::new(),
        }
    }
}

impl Progress {
    fn next_check(&self) -> Instant {
        match CHECKS.get(self.check) {
            Some(&after) => self.last_output + Duration::from_millis(after),
            None => {
                let more = u32::try_from(self.check - CHECKS.len() + 1).unwrap_or(u32::MAX);
                self.last_output + LATER.saturating_mul(more)
            }
        }
    }

    fn quiet(&self) -> Duration {
        self.last_output.elapsed()
    }
}

impl Follow {
    /// Follows the command to its end, then frees the pane.
    pub(super) async fn run(mut self) {
        let shell_gone = process::exited(self.shell.pid);
        tokio::pin!(shell_gone);
        let status = loop {
            tokio::select! {
                chunk = self.stream.next() => {
                    if let Some(status) = self.take(chunk) {
                        break status;
                    }
                }
                () = tokio::time::sleep_until(self.progress.next_check()) => {
                    self.progress.check += 1;
                    if let Some(status) = self.check().await {
                        break status;
                    }
                }
                () = &mut shell_gone => break self.shell_gone().await,
            }
        };
        self.engine.shared.kit.take(&self.job.id);
        let code = if let Status::Exited(code) = status { Some(code) } else { None };
        let (unfinished, _) = self.job.last_row();
        let clean = unfinished.is_empty();
        let looking = code.map(|code| self.engine.memory().pane(&self.pane).end(code, clean));
        self.job.finish(status);
        self.engine.jobs().forget_oldest(self.engine.shared.options.results);
        if looking.is_some() {
            self.settle(&unfinished).await;
        }
    }

    /// Takes what came from the pane. A status ends the command.
    fn take(&mut self, chunk: Chunk) -> Option<Status> {
        match chunk {
            Chunk::Bytes { bytes, .. } => self.read(&bytes),
            Chunk::Gap { missed, .. } => {
                // The mark that says where output begins may have been in it.
                self.progress.started = true;
                self.job.missed(missed);
                None
            }
            Chunk::End(End::PaneGone) => Some(Status::Lost("its pane is gone".to_owned())),
            Chunk::End(End::ServerGone) => {
                Some(Status::Lost("the tmux server went away".to_owned()))
            }
        }
    }

    fn read(&mut self, bytes: &[u8]) -> Option<Status> {
        let Self { job, keys, progress, .. } = self;
        let Progress { scanner, started, after, .. } = progress;
        let mut status = None;
        scanner.feed(bytes, |piece| match piece {
            Piece::Text(text) if status.is_some() => after.extend_from_slice(text),
            Piece::Mark(_) if status.is_some() => {}
            Piece::Text(text) if *started => job.feed(text),
            Piece::Text(_) => {}
            Piece::Mark(mark) => match mark.what {
                What::Start if mark.key == keys.command => *started = true,
                What::Start => {}
                What::End(code) => {
                    let shells = keys.shell.as_ref() == Some(&mark.key);
                    if *started && (mark.key == keys.command || shells) {
                        status = Some(Status::Exited(code));
                    }
                }
            },
        });
        progress.last_output = Instant::now();
        progress.check = 0;
        progress.waiting = None;
        status
    }

    /// Looks what the pane's program does. A status ends the command.
    async fn check(&mut self) -> Option<Status> {
        let quiet = self.progress.quiet();
        if self.progress.asked.is_some_and(|asked| asked.elapsed() > SHELL_TIME) {
            let why = "the shell gave it up and does not tell its status";
            return Some(Status::Lost(why.to_owned()));
        }
        let front = gate::front(self.pane.pid, self.engine.declared());
        // What was printed before may still be on its way, even the end.
        tokio::select! {
            biased;
            chunk = self.stream.next() => return self.take(chunk),
            come = self.engine.catch_up(&self.pane) => if !come {
                return None;
            },
        }
        let waiting = match front {
            Front::Prompt(..) if !self.progress.started => {
                return (self.progress.begun.elapsed() > SHELL_TIME)
                    .then(|| Status::Lost("the shell did not begin it".to_owned()));
            }
            Front::Prompt(shell, _) if self.is_given_up(quiet) => {
                if self.progress.asked.is_none()
                    && let Err(error) = self.ask(shell).await
                {
                    return Some(Status::Lost(error.to_string()));
                }
                return None;
            }
            Front::Prompt(_, input) | Front::Shell(_, input) | Front::Program(_, input) => {
                match input {
                    Input::Line => Some(Waiting::Line),
                    Input::Password => Some(Waiting::Password),
                    Input::Raw => self.keys(quiet),
                    Input::None | Input::Unknown => None,
                }
            }
            Front::Unknown => None,
        };
        // A script that starts one program after the other may look like this for a moment.
        let twice = waiting == self.progress.waiting;
        self.progress.waiting = waiting;
        self.job.set_waiting(waiting.filter(|_| twice));
        None
    }

    /// Whether a program that reads keys waits for them.
    fn keys(&self, quiet: Duration) -> Option<Waiting> {
        let prompts = self.job.last_row().0.trim_end().ends_with(PROMPT_ENDS);
        let asks = prompts || self.job.facts().alternate.is_some();
        (quiet >= if asks { ASKS_QUIET } else { KEYS_QUIET }).then_some(Waiting::Keys)
    }

    /// Whether a shell that reads keys is back at its prompt although the command did not end: an
    /// interrupt and some errors make it drop all it was at.
    fn is_given_up(&self, quiet: Duration) -> bool {
        let (row, interrupted) = self.job.last_row();
        let patient = self.keys.shell.is_none() || quiet >= Duration::from_millis(300);
        patient && (interrupted || similar(&row, &self.prompt.row))
    }

    /// Asks the shell for the status of the command it gave up.
    async fn ask(&mut self, shell: Shell) -> Result<(), tmux_control::Error> {
        self.job.close_before_prompt(self.prompt.rows as usize);
        let tmux = self.engine.tmux();
        let look = Look::at(tmux, self.pane.pane).await?;
        let place = Place { column: look.column, width: look.width };
        let line = carry::ask_status(shell.kind, &self.keys.command, place, self.prompt.rows);
        let mut commands = type_text(self.pane.pane, &line);
        commands.push(Key::enter().press(self.pane.pane));
        tmux.sequence(commands).await?;
        self.progress.asked = Some(Instant::now());
        self.progress.started = true;
        Ok(())
    }

    /// The command's shell is gone: by `exit`, or because somebody killed it.
    async fn shell_gone(&mut self) -> Status {
        if let Some(status) = self.drain().await {
            return status;
        }
        if self.shell.pid != self.pane.pid
            && let Some(status) = self.outer_shell().await
        {
            return status;
        }
        let until = Instant::now() + EXIT_TIME;
        let mut pause = Duration::from_millis(2);
        loop {
            match self.engine.host().pane(&self.pane.pane.to_string()).await {
                Ok(pane) if pane.pid != self.pane.pid => {
                    return Status::Lost("its pane was given to another program".to_owned());
                }
                Ok(PaneState { process_state: ProcessState::Exited(Some(code)), .. }) => {
                    self.job.close_before_farewell(self.shell.kind);
                    return Status::Exited(code);
                }
                Ok(pane) if Instant::now() > until => {
                    let exited = if pane.process_state.has_exited() { "exited" } else { "is gone" };
                    return Status::Lost(format!("its shell {exited}; nobody knows its status"));
                }
                Ok(_) => {}
                Err(error) if error.is_no_server() => {
                    return Status::Lost("the tmux server went away".to_owned());
                }
                Err(_) => return Status::Lost("its pane is gone".to_owned()),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// A shell inside another one is gone; the outer one knows its status. `None` if that is gone
    /// as well.
    async fn outer_shell(&mut self) -> Option<Status> {
        let until = Instant::now() + SHELL_TIME;
        // tmux may take its time to notice.
        let mut all_gone = pin!(process::exited(self.pane.pid));
        let shell = loop {
            match gate::front(self.pane.pid, self.engine.declared()) {
                Front::Prompt(shell, _) => break shell,
                _ if Instant::now() > until => {
                    return Some(Status::Lost("its shell is gone".to_owned()));
                }
                _ => {
                    let next = tokio::time::timeout(Duration::from_millis(5), all_gone.as_mut());
                    if next.await.is_ok() {
                        return None;
                    }
                }
            }
        };
        self.job.close_before_prompt(0);
        if let Err(error) = self.ask(shell).await {
            return Some(Status::Lost(error.to_string()));
        }
        while let Ok(chunk) = tokio::time::timeout_at(until, self.stream.next()).await {
            if let Some(status) = self.take(chunk) {
                return Some(status);
            }
        }
        Some(Status::Lost("its shell is gone".to_owned()))
    }

    /// Takes what is still on its way. A status if the command had ended before its shell went.
    async fn drain(&mut self) -> Option<Status> {
        let soon = Duration::from_millis(30);
        loop {
            let come = async {
                self.engine.catch_up(&self.pane).await;
                tokio::time::sleep(soon).await;
            };
            let chunk = tokio::select! {
                biased;
                chunk = self.stream.next() => chunk,
                () = come => return None,
            };
            let Chunk::Bytes { bytes, .. } = chunk else { return None };
            if let Some(status) = self.read(&bytes) {
                return Some(status);
            }
        }
    }

    /// After the command: has the shell's prompt remembered, so that it can be told from what a
    /// person types there.
    async fn settle(self, unfinished: &str) {
        let Self { engine, job, lease, pane, mut stream, progress, prompt, .. } = self;
        let asked = job.asked_terminal();
        let uses = lease.uses();
        // Another command may come as soon as nothing more is typed here.
        let kept = asked.then_some(lease);
        let mut after = Screen::new(PROMPT_ROWS);
        // The prompt comes behind a last line without an end.
        after.feed(unfinished.as_bytes(), &mut |_| {});
        after.feed(&progress.after, &mut |_| {});
        let begun = Instant::now();
        // The next command has its own end to look at.
        while engine.memory().pane(&pane).uses == uses {
            // Once the shell reads, its prompt is out, and no person has typed anything yet.
            let reads = matches!(gate::front(pane.pid, engine.declared()), Front::Prompt(..))
                && engine.catch_up(&pane).await;
            match tokio::time::timeout(ON_ITS_WAY, stream.next()).await {
                Ok(Chunk::Bytes { bytes, .. }) => after.feed(&bytes, &mut |_| {}),
                Ok(_) => return,
                Err(_) if reads => break,
                Err(_) if begun.elapsed() > SHELL_TIME => return,
                Err(_) => {}
            }
        }
        if asked {
            // What the terminal answered to the program's output now stands at the prompt.
            let clear = Key::Named("C-u".to_owned()).press(pane.pane);
            let _ = engine.tmux().run(clear).await;
            tokio::time::sleep(KEY_TIME).await;
            if let Ok(look) = Look::at(engine.tmux(), pane.pane).await {
                engine.learn(&pane, uses, Prompt { row: look.before, rows: prompt.rows });
            }
        } else {
            let now = Prompt::shown(&after.pending(), after.before_cursor(), &prompt.row);
            engine.learn(&pane, uses, now);
        }
        drop(kept);
    }
}
