//! Windows on a stream of bytes: one for each line, or overlapping ones for a line too long to be held.
//! The cuts depend on the text alone, not on the pieces it came in.

use std::ops::ControlFlow;

use memchr::memchr;

/// Sizes of the windows of a long line, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct WindowSizes {
    /// Distance between the beginnings of two windows.
    pub(super) step: usize,
    /// Overlap of a window with the next: the longest match that is never cut.
    pub(super) overlap: usize,
    /// Bytes before the window that it includes, for patterns with look-behind such as `\b`.
    pub(super) back: usize,
}

impl WindowSizes {
    pub(super) const DEFAULT: Self = Self { step: 60 * 1024, overlap: 4 * 1024, back: 16 };
}

/// A line, or a part of a long one.
#[derive(Debug)]
pub(super) struct LineWindow<'a> {
    /// The bytes of the window, and a few before them.
    pub(super) text: &'a [u8],
    /// Offset of `text` in the stream.
    pub(super) offset: u64,
    /// Index in `text` from which a match may begin.
    pub(super) from: usize,
    /// Index in `text` before which a match must begin.
    pub(super) until: usize,
    /// Line number, from 1.
    pub(super) line: u64,
}

/// Cuts a stream into windows.
#[derive(Debug)]
pub(super) struct LineWindows {
    sizes: WindowSizes,
    /// Bytes not visited yet, and a few before them.
    held: Vec<u8>,
    /// Offset of `held` in the stream.
    start: u64,
    /// Index in `held` at which the next window begins.
    from: usize,
    /// Index in `held` up to which there is no line end.
    scanned: usize,
    /// Index in `held` at which the line begins; 0 if it began before.
    line_start: usize,
    line: u64,
}

impl LineWindows {
    pub(super) fn new(sizes: WindowSizes) -> Self {
        Self { sizes, held: Vec::new(), start: 0, from: 0, scanned: 0, line_start: 0, line: 1 }
    }

    /// Offset in the stream at which the next window begins.
    pub(super) fn position(&self) -> u64 {
        self.start + self.from as u64
    }

    /// Takes the next piece of the stream and visits all windows that are complete.
    pub(super) fn push(
        &mut self,
        piece: &[u8],
        visit: &mut impl FnMut(&LineWindow<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.drop_visited();
        self.held.extend_from_slice(piece);
        loop {
            let rest = self.held.get(self.scanned..).unwrap_or_default();
            if let Some(at) = memchr(b'\n', rest) {
                let end = self.scanned + at;
                self.line_until(end, visit)?;
                self.from = end + 1;
                (self.scanned, self.line_start) = (self.from, self.from);
                self.line += 1;
            } else {
                self.scanned = self.held.len();
                return self.long_line(self.held.len(), visit);
            }
        }
    }

    /// Visits the rest: a last line without a line end.
    pub(super) fn finish(
        &mut self,
        visit: &mut impl FnMut(&LineWindow<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let end = self.held.len();
        if self.from < end {
            self.line_until(end, visit)?;
            self.from = end;
        }
        ControlFlow::Continue(())
    }

    /// Visits the rest of the line that ends at `end`.
    fn line_until(
        &mut self,
        end: usize,
        visit: &mut impl FnMut(&LineWindow<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.long_line(end, visit)?;
        visit(&self.window(end, end))
    }

    /// Visits all windows but the last of a line that reaches at least to `end`.
    fn long_line(
        &mut self,
        end: usize,
        visit: &mut impl FnMut(&LineWindow<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let WindowSizes { step, overlap, .. } = self.sizes;
        while end - self.from > step + overlap {
            visit(&self.window(self.from + step, self.from + step + overlap))?;
            self.from += step;
        }
        ControlFlow::Continue(())
    }

    fn window(&self, until: usize, end: usize) -> LineWindow<'_> {
        let begin = self.from.saturating_sub(self.sizes.back).max(self.line_start);
        LineWindow {
            text: self.held.get(begin..end).unwrap_or_default(),
            offset: self.start + begin as u64,
            from: self.from - begin,
            until: until - begin,
            line: self.line,
        }
    }

    /// Drops the bytes that no later window needs.
    fn drop_visited(&mut self) {
        let gone = self.from.saturating_sub(self.sizes.back).max(self.line_start.min(self.from));
        self.held.drain(..gone);
        self.start += gone as u64;
        self.from -= gone;
        self.scanned -= gone;
        self.line_start = self.line_start.saturating_sub(gone);
    }
}
