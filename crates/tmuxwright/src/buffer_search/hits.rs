//! The matches of a search that are kept: the first ones, or those with the best score.

use std::cmp::Reverse;
use std::ops::ControlFlow;

/// A match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Number of the buffer it is in.
    pub(crate) buffer: usize,
    /// Byte offset in the buffer.
    pub(crate) offset: u64,
    /// Length in bytes.
    pub(crate) length: u64,
    /// Line number, from 1.
    pub(crate) line: u64,
    /// Score of a fuzzy match.
    pub(crate) score: Option<u32>,
    /// The line, or the part of it around the match.
    pub(crate) text: String,
}

/// Collects a limited number of matches.
#[derive(Debug)]
pub(crate) struct HitList {
    hits: Vec<Hit>,
    /// Matches seen, those not kept included.
    total: u64,
    /// Maximum number of matches to return.
    limit: usize,
    /// Whether the best matches are kept instead of the first.
    best: bool,
}

impl HitList {
    /// An empty list. It keeps the best matches, or the first ones and one more, which is where the
    /// next search continues.
    pub(crate) fn new(limit: usize, best: bool) -> Self {
        Self { hits: Vec::new(), total: 0, limit, best }
    }

    /// Adds a match; breaks once no more are needed.
    pub(super) fn push(&mut self, hit: Hit) -> ControlFlow<()> {
        self.total += 1;
        self.hits.push(hit);
        if self.best {
            if self.hits.len() >= self.limit.saturating_mul(2).max(64) {
                self.keep_best();
            }
            return ControlFlow::Continue(());
        }
        if self.hits.len() > self.limit {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn keep_best(&mut self) {
        self.hits.sort_by_key(|hit| (Reverse(hit.score), hit.buffer, hit.offset));
        self.hits.truncate(self.limit);
    }

    /// Number of matches seen.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The matches, and the first one beyond the limit.
    pub(crate) fn into_hits(mut self) -> (Vec<Hit>, Option<Hit>) {
        if self.best {
            self.keep_best();
            return (self.hits, None);
        }
        let more = if self.hits.len() > self.limit { self.hits.pop() } else { None };
        (self.hits, more)
    }
}
