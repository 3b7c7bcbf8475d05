//! `until`: the conditions of one watch, in the order they were given.

use std::fmt;
use std::sync::Arc;

use super::conditions::{CONDITION_KINDS, Condition, ConditionKind, ErrorPatterns, Needs};
use super::moment::{Line, Moment};
use tokio::time::Instant;

/// The conditions of one watch.
#[derive(Clone)]
pub(crate) struct Until(Arc<[Wanted]>);

struct Wanted {
    /// As it was given.
    words: String,
    condition: Box<dyn Condition>,
}

/// Why something is no condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InvalidCondition {
    /// None was given.
    Empty,
    /// There is no such kind.
    Unknown(String),
    /// Its argument is wrong: this is why.
    Argument(String, String),
}

impl Until {
    /// Reads conditions. `patterns` say what an error looks like.
    pub(crate) fn parse(
        words: &[String],
        patterns: &ErrorPatterns,
    ) -> Result<Self, InvalidCondition> {
        if words.is_empty() {
            return Err(InvalidCondition::Empty);
        }
        let wanted: Result<Vec<Wanted>, InvalidCondition> = words
            .iter()
            .map(|words| {
                let condition = parse(words, patterns)?;
                Ok(Wanted { words: words.clone(), condition })
            })
            .collect();
        Ok(Self(wanted?.into()))
    }

    /// Whether one of them has to be told this.
    pub(super) fn needs(&self, needs: Needs) -> bool {
        self.0.iter().any(|wanted| wanted.condition.needs() == needs)
    }

    /// Whether only output can make one of them hold.
    pub(super) fn is_about_output(&self) -> bool {
        self.0.iter().all(|wanted| wanted.condition.needs() == Needs::Output)
    }

    /// The first that holds and is not `told`, in the words it was given in, and what there is to
    /// say about it.
    pub(super) fn first(
        &self,
        moment: &Moment<'_>,
        lines: &[Line],
        told: impl Fn(usize, Option<&Line>) -> bool,
    ) -> Option<Held> {
        self.0.iter().enumerate().find_map(|(index, wanted)| {
            let is_met =
                |line: &&Line| wanted.condition.is_met_by(line) && !told(index, Some(line));
            let line = lines.iter().find(is_met).cloned();
            let detail = match &line {
                Some(line) => line.shown.clone(),
                None => wanted.condition.holds(moment).filter(|_| !told(index, None))?,
            };
            Some(Held { index, condition: wanted.words.clone(), detail, line })
        })
    }

    /// When one of them that is not `told` may hold although nothing happens until then.
    pub(super) fn due(&self, moment: &Moment<'_>, told: impl Fn(usize) -> bool) -> Option<Instant> {
        let open = self.0.iter().enumerate().filter(|(index, _)| !told(*index));
        open.filter_map(|(_, wanted)| wanted.condition.due(moment)).min()
    }
}

/// A condition that holds.
#[derive(Debug, Clone)]
pub(super) struct Held {
    /// Which one it is.
    pub(super) index: usize,
    /// As it was given.
    pub(super) condition: String,
    /// The line that made it hold, or what else there is to say.
    pub(super) detail: String,
    pub(super) line: Option<Line>,
}

impl fmt::Debug for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|wanted| &wanted.words)).finish()
    }
}

fn parse(words: &str, patterns: &ErrorPatterns) -> Result<Box<dyn Condition>, InvalidCondition> {
    let (name, argument) = match words.split_once(':') {
        Some((name, argument)) => (name, Some(argument)),
        None => (words, None),
    };
    let unknown = || InvalidCondition::Unknown(words.to_owned());
    let kind = CONDITION_KINDS.iter().find(|kind| kind.name == name.trim()).ok_or_else(unknown)?;
    let wrong = |why: String| InvalidCondition::Argument(words.to_owned(), why);
    match (kind.argument, argument) {
        (None, Some(_)) => Err(wrong(format!("`{name}` takes nothing behind it"))),
        _ => kind.make(argument.unwrap_or_default(), patterns).map_err(wrong),
    }
}

impl fmt::Display for InvalidCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("`until` is empty"),
            Self::Unknown(words) => write!(f, "`until`: there is no condition `{words}`"),
            Self::Argument(words, why) => write!(f, "`until`: `{words}`: {why}"),
        }
    }
}

impl InvalidCondition {
    /// What to do about it.
    pub(crate) fn hint(&self) -> String {
        let forms: Vec<String> = CONDITION_KINDS.iter().map(ConditionKind::form).collect();
        let all = format!("the conditions are: {}", forms.join(", "));
        match self {
            Self::Unknown(words) => format!("for a text write `text:{words}`; {all}"),
            _ => all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let error = Until::parse(&words, &ErrorPatterns::default()).unwrap_err();
        format!("{error}: {}", error.hint())
    }

    #[test]
    fn what_is_no_condition_is_said() {
        for (words, says) in [
            (&[][..], "`until` is empty"),
            (&["exit", "Listening"], "no condition `Listening`: for a text write `text:Listening`"),
            (&["text:"], "needs a text"),
            (&["gone:a\nb"], "line end"),
            (&["regex:(a"], "`(a` is no regular expression: unclosed group"),
            (&["idle:soon"], "`soon` is not a number of seconds"),
            (&["stable:0"], "`0` is not a number"),
            (&["idle"], "not a number"),
            (&["exit:3"], "takes nothing"),
            (&["txt:a"], "text:TEXT, regex:REGEX"),
        ] {
            let text = wrong(words);
            assert!(text.contains(says), "{words:?}: {text}");
        }
    }
}
