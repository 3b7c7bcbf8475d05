//! The log file: appended line by line, rotated by size, shared with other server processes.
//!
//! Each write takes the file's lock (`flock`), checks that the path still names this file, continues from
//! its last line, and removes a partial write.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use tokio::time::Instant;

use super::record::AuditRecord;
use super::tail::{self, LastRecord};
use super::{private_file, rotated};
use crate::contract::digest::digest;
use crate::file_io;

/// How long to wait for the lock of another server process.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval of attempts to get the lock.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(1);

/// A log file.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    max_bytes: u64,
    files: u32,
    open: Option<OpenLog>,
    last: LastRecord,
    lock_timeout: Duration,
}

#[derive(Debug)]
struct OpenLog {
    file: File,
    /// The end of the last known line. A longer file has lines of another server process.
    end: Option<u64>,
}

/// Holds the lock on a log file; dropping it unlocks.
struct Locked<'a>(&'a File);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}

impl LogFile {
    pub(super) fn new(path: PathBuf, max_bytes: u64, files: u32) -> Self {
        let (open, last) = (None, LastRecord::default());
        Self { path, max_bytes, files, open, last, lock_timeout: LOCK_TIMEOUT }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens or creates the file, and checks that it is an audit log.
    pub(super) async fn open(&mut self) -> io::Result<()> {
        let mut open = self.lock().await?;
        let lock = Locked(&open.file);
        let end = self.find_last(&open)?;
        drop(lock);
        open.end = Some(end);
        self.open = Some(open);
        Ok(())
    }

    /// Appends a record, after setting its number and the digest of its predecessor.
    pub(super) async fn write(&mut self, record: &mut AuditRecord) -> io::Result<()> {
        loop {
            let mut open = self.lock().await?;
            let lock = Locked(&open.file);
            let end = self.find_last(&open)?;
            record.seq = self.last.seq + 1;
            record.prev.clone_from(&self.last.digest);
            let mut line = record.line()?;
            let last = LastRecord { seq: record.seq, digest: digest(line.as_bytes()) };
            line.push('\n');
            let new_end = end + line.len() as u64;
            if end > 0 && new_end > self.max_bytes {
                rotate(&self.path, self.files)?;
                continue;
            }
            if let Err(error) = (&open.file).write_all(line.as_bytes()) {
                // Removes the partial line. If this fails as well, the next write removes it.
                let _ = open.file.set_len(end);
                return Err(error);
            }
            drop(lock);
            open.end = Some(new_end);
            (self.last, self.open) = (last, Some(open));
            return Ok(());
        }
    }

    /// Opens and locks the file at the path.
    async fn lock(&mut self) -> io::Result<OpenLog> {
        let deadline = Instant::now() + self.lock_timeout;
        loop {
            let open = match self.open.take() {
                Some(open) => open,
                None => OpenLog { file: private_file::log(&self.path)?, end: None },
            };
            match flock(&open.file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) if private_file::is_at(&open.file, &self.path)? => return Ok(open),
                // The file was rotated or removed: open the new one.
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) if Instant::now() < deadline => {
                    self.open = Some(open);
                    tokio::time::sleep(LOCK_RETRY_INTERVAL).await;
                }
                Err(Errno::WOULDBLOCK) => {
                    return Err(io::Error::other("another process holds its lock"));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Finds the last record and its end, and cuts off a partial line behind it.
    fn find_last(&mut self, open: &OpenLog) -> io::Result<u64> {
        let length = open.file.metadata()?.len();
        if open.end == Some(length) {
            return Ok(length);
        }
        let (last, end) = tail::last(&open.file)?;
        if end < length {
            open.file.set_len(end)?;
        }
        let last = match last {
            Some(last) => Some(last),
            None => match file_io::open(&rotated(&self.path, 1), OFlags::RDONLY) {
                Ok(before) => tail::last(&before)?.0,
                Err(_) => None,
            },
        };
        // If the file was removed, numbering continues, so that `verify` shows the gap.
        if let Some(last) = last.filter(|last| last.seq >= self.last.seq) {
            self.last = last;
        }
        Ok(end)
    }
}

/// Rotates a log: `log` becomes `log.1`, `log.1` becomes `log.2`, and the oldest is removed. The log is
/// moved last, so that a process which finds no log can create the next one.
fn rotate(path: &Path, files: u32) -> io::Result<()> {
    // A gap is left by an interrupted rotation: files beyond it have been moved already.
    let gap = (1..=files).find(|number| !rotated(path, *number).exists());
    for number in (1..gap.unwrap_or(files)).rev() {
        fs::rename(rotated(path, number), rotated(path, number + 1))?;
    }
    // More files exist if more were kept before.
    for number in files + 1.. {
        if fs::remove_file(rotated(path, number)).is_err() {
            break;
        }
    }
    fs::rename(path, rotated(path, 1))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use serde_json::Map;

    use super::super::record::{CallOrigin, LegacyFields};
    use super::super::verify::verify;
    use super::*;
    use crate::contract::ObjectIds;

    fn record(tool: &str) -> AuditRecord {
        AuditRecord {
            seq: 0,
            ts: "2026-01-30T10:15:32.005Z".into(),
            tool: tool.into(),
            ids: ObjectIds::default(),
            arguments: Map::new(),
            legacy: LegacyFields::default(),
            asked: Vec::new(),
            duration_ms: 0.5,
            outcome: "ok".into(),
            output_bytes: None,
            full: None,
            caller: CallOrigin::default(),
            prev: String::new(),
        }
    }

    async fn write(log: &mut LogFile, count: usize) {
        for _ in 0..count {
            log.write(&mut record("kill")).await.unwrap();
        }
    }

    fn log_at(path: &Path) -> LogFile {
        LogFile::new(path.to_owned(), 1000, 3)
    }

    #[tokio::test]
    async fn servers_share_one_chain_over_rotated_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let (mut one, mut other) = (log_at(&path), log_at(&path));
        for _ in 0..7 {
            write(&mut one, 2).await;
            write(&mut other, 1).await;
        }
        let verdict = verify(&path, 3).unwrap();
        assert_eq!((verdict.problems.as_slice(), verdict.records), ([].as_slice(), 21));
        assert!(rotated(&path, 3).exists());
        for number in 0..=3 {
            let file = if number == 0 { path.clone() } else { rotated(&path, number) };
            let about = file.metadata().unwrap();
            assert!(about.len() <= 1000 && about.permissions().mode() & 0o777 == 0o600);
        }
        // The oldest file is removed; that is not a problem.
        write(&mut other, 20).await;
        let verdict = verify(&path, 3).unwrap();
        assert!(verdict.problems.is_empty() && verdict.records < 41, "{verdict:?}");
        assert!(!rotated(&path, 4).exists());
        // Fewer files are kept from now on.
        write(&mut LogFile::new(path.clone(), 1000, 1), 7).await;
        assert!(rotated(&path, 1).exists() && !rotated(&path, 2).exists());
        assert!(verify(&path, 1).unwrap().problems.is_empty());
    }

    #[test]
    fn concurrent_writers_keep_one_chain() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let server = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            let mut log = LogFile::new(path.clone(), 4000, 1000);
            runtime.unwrap().block_on(write(&mut log, 150));
        };
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(server);
            }
        });
        let verdict = verify(&path, 1000).unwrap();
        assert_eq!((verdict.problems.as_slice(), verdict.records), ([].as_slice(), 600));
    }

    #[tokio::test]
    async fn interrupted_rotation_is_finished() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = log_at(&path);
        write(&mut log, 14).await;
        assert!(rotated(&path, 2).exists() && !rotated(&path, 3).exists());
        fs::rename(rotated(&path, 2), rotated(&path, 3)).unwrap();
        fs::rename(rotated(&path, 1), rotated(&path, 2)).unwrap();
        write(&mut log, 6).await;
        let verdict = verify(&path, 3).unwrap();
        assert_eq!((verdict.problems.as_slice(), verdict.records), ([].as_slice(), 20));
    }

    #[tokio::test]
    async fn partial_line_is_cut_off() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        write(&mut log_at(&path), 2).await;
        let whole = fs::read(&path).unwrap();
        fs::write(&path, [&whole[..], b"{\"seq\":3,\"ts\":\"20"].concat()).unwrap();
        write(&mut log_at(&path), 1).await;
        let verdict = verify(&path, 3).unwrap();
        assert_eq!((verdict.problems.as_slice(), verdict.records), ([].as_slice(), 3));
    }

    #[tokio::test]
    async fn file_that_is_not_a_log_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        for other in ["precious", "precious\n", "{\"a\": 1}\n", "{\"seq\": 1}\nprecious"] {
            fs::write(&path, other).unwrap();
            let error = log_at(&path).open().await.unwrap_err();
            assert!(error.to_string().contains("not an audit log"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), other);
        }
        let refused = async |path: &Path| log_at(path).open().await.unwrap_err().to_string();
        let link = dir.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(refused(&link).await.contains("symbolic link"));
        symlink(dir.path().join("nothing"), dir.path().join("dangling")).unwrap();
        assert!(refused(&dir.path().join("dangling")).await.contains("symbolic link"));
        assert!(!dir.path().join("nothing").exists());
        // rustix has no mknodat on other systems.
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, FileType, Mode, mknodat};
            let pipe = dir.path().join("pipe");
            mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
            assert!(refused(&pipe).await.contains("regular file"));
        }
        fs::hard_link(&path, dir.path().join("twin")).unwrap();
        assert!(refused(&path).await.contains("hard link"));
        assert!(refused(Path::new("/dev/full")).await.contains("regular file"));
    }

    #[tokio::test]
    async fn existing_log_becomes_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o664)).unwrap();
        log_at(&path).open().await.unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[tokio::test]
    async fn numbers_continue_when_the_file_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = log_at(&path);
        write(&mut log, 3).await;
        fs::remove_file(&path).unwrap();
        write(&mut log, 1).await;
        let verdict = verify(&path, 3).unwrap();
        assert!(verdict.problems[0].contains("1 to 3"), "{verdict:?}");
    }

    #[tokio::test]
    async fn lock_that_is_never_released_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let holder = private_file::log(&path).unwrap();
        flock(&holder, FlockOperation::LockExclusive).unwrap();
        let mut log = LogFile { lock_timeout: LOCK_RETRY_INTERVAL * 5, ..log_at(&path) };
        let error = log.open().await.unwrap_err();
        assert!(error.to_string().contains("lock"), "{error}");
        drop(holder);
        log.open().await.unwrap();
    }
}
