//! Reading and verification of a log with its rotated files.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::record::AuditRecord;
use super::{private_file, rotated};
use crate::contract::digest::digest;

/// A line of an audit log.
#[derive(Debug)]
pub struct AuditLine {
    /// File name and line number.
    pub place: String,
    /// The text without its line break.
    pub text: String,
    /// The parsed record; `None` if the line is not one.
    pub record: Option<AuditRecord>,
    /// Whether the line has a line break. Otherwise it was written in part.
    pub ended: bool,
}

/// All lines of a log, the oldest first.
pub fn lines(path: &Path) -> io::Result<impl Iterator<Item = io::Result<AuditLine>>> {
    Ok(files(path)?.into_iter().flat_map(|(path, file)| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut file = BufReader::new(file);
        let lines = std::iter::from_fn(move || {
            let mut line = Vec::new();
            match file.read_until(b'\n', &mut line) {
                Ok(0) => None,
                Ok(_) => Some(Ok(line)),
                Err(error) => Some(Err(error)),
            }
        });
        (1..).zip(lines).map(move |(number, bytes): (u64, io::Result<Vec<u8>>)| {
            let mut bytes = bytes?;
            let ended = bytes.pop_if(|last| *last == b'\n').is_some();
            let record = serde_json::from_slice(&bytes).ok();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Ok(AuditLine { place: format!("{name}, line {number}"), text, record, ended })
        })
    }))
}

/// The result of [`verify`].
#[derive(Debug)]
pub struct AuditVerdict {
    /// Number of records.
    pub records: u64,
    /// Numbers of the first and the last record.
    pub range: Option<(u64, u64)>,
    /// Missing and changed records, one sentence each.
    pub problems: Vec<String>,
}

/// Checks that a log is complete and unchanged. Once `files` rotated files exist, older records may be
/// missing.
pub fn verify(path: &Path, files: u32) -> io::Result<AuditVerdict> {
    let mut verdict = AuditVerdict { records: 0, range: None, problems: Vec::new() };
    let all_kept = rotated(path, files).exists();
    let mut before: Option<(u64, String)> = None;
    for line in lines(path)? {
        let AuditLine { place, text, record, ended } = line?;
        let problems = &mut verdict.problems;
        if !ended {
            problems.push(format!("{place}: the line is cut off"));
        }
        let Some(record) = record else {
            if ended {
                problems.push(format!("{place}: this is not a record"));
            }
            continue;
        };
        let (last, expected) = before.take().unwrap_or((0, String::new()));
        let is_first = verdict.records == 0;
        match record.seq {
            seq if seq == last + 1 => {
                if record.prev != expected {
                    problems.push(format!(
                        "{place}: record {last} or {seq} was changed, they do not fit together"
                    ));
                }
            }
            _ if is_first && all_kept => {}
            seq if seq > last + 1 => {
                problems.push(format!("{place}: records {} to {} are missing", last + 1, seq - 1));
            }
            seq => problems.push(format!("{place}: record {seq} comes after record {last}")),
        }
        verdict.records += 1;
        let first = verdict.range.map_or(record.seq, |(first, _)| first);
        verdict.range = Some((first, record.seq));
        before = Some((record.seq, digest(text.as_bytes())));
    }
    Ok(verdict)
}

/// The files of a log at one moment, the oldest first.
fn files(path: &Path) -> io::Result<Vec<(PathBuf, File)>> {
    loop {
        let newest = File::open(path)?;
        // The lock prevents a rotation while the files are opened.
        flock(&newest, FlockOperation::LockShared)?;
        if !private_file::is_at(&newest, path)? {
            continue;
        }
        let mut files = vec![(path.to_owned(), newest)];
        let mut missing = 0;
        // One file can be missing after an interrupted rotation.
        for number in 1.. {
            let path = rotated(path, number);
            match File::open(&path) {
                Ok(file) => files.push((path, file)),
                Err(error) if error.kind() == io::ErrorKind::NotFound && missing == 0 => {
                    missing += 1;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(error),
            }
        }
        if let Some((_, newest)) = files.first() {
            flock(newest, FlockOperation::Unlock)?;
        }
        files.reverse();
        return Ok(files);
    }
}
