//! Takes places out of a stream that comes piece by piece.

use std::ops::{ControlFlow, Range};

/// The bytes of some places, which may overlap.
#[derive(Debug)]
pub(crate) struct Extract {
    ranges: Vec<Range<u64>>,
    parts: Vec<Vec<u8>>,
    position: u64,
    end: u64,
}

impl Extract {
    /// Nothing of them yet.
    pub(crate) fn new(ranges: Vec<Range<u64>>) -> Self {
        let parts = vec![Vec::new(); ranges.len()];
        let end = ranges.iter().map(|range| range.end).max().unwrap_or(0);
        Self { ranges, parts, position: 0, end }
    }

    /// Takes a piece; ends when nothing more is needed.
    pub(crate) fn push(&mut self, piece: &[u8]) -> ControlFlow<()> {
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(piece.len());
        for (range, part) in self.ranges.iter().zip(&mut self.parts) {
            let from = place(range.start.saturating_sub(self.position));
            let until = place(range.end.saturating_sub(self.position));
            part.extend_from_slice(piece.get(from..until).unwrap_or_default());
        }
        self.position += piece.len() as u64;
        if self.position >= self.end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The bytes of each place.
    pub(crate) fn into_parts(self) -> Vec<Vec<u8>> {
        self.parts
    }
}
