//! Whose turn it is to type into a pane, while lines for shells are judged.
//!
//! One call at a time types into a pane, so that what was judged is what arrives there.

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

/// How long a call waits until another has typed.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a shell may take to begin a new line after C-c.
const AFTER_C_C: Duration = Duration::from_millis(300);

/// What stands typed in each pane of a server.
#[derive(Debug, Default)]
pub struct TypedLines(Mutex<HashMap<PaneId, PaneLine>>);

/// A pane's line, and the process it was typed for.
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

/// The right to type something into a pane. Held until it is typed; if it never was, nobody knows
/// what stands there now.
#[must_use]
#[derive(Debug)]
pub(crate) struct Turn(Option<(OwnedMutexGuard<TypedLine>, TypedLine)>);

impl Turn {
    /// Notes that all of it was typed.
    pub(crate) fn done(self) {
        if let Some((mut line, after)) = self.0 {
            *line = after;
        }
    }
}

impl Cx {
    /// Asks whether this may be typed into a pane, behind what stands there already. It is to be
    /// typed while the turn is held.
    pub(crate) async fn turn(
        &self,
        pane: &PaneState,
        strokes: impl Iterator<Item = Keystroke>,
    ) -> Result<Turn, ToolError> {
        if !self.guard.filters_commands() {
            return Ok(Turn(None));
        }
        self.must_be_alone(pane)?;
        let mut line = self.line(pane).await?;
        if line.is_cleared() {
            tokio::time::sleep(AFTER_C_C).await;
            *line = TypedLine::default();
        }
        let strokes: Vec<Keystroke> = strokes.collect();
        let after = match (pane.mode.is_empty(), strokes.as_slice()) {
            (true, _) => {
                line.clone().after(strokes.iter().copied(), |line| self.guard.admit_line(line))?
            }
            // It leaves the mode, or is typed if that was left just now.
            (false, [Keystroke::Char('q')]) => line.on_the_way(),
            (false, _) => {
                let what = format!(
                    "{} is in {}, and policy.command_filter is on: nobody knows where keys would go",
                    pane.pane, pane.mode
                );
                return Err(ToolError::new(Code::Denied, what)
                    .hint("send_keys with keys [\"q\"] alone leaves it; then type"));
            }
        };
        *line = after.on_the_way();
        Ok(Turn(Some((line, after))))
    }

    /// Whether what is typed has to be known.
    pub(crate) fn filters_commands(&self) -> bool {
        self.guard.filters_commands()
    }

    /// The same for a command that is typed only where nothing stands typed.
    pub(crate) async fn turn_to_run(
        &self,
        pane: &PaneState,
        command: &str,
    ) -> Result<Turn, ToolError> {
        self.may_run(command)?;
        if !self.guard.filters_commands() {
            return Ok(Turn(None));
        }
        self.must_be_alone(pane)?;
        Ok(Turn(Some((self.line(pane).await?, TypedLine::default()))))
    }

    /// Notes that the program in a pane is about to get a signal, which may discard the line.
    pub(crate) async fn note_signal(&self, pane: &PaneState) -> Result<(), ToolError> {
        if self.guard.filters_commands() {
            let mut line = self.line(pane).await?;
            *line = line
                .clone()
                .after([Keystroke::Signal].into_iter(), |line| self.guard.admit_line(line))?;
        }
        Ok(())
    }

    /// Asks whether a command may be run.
    pub(crate) fn may_run(&self, command: &str) -> Result<(), ToolError> {
        if !self.guard.filters_commands() {
            return Ok(());
        }
        typed_line::judge_all(command, |line| self.guard.admit_line(line))
    }

    async fn line(&self, pane: &PaneState) -> Result<OwnedMutexGuard<TypedLine>, ToolError> {
        let line = self.typed_lines.of(pane).lock_owned();
        tokio::time::timeout(PATIENCE, line).await.map_err(|_| {
            ToolError::new(Code::Busy, format!("another call types into {}", pane.pane))
                .hint("wait until it has answered, then call again")
        })
    }

    fn must_be_alone(&self, pane: &PaneState) -> Result<(), ToolError> {
        if !pane.synchronized {
            return Ok(());
        }
        let what = format!(
            "what is typed into {} goes to all panes of its window, and policy.command_filter judges one line",
            pane.pane
        );
        Err(ToolError::new(Code::Denied, what)
            .hint("a person can switch synchronize-panes off, or use another pane"))
    }
}
