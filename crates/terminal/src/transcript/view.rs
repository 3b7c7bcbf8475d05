//! A view of a transcript and the pending lines after it as one sequence of lines.
//!
//! Lines count from 0 here; budgets are in characters.

use std::io;
use std::ops::Range;

use super::store::{ByteSpan, LineBlock, Transcript};

/// The lines of a transcript, followed by those that may still change.
pub struct TranscriptView<'a> {
    transcript: &'a Transcript,
    /// Notice of lost lines, and pending lines. Its byte offsets follow those of the transcript.
    suffix: String,
    suffix_lines: u64,
    mask: Option<&'a Mask<'a>>,
}

/// Overwrites bytes in place. Line ends stay.
pub type MaskBytes<'a> = Box<dyn Fn(&mut [u8]) + 'a>;

/// Overwrites parts of the output that must not be shown.
pub struct Mask<'a> {
    /// Overwrites the bytes that are read.
    pub apply: MaskBytes<'a>,
    /// Bytes before and behind those that are read that `apply` needs to see.
    pub context: usize,
}

/// Whole lines, joined by newlines, with their numbers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReadLines {
    pub(super) text: String,
    pub(super) lines: Range<u64>,
}

/// Start and end of a line that is too long to be shown whole.
pub(super) struct LineEnds {
    pub(super) start: String,
    pub(super) end: String,
    /// Number of characters between the two.
    pub(super) hidden: usize,
}

/// Maximum length of a character in UTF-8.
const MAX_CHAR_BYTES: usize = 4;
/// Number of bytes that are loaded at once to count characters.
const COUNT_CHUNK_BYTES: usize = 64 * 1024;

impl<'a> TranscriptView<'a> {
    /// A view of a transcript and `pending` lines that are not final yet. If lines were lost, a single
    /// line between the two replaces them and names their number and the error.
    pub fn new(transcript: &'a Transcript, pending: &[String]) -> Self {
        let lost = transcript.storage_error().map(|error| {
            let (lost, s) =
                (transcript.lost_lines(), if transcript.lost_lines() == 1 { "" } else { "s" });
            format!("… {lost} line{s} could not be kept: {error} …")
        });
        let rows: Vec<&str> = lost.iter().chain(pending).map(String::as_str).collect();
        Self { transcript, suffix: rows.join("\n"), suffix_lines: rows.len() as u64, mask: None }
    }

    /// The same lines, masked before anything is selected or cut.
    #[must_use]
    pub fn masked<'b>(&'b self, mask: Option<&'b Mask<'b>>) -> TranscriptView<'b> {
        TranscriptView { suffix: self.suffix.clone(), mask, ..*self }
    }

    /// Number of lines.
    pub fn lines(&self) -> u64 {
        self.transcript.stored() + self.suffix_lines
    }

    /// The lines from `from` to before `to`, as many whole ones as the budget allows.
    pub(super) fn read(&self, from: u64, to: u64, budget: usize) -> io::Result<ReadLines> {
        let mut read = ReadLines { text: String::new(), lines: from..from };
        let mut left = budget;
        for block in self.blocks(from..to) {
            let Some(text) = self.load(&block, left)? else { return Ok(read) };
            let lines = (block.first..to).zip(text.split('\n'));
            for (number, line) in lines.skip_while(|(number, _)| *number < from) {
                let cost = line.chars().count() + usize::from(number > from);
                if cost > left {
                    return Ok(read);
                }
                left -= cost;
                if number > from {
                    read.text.push('\n');
                }
                read.text.push_str(line);
                read.lines.end = number + 1;
            }
        }
        Ok(read)
    }

    /// The last lines, not before `from`, as many whole ones as the budget allows.
    pub(super) fn tail(&self, from: u64, budget: usize) -> io::Result<ReadLines> {
        let end = self.lines();
        self.read(self.tail_start(from, budget)?, end, usize::MAX)
    }

    fn tail_start(&self, from: u64, budget: usize) -> io::Result<u64> {
        let end = self.lines();
        let (mut start, mut left) = (end, budget);
        for block in self.blocks(from..end).rev() {
            let Some(text) = self.load(&block, left)? else { return Ok(start) };
            for line in text.rsplit('\n') {
                let cost = line.chars().count() + usize::from(start < end);
                if start <= from || cost > left {
                    return Ok(start);
                }
                left -= cost;
                start -= 1;
            }
        }
        Ok(start)
    }

    /// The first `start` and the last `end` characters of a line that has more.
    pub(super) fn ends(&self, number: u64, start: usize, end: usize) -> io::Result<LineEnds> {
        let ByteSpan { at, len } = self.locate(number)?;
        let first = start.saturating_mul(MAX_CHAR_BYTES).min(len);
        let last = end.saturating_mul(MAX_CHAR_BYTES).min(len);
        let chars = self.count_chars(ByteSpan { at, len })?;
        // A character that is split at an inner edge is beyond the ones taken below.
        let first = String::from_utf8_lossy(&self.bytes(at, first)?).into_owned();
        let last = self.bytes(at + (len - last) as u64, last)?;
        let last = String::from_utf8_lossy(&last).into_owned();
        Ok(LineEnds {
            start: first.chars().take(start).collect(),
            end: last.chars().skip(last.chars().count().saturating_sub(end)).collect(),
            hidden: chars.saturating_sub(start + end),
        })
    }

    /// The blocks that contain lines of a range.
    pub(super) fn blocks(
        &self,
        lines: Range<u64>,
    ) -> impl DoubleEndedIterator<Item = LineBlock> + use<'_> {
        let (stored, blocks) = (self.transcript.stored(), self.transcript.blocks());
        let index = |line| if line < stored { self.transcript.block_of(line) } else { blocks };
        let range = match lines.end.min(self.lines()) {
            end if lines.start < end => index(lines.start)..index(end - 1) + 1,
            _ => 0..0,
        };
        range.map(move |index| {
            self.transcript.block(index).unwrap_or_else(|| LineBlock {
                first: stored,
                lines: self.suffix_lines,
                span: ByteSpan { at: self.transcript.end(), len: self.suffix.len() },
            })
        })
    }

    /// The text of a block; `None` if it is a single line that exceeds the budget.
    pub(super) fn load(&self, block: &LineBlock, budget: usize) -> io::Result<Option<String>> {
        if block.lines == 1 && block.span.len > budget.saturating_mul(MAX_CHAR_BYTES) {
            return Ok(None);
        }
        self.text(block.span).map(Some)
    }

    pub(super) fn text(&self, span: ByteSpan) -> io::Result<String> {
        let bytes = self.bytes(span.at, span.len)?;
        String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    fn bytes(&self, at: u64, len: usize) -> io::Result<Vec<u8>> {
        let Some(mask) = self.mask else { return self.unmasked(at..at + len as u64) };
        let context = mask.context as u64;
        let end = self.transcript.end() + self.suffix.len() as u64;
        let start = at.saturating_sub(context);
        let mut bytes = self.unmasked(start..(at + len as u64 + context).min(end))?;
        (mask.apply)(&mut bytes);
        bytes.drain(..usize::try_from(at - start).unwrap_or_default());
        bytes.truncate(len);
        Ok(bytes)
    }

    fn unmasked(&self, span: Range<u64>) -> io::Result<Vec<u8>> {
        let stored = self.transcript.end();
        let length = |from: u64, to: u64| usize::try_from(to.saturating_sub(from));
        let mut bytes = Vec::new();
        if let Ok(length @ 1..) = length(span.start, span.end.min(stored)) {
            bytes = self.transcript.bytes(span.start, length)?;
        }
        let from = length(stored, span.start).unwrap_or(usize::MAX);
        let to = length(stored, span.end).unwrap_or(usize::MAX);
        let suffix = self.suffix.as_bytes().get(from..to).ok_or(io::ErrorKind::UnexpectedEof)?;
        bytes.extend_from_slice(suffix);
        Ok(bytes)
    }

    /// Finds the bytes of a line.
    fn locate(&self, number: u64) -> io::Result<ByteSpan> {
        let block = self.blocks(number..number + 1).next().ok_or(io::ErrorKind::UnexpectedEof)?;
        if block.lines == 1 {
            return Ok(block.span);
        }
        let text = self.load(&block, usize::MAX)?.unwrap_or_default();
        let mut at = block.span.at;
        for (this, line) in (block.first..).zip(text.split('\n')) {
            if this == number {
                return Ok(ByteSpan { at, len: line.len() });
            }
            at += line.len() as u64 + 1;
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    /// Counts the characters of a line that may be too long to load at once.
    fn count_chars(&self, span: ByteSpan) -> io::Result<usize> {
        let mut chars = 0;
        for offset in (0..span.len).step_by(COUNT_CHUNK_BYTES) {
            let len = COUNT_CHUNK_BYTES.min(span.len - offset);
            let chunk = self.bytes(span.at + offset as u64, len)?;
            // All bytes except those that continue a character.
            chars += chunk.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        }
        Ok(chars)
    }
}
