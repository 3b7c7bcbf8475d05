//! What can be waited for. A condition is one file here and one line in [`CONDITION_KINDS`].

mod bell;
mod change;
mod error;
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

use super::moment::{Line, Moment};
pub use error::ERROR_PATTERNS;
pub(crate) use error::ErrorPatterns;

/// All kinds there are.
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

/// A kind of condition.
pub struct ConditionKind {
    /// How it is asked for.
    pub name: &'static str,
    /// What follows its name after a colon, if anything does.
    pub argument: Option<&'static str>,
    /// When it holds.
    pub help: &'static str,
    /// Makes one.
    make: fn(argument: &str, patterns: &ErrorPatterns) -> Made,
}

/// A condition, or what is wrong with its argument.
type Made = Result<Box<dyn Condition>, String>;

impl ConditionKind {
    /// How it is written.
    pub fn form(&self) -> String {
        match self.argument {
            Some(argument) => format!("{}:{argument}", self.name),
            None => self.name.to_owned(),
        }
    }

    pub(super) fn make(&self, argument: &str, patterns: &ErrorPatterns) -> Made {
        (self.make)(argument, patterns)
    }
}

/// What a condition has to be told beside output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing.
    Output,
    /// How much time has passed.
    Time,
    /// What the pane's program does.
    Program,
    /// What the screen shows.
    Screen,
}

/// Something to wait for. It keeps nothing, so that it can be asked about several panes.
pub(super) trait Condition: Send + Sync {
    /// What it has to be told.
    fn needs(&self) -> Needs {
        Needs::Output
    }

    /// Whether it holds because of a line that was printed.
    fn is_met_by(&self, line: &Line) -> bool {
        let _ = line;
        false
    }

    /// Whether it holds now, and what there is to say about it.
    fn holds(&self, moment: &Moment<'_>) -> Option<String> {
        let _ = moment;
        None
    }

    /// When it may hold although nothing happens until then.
    fn due(&self, moment: &Moment<'_>) -> Option<Instant> {
        let _ = moment;
        None
    }
}

/// A text that a line can hold.
fn line_text(argument: &str) -> Result<&str, String> {
    match argument {
        "" => Err("it needs a text behind the colon".to_owned()),
        text if text.contains(['\n', '\r']) => {
            Err("lines are looked at one by one, so it must not hold a line end".to_owned())
        }
        text => Ok(text),
    }
}

/// A number of seconds.
fn seconds(argument: &str) -> Result<Duration, String> {
    const LONGEST: f64 = 600.0;
    let number = argument.trim().trim_end_matches('s');
    match number.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= LONGEST => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("`{argument}` is not a number of seconds up to {LONGEST}")),
    }
}
