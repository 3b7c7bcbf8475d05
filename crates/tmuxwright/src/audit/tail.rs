//! The last record of a log file, read from its end.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::record::AuditRecord;
use crate::contract::digest::digest;

const READ_BLOCK_BYTES: usize = 8192;

/// The beginning of every record.
const RECORD_PREFIX: &[u8] = b"{\"seq\":";

/// Number and digest of the last record, for the next one.
#[derive(Debug, Clone, Default)]
pub(super) struct LastRecord {
    /// The number of the record.
    pub(super) seq: u64,
    /// The digest of its line.
    pub(super) digest: String,
}

/// The last record, if there is one, and its end. Bytes behind it are a partial write.
pub(super) fn last(file: &File) -> io::Result<(Option<LastRecord>, u64)> {
    let not_a_log = || io::Error::other("it is not an audit log");
    let mut end = file.metadata()?.len();
    let mut rest = line_before(file, end)?;
    if !rest.is_empty() {
        // A server process died while writing. Any other file without a final line break is not a log.
        let known = rest.len().min(RECORD_PREFIX.len());
        if rest.get(..known) != RECORD_PREFIX.get(..known) {
            return Err(not_a_log());
        }
        end -= rest.len() as u64;
    }
    if end == 0 {
        return Ok((None, 0));
    }
    rest = line_before(file, end - 1)?;
    let record: AuditRecord = serde_json::from_slice(&rest).map_err(|_| not_a_log())?;
    Ok((Some(LastRecord { seq: record.seq, digest: digest(&rest) }), end))
}

/// The bytes between the last line break before `end` and `end`.
fn line_before(file: &File, end: u64) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut start = end;
    while start > 0 {
        let size = usize::try_from(start).unwrap_or(READ_BLOCK_BYTES).min(READ_BLOCK_BYTES);
        start -= size as u64;
        let mut block = vec![0; size];
        file.read_exact_at(&mut block, start)?;
        let found = memchr::memrchr(b'\n', &block).map(|at| at + 1);
        block.drain(..found.unwrap_or(0));
        block.append(&mut line);
        line = block;
        if found.is_some() {
            break;
        }
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn last_line_of_any_length_is_found() {
        for length in [
            0,
            1,
            READ_BLOCK_BYTES - 2,
            READ_BLOCK_BYTES - 1,
            READ_BLOCK_BYTES,
            READ_BLOCK_BYTES + 1,
            3 * READ_BLOCK_BYTES,
        ] {
            let mut file = tempfile::tempfile().unwrap();
            let line = "x".repeat(length);
            write!(file, "first\n{line}").unwrap();
            let end = file.metadata().unwrap().len();
            assert_eq!(line_before(&file, end).unwrap(), line.as_bytes(), "{length}");
        }
    }

    #[test]
    fn empty_log_has_no_last_record() {
        let file = tempfile::tempfile().unwrap();
        assert!(matches!(last(&file), Ok((None, 0))));
    }
}
