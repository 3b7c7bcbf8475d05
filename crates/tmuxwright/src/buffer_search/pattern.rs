//! Pattern of a buffer search: text, regular expression, or fuzzy.

use std::fmt;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern as Atoms};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use regex::bytes::{Regex, RegexBuilder};

use crate::contract::ToolError;

/// Memory limit of a regular expression: of the compiled program, and of the cache while it searches.
const MAX_REGEX_BYTES: usize = 1 << 20;

/// Pattern that is matched line by line.
pub(crate) enum BufferPattern {
    /// A regular expression; plain text is escaped into one.
    Exact(Regex),
    /// Letters that a line must hold in this order; a matching line has a score.
    Fuzzy(Box<Fuzzy>),
}

/// A fuzzy pattern with the matcher's working memory.
pub(crate) struct Fuzzy {
    atoms: Atoms,
    matcher: Matcher,
    chars: Vec<char>,
}

impl BufferPattern {
    /// Compiles a text or a regular expression.
    pub(crate) fn exact(text: &str, regex: bool, case: bool) -> Result<Self, ToolError> {
        not_empty(text)?;
        if !regex && text.contains('\n') {
            return Err(ToolError::invalid_argument("`pattern` has a line end in it")
                .hint("lines are searched one by one: give text within one line"));
        }
        let text = if regex { text.to_owned() } else { regex::escape(text) };
        let built = RegexBuilder::new(&text)
            .case_insensitive(!case)
            .size_limit(MAX_REGEX_BYTES)
            .dfa_size_limit(MAX_REGEX_BYTES)
            .build();
        built.map(Self::Exact).map_err(|error| {
            ToolError::invalid_argument(format!("`pattern`: {error}"))
                .hint("correct it, or leave out `regex` to search for it literally")
        })
    }

    /// Compiles a fuzzy pattern; each of its words is matched by itself.
    pub(crate) fn fuzzy(text: &str, case: bool) -> Result<Self, ToolError> {
        not_empty(text)?;
        let case = if case { CaseMatching::Respect } else { CaseMatching::Ignore };
        let atoms = Atoms::new(text, case, Normalization::Smart, AtomKind::Fuzzy);
        if atoms.atoms.is_empty() {
            return Err(
                ToolError::invalid_argument("`pattern` is blank").hint("give the text to find")
            );
        }
        let matcher = Matcher::new(Config::DEFAULT);
        Ok(Self::Fuzzy(Box::new(Fuzzy { atoms, matcher, chars: Vec::new() })))
    }

    /// Whether matches have a score, so that the best are kept instead of the first.
    pub(crate) fn is_fuzzy(&self) -> bool {
        matches!(self, Self::Fuzzy(_))
    }
}

impl Fuzzy {
    /// Score of a line; `None` if it does not match.
    pub(super) fn score(&mut self, line: &[u8]) -> Option<u32> {
        let line = String::from_utf8_lossy(line);
        self.atoms.score(Utf32Str::new(&line, &mut self.chars), &mut self.matcher)
    }
}

impl fmt::Debug for BufferPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(regex) => f.debug_tuple("Exact").field(regex).finish(),
            Self::Fuzzy(fuzzy) => f.debug_tuple("Fuzzy").field(&fuzzy.atoms).finish(),
        }
    }
}

fn not_empty(text: &str) -> Result<(), ToolError> {
    if text.is_empty() {
        return Err(ToolError::invalid_argument("`pattern` is empty").hint("give the text to find"));
    }
    Ok(())
}
