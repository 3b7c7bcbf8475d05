//! What goes on in a pane: whether its program lives, who has the terminal, and what for.

use crate::host::{PaneState, ProcessState};
use crate::run::{Engine, Sight};
use process::Input;

/// A pane as it is now.
pub(crate) struct Standing {
    /// Whether its first process runs.
    pub(crate) process_state: ProcessState,
    /// Who has its terminal, where that can be known.
    pub(crate) sight: Option<Sight>,
    /// Whether that is a shell at its prompt, with no command of ours on its way.
    pub(crate) at_prompt: bool,
}

impl Standing {
    /// Looks at a pane.
    pub(crate) async fn of(runs: &Engine, pane: &PaneState) -> Self {
        let process_state = pane.process_state;
        let seen = if process_state.has_exited() { None } else { runs.sight(pane).await };
        let at_prompt = seen.as_ref().is_some_and(|(_, at_prompt)| *at_prompt);
        Self { process_state, sight: seen.map(|(sight, _)| sight), at_prompt }
    }

    /// What the program in the foreground does with what is typed.
    pub(crate) fn input(&self) -> Input {
        match &self.sight {
            Some(sight) => sight.input,
            None if self.process_state.has_exited() => Input::None,
            None => Input::Unknown,
        }
    }

    /// All of it in a word.
    pub(crate) fn word(&self) -> &'static str {
        match self.input() {
            _ if self.process_state.has_exited() => "exited",
            _ if self.at_prompt => "prompt",
            Input::Line => "line",
            Input::Password => "password",
            Input::Raw => "raw",
            Input::None | Input::Unknown => "running",
        }
    }
}
