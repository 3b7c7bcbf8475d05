//! The condition `regex:…`: a line that matches a regular expression is printed.

use regex::Regex;

use super::{Condition, ConditionKind, line_text};
use crate::watch::observation::OutputLine;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "regex",
    argument: Some("REGEX"),
    help: "a line that matches this regular expression is printed",
    make: |argument, _| Ok(Box::new(RegexMatch(compile(line_text(argument)?)?))),
};

struct RegexMatch(Regex);

impl Condition for RegexMatch {
    fn is_met_by(&self, line: &OutputLine) -> bool {
        matches_new_text(&self.0, line)
    }
}

/// Whether an expression matches new text in a line.
pub(super) fn matches_new_text(regex: &Regex, line: &OutputLine) -> bool {
    regex.find_iter(&line.text).any(|found| found.end() > line.new_from || line.new_from == 0)
}

/// Compiles an expression. The error names it and the mistake.
pub(super) fn compile(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| {
        let error = error.to_string();
        let why = error.trim().lines().next_back().unwrap_or_default();
        format!("`{text}` is not a regular expression: {}", why.trim_start_matches("error: "))
    })
}
