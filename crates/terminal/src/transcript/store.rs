//! Keeps lines: a little output in memory, more of it in a file without a name, which is gone with
//! the process however that ends.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The lines of one command, in order.
pub struct Transcript {
    lines: u64,
    kept: u64,
    blocks: Vec<Start>,
    file: Option<File>,
    /// Bytes in the file; those in `buffer` follow.
    written: u64,
    buffer: Vec<u8>,
    trouble: Option<String>,
    sizes: Sizes,
    open: fn() -> io::Result<File>,
}

/// What is held where, in bytes.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// Held in memory before there is a file.
    pub(super) memory: usize,
    /// Gathered for one write to the file.
    pub(super) write: usize,
    /// After so many, lines begin a new block.
    pub(super) block: usize,
}

const SIZES: Sizes = Sizes { memory: 256 * 1024, write: 64 * 1024, block: 64 * 1024 };

/// Where a block begins. This is the whole index: a block is read to find a line in it. Blocks are
/// measured in bytes, so that neither many short lines nor a long one make the search slow.
struct Start {
    line: u64,
    at: u64,
}

/// Neighbouring lines that are read in one go: short ones, or a long one alone.
pub(super) struct Block {
    pub(super) first: u64,
    pub(super) lines: u64,
    pub(super) span: Span,
}

/// Where a line or a block is, in bytes, without its last newline.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) at: u64,
    pub(super) len: usize,
}

impl Transcript {
    /// An empty transcript. The file behind it is made once memory does not do.
    pub fn new() -> Self {
        Self::with_file(tempfile::tempfile)
    }

    /// With another way to make the file.
    pub fn with_file(open: fn() -> io::Result<File>) -> Self {
        Self::with_sizes(SIZES, open)
    }

    pub(super) fn with_sizes(sizes: Sizes, open: fn() -> io::Result<File>) -> Self {
        Self {
            lines: 0,
            kept: 0,
            blocks: Vec::new(),
            file: None,
            written: 0,
            buffer: Vec::new(),
            trouble: None,
            sizes,
            open,
        }
    }

    /// Appends a line. After a newline in it, which would put all later numbers out, the next begins.
    pub fn push(&mut self, line: &str) {
        for line in line.split('\n') {
            self.lines += 1;
            if self.trouble.is_some() {
                continue;
            }
            match self.keep(line) {
                Ok(()) => self.kept += 1,
                Err(error) => self.trouble = Some(error.to_string()),
            }
        }
    }

    /// All lines, also those that could not be kept.
    #[cfg(test)]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Lines that could not be kept: the last ones.
    pub fn unkept(&self) -> u64 {
        self.lines - self.kept
    }

    /// Why lines could not be kept.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    pub(super) fn kept(&self) -> u64 {
        self.kept
    }

    pub(super) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn block(&self, index: usize) -> Option<Block> {
        let start = self.blocks.get(index)?;
        let next = self.blocks.get(index + 1);
        let (line, at) = next.map_or((self.kept, self.end()), |next| (next.line, next.at));
        let len = usize::try_from(at - start.at - 1).unwrap_or(usize::MAX);
        let span = Span { at: start.at, len };
        Some(Block { first: start.line, lines: line - start.line, span })
    }

    /// The block of a line that is kept.
    pub(super) fn block_of(&self, line: u64) -> usize {
        self.blocks.partition_point(|start| start.line <= line).saturating_sub(1)
    }

    /// Where the next line will begin.
    pub(super) fn end(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    pub(super) fn bytes(&self, at: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        let in_file = usize::try_from(self.written.saturating_sub(at)).unwrap_or(len).min(len);
        let (from_file, from_buffer) = bytes.split_at_mut(in_file);
        if let (Some(file), true) = (&self.file, in_file > 0) {
            file.read_exact_at(from_file, at)?;
        }
        let start = usize::try_from(at.saturating_sub(self.written)).unwrap_or(usize::MAX);
        let buffered = self.buffer.get(start..).and_then(|rest| rest.get(..from_buffer.len()));
        from_buffer.copy_from_slice(buffered.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(bytes)
    }

    /// A write that fails leaves everything before it readable: in the file or still in the buffer.
    fn keep(&mut self, line: &str) -> io::Result<()> {
        let at = self.end();
        if self.buffer.len() + line.len() >= self.room() {
            self.flush()?;
        }
        match &self.file {
            // A copy of a long line would double its memory.
            Some(file) if line.len() >= self.room() => {
                file.write_all_at(line.as_bytes(), self.written)?;
                self.written += line.len() as u64;
            }
            _ => self.buffer.extend_from_slice(line.as_bytes()),
        }
        self.buffer.push(b'\n');
        let block = self.sizes.block;
        let full = self.blocks.last().is_none_or(|last| at - last.at >= block as u64);
        if full || line.len() >= block {
            self.blocks.push(Start { line: self.kept, at });
        }
        Ok(())
    }

    /// What the buffer may hold.
    fn room(&self) -> usize {
        if self.file.is_some() { self.sizes.write } else { self.sizes.memory }
    }

    fn flush(&mut self) -> io::Result<()> {
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert((self.open)()?),
        };
        file.write_all_at(&self.buffer, self.written)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        self.buffer.shrink_to(self.sizes.write);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::View;

    #[test]
    fn little_stays_in_memory_and_much_leaves_it() {
        let mut transcript = Transcript::new();
        (0..26_000).for_each(|_| transcript.push("123456789"));
        assert!(transcript.file.is_none());
        (0..500_000).for_each(|_| transcript.push("123456789"));
        assert!(transcript.file.is_some());
        assert_eq!(transcript.end(), 5_260_000);
        assert!(transcript.buffer.capacity() <= 64 * 1024, "{}", transcript.buffer.capacity());
        assert!(transcript.blocks.len() <= 81, "{}", transcript.blocks.len());
    }

    #[test]
    fn a_long_line_is_a_block_of_its_own_and_passes_the_buffer_by() {
        let mut transcript = Transcript::new();
        transcript.push("short");
        transcript.push(&"x".repeat(1_000_000));
        transcript.push("short");
        let blocks = (0..3).map(|n| transcript.block(n).unwrap());
        assert_eq!(
            Vec::from_iter(blocks.map(|b| (b.lines, b.span.len))),
            [(1, 5), (1, 1_000_000), (1, 5)]
        );
        assert!(transcript.buffer.capacity() <= 64 * 1024, "{}", transcript.buffer.capacity());
    }

    #[test]
    fn a_file_that_takes_no_more_stays_readable() {
        let named = tempfile::NamedTempFile::new().unwrap();
        let mut transcript = Transcript::new();
        transcript.file = Some(named.reopen().unwrap());
        (1..=50_000).for_each(|n| transcript.push(&n.to_string()));
        transcript.file = Some(File::open(named.path()).unwrap());
        (50_001..=100_000).for_each(|n| transcript.push(&n.to_string()));
        let kept = 100_000 - transcript.unkept();
        assert!((50_000..100_000).contains(&kept) && transcript.trouble().is_some(), "{kept}");
        let text = View::new(&transcript, &[]).read(0, kept, usize::MAX).unwrap().text;
        assert_eq!(text, Vec::from_iter((1..=kept).map(|n| n.to_string())).join("\n"));
    }
}
