//! The judgement whether a program reads input, from its wait and the terminal's mode. Pure.

use super::super::InputState;
use super::super::terminal::TerminalMode;

/// Whether a thread or a process waits for the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TerminalWait {
    /// No.
    No,
    /// Unknown, but it has the terminal open and waits for several files.
    Perhaps,
    /// The kernel does not say.
    Hidden,
    /// Yes, among other files, with a time limit, or beside another thread.
    Shared,
    /// Yes, and for nothing else.
    Lone,
}

impl TerminalWait {
    /// The input state, given the terminal's mode.
    pub(crate) fn input(self, mode: TerminalMode) -> InputState {
        match (self, mode) {
            (Self::Shared | Self::Lone, mode) => mode.input(),
            // A program that changes the terminal's mode reads from it.
            (Self::Perhaps, TerminalMode::Raw | TerminalMode::NoEcho) => mode.input(),
            (Self::Perhaps, TerminalMode::Line) | (Self::No, _) => InputState::None,
            // Typical of password prompts, which often run as another user: sudo, su.
            (Self::Hidden, TerminalMode::NoEcho) => InputState::Password,
            (Self::Hidden, _) => InputState::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_and_mode_give_the_input_state() {
        for (waits, line, hidden, raw) in [
            (TerminalWait::Lone, InputState::Line, InputState::Password, InputState::Raw),
            (TerminalWait::Shared, InputState::Line, InputState::Password, InputState::Raw),
            (TerminalWait::Perhaps, InputState::None, InputState::Password, InputState::Raw),
            (TerminalWait::Hidden, InputState::Unknown, InputState::Password, InputState::Unknown),
            (TerminalWait::No, InputState::None, InputState::None, InputState::None),
        ] {
            let found = [TerminalMode::Line, TerminalMode::NoEcho, TerminalMode::Raw]
                .map(|mode| waits.input(mode));
            assert_eq!(found, [line, hidden, raw], "{waits:?}");
        }
    }
}
