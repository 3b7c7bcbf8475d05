//! Turns: the exclusive right of one call to type into a pane.
//!
//! One call at a time types into a pane (`run/typing.rs`). While a command filter is on, the line is part of the turn,
//! so that the line which the filter checked is the line that the shell gets.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tmux_control::PaneId;
use tokio::sync::{Mutex as TurnMutex, OwnedMutexGuard};

use super::Cx;
use super::typed_line::{self, Keystroke, TypedLine};
use crate::contract::{Code, ToolError};
use crate::host::PaneState;
use crate::lock::lock;
use crate::run::{Engine, TypingGuard};

/// How long a call waits for the turn of another call to end.
const TURN_TIMEOUT: Duration = Duration::from_secs(5);

/// Time for a shell to print a new prompt after C-c.
const C_C_DELAY: Duration = Duration::from_millis(300);

/// The typed and not yet submitted line of each pane of a tmux server.
#[derive(Debug, Default)]
pub struct TypedLines(Mutex<HashMap<PaneId, PaneLine>>);

/// The typed line of a pane, and the process that reads it.
#[derive(Debug)]
struct PaneLine {
    pid: u32,
    line: Arc<TurnMutex<TypedLine>>,
}

impl TypedLines {
    fn of(&self, pane: &PaneState) -> Arc<TurnMutex<TypedLine>> {
        let mut panes = lock(&self.0);
        let new = || PaneLine { pid: pane.pid, line: Arc::default() };
        let slot = panes.entry(pane.pane).or_insert_with(new);
        if slot.pid != pane.pid {
            *slot = new();
        }
        Arc::clone(&slot.line)
    }
}

/// The right to type into a pane, held until the text is typed. If it is dropped before
/// [`done`](Self::done), the line counts as edited.
#[must_use]
#[derive(Debug)]
pub(crate) struct Turn {
    /// The line, and the line after the text is typed. `None` if no command filter is on.
    line: Option<(OwnedMutexGuard<TypedLine>, TypedLine)>,
    /// Held until all is typed. `None` if the engine types by itself.
    typing: Option<TypingGuard>,
    runs: Arc<Engine>,
    pane: PaneId,
    /// Count of the inputs when the turn began.
    inputs: u64,
}

impl Turn {
    /// Notes that everything was typed.
    pub(crate) fn done(mut self) {
        if let Some((mut line, after)) = self.line.take() {
            *line = after;
        }
    }
}

impl Drop for Turn {
    /// Notes that the input has ended, however the call ends. Not if it has not begun: a refused call must not stop one
    /// that is typing.
    fn drop(&mut self) {
        if self.typing.is_some() || self.runs.inputs(self.pane) != self.inputs {
            self.runs.note_input_end(self.pane);
        }
    }
}

impl Cx {
    /// Asks the guard whether keystrokes may be typed into a pane, given the line already typed there.
    /// They must be typed while the turn is held.
    pub(crate) async fn turn(
        &self,
        pane: &PaneState,
        strokes: impl Iterator<Item = Keystroke>,
    ) -> Result<Turn, ToolError> {
        if !self.guard.filters_commands() {
            return Ok(self.turn_with(pane, None));
        }
        self.refuse_synchronized(pane)?;
        let mut line = self.line(pane).await?;
        if line.is_cleared() {
            tokio::time::sleep(C_C_DELAY).await;
            *line = TypedLine::default();
        }
        let mut strokes: Vec<Keystroke> = strokes.collect();
        let admitted = self.admit_keys(pane, &mut strokes).await;
        let after = match (pane.mode.is_empty(), strokes.as_slice()) {
            (true, _) => {
                line.clone().after(strokes.iter().copied(), |line| self.guard.admit_line(line))?
            }
            // `q` leaves the mode, or is typed if a person left it a moment ago.
            (false, [Keystroke::Char('q')]) => line.interrupted(),
            (false, _) => {
                let message = format!(
                    "{} is in {}: with policy.command_filter on, keys cannot be checked in a mode",
                    pane.pane, pane.mode
                );
                return Err(ToolError::new(Code::Denied, message)
                    .hint("leave it with send_keys and keys [\"q\"] alone; then type"));
            }
        };
        admitted?;
        *line = after.interrupted();
        Ok(self.turn_with(pane, Some((line, after))))
    }

    /// The same for a call that types the keystrokes itself: no other call types into the pane meanwhile.
    pub(crate) async fn turn_to_type(
        &self,
        pane: &PaneState,
        strokes: impl Iterator<Item = Keystroke>,
    ) -> Result<Turn, ToolError> {
        let mut turn = self.turn(pane, strokes).await?;
        turn.typing = Some(self.runs.typing(pane.pane).await?);
        Ok(turn)
    }

    fn turn_with(
        &self,
        pane: &PaneState,
        line: Option<(OwnedMutexGuard<TypedLine>, TypedLine)>,
    ) -> Turn {
        let (runs, pane) = (Arc::clone(&self.runs), pane.pane);
        Turn { line, typing: None, inputs: runs.inputs(pane), runs, pane }
    }

    /// Asks the guard whether the pane's programs may get keys with an unpredictable effect on a line. If
    /// so, they become keys of those programs.
    async fn admit_keys(
        &self,
        pane: &PaneState,
        strokes: &mut [Keystroke],
    ) -> Result<(), ToolError> {
        if !strokes.contains(&Keystroke::Unpredictable) {
            return Ok(());
        }
        self.guard.admit_keys(&self.runs.foreground_programs(pane).await)?;
        for stroke in strokes.iter_mut().filter(|stroke| **stroke == Keystroke::Unpredictable) {
            *stroke = Keystroke::ProgramKey;
        }
        Ok(())
    }

    /// Whether a command filter is on.
    pub(crate) fn filters_commands(&self) -> bool {
        self.guard.filters_commands()
    }

    /// The turn for a command that is typed only at an empty prompt.
    pub(crate) async fn turn_to_run(
        &self,
        pane: &PaneState,
        command: &str,
    ) -> Result<Turn, ToolError> {
        self.may_run(command)?;
        if !self.guard.filters_commands() {
            return Ok(self.turn_with(pane, None));
        }
        self.refuse_synchronized(pane)?;
        let line = self.line(pane).await?;
        Ok(self.turn_with(pane, Some((line, TypedLine::default()))))
    }

    /// Notes that the program in a pane is about to get a signal, which may clear its line.
    pub(crate) async fn note_signal(&self, pane: &PaneState) -> Result<(), ToolError> {
        if self.guard.filters_commands() {
            let mut line = self.line(pane).await?;
            *line = line
                .clone()
                .after([Keystroke::Signal].into_iter(), |line| self.guard.admit_line(line))?;
        }
        Ok(())
    }

    /// Asks the guard whether a command may be run.
    pub(crate) fn may_run(&self, command: &str) -> Result<(), ToolError> {
        if !self.guard.filters_commands() {
            return Ok(());
        }
        typed_line::check_all(command, |line| self.guard.admit_line(line))
    }

    async fn line(&self, pane: &PaneState) -> Result<OwnedMutexGuard<TypedLine>, ToolError> {
        let line = self.typed_lines.of(pane).lock_owned();
        tokio::time::timeout(TURN_TIMEOUT, line).await.map_err(|_| {
            ToolError::new(Code::Busy, format!("another call is typing into {}", pane.pane))
                .hint("wait for the result of that call, then call again")
        })
    }

    fn refuse_synchronized(&self, pane: &PaneState) -> Result<(), ToolError> {
        if !pane.synchronized {
            return Ok(());
        }
        let message = format!(
            "{} has synchronize-panes on: its input goes to all panes of the window, and policy.command_filter checks one line",
            pane.pane
        );
        Err(ToolError::new(Code::Denied, message)
            .hint("use another pane; a person can switch synchronize-panes off"))
    }
}
