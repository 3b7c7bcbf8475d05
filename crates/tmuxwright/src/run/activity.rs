//! Activity of a pane: whether its first process lives, which program is in the foreground, and
//! whether that is a shell at its prompt.

use crate::host::{Life, PaneState};
use crate::run::{Engine, ForegroundProgram};
use process::InputState;

/// State of a pane's first process and of its foreground program, at one moment.
pub(crate) struct Activity {
    /// Whether the pane's first process runs.
    pub(crate) life: Life,
    /// The foreground program; `None` if it cannot be determined.
    pub(crate) foreground: Option<ForegroundProgram>,
    /// Whether the foreground program is a shell at its prompt and no job runs in the pane.
    pub(crate) at_prompt: bool,
}

impl Activity {
    /// Probes a pane.
    pub(crate) async fn probe(runs: &Engine, pane: &PaneState) -> Self {
        let life = pane.life;
        let found = if life.is_over() { None } else { runs.probe_foreground(pane).await };
        let at_prompt = found.as_ref().is_some_and(|(_, at_prompt)| *at_prompt);
        Self { life, foreground: found.map(|(program, _)| program), at_prompt }
    }

    /// Whether the foreground program reads input, and in which mode.
    pub(crate) fn input(&self) -> InputState {
        match &self.foreground {
            Some(program) => program.input,
            None if self.life.is_over() => InputState::None,
            None => InputState::Unknown,
        }
    }

    /// The activity as one word, for results.
    pub(crate) fn word(&self) -> &'static str {
        match self.input() {
            _ if self.life.is_over() => "exited",
            _ if self.at_prompt => "prompt",
            InputState::Line => "line",
            InputState::Password => "password",
            InputState::Raw => "raw",
            InputState::None | InputState::Unknown => "running",
        }
    }
}
