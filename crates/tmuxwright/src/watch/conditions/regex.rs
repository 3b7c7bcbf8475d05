//! `regex:…`: a line that this fits is printed.

use regex::Regex;

use super::{Condition, ConditionKind, line_text};
use crate::watch::moment::Line;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "regex",
    argument: Some("REGEX"),
    help: "a line that this regular expression fits is printed",
    make: |argument, _| Ok(Box::new(Fits(compile(line_text(argument)?)?))),
};

struct Fits(Regex);

impl Condition for Fits {
    fn is_met_by(&self, line: &Line) -> bool {
        is_fit(&self.0, line)
    }
}

/// Whether an expression fits something new in a line.
pub(super) fn is_fit(regex: &Regex, line: &Line) -> bool {
    regex.find_iter(&line.text).any(|found| found.end() > line.new_from || line.new_from == 0)
}

/// An expression, or what is wrong with it.
pub(super) fn compile(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| {
        let error = error.to_string();
        let why = error.trim().lines().next_back().unwrap_or_default();
        format!("`{text}` is no regular expression: {}", why.trim_start_matches("error: "))
    })
}
