//! Cuts a stream of bytes into lines, and lines that are too long to be held into windows that
//! overlap. Where the cuts are depends on the text alone, not on the pieces it came in.

use std::ops::ControlFlow;

use memchr::memchr;

/// How long lines are cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// How far each window of a long line is from the one before.
    pub(super) step: usize,
    /// How far a window reaches into the next: the longest match that is surely whole.
    pub(super) overlap: usize,
    /// How much of what comes before is shown with it, for patterns that look back.
    pub(super) back: usize,
}

impl Sizes {
    pub(super) const USUAL: Self = Self { step: 60 * 1024, overlap: 4 * 1024, back: 16 };
}

/// A line, or a part of a long one.
#[derive(Debug)]
pub(super) struct Window<'a> {
    /// Its bytes, and a few before them.
    pub(super) text: &'a [u8],
    /// Where the bytes are in the stream.
    pub(super) offset: u64,
    /// Where in the bytes the first match may begin.
    pub(super) from: usize,
    /// Before where in the bytes the last match must begin.
    pub(super) until: usize,
    /// The number of the line, from 1.
    pub(super) line: u64,
}

#[derive(Debug)]
pub(super) struct Windows {
    sizes: Sizes,
    /// What has not been looked at, and a few bytes before.
    held: Vec<u8>,
    /// Where in the stream that begins.
    start: u64,
    /// Where in it the next window begins.
    from: usize,
    /// Up to where in it no line ends.
    looked: usize,
    /// Where in it the line begins; 0 if that was before.
    line_start: usize,
    line: u64,
}

impl Windows {
    pub(super) fn new(sizes: Sizes) -> Self {
        Self { sizes, held: Vec::new(), start: 0, from: 0, looked: 0, line_start: 0, line: 1 }
    }

    /// Where the next window begins in the stream.
    pub(super) fn position(&self) -> u64 {
        self.start + self.from as u64
    }

    /// Takes a piece and shows all windows that are complete.
    pub(super) fn push(
        &mut self,
        piece: &[u8],
        visit: &mut impl FnMut(&Window<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.forget();
        self.held.extend_from_slice(piece);
        loop {
            let rest = self.held.get(self.looked..).unwrap_or_default();
            if let Some(at) = memchr(b'\n', rest) {
                let end = self.looked + at;
                self.line_until(end, visit)?;
                self.from = end + 1;
                (self.looked, self.line_start) = (self.from, self.from);
                self.line += 1;
            } else {
                self.looked = self.held.len();
                return self.long_line(self.held.len(), visit);
            }
        }
    }

    /// Shows what is left: a line that has no end.
    pub(super) fn finish(
        &mut self,
        visit: &mut impl FnMut(&Window<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let end = self.held.len();
        if self.from < end {
            self.line_until(end, visit)?;
            self.from = end;
        }
        ControlFlow::Continue(())
    }

    /// The rest of a line that ends here.
    fn line_until(
        &mut self,
        end: usize,
        visit: &mut impl FnMut(&Window<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.long_line(end, visit)?;
        visit(&self.window(end, end))
    }

    /// The windows of a line that goes on at least up to here, but for its last.
    fn long_line(
        &mut self,
        end: usize,
        visit: &mut impl FnMut(&Window<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Sizes { step, overlap, .. } = self.sizes;
        while end - self.from > step + overlap {
            visit(&self.window(self.from + step, self.from + step + overlap))?;
            self.from += step;
        }
        ControlFlow::Continue(())
    }

    fn window(&self, until: usize, end: usize) -> Window<'_> {
        let begin = self.from.saturating_sub(self.sizes.back).max(self.line_start);
        Window {
            text: self.held.get(begin..end).unwrap_or_default(),
            offset: self.start + begin as u64,
            from: self.from - begin,
            until: until - begin,
            line: self.line,
        }
    }

    /// Lets go of what has been shown.
    fn forget(&mut self) {
        let gone = self.from.saturating_sub(self.sizes.back).max(self.line_start.min(self.from));
        self.held.drain(..gone);
        self.start += gone as u64;
        self.from -= gone;
        self.looked -= gone;
        self.line_start = self.line_start.saturating_sub(gone);
    }
}
