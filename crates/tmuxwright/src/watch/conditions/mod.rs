//! The kinds of conditions. Each is one file here and one line in [`CONDITION_KINDS`].

mod bell;
mod change;
mod error;
mod error_table;
mod exit;
mod gone;
mod idle;
mod input;
mod password;
mod prompt;
mod regex;
mod stable;
mod text;

use std::time::Duration;

use tokio::time::Instant;

use super::observation::{Observation, OutputLine};
pub(crate) use error::ErrorPatterns;
pub use error_table::{ERROR_PATTERNS, ErrorPattern, HARMLESS_PATTERNS, HarmlessPattern};

/// All kinds of conditions, in the order of the documentation.
pub const CONDITION_KINDS: &[ConditionKind] = &[
    text::KIND,
    regex::KIND,
    gone::KIND,
    exit::KIND,
    prompt::KIND,
    input::KIND,
    password::KIND,
    error::KIND,
    bell::KIND,
    change::KIND,
    idle::KIND,
    stable::KIND,
];

/// The declaration of a kind of condition.
pub struct ConditionKind {
    /// Name in `until`.
    pub name: &'static str,
    /// Placeholder of the argument after the colon, if it takes one.
    pub argument: Option<&'static str>,
    /// Text for "holds when …".
    pub help: &'static str,
    /// Creates a condition from its argument.
    make: fn(argument: &str, patterns: &ErrorPatterns) -> ParsedCondition,
}

/// A condition, or the mistake in its argument.
type ParsedCondition = Result<Box<dyn Condition>, String>;

impl ConditionKind {
    /// The form in `until`, such as `text:TEXT`.
    pub fn form(&self) -> String {
        match self.argument {
            Some(argument) => format!("{}:{argument}", self.name),
            None => self.name.to_owned(),
        }
    }

    pub(super) fn make(&self, argument: &str, patterns: &ErrorPatterns) -> ParsedCondition {
        (self.make)(argument, patterns)
    }
}

/// The input that a condition needs besides output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// Output only.
    Output,
    /// The time.
    Time,
    /// The state of the foreground program.
    Program,
    /// Captures of the screen.
    Screen,
}

/// A condition. It has no state, so one can be tested on several panes.
pub(super) trait Condition: Send + Sync {
    /// The input that it needs.
    fn needs(&self) -> Needs {
        Needs::Output
    }

    /// Whether it awaits the exit of the foreground program.
    fn awaits_exit(&self) -> bool {
        false
    }

    /// Whether it holds when a shell is at its prompt.
    fn awaits_shell(&self) -> bool {
        false
    }

    /// Whether a new line meets it.
    fn is_met_by(&self, line: &OutputLine) -> bool {
        let _ = line;
        false
    }

    /// A detail to report, if it holds now.
    fn holds(&self, observed: &Observation<'_>) -> Option<String> {
        let _ = observed;
        None
    }

    /// Time at which it may hold without any event before.
    fn due(&self, observed: &Observation<'_>) -> Option<Instant> {
        let _ = observed;
        None
    }
}

/// Checks a text to be found in a line.
fn line_text(argument: &str) -> Result<&str, String> {
    match argument {
        "" => Err("the text is missing after the colon".to_owned()),
        text if text.contains(['\n', '\r']) => {
            Err("lines are matched one by one, so it must not contain a newline".to_owned())
        }
        text => Ok(text),
    }
}

/// Parses a number of seconds.
fn seconds(argument: &str) -> Result<Duration, String> {
    const MAX_SECONDS: f64 = 600.0;
    let number = argument.trim().trim_end_matches('s');
    match number.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= MAX_SECONDS => {
            Ok(Duration::from_secs_f64(seconds))
        }
        _ => Err(format!("`{argument}` is not a number of seconds up to {MAX_SECONDS}")),
    }
}
