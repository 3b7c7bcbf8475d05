//! Signals: their names, and sending one to the program in the foreground.

use rustix::io::Errno;
use rustix::process::{Signal, kill_process_group};

use super::{Foreground, foreground, rustix_pid};

/// Every signal that can be named, on each system under the number it has there.
const SIGNALS: &[(&str, Signal)] = &[
    ("HUP", Signal::HUP),
    ("INT", Signal::INT),
    ("QUIT", Signal::QUIT),
    ("ILL", Signal::ILL),
    ("TRAP", Signal::TRAP),
    ("ABRT", Signal::ABORT),
    ("BUS", Signal::BUS),
    ("FPE", Signal::FPE),
    ("KILL", Signal::KILL),
    ("USR1", Signal::USR1),
    ("SEGV", Signal::SEGV),
    ("USR2", Signal::USR2),
    ("PIPE", Signal::PIPE),
    ("ALRM", Signal::ALARM),
    ("TERM", Signal::TERM),
    ("CHLD", Signal::CHILD),
    ("CONT", Signal::CONT),
    ("STOP", Signal::STOP),
    ("TSTP", Signal::TSTP),
    ("TTIN", Signal::TTIN),
    ("TTOU", Signal::TTOU),
    ("URG", Signal::URG),
    ("XCPU", Signal::XCPU),
    ("XFSZ", Signal::XFSZ),
    ("VTALRM", Signal::VTALARM),
    ("PROF", Signal::PROF),
    ("WINCH", Signal::WINCH),
    ("IO", Signal::IO),
    ("SYS", Signal::SYS),
];

/// Why a signal did not arrive.
#[derive(Debug, thiserror::Error)]
pub enum SignalError {
    /// There is no such process, or no program has its terminal.
    #[error("no program has the terminal of process `{0}`")]
    NoForeground(u32),
    /// The system refused, as it does for programs of other users.
    #[error("`{}` could not be signalled: {source}", foreground.name)]
    Refused {
        /// The program it was for.
        foreground: Foreground,
        /// What the system said.
        source: Errno,
    },
}

/// A signal from its name, with or without `SIG`, in any case, or from its number.
pub fn parse_signal(text: &str) -> Option<Signal> {
    let text = text.trim().to_ascii_uppercase();
    let name = text.strip_prefix("SIG").unwrap_or(&text);
    let number = text.parse();
    let found = SIGNALS.iter().find(|(known, signal)| {
        *known == name || number.as_ref().is_ok_and(|&number: &i32| signal.as_raw() == number)
    });
    found.map(|&(_, signal)| signal)
}

/// The names that [`parse_signal`] knows.
pub fn signal_names() -> impl Iterator<Item = &'static str> {
    SIGNALS.iter().map(|(name, _)| *name)
}

/// Sends a signal to the foreground process group of the pane whose first process is `pid`, and
/// tells the program it went to.
pub fn signal_foreground(pid: u32, signal: Signal) -> Result<Foreground, SignalError> {
    let program = foreground(pid).ok_or(SignalError::NoForeground(pid))?;
    // Group 1 would be written -1: every process there is.
    let group = rustix_pid(program.group)
        .filter(|group| group.as_raw_nonzero().get() > 1)
        .ok_or(SignalError::NoForeground(pid))?;
    match kill_process_group(group, signal) {
        Ok(()) => Ok(program),
        Err(source) => Err(SignalError::Refused { foreground: program, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_has_a_name_and_a_number() {
        for text in ["TERM", "SIGTERM", "term", "sigTerm", "15", " 15 "] {
            assert_eq!(parse_signal(text), Some(Signal::TERM), "{text}");
        }
        for text in ["", "SIG", "0", "-15", "999", "TERMINATE", "SIGSIGTERM", "SIG15"] {
            assert_eq!(parse_signal(text), None, "{text}");
        }
    }

    #[test]
    fn every_name_is_known_and_is_another_signal() {
        let mut numbers: Vec<i32> =
            signal_names().map(|name| parse_signal(name).unwrap().as_raw()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), SIGNALS.len());
    }
}
