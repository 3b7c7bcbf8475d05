//! Extraction of byte ranges from a stream that comes in pieces.

use std::ops::{ControlFlow, Range};

/// Collects the bytes of some ranges, which may overlap.
#[derive(Debug)]
pub(crate) struct Extract {
    ranges: Vec<Range<u64>>,
    /// The bytes of each range so far.
    parts: Vec<Vec<u8>>,
    /// Bytes pushed so far.
    position: u64,
    /// End of the range that ends last.
    end: u64,
}

impl Extract {
    /// An extraction at the beginning of the stream.
    pub(crate) fn new(ranges: Vec<Range<u64>>) -> Self {
        let parts = vec![Vec::new(); ranges.len()];
        let end = ranges.iter().map(|range| range.end).max().unwrap_or(0);
        Self { ranges, parts, position: 0, end }
    }

    /// Takes the next piece of the stream; breaks once all ranges are complete.
    pub(crate) fn push(&mut self, piece: &[u8]) -> ControlFlow<()> {
        let within = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(piece.len());
        for (range, part) in self.ranges.iter().zip(&mut self.parts) {
            let from = within(range.start.saturating_sub(self.position));
            let until = within(range.end.saturating_sub(self.position));
            part.extend_from_slice(piece.get(from..until).unwrap_or_default());
        }
        self.position += piece.len() as u64;
        if self.position >= self.end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The bytes of each range, in the order of the ranges.
    pub(crate) fn into_parts(self) -> Vec<Vec<u8>> {
        self.parts
    }
}
