//! Ring buffer of a pane's output, which reports every loss of bytes.
//!
//! Positions count bytes from the start of the ring and never go back, so any number of readers can
//! keep their own. Bytes that were overwritten before a reader came to them, or were printed while
//! no client was attached, are reported as a gap.

use std::collections::VecDeque;

/// The reason why a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEnd {
    /// The pane was closed.
    PaneGone,
    /// The tmux server has exited, or no longer replies.
    ServerGone,
}

/// The content of a stream at a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chunk {
    /// Output of the pane's program.
    Bytes {
        /// The bytes, as the program wrote them.
        bytes: Vec<u8>,
        /// The position after them.
        next: u64,
    },
    /// Bytes are missing here.
    Gap {
        /// The number of bytes; unknown if they were printed while no client was attached.
        missed: Option<u64>,
        /// The position after the gap.
        next: u64,
    },
    /// The stream has ended.
    End(StreamEnd),
}

/// The last bytes of a pane's output.
#[derive(Debug)]
pub struct Ring {
    bytes: VecDeque<u8>,
    /// The position after the newest byte.
    head: u64,
    capacity: usize,
    /// Positions at which an unknown number of bytes is missing.
    breaks: VecDeque<u64>,
    /// The newest of them that was overwritten.
    dropped_break: Option<u64>,
    end: Option<StreamEnd>,
}

impl Chunk {
    /// The position after this chunk; `None` at the end of the stream.
    pub(super) fn next(&self) -> Option<u64> {
        match *self {
            Self::Bytes { next, .. } | Self::Gap { next, .. } => Some(next),
            Self::End(_) => None,
        }
    }
}

impl Ring {
    /// An empty ring that keeps the last `capacity` bytes.
    pub fn new(capacity: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            head: 0,
            capacity,
            breaks: VecDeque::new(),
            dropped_break: None,
            end: None,
        }
    }

    /// The position after the newest byte.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// The position of the oldest byte that is kept.
    fn tail(&self) -> u64 {
        self.head - self.bytes.len() as u64
    }

    /// Adds bytes and drops the oldest beyond the capacity.
    pub fn push(&mut self, bytes: &[u8]) {
        self.head += bytes.len() as u64;
        let kept = bytes.get(bytes.len().saturating_sub(self.capacity)..).unwrap_or_default();
        let over = (self.bytes.len() + kept.len()).saturating_sub(self.capacity);
        self.bytes.drain(..over.min(self.bytes.len()));
        self.bytes.extend(kept);
        let tail = self.tail();
        while self.breaks.front().is_some_and(|&at| at < tail) {
            self.dropped_break = self.breaks.pop_front();
        }
    }

    /// Records that an unknown number of bytes was lost here. The break takes up one position, so
    /// that each reader passes it once.
    pub fn mark_break(&mut self) {
        self.push(&[0]);
        self.breaks.push_back(self.head - 1);
    }

    /// Ends the stream. A later reason is ignored.
    pub fn finish(&mut self, end: StreamEnd) {
        self.end.get_or_insert(end);
    }

    /// The reason why the stream ended, if it has.
    pub fn end(&self) -> Option<StreamEnd> {
        self.end
    }

    /// The content at position `from`. `None` if it has not come yet.
    pub fn read(&self, from: u64) -> Option<Chunk> {
        self.read_up_to(from, u64::MAX)
    }

    /// The content at position `from`, with bytes up to position `limit` only.
    pub fn read_up_to(&self, from: u64, limit: u64) -> Option<Chunk> {
        let tail = self.tail();
        if from < tail {
            let counted = self.dropped_break.is_none_or(|at| at < from);
            return Some(Chunk::Gap { missed: counted.then(|| tail - from), next: tail });
        }
        if from >= self.head {
            return self.end.map(Chunk::End);
        }
        let stop = match self.breaks.iter().find(|&&at| at >= from) {
            Some(&at) if at == from => {
                return Some(Chunk::Gap { missed: None, next: from + 1 });
            }
            Some(&at) => at,
            None => self.head,
        };
        let stop = stop.min(limit.max(from));
        let skip = usize::try_from(from - tail).unwrap_or(usize::MAX);
        let count = usize::try_from(stop - from).unwrap_or(usize::MAX);
        let bytes = self.bytes.iter().skip(skip).take(count).copied().collect();
        Some(Chunk::Bytes { bytes, next: stop })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(text: &str, next: u64) -> Option<Chunk> {
        Some(Chunk::Bytes { bytes: text.as_bytes().to_vec(), next })
    }

    #[test]
    fn pushed_bytes_are_read() {
        let mut ring = Ring::new(8);
        assert_eq!(ring.read(0), None);
        ring.push(b"abc");
        assert_eq!(ring.read(0), bytes("abc", 3));
        assert_eq!(ring.read(2), bytes("c", 3));
        assert_eq!(ring.read_up_to(0, 2), bytes("ab", 2));
        assert_eq!(ring.read(3), None);
    }

    #[test]
    fn overwritten_bytes_are_counted() {
        let mut ring = Ring::new(4);
        ring.push(b"abcdef");
        assert_eq!(ring.read(0), Some(Chunk::Gap { missed: Some(2), next: 2 }));
        assert_eq!(ring.read(2), bytes("cdef", 6));
        ring.push(b"gh");
        assert_eq!(ring.read(3), Some(Chunk::Gap { missed: Some(1), next: 4 }));
    }

    #[test]
    fn break_is_read_once_at_its_position() {
        let mut ring = Ring::new(16);
        ring.push(b"ab");
        ring.mark_break();
        ring.push(b"cd");
        assert_eq!(ring.read(0), bytes("ab", 2));
        assert_eq!(ring.read(2), Some(Chunk::Gap { missed: None, next: 3 }));
        assert_eq!(ring.read(3), bytes("cd", 5));
    }

    #[test]
    fn overwritten_break_makes_the_count_unknown() {
        let mut ring = Ring::new(4);
        ring.push(b"ab");
        ring.mark_break();
        ring.push(b"cdefgh");
        assert_eq!(ring.read(0), Some(Chunk::Gap { missed: None, next: 5 }));
        assert_eq!(ring.read(2), Some(Chunk::Gap { missed: None, next: 5 }));
        assert_eq!(ring.read(3), Some(Chunk::Gap { missed: Some(2), next: 5 }));
    }

    #[test]
    fn end_comes_after_the_last_byte() {
        let mut ring = Ring::new(16);
        ring.push(b"ab");
        ring.finish(StreamEnd::PaneGone);
        ring.finish(StreamEnd::ServerGone);
        assert_eq!(ring.read(0), bytes("ab", 2));
        assert_eq!(ring.read(2), Some(Chunk::End(StreamEnd::PaneGone)));
    }

    proptest! {
        /// For a reader of any speed, the bytes read and missed add up to the bytes written, and
        /// the bytes read equal those written at that position.
        #[test]
        fn read_and_missed_bytes_add_up(
            capacity in 1usize..40,
            steps in proptest::collection::vec((0usize..30, any::<bool>()), 0..40),
        ) {
            let mut ring = Ring::new(capacity);
            let mut written = Vec::new();
            let mut at = 0;
            for (count, reads) in steps {
                let more: Vec<u8> = (0..count).map(|n| ((written.len() + n) % 251) as u8).collect();
                written.extend_from_slice(&more);
                ring.push(&more);
                while reads && let Some(chunk) = ring.read(at) {
                    match chunk {
                        Chunk::Bytes { bytes, next } => {
                            prop_assert_eq!(&bytes[..], &written[at as usize..next as usize]);
                            at = next;
                        }
                        Chunk::Gap { missed, next } => {
                            prop_assert_eq!(missed, Some(next - at));
                            at = next;
                        }
                        Chunk::End(_) => unreachable!(),
                    }
                }
            }
            prop_assert!(ring.head() == written.len() as u64);
        }
    }
}
