//! The condition `error`: a line that looks like an error is printed.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexSet};

use super::error_table::{ERROR_PATTERNS, HARMLESS_PATTERNS, HarmlessPattern};
use super::{Condition, ConditionKind, regex as expression};
use crate::watch::observation::OutputLine;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "error",
    argument: None,
    help: "a line that looks like an error is printed",
    make: |_, patterns| Ok(Box::new(ErrorLine(patterns.compiled()?))),
};

/// The patterns in force. They are compiled on first use: that takes some milliseconds, and most servers
/// never need them. Given patterns are taken as they are; only lines that match the built-in ones are
/// searched for texts that report no error.
#[derive(Debug, Clone)]
pub(crate) struct ErrorPatterns {
    errors: Arc<[String]>,
    harmless: &'static [HarmlessPattern],
    compiled: Arc<OnceLock<CompiledPatterns>>,
}

#[derive(Debug, Clone)]
struct CompiledPatterns {
    errors: RegexSet,
    harmless: Arc<[Regex]>,
}

impl ErrorPatterns {
    /// Compiles patterns. The error names the invalid one.
    pub(crate) fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let patterns = Self::uncompiled(patterns, &[]);
        patterns.compiled()?;
        Ok(patterns)
    }

    fn uncompiled<'a>(
        errors: impl IntoIterator<Item = &'a str>,
        harmless: &'static [HarmlessPattern],
    ) -> Self {
        let errors = errors.into_iter().map(str::to_owned).collect();
        Self { errors, harmless, compiled: Arc::default() }
    }

    fn compiled(&self) -> Result<CompiledPatterns, String> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled.clone());
        }
        let errors = RegexSet::new(&*self.errors).or_else(|error| {
            // The error of a set does not name the pattern.
            self.errors.iter().try_for_each(|text| expression::compile(text).map(drop))?;
            Err(error.to_string())
        })?;
        let harmless = self.harmless.iter().map(|it| expression::compile(it.regex));
        let compiled = CompiledPatterns { errors, harmless: harmless.collect::<Result<_, _>>()? };
        Ok(self.compiled.get_or_init(|| compiled).clone())
    }
}

impl Default for ErrorPatterns {
    fn default() -> Self {
        Self::uncompiled(ERROR_PATTERNS.iter().map(|pattern| pattern.regex), HARMLESS_PATTERNS)
    }
}

impl CompiledPatterns {
    /// Whether a line matches, and still does without the texts that report no error.
    fn matches(&self, text: &str) -> bool {
        if !self.errors.is_match(text) {
            return false;
        }
        let mut rest = Cow::Borrowed(text);
        for harmless in self.harmless.iter().filter(|it| it.is_match(text)) {
            rest = Cow::Owned(harmless.replace_all(&rest, "").into_owned());
        }
        matches!(rest, Cow::Borrowed(_)) || self.errors.is_match(&rest)
    }
}

struct ErrorLine(CompiledPatterns);

impl Condition for ErrorLine {
    /// Only whole lines count: `error` may be the beginning of `error-free`.
    fn is_met_by(&self, line: &OutputLine) -> bool {
        line.is_whole && line.text.len() > line.new_from && self.0.matches(line.text.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines that report an error, and lines that do not, each after the program that prints it.
    const ERRORS: &str = include_str!("../../../tests/corpus/errors.tsv");
    const HARMLESS: &str = include_str!("../../../tests/corpus/harmless.tsv");

    fn lines(corpus: &'static str) -> Vec<&'static str> {
        corpus.lines().map(|row| row.split_once('\t').unwrap().1).collect()
    }

    #[test]
    fn corpus_is_told_apart() {
        let patterns = ErrorPatterns::default().compiled().unwrap();
        let (errors, harmless) = (lines(ERRORS), lines(HARMLESS));
        assert!(errors.len() >= 200 && harmless.len() >= 100);
        let missed: Vec<_> = errors.iter().filter(|line| !patterns.matches(line)).collect();
        let false_alarms: Vec<_> = harmless.iter().filter(|line| patterns.matches(line)).collect();
        assert!(missed.len() * 100 <= errors.len() * 5, "{missed:#?}");
        assert!(false_alarms.len() * 100 <= harmless.len() * 2, "{false_alarms:#?}");
    }

    #[test]
    fn every_pattern_finds_its_example() {
        let patterns = ErrorPatterns::default().compiled().unwrap();
        for (index, pattern) in ERROR_PATTERNS.iter().enumerate() {
            let found = patterns.errors.matches(pattern.example);
            assert!(found.matched(index), "{}: {}", pattern.source, pattern.example);
            assert!(patterns.matches(pattern.example), "{}", pattern.example);
        }
        for (pattern, regex) in HARMLESS_PATTERNS.iter().zip(patterns.harmless.iter()) {
            assert!(regex.is_match(pattern.example), "{}", pattern.meaning);
            assert!(!patterns.matches(pattern.example), "{}", pattern.example);
        }
    }

    #[test]
    fn given_patterns_are_taken_as_they_are() {
        let patterns = ErrorPatterns::new(["errors"]).unwrap().compiled().unwrap();
        assert!(patterns.matches("0 errors"));
        assert!(!patterns.matches("error: no"));
    }
}
