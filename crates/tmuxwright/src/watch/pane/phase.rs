//! The life of a watched pane, as states and the transitions between them.
//!
//! ```text
//! Live ──────────> Exiting ──> Exited      the pane's own process has exited
//!   └──> Ended ──> Finished                a watched command has ended, then all that it left running
//! any ───────────> Lost                    the pane is gone, or has another program
//! ```

use crate::watch::WatchLost;

/// The state of a watched pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// A program, or the shell at its prompt, has the terminal.
    Live,
    /// The watched command has ended. Processes that it left running may still print.
    Ended,
    /// The command has ended, and every process that it left running has exited.
    Finished,
    /// The pane's own process has exited; its last output is being read.
    Exiting,
    /// The pane's own process has exited, and all its output was read.
    Exited,
    /// The pane can no longer be watched.
    Lost(WatchLost),
}

impl Phase {
    /// Whether the pane can no longer be watched.
    pub(super) fn is_lost(self) -> bool {
        matches!(self, Self::Lost(_))
    }

    /// The watched command has ended, and no condition is about its exit or its shell.
    pub(super) fn command_ended(&mut self) {
        if *self == Self::Live {
            *self = Self::Ended;
        }
    }

    /// The last process that the command left running has exited.
    pub(super) fn processes_gone(&mut self) {
        if *self == Self::Ended {
            *self = Self::Finished;
        }
    }

    /// Another process of the command was found after all.
    pub(super) fn process_found(&mut self) {
        if *self == Self::Finished {
            *self = Self::Ended;
        }
    }

    /// The pane's own process has exited.
    pub(super) fn process_exited(&mut self) {
        if !self.is_lost() && *self != Self::Exited {
            *self = Self::Exiting;
        }
    }

    /// All output of the pane's own process was read.
    pub(super) fn output_read(&mut self) {
        if *self == Self::Exiting {
            *self = Self::Exited;
        }
    }

    /// The pane can no longer be watched. The first reason counts.
    pub(super) fn lose(&mut self, why: WatchLost) {
        if !self.is_lost() {
            *self = Self::Lost(why);
        }
    }
}

/// The exit of the foreground program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgramExit {
    /// The program runs, or none ran since the watch began.
    None,
    /// The program has exited, with this code if it is known.
    Unreported(Option<i32>),
    /// The exit was reported, with this code.
    Reported(Option<i32>),
}

impl ProgramExit {
    /// The exit that is still to be reported; the inner value is the exit code.
    pub(super) fn unreported(self) -> Option<Option<i32>> {
        match self {
            Self::Unreported(code) => Some(code),
            Self::None | Self::Reported(_) => None,
        }
    }

    /// The exit code, if the program has exited and it is known.
    pub(super) fn code(self) -> Option<i32> {
        match self {
            Self::Unreported(code) | Self::Reported(code) => code,
            Self::None => None,
        }
    }

    /// The exit was reported.
    pub(super) fn report(&mut self) {
        *self = Self::Reported(self.code());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_loss_is_final() {
        let mut phase = Phase::Live;
        phase.lose(WatchLost::ServerGone);
        phase.process_exited();
        phase.output_read();
        phase.command_ended();
        assert_eq!(phase, Phase::Lost(WatchLost::ServerGone));
    }

    #[test]
    fn exit_of_the_pane_follows_the_command() {
        let mut phase = Phase::Live;
        phase.command_ended();
        phase.processes_gone();
        assert_eq!(phase, Phase::Finished);
        phase.process_found();
        phase.process_exited();
        phase.output_read();
        assert_eq!(phase, Phase::Exited);
    }
}
