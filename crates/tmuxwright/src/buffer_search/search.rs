//! One search through one buffer.

use std::ops::{ControlFlow, Range};

use super::found::{Found, Hit};
use super::pattern::Pattern;
use super::windows::{Sizes, Window, Windows};

/// How much of a line is shown, in bytes, and how much of that before the match.
const SHOWN: usize = 600;
const BEFORE: usize = 100;

/// A search that is given the buffer from its beginning, piece by piece.
pub(crate) struct Search<'a> {
    windows: Windows,
    looking: Looking<'a>,
}

struct Looking<'a> {
    pattern: &'a mut Pattern,
    /// Where matches may begin.
    range: Range<u64>,
    found: &'a mut Found,
    buffer: usize,
    /// The end of the last match: the next does not begin before.
    after: u64,
}

impl<'a> Search<'a> {
    /// Looks for matches that begin within `range` in the buffer of this number.
    pub(crate) fn new(
        pattern: &'a mut Pattern,
        range: Range<u64>,
        found: &'a mut Found,
        buffer: usize,
    ) -> Self {
        Self::with_sizes(pattern, range, found, buffer, Sizes::USUAL)
    }

    pub(super) fn with_sizes(
        pattern: &'a mut Pattern,
        range: Range<u64>,
        found: &'a mut Found,
        buffer: usize,
        sizes: Sizes,
    ) -> Self {
        let after = range.start;
        let looking = Looking { pattern, range, found, buffer, after };
        Self { windows: Windows::new(sizes), looking }
    }

    /// Takes a piece; ends when nothing more is wanted.
    pub(crate) fn push(&mut self, piece: &[u8]) -> ControlFlow<()> {
        let Self { windows, looking } = self;
        windows.push(piece, &mut |window| looking.look(window))
    }

    /// Nothing more comes.
    pub(crate) fn finish(&mut self) -> ControlFlow<()> {
        let Self { windows, looking } = self;
        windows.finish(&mut |window| looking.look(window))
    }

    /// From where on nothing has been looked at: where another search can go on.
    pub(crate) fn position(&self) -> u64 {
        self.windows.position().max(self.looking.after)
    }
}

impl Looking<'_> {
    fn look(&mut self, window: &Window<'_>) -> ControlFlow<()> {
        let begins = window.offset + window.from as u64;
        if begins >= self.range.end {
            return ControlFlow::Break(());
        }
        if window.offset + (window.until as u64) < self.after {
            return ControlFlow::Continue(());
        }
        if self.pattern.is_fuzzy() { self.score(window) } else { self.find(window) }
    }

    fn find(&mut self, window: &Window<'_>) -> ControlFlow<()> {
        let Pattern::Exact(regex) = &*self.pattern else { return ControlFlow::Continue(()) };
        let place = |offset: u64| usize::try_from(offset.saturating_sub(window.offset));
        let mut from = place(self.after).unwrap_or(usize::MAX).max(window.from);
        while from <= window.text.len()
            && let Some(found) = regex.find_at(window.text, from)
            && found.start() < window.until
        {
            let offset = window.offset + found.start() as u64;
            if offset >= self.range.end {
                return ControlFlow::Break(());
            }
            // A match of nothing is none, and the next must not be the same.
            from = found.end().max(found.start() + 1);
            if found.is_empty() {
                continue;
            }
            let hit = Hit {
                buffer: self.buffer,
                offset,
                length: found.len() as u64,
                line: window.line,
                score: None,
                text: around(window.text, found.start()),
            };
            self.after = window.offset + found.end() as u64;
            self.found.note(hit)?;
        }
        ControlFlow::Continue(())
    }

    /// A line is a match as a whole, and of a long one each window.
    fn score(&mut self, window: &Window<'_>) -> ControlFlow<()> {
        let line = window.text.get(window.from..).unwrap_or_default();
        let offset = window.offset + window.from as u64;
        if window.offset + window.until as u64 <= self.range.start {
            return ControlFlow::Continue(());
        }
        let Pattern::Fuzzy(fuzzy) = &mut *self.pattern else { return ControlFlow::Continue(()) };
        let Some(score) = fuzzy.score(line) else { return ControlFlow::Continue(()) };
        self.found.note(Hit {
            buffer: self.buffer,
            offset,
            length: line.len() as u64,
            line: window.line,
            score: Some(score),
            text: around(line, 0),
        })
    }
}

/// A line, or what is around a place in it.
fn around(line: &[u8], at: usize) -> String {
    if line.len() <= SHOWN {
        return String::from_utf8_lossy(line).into_owned();
    }
    let begin = boundary(line, at.saturating_sub(BEFORE));
    let end = boundary(line, (begin + SHOWN).min(line.len()));
    let mut shown = String::from_utf8_lossy(line.get(begin..end).unwrap_or_default()).into_owned();
    if begin > 0 {
        shown.insert(0, '…');
    }
    if end < line.len() {
        shown.push('…');
    }
    shown
}

/// The nearest place before that is not within a character.
fn boundary(line: &[u8], at: usize) -> usize {
    let within = |at: usize| line.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3)..=at).rev().find(|&at| !within(at)).unwrap_or(at)
}
