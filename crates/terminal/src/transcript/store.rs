//! Storage of a transcript: short output in memory, longer output in an unnamed temporary file.
//!
//! The system removes an unnamed file when the process ends, even if it is killed.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The output lines of one command, in order.
pub struct Transcript {
    /// Number of lines pushed.
    lines: u64,
    /// Number of lines stored: less than `lines` after a write error.
    stored: u64,
    blocks: Vec<BlockStart>,
    file: Option<File>,
    /// Number of bytes in the file; those in `buffer` follow.
    written: u64,
    buffer: Vec<u8>,
    error: Option<String>,
    sizes: BufferSizes,
    /// Creates the file.
    open: fn() -> io::Result<File>,
}

impl Default for Transcript {
    fn default() -> Self {
        Self::new()
    }
}

/// Sizes in bytes.
#[derive(Clone, Copy)]
pub(super) struct BufferSizes {
    /// Output held in memory before a file is created.
    pub(super) memory: usize,
    /// Output collected for one write to the file.
    pub(super) write: usize,
    /// Size after which lines start a new block.
    pub(super) block: usize,
}

const BUFFER_SIZES: BufferSizes =
    BufferSizes { memory: 256 * 1024, write: 64 * 1024, block: 64 * 1024 };

/// First line and byte offset of a block. There is no other index: a block is read to find a line in
/// it. Blocks have a size in bytes, so that neither many short lines nor a long one slow this down.
struct BlockStart {
    line: u64,
    at: u64,
}

/// Neighbouring lines that are read at once: several short ones, or one long line.
pub(super) struct LineBlock {
    pub(super) first: u64,
    pub(super) lines: u64,
    pub(super) span: ByteSpan,
}

/// Byte offset and length of a line or block, without its last newline.
#[derive(Clone, Copy)]
pub(super) struct ByteSpan {
    pub(super) at: u64,
    pub(super) len: usize,
}

impl Transcript {
    /// An empty transcript. It creates its file when the output outgrows memory.
    pub fn new() -> Self {
        Self::with_file(tempfile::tempfile)
    }

    /// An empty transcript with another way to create the file.
    pub(super) fn with_file(open: fn() -> io::Result<File>) -> Self {
        Self::with_sizes(BUFFER_SIZES, open)
    }

    pub(super) fn with_sizes(sizes: BufferSizes, open: fn() -> io::Result<File>) -> Self {
        Self {
            lines: 0,
            stored: 0,
            blocks: Vec::new(),
            file: None,
            written: 0,
            buffer: Vec::new(),
            error: None,
            sizes,
            open,
        }
    }

    /// Appends a line. A newline in it starts another line, so that line numbers stay right.
    pub fn push(&mut self, line: &str) {
        for line in line.split('\n') {
            self.lines += 1;
            if self.error.is_some() {
                continue;
            }
            match self.store(line) {
                Ok(()) => self.stored += 1,
                Err(error) => self.error = Some(error.to_string()),
            }
        }
    }

    /// Number of lines, including lost ones.
    #[cfg(test)]
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Number of lines at the end that could not be stored.
    pub fn lost_lines(&self) -> u64 {
        self.lines - self.stored
    }

    /// Error because of which lines could not be stored, such as a full disk.
    pub fn storage_error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Number of lines that are stored.
    pub(super) fn stored(&self) -> u64 {
        self.stored
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn block(&self, index: usize) -> Option<LineBlock> {
        let start = self.blocks.get(index)?;
        let next = self.blocks.get(index + 1);
        let (line, at) = next.map_or((self.stored, self.end()), |next| (next.line, next.at));
        let len = usize::try_from(at - start.at - 1).unwrap_or(usize::MAX);
        let span = ByteSpan { at: start.at, len };
        Some(LineBlock { first: start.line, lines: line - start.line, span })
    }

    /// Index of the block that contains a stored line.
    pub(super) fn block_of(&self, line: u64) -> usize {
        self.blocks.partition_point(|start| start.line <= line).saturating_sub(1)
    }

    /// Byte offset at which the next line will start.
    pub(super) fn end(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Reads bytes from the file and the buffer.
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

    /// Stores a line. After a failed write all earlier lines stay readable: they are in the file or
    /// still in the buffer.
    fn store(&mut self, line: &str) -> io::Result<()> {
        let at = self.end();
        if self.buffer.len() + line.len() >= self.max_buffer() {
            self.flush()?;
        }
        match &self.file {
            // Copying a long line to the buffer would double its memory.
            Some(file) if line.len() >= self.max_buffer() => {
                file.write_all_at(line.as_bytes(), self.written)?;
                self.written += line.len() as u64;
            }
            _ => self.buffer.extend_from_slice(line.as_bytes()),
        }
        self.buffer.push(b'\n');
        let block = self.sizes.block;
        let full = self.blocks.last().is_none_or(|last| at - last.at >= block as u64);
        if full || line.len() >= block {
            self.blocks.push(BlockStart { line: self.stored, at });
        }
        Ok(())
    }

    /// Maximum size of the buffer.
    fn max_buffer(&self) -> usize {
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
    use crate::transcript::TranscriptView;

    #[test]
    fn long_output_moves_from_memory_to_a_file() {
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
    fn long_line_is_a_block_outside_the_buffer() {
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
    fn file_stays_readable_after_a_failed_write() {
        let named = tempfile::NamedTempFile::new().unwrap();
        let mut transcript = Transcript::new();
        transcript.file = Some(named.reopen().unwrap());
        (1..=50_000).for_each(|n| transcript.push(&n.to_string()));
        transcript.file = Some(File::open(named.path()).unwrap());
        (50_001..=100_000).for_each(|n| transcript.push(&n.to_string()));
        let stored = 100_000 - transcript.lost_lines();
        assert!(
            (50_000..100_000).contains(&stored) && transcript.storage_error().is_some(),
            "{stored}"
        );
        let text = TranscriptView::new(&transcript, &[]).read(0, stored, usize::MAX).unwrap().text;
        assert_eq!(text, Vec::from_iter((1..=stored).map(|n| n.to_string())).join("\n"));
    }
}
