//! Conversion of engine errors to [`ToolError`]. It is here because the engines must not know error
//! codes, and the contract must not know engines.

use crate::contract::{Code, ToolError};
use crate::run::Refusal;
use crate::watch::{InvalidCondition, TooManyWatched};

impl From<Refusal> for ToolError {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal {
            Refusal::Tmux(error) => return error.into(),
            Refusal::Busy { .. }
            | Refusal::Taken { .. }
            | Refusal::Contended { .. }
            | Refusal::Program { .. }
            | Refusal::Redrawn { .. }
            | Refusal::ShellBusy { .. }
            | Refusal::Starting { .. } => Code::Busy,
            Refusal::Continuation { .. }
            | Refusal::HalfTyped { .. }
            | Refusal::Dialog { .. }
            | Refusal::InnerMode { .. }
            | Refusal::KeysAreCommands { .. }
            | Refusal::NoReaction { .. }
            | Refusal::TabIsKey { .. }
            | Refusal::PersonActive { .. }
            | Refusal::Synchronized { .. }
            | Refusal::OutOfReach { .. }
            | Refusal::Question { .. }
            | Refusal::FullScreen { .. }
            | Refusal::NoAnswer { .. }
            | Refusal::NoEditor { .. }
            | Refusal::NoReader { .. } => Code::NotReady,
            Refusal::Io(_) => Code::Internal,
        };
        Self::new(code, refusal.to_string()).hint(refusal.hint())
    }
}

impl From<InvalidCondition> for ToolError {
    fn from(bad: InvalidCondition) -> Self {
        Self::invalid_argument(bad.to_string()).hint(bad.hint())
    }
}

impl From<TooManyWatched> for ToolError {
    fn from(refused: TooManyWatched) -> Self {
        Self::new(Code::Busy, refused.to_string())
            .hint("wait for the result of an earlier wait, then call again")
    }
}
