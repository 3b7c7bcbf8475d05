//! The lines of a transcript and the rows that may still change, as one sequence. Lines count from
//! 0 here; budgets are in characters.

use std::io;
use std::ops::Range;

use super::store::{Block, Span, Transcript};

/// A transcript with what comes after it.
pub struct View<'a> {
    transcript: &'a Transcript,
    /// Notice of lost lines and pending rows; in the order of bytes it follows the transcript.
    rest: String,
    rest_lines: u64,
}

/// Some whole lines, joined by newlines.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    pub text: String,
    pub lines: Range<u64>,
}

/// What is shown of a line that is too long.
pub(super) struct Ends {
    pub(super) start: String,
    pub(super) end: String,
    pub(super) hidden: usize,
}

/// A character has at most this many bytes.
const WIDEST: usize = 4;
/// Bytes counted at a time.
const COUNTED: usize = 64 * 1024;

impl<'a> View<'a> {
    /// `pending`: rows after the transcript that are not final yet. If lines were lost, one line
    /// between the two says so and stands for all of them.
    pub fn new(transcript: &'a Transcript, pending: &[String]) -> Self {
        let lost = transcript.trouble().map(|trouble| {
            let (lost, s) = (transcript.unkept(), if transcript.unkept() == 1 { "" } else { "s" });
            format!("… {lost} line{s} could not be kept: {trouble} …")
        });
        let rows: Vec<&str> = lost.iter().chain(pending).map(String::as_str).collect();
        Self { transcript, rest: rows.join("\n"), rest_lines: rows.len() as u64 }
    }

    /// How many lines there are.
    pub fn lines(&self) -> u64 {
        self.transcript.kept() + self.rest_lines
    }

    /// The lines from `from` up to `to`, as many whole ones as the budget allows.
    pub fn read(&self, from: u64, to: u64, budget: usize) -> io::Result<Part> {
        let mut part = Part { text: String::new(), lines: from..from };
        let mut left = budget;
        for block in self.blocks(from..to) {
            let Some(text) = self.load(&block, left)? else { return Ok(part) };
            let lines = (block.first..to).zip(text.split('\n'));
            for (number, line) in lines.skip_while(|(number, _)| *number < from) {
                let cost = line.chars().count() + usize::from(number > from);
                if cost > left {
                    return Ok(part);
                }
                left -= cost;
                if number > from {
                    part.text.push('\n');
                }
                part.text.push_str(line);
                part.lines.end = number + 1;
            }
        }
        Ok(part)
    }

    /// The last lines, back to `from` or as many whole ones as the budget allows.
    pub fn tail(&self, from: u64, budget: usize) -> io::Result<Part> {
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

    /// The first `start` and the last `end` characters of a line that has more, and how many are
    /// between them.
    pub(super) fn ends(&self, number: u64, start: usize, end: usize) -> io::Result<Ends> {
        let Span { at, len } = self.find(number)?;
        let first = start.saturating_mul(WIDEST).min(len);
        let last = end.saturating_mul(WIDEST).min(len);
        let chars = self.count(Span { at, len })?;
        // What is torn at the inner edges is beyond the characters that are taken.
        let first = String::from_utf8_lossy(&self.bytes(at, first)?).into_owned();
        let last = self.bytes(at + (len - last) as u64, last)?;
        let last = String::from_utf8_lossy(&last).into_owned();
        Ok(Ends {
            start: first.chars().take(start).collect(),
            end: last.chars().skip(last.chars().count().saturating_sub(end)).collect(),
            hidden: chars.saturating_sub(start + end),
        })
    }

    /// The blocks that hold lines of a range.
    pub(super) fn blocks(
        &self,
        lines: Range<u64>,
    ) -> impl DoubleEndedIterator<Item = Block> + use<'_> {
        let (kept, blocks) = (self.transcript.kept(), self.transcript.blocks());
        let index = |line| if line < kept { self.transcript.block_of(line) } else { blocks };
        let range = match lines.end.min(self.lines()) {
            end if lines.start < end => index(lines.start)..index(end - 1) + 1,
            _ => 0..0,
        };
        range.map(move |index| {
            self.transcript.block(index).unwrap_or_else(|| Block {
                first: kept,
                lines: self.rest_lines,
                span: Span { at: self.transcript.end(), len: self.rest.len() },
            })
        })
    }

    /// The text of a block; none if it is one line that cannot fit the budget.
    pub(super) fn load(&self, block: &Block, budget: usize) -> io::Result<Option<String>> {
        if block.lines == 1 && block.span.len > budget.saturating_mul(WIDEST) {
            return Ok(None);
        }
        self.text(block.span).map(Some)
    }

    pub(super) fn text(&self, span: Span) -> io::Result<String> {
        let bytes = self.bytes(span.at, span.len)?;
        String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    fn bytes(&self, at: u64, len: usize) -> io::Result<Vec<u8>> {
        let Some(start) = at.checked_sub(self.transcript.end()) else {
            return self.transcript.bytes(at, len);
        };
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let rest = self.rest.as_bytes().get(start..).and_then(|rest| rest.get(..len));
        Ok(rest.ok_or(io::ErrorKind::UnexpectedEof)?.to_vec())
    }

    fn find(&self, number: u64) -> io::Result<Span> {
        let block = self.blocks(number..number + 1).next().ok_or(io::ErrorKind::UnexpectedEof)?;
        if block.lines == 1 {
            return Ok(block.span);
        }
        let text = self.load(&block, usize::MAX)?.unwrap_or_default();
        let mut at = block.span.at;
        for (this, line) in (block.first..).zip(text.split('\n')) {
            if this == number {
                return Ok(Span { at, len: line.len() });
            }
            at += line.len() as u64 + 1;
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    /// The characters of a line that may be too long to load.
    fn count(&self, span: Span) -> io::Result<usize> {
        let mut chars = 0;
        for done in (0..span.len).step_by(COUNTED) {
            let piece = self.bytes(span.at + done as u64, COUNTED.min(span.len - done))?;
            // Every byte but those that continue a character.
            chars += piece.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        }
        Ok(chars)
    }
}
