//! File access that cannot freeze the server: regular files only, opened without waiting, and off the
//! runtime thread with a time limit.
//!
//! A pipe without a reader, a device, or a file system that does not answer would otherwise block the
//! only thread of the runtime, and with it every call and every signal.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// How long a file system may take for one step.
const STEP_TIMEOUT: Duration = Duration::from_secs(10);

/// Threads that may be blocked in files at once. One for the whole process, because tokio's blocking
/// threads, which also carry stdin and stdout, are.
static FILE_THREADS: Semaphore = Semaphore::const_new(16);

/// Runs work on files on a thread of its own. Fails with `TimedOut` if it takes too long; the work then
/// goes on unobserved.
pub(crate) async fn off_runtime<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    within(STEP_TIMEOUT, work).await
}

async fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let done = timeout(limit, async {
        let permit = FILE_THREADS.acquire().await.map_err(io::Error::other)?;
        let step = spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        step.await.map_err(io::Error::other)
    });
    done.await.unwrap_or_else(|_| {
        let message = format!("the file system did not answer within {limit:?}");
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    })
}

/// Opens a regular file. Everything else is refused without waiting for it.
pub(crate) fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    // Opening a device can have effects of its own, so it is not even opened.
    match fs::metadata(path) {
        Ok(about) => require_regular(&about)?,
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Err(_) => {}
    }
    // NONBLOCK, and the second check: the file may have been replaced by a pipe meanwhile.
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::from_raw_mode(0o666))?);
    require_regular(&file.metadata()?)?;
    Ok(file)
}

/// Refuses everything but a regular file.
pub(crate) fn require_regular(about: &fs::Metadata) -> io::Result<()> {
    if about.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !about.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(())
}

/// The text of a regular file of at most `max_bytes`.
pub(crate) fn read_to_string(path: &Path, max_bytes: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    open(path, OFlags::RDONLY)?.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(io::Error::other(format!("it is larger than {max_bytes} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "text").unwrap();
        assert_eq!(read_to_string(&path, 4).unwrap(), "text");
        assert!(read_to_string(&path, 3).unwrap_err().to_string().contains("larger than 3"));
        fs::write(&path, [0xff]).unwrap();
        assert!(read_to_string(&path, 3).unwrap_err().to_string().contains("UTF-8"));
        let refused = |path: &Path| open(path, OFlags::RDONLY).unwrap_err();
        assert_eq!(refused(dir.path()).kind(), io::ErrorKind::IsADirectory);
        assert_eq!(refused(&dir.path().join("none")).kind(), io::ErrorKind::NotFound);
        assert!(refused(Path::new("/dev/null")).to_string().contains("regular file"));
        // rustix has no mknodat on other systems.
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, FileType, mknodat};
            let pipe = dir.path().join("pipe");
            mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
            assert!(refused(&pipe).to_string().contains("regular file"));
            assert!(open(&pipe, OFlags::WRONLY).unwrap_err().to_string().contains("regular file"));
        }
    }

    #[tokio::test]
    async fn work_that_hangs_is_given_up() {
        let (release, hang) = std::sync::mpsc::channel::<()>();
        let error = within(Duration::from_millis(1), move || hang.recv()).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(release);
        assert_eq!(off_runtime(|| 1).await.unwrap(), 1);
    }
}
