//! Signals: their names, and sending one to the foreground program of a pane.

use rustix::io::Errno;
use rustix::process::{Signal, kill_process, kill_process_group};

use super::{Foreground, foreground, rustix_pid};

/// The signals that can be sent by name. Their numbers differ between systems.
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

/// Why a signal was not sent.
#[derive(Debug, thiserror::Error)]
pub enum SignalError {
    /// The process does not exist, or no program has its terminal.
    #[error("no program has the terminal of process `{0}`")]
    NoForeground(u32),
    /// The system refused, as for programs of other users.
    #[error("`{}` could not be signalled: {source}", foreground.name)]
    Refused {
        /// The program that was to be signalled.
        foreground: Foreground,
        /// Error of the system call.
        source: Errno,
    },
}

/// Parses the name of a signal, with or without `SIG` and in any case, or its number.
pub fn parse_signal(text: &str) -> Option<Signal> {
    let text = text.trim().to_ascii_uppercase();
    let name = text.strip_prefix("SIG").unwrap_or(&text);
    let number = text.parse();
    let found = SIGNALS.iter().find(|(known, signal)| {
        *known == name || number.as_ref().is_ok_and(|&number: &i32| signal.as_raw() == number)
    });
    found.map(|&(_, signal)| signal)
}

/// The names that [`parse_signal`] accepts.
pub fn signal_names() -> impl Iterator<Item = &'static str> {
    SIGNALS.iter().map(|(name, _)| *name)
}

/// The name of a signal, as [`parse_signal`] takes it.
pub(super) fn signal_name(signal: Signal) -> Option<&'static str> {
    SIGNALS.iter().find(|(_, known)| *known == signal).map(|&(name, _)| name)
}

/// Sends a signal to the foreground process group of the pane whose first process is `pid`, and
/// returns the program in it.
pub fn signal_foreground(pid: u32, signal: Signal) -> Result<Foreground, SignalError> {
    let program = foreground(pid).ok_or(SignalError::NoForeground(pid))?;
    // `kill` takes group 1 as -1, which stands for all processes.
    let group = rustix_pid(program.group)
        .filter(|group| group.as_raw_nonzero().get() > 1)
        .ok_or(SignalError::NoForeground(pid))?;
    match kill_process_group(group, signal) {
        Ok(()) => Ok(program),
        Err(source) => Err(SignalError::Refused { foreground: program, source }),
    }
}

/// Asks a process to end. Returns false if there is no such process, or it is not ours to end.
pub fn terminate(pid: u32) -> bool {
    rustix_pid(pid).is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signal_is_parsed_from_name_or_number() {
        for text in ["TERM", "SIGTERM", "term", "sigTerm", "15", " 15 "] {
            assert_eq!(parse_signal(text), Some(Signal::TERM), "{text}");
        }
        for text in ["", "SIG", "0", "-15", "999", "TERMINATE", "SIGSIGTERM", "SIG15"] {
            assert_eq!(parse_signal(text), None, "{text}");
        }
    }

    #[test]
    fn every_name_is_a_different_signal() {
        let mut numbers: Vec<i32> =
            signal_names().map(|name| parse_signal(name).unwrap().as_raw()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), SIGNALS.len());
    }
}
