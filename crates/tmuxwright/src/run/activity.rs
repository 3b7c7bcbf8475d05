//! Activity of a pane: whether its first process lives, which program is in the foreground, and
//! whether that is a shell at its prompt.

use crate::host::{PaneState, ProcessState};
use crate::input_probe::reader;
use crate::run::{Engine, ForegroundProgram};
use process::InputState;

/// State of a pane's first process and of its foreground program, at one moment.
pub(crate) struct Activity {
    /// Whether the pane's first process runs.
    pub(crate) process_state: ProcessState,
    /// The foreground program; `None` if it cannot be determined.
    pub(crate) foreground: Option<ForegroundProgram>,
    /// Whether the foreground program is a shell at its prompt and no job runs in the pane.
    pub(crate) at_prompt: bool,
}

impl Activity {
    /// Probes a pane.
    pub(crate) async fn probe(runs: &Engine, pane: &PaneState) -> Self {
        let process_state = pane.process_state;
        let found =
            if process_state.has_exited() { None } else { runs.probe_foreground(pane).await };
        let at_prompt = found.as_ref().is_some_and(|(_, at_prompt)| *at_prompt);
        Self { process_state, foreground: found.map(|(program, _)| program), at_prompt }
    }

    /// Whether the foreground program reads input, and in which mode.
    pub(crate) fn input(&self) -> InputState {
        match &self.foreground {
            Some(program) => program.wait.state,
            None if self.process_state.has_exited() => InputState::None,
            None => InputState::Unknown,
        }
    }

    /// A sentence about a program that reads its terminal, for a wait that has timed out.
    pub(crate) fn reading(&self) -> Option<String> {
        let program = self.foreground.as_ref().filter(|_| !self.at_prompt)?;
        reader(&program.wait)
    }

    /// The activity as one word, for results.
    pub(crate) fn word(&self) -> &'static str {
        match self.input() {
            _ if self.process_state.has_exited() => "exited",
            _ if self.at_prompt => "prompt",
            InputState::Line => "line",
            InputState::Password => "password",
            InputState::Raw => "raw",
            InputState::None | InputState::Unknown => "running",
        }
    }
}
