//! What is looked for in a buffer.

use std::fmt;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern as Atoms};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use regex::bytes::{Regex, RegexBuilder};

use crate::contract::ToolError;

/// How much memory a pattern may take, compiled and while it searches.
const LARGEST: usize = 1 << 20;

/// What is looked for, line by line.
pub(crate) enum Pattern {
    /// What a regular expression finds.
    Exact(Regex),
    /// Lines that hold the letters in their order, each with a score.
    Fuzzy(Box<Fuzzy>),
}

/// A fuzzy pattern and what it needs to be looked for.
pub(crate) struct Fuzzy {
    atoms: Atoms,
    matcher: Matcher,
    chars: Vec<char>,
}

impl Pattern {
    /// A text, or a regular expression.
    pub(crate) fn exact(text: &str, regex: bool, case: bool) -> Result<Self, ToolError> {
        check(text)?;
        if !regex && text.contains('\n') {
            return Err(ToolError::invalid_argument("`pattern` has a line end in it")
                .hint("lines are searched one by one: give a part of one line"));
        }
        let text = if regex { text.to_owned() } else { regex::escape(text) };
        let built = RegexBuilder::new(&text)
            .case_insensitive(!case)
            .size_limit(LARGEST)
            .dfa_size_limit(LARGEST)
            .build();
        built.map(Self::Exact).map_err(|error| {
            ToolError::invalid_argument(format!("`pattern`: {error}"))
                .hint("correct it, or leave out `regex` to find it literally")
        })
    }

    /// Letters that a line must hold in their order; words by themselves.
    pub(crate) fn fuzzy(text: &str, case: bool) -> Result<Self, ToolError> {
        check(text)?;
        let case = if case { CaseMatching::Respect } else { CaseMatching::Ignore };
        let atoms = Atoms::new(text, case, Normalization::Smart, AtomKind::Fuzzy);
        if atoms.atoms.is_empty() {
            return Err(ToolError::invalid_argument("`pattern` is blank").hint("say what to find"));
        }
        let matcher = Matcher::new(Config::DEFAULT);
        Ok(Self::Fuzzy(Box::new(Fuzzy { atoms, matcher, chars: Vec::new() })))
    }

    /// Whether the best matches are wanted and not the first.
    pub(crate) fn is_fuzzy(&self) -> bool {
        matches!(self, Self::Fuzzy(_))
    }
}

impl Fuzzy {
    /// How well a line fits, if at all.
    pub(super) fn score(&mut self, line: &[u8]) -> Option<u32> {
        let line = String::from_utf8_lossy(line);
        self.atoms.score(Utf32Str::new(&line, &mut self.chars), &mut self.matcher)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(regex) => f.debug_tuple("Exact").field(regex).finish(),
            Self::Fuzzy(fuzzy) => f.debug_tuple("Fuzzy").field(&fuzzy.atoms).finish(),
        }
    }
}

fn check(text: &str) -> Result<(), ToolError> {
    if text.is_empty() {
        return Err(ToolError::invalid_argument("`pattern` is empty").hint("say what to find"));
    }
    Ok(())
}
