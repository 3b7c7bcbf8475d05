//! Random numbers and texts: the same in every run, so that a failure can be repeated.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers fail like tests")]

/// A linear congruential generator (Knuth's MMIX constants).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    /// One of these.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Up to `most` of these, one behind the other.
    pub(crate) fn join(&mut self, from: &[&str], most: usize) -> String {
        (0..=self.below(most)).map(|_| *self.pick(from)).collect()
    }
}
