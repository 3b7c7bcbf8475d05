//! One search through one buffer, window by window.

use std::ops::{ControlFlow, Range};

use super::hits::{Hit, HitList};
use super::pattern::BufferPattern;
use super::windows::{LineWindow, LineWindows, WindowSizes};

/// Bytes shown of a line.
const MAX_SHOWN_BYTES: usize = 600;

/// Bytes of a long line shown before the match.
const SHOWN_BEFORE_BYTES: usize = 100;

/// A search to which the buffer is given from its beginning, in pieces.
pub(crate) struct BufferSearch<'a> {
    windows: LineWindows,
    matcher: WindowMatcher<'a>,
}

/// Finds the matches in each window and adds them to the list.
struct WindowMatcher<'a> {
    pattern: &'a mut BufferPattern,
    /// Offsets at which a match may begin.
    range: Range<u64>,
    hits: &'a mut HitList,
    /// Number of the buffer.
    buffer: usize,
    /// End of the last match: the next one begins there or later.
    after: u64,
}

impl<'a> BufferSearch<'a> {
    /// A search for matches that begin within `range` in buffer number `buffer`.
    pub(crate) fn new(
        pattern: &'a mut BufferPattern,
        range: Range<u64>,
        hits: &'a mut HitList,
        buffer: usize,
    ) -> Self {
        Self::with_sizes(pattern, range, hits, buffer, WindowSizes::DEFAULT)
    }

    pub(super) fn with_sizes(
        pattern: &'a mut BufferPattern,
        range: Range<u64>,
        hits: &'a mut HitList,
        buffer: usize,
        sizes: WindowSizes,
    ) -> Self {
        let after = range.start;
        let matcher = WindowMatcher { pattern, range, hits, buffer, after };
        Self { windows: LineWindows::new(sizes), matcher }
    }

    /// Takes the next piece of the buffer; breaks once no more matches are needed.
    pub(crate) fn push(&mut self, piece: &[u8]) -> ControlFlow<()> {
        let Self { windows, matcher } = self;
        windows.push(piece, &mut |window| matcher.visit(window))
    }

    /// Searches the rest, at the end of the buffer.
    pub(crate) fn finish(&mut self) -> ControlFlow<()> {
        let Self { windows, matcher } = self;
        windows.finish(&mut |window| matcher.visit(window))
    }

    /// First offset not searched yet, at which another search can continue.
    pub(crate) fn position(&self) -> u64 {
        self.windows.position().max(self.matcher.after)
    }
}

impl WindowMatcher<'_> {
    fn visit(&mut self, window: &LineWindow<'_>) -> ControlFlow<()> {
        let begins = window.offset + window.from as u64;
        if begins >= self.range.end {
            return ControlFlow::Break(());
        }
        if window.offset + (window.until as u64) < self.after {
            return ControlFlow::Continue(());
        }
        if self.pattern.is_fuzzy() { self.score(window) } else { self.find(window) }
    }

    fn find(&mut self, window: &LineWindow<'_>) -> ControlFlow<()> {
        let BufferPattern::Exact(regex) = &*self.pattern else { return ControlFlow::Continue(()) };
        let within = |offset: u64| usize::try_from(offset.saturating_sub(window.offset));
        let mut from = within(self.after).unwrap_or(usize::MAX).max(window.from);
        while from <= window.text.len()
            && let Some(found) = regex.find_at(window.text, from)
            && found.start() < window.until
        {
            let offset = window.offset + found.start() as u64;
            if offset >= self.range.end {
                return ControlFlow::Break(());
            }
            // Empty matches do not count; stepping past one keeps it from being found again.
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
            self.hits.push(hit)?;
        }
        ControlFlow::Continue(())
    }

    /// Scores a whole line as one match; of a long line, each window.
    fn score(&mut self, window: &LineWindow<'_>) -> ControlFlow<()> {
        let line = window.text.get(window.from..).unwrap_or_default();
        let offset = window.offset + window.from as u64;
        if window.offset + window.until as u64 <= self.range.start {
            return ControlFlow::Continue(());
        }
        let BufferPattern::Fuzzy(fuzzy) = &mut *self.pattern else {
            return ControlFlow::Continue(());
        };
        let Some(score) = fuzzy.score(line) else { return ControlFlow::Continue(()) };
        self.hits.push(Hit {
            buffer: self.buffer,
            offset,
            length: line.len() as u64,
            line: window.line,
            score: Some(score),
            text: around(line, 0),
        })
    }
}

/// A line; of a long one, the part around the byte `at`.
fn around(line: &[u8], at: usize) -> String {
    if line.len() <= MAX_SHOWN_BYTES {
        return String::from_utf8_lossy(line).into_owned();
    }
    let begin = boundary(line, at.saturating_sub(SHOWN_BEFORE_BYTES));
    let end = boundary(line, (begin + MAX_SHOWN_BYTES).min(line.len()));
    let mut shown = String::from_utf8_lossy(line.get(begin..end).unwrap_or_default()).into_owned();
    if begin > 0 {
        shown.insert(0, '…');
    }
    if end < line.len() {
        shown.push('…');
    }
    shown
}

/// The nearest character boundary at or before the byte `at`.
fn boundary(line: &[u8], at: usize) -> usize {
    let within = |at: usize| line.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3)..=at).rev().find(|&at| !within(at)).unwrap_or(at)
}
