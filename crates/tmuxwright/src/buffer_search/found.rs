//! What was found: the first matches, or the best.

use std::cmp::Reverse;
use std::ops::ControlFlow;

/// A match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Which of the buffers it is in.
    pub(crate) buffer: usize,
    /// Where it begins.
    pub(crate) offset: u64,
    /// How many bytes it is long.
    pub(crate) length: u64,
    /// The number of its line, from 1.
    pub(crate) line: u64,
    /// How well it fits, where that can be more or less.
    pub(crate) score: Option<u32>,
    /// Its line, or a part of that.
    pub(crate) text: String,
}

/// Keeps so many of the matches.
#[derive(Debug)]
pub(crate) struct Found {
    hits: Vec<Hit>,
    total: u64,
    most: usize,
    best: bool,
}

impl Found {
    /// The best of all, or the first and one more, which tells where to go on.
    pub(crate) fn new(most: usize, best: bool) -> Self {
        Self { hits: Vec::new(), total: 0, most, best }
    }

    /// Takes a match; ends when no more are wanted.
    pub(super) fn note(&mut self, hit: Hit) -> ControlFlow<()> {
        self.total += 1;
        self.hits.push(hit);
        if self.best {
            if self.hits.len() >= self.most.saturating_mul(2).max(64) {
                self.keep_best();
            }
            return ControlFlow::Continue(());
        }
        if self.hits.len() > self.most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn keep_best(&mut self) {
        self.hits.sort_by_key(|hit| (Reverse(hit.score), hit.buffer, hit.offset));
        self.hits.truncate(self.most);
    }

    /// How many matches there were.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The matches, and the first that was too many.
    pub(crate) fn into_hits(mut self) -> (Vec<Hit>, Option<Hit>) {
        if self.best {
            self.keep_best();
            return (self.hits, None);
        }
        let more = if self.hits.len() > self.most { self.hits.pop() } else { None };
        (self.hits, more)
    }
}
