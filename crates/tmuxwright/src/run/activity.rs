//! What goes on in a pane: whether its program lives, who has the terminal, and what for.

use crate::host::{Life, PaneState};
use crate::run::{Engine, Sight};
use process::InputState;

/// A pane as it is now.
pub(crate) struct Standing {
    /// Whether its first process runs.
    pub(crate) life: Life,
    /// Who has its terminal, where that can be known.
    pub(crate) sight: Option<Sight>,
    /// Whether that is a shell at its prompt, with no command of ours on its way.
    pub(crate) at_prompt: bool,
}

impl Standing {
    /// Looks at a pane.
    pub(crate) async fn of(runs: &Engine, pane: &PaneState) -> Self {
        let life = pane.life;
        let seen = if life.is_over() { None } else { runs.sight(pane).await };
        let at_prompt = seen.as_ref().is_some_and(|(_, at_prompt)| *at_prompt);
        Self { life, sight: seen.map(|(sight, _)| sight), at_prompt }
    }

    /// What the program in the foreground does with what is typed.
    pub(crate) fn input(&self) -> InputState {
        match &self.sight {
            Some(sight) => sight.input,
            None if self.life.is_over() => InputState::None,
            None => InputState::Unknown,
        }
    }

    /// All of it in a word.
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
