//! `until`: the conditions of one watch, in the order they were given.

use std::fmt;
use std::sync::Arc;

use super::conditions::{CONDITION_KINDS, Condition, ConditionKind, ErrorPatterns, Needs};
use super::observation::{Observation, OutputLine};
use tokio::time::Instant;

/// The conditions of one watch.
#[derive(Clone)]
pub(crate) struct Until(Arc<[UntilEntry]>);

struct UntilEntry {
    /// The condition as the caller wrote it.
    text: String,
    condition: Box<dyn Condition>,
}

/// The reason why a text is not a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InvalidCondition {
    /// The list is empty.
    Empty,
    /// The kind of this condition is unknown.
    Unknown(String),
    /// The argument of this condition is invalid, for this reason.
    Argument(String, String),
}

impl Until {
    /// Parses conditions. `patterns` are those of the condition `error`.
    pub(crate) fn parse(
        text: &[String],
        patterns: &ErrorPatterns,
    ) -> Result<Self, InvalidCondition> {
        if text.is_empty() {
            return Err(InvalidCondition::Empty);
        }
        let entries: Result<Vec<UntilEntry>, InvalidCondition> = text
            .iter()
            .map(|text| {
                let condition = parse(text, patterns)?;
                Ok(UntilEntry { text: text.clone(), condition })
            })
            .collect();
        Ok(Self(entries?.into()))
    }

    /// Whether a condition needs this input.
    pub(super) fn needs(&self, needs: Needs) -> bool {
        self.0.iter().any(|entry| entry.condition.needs() == needs)
    }

    /// Whether the watch of a command ends once the command and all processes that it left running have
    /// ended: unless a condition is about the exit itself or about the shell at its prompt.
    pub(super) fn ends_with_processes(&self) -> bool {
        !self.0.iter().any(|entry| entry.condition.awaits_exit() || entry.condition.awaits_shell())
    }

    /// Whether a condition awaits the exit of the foreground program.
    pub(super) fn awaits_exit(&self) -> bool {
        self.0.iter().any(|entry| entry.condition.awaits_exit())
    }

    /// The first condition that holds and is not `reported` yet.
    pub(super) fn first(
        &self,
        observed: &Observation<'_>,
        lines: &[OutputLine],
        reported: impl Fn(usize, Option<&OutputLine>) -> bool,
    ) -> Option<HeldCondition> {
        self.0.iter().enumerate().find_map(|(index, entry)| {
            let is_met = |line: &&OutputLine| {
                entry.condition.is_met_by(line) && !reported(index, Some(line))
            };
            let line = lines.iter().find(is_met).cloned();
            let detail = match &line {
                Some(line) => line.shown.clone(),
                None => entry.condition.holds(observed).filter(|_| !reported(index, None))?,
            };
            Some(HeldCondition {
                index,
                condition: entry.text.clone(),
                detail,
                is_program_state: entry.condition.needs() == Needs::Program,
                line,
            })
        })
    }

    /// Earliest time at which a condition that is not `reported` yet may hold without any event.
    pub(super) fn due(
        &self,
        observed: &Observation<'_>,
        reported: impl Fn(usize) -> bool,
    ) -> Option<Instant> {
        let open = self.0.iter().enumerate().filter(|(index, _)| !reported(*index));
        open.filter_map(|(_, entry)| entry.condition.due(observed)).min()
    }
}

/// A condition that holds.
#[derive(Debug, Clone)]
pub(super) struct HeldCondition {
    /// Index in the list.
    pub(super) index: usize,
    /// The condition as the caller wrote it.
    pub(super) condition: String,
    /// The line that met it, or another detail such as the exit code.
    pub(super) detail: String,
    /// Whether it is about the state of the foreground program.
    pub(super) is_program_state: bool,
    pub(super) line: Option<OutputLine>,
}

impl fmt::Debug for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|entry| &entry.text)).finish()
    }
}

fn parse(text: &str, patterns: &ErrorPatterns) -> Result<Box<dyn Condition>, InvalidCondition> {
    let (name, argument) = match text.split_once(':') {
        Some((name, argument)) => (name, Some(argument)),
        None => (text, None),
    };
    let unknown = || InvalidCondition::Unknown(text.to_owned());
    let kind = CONDITION_KINDS.iter().find(|kind| kind.name == name.trim()).ok_or_else(unknown)?;
    let wrong = |why: String| InvalidCondition::Argument(text.to_owned(), why);
    match (kind.argument, argument) {
        (None, Some(_)) => Err(wrong(format!("`{name}` takes no argument"))),
        _ => kind.make(argument.unwrap_or_default(), patterns).map_err(wrong),
    }
}

impl fmt::Display for InvalidCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("`until` is empty"),
            Self::Unknown(text) => write!(f, "`until`: there is no condition `{text}`"),
            Self::Argument(text, why) => write!(f, "`until`: `{text}`: {why}"),
        }
    }
}

impl InvalidCondition {
    /// The next step for the caller.
    pub(crate) fn hint(&self) -> String {
        let forms: Vec<String> = CONDITION_KINDS.iter().map(ConditionKind::form).collect();
        let all = format!("the conditions are: {}", forms.join(", "));
        match self {
            Self::Unknown(text) => format!("to wait for text write `text:{text}`; {all}"),
            _ => all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &[&str]) -> String {
        let text: Vec<String> = text.iter().map(|&word| word.to_owned()).collect();
        let error = Until::parse(&text, &ErrorPatterns::default()).unwrap_err();
        format!("{error}: {}", error.hint())
    }

    #[test]
    fn invalid_condition_is_explained() {
        for (text, expected) in [
            (&[][..], "`until` is empty"),
            (
                &["exit", "Listening"],
                "no condition `Listening`: to wait for text write `text:Listening`",
            ),
            (&["text:"], "the text is missing"),
            (&["gone:a\nb"], "newline"),
            (&["regex:(a"], "`(a` is not a regular expression: unclosed group"),
            (&["idle:soon"], "`soon` is not a number of seconds"),
            (&["stable:0"], "`0` is not a number"),
            (&["idle"], "not a number"),
            (&["exit:3"], "takes no argument"),
            (&["txt:a"], "text:TEXT, regex:REGEX"),
        ] {
            let message = wrong(text);
            assert!(message.contains(expected), "{text:?}: {message}");
        }
    }
}
