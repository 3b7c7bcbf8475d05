//! The table of shapes that secrets have. Each row names its source, a text in which it finds a secret,
//! and a similar text that it leaves alone; a test tries both, and `docs/redaction.md` is made from it.
//!
//! - `cloud`: clouds, hosting and databases. `develop`: code, packages, builds and models. `service`:
//!   messages, payments, monitoring and others.
//! - `context`: secrets that the text beside them identifies, such as a name, a header or a command.

mod cloud;
mod context;
mod develop;
mod service;

use std::ops::Range;

use super::shapes::Candidate;

/// Decides whether a candidate is a secret, and returns its range.
pub(super) type FindRange = fn(&Candidate<'_>) -> Option<Range<usize>>;

/// One shape of a secret.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Kind, as shown in `[redacted:KIND]`.
    pub kind: &'static str,
    /// Where the format is documented: a man page, an RFC, or a rule of gitleaks.
    pub source: &'static str,
    /// A text with such a secret between `⟦` and `⟧`, or one that is a secret as a whole. `{36}` stands
    /// for so many letters and digits, `{hex32}`, `{upper16}` and `{digit9}` for those of a kind: no
    /// scanner takes this source for a leak.
    pub secret: &'static str,
    /// A similar text that is not a secret.
    pub harmless: &'static str,
    /// Pattern of its beginning.
    pub(super) pattern: &'static str,
    pub(super) range: FindRange,
}

impl Shape {
    const fn new(kind: &'static str, pattern: &'static str, range: FindRange) -> Self {
        Self { kind, source: "", secret: "", harmless: "", pattern, range }
    }

    const fn from(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    const fn finds(self, secret: &'static str) -> Self {
        Self { secret, ..self }
    }

    const fn leaves(self, harmless: &'static str) -> Self {
        Self { harmless, ..self }
    }
}

/// Secrets that their own text identifies. It must not begin inside a word, a name or a cursor of
/// `capture_since`.
pub(super) const WORDS: &[&[Shape]] =
    &[cloud::TOKENS, develop::TOKENS, service::TOKENS, context::COMMANDS];

/// Secrets that the text beside them identifies.
pub(super) const BESIDE: &[&[Shape]] = &[context::KEYS, context::ADDRESSES, context::NAMED];

/// All shapes.
pub fn shapes() -> impl Iterator<Item = &'static Shape> {
    WORDS.iter().chain(BESIDE).copied().flatten()
}
