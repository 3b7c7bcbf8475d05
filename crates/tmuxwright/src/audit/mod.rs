//! The audit log: one record per call, written before the answer goes out.
//!
//! While the log cannot be written, no call is made: the unwritten records stay in a queue, and are
//! written first once that is possible again.
//!
//! - [`AuditRecord`]: one line of the log. [`Disclosure`] decides which arguments are in it as they are.
//! - `log`: the file of lines, rotated by size. `tail`: its last record. `full`: full answers in files.
//! - `private_file`: files that other users can neither read nor redirect.
//! - [`lines()`], [`verify()`]: reading the log.

mod full;
mod log;
mod private_file;
mod record;
mod tail;
mod verify;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use chrono::Utc;
use serde_json::{Map, Value};
use tokio::signal::unix::{SignalKind, signal};

use crate::contract::{AskedPerson, Code, Disclosure, ObjectIds, ToolError};
use crate::lock::lock;
use full::AnswerFolder;
use log::LogFile;
pub use record::{AuditRecord, CallOrigin};
pub use verify::{AuditLine, AuditVerdict, lines, verify};

/// Settings of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditOptions {
    /// The path of the log; `None` for no log.
    pub file: Option<PathBuf>,
    /// The directory for full answers; `None` to keep none.
    pub full: Option<PathBuf>,
    /// Whether all arguments are logged as they are.
    pub plain: bool,
    /// Size at which the log is rotated.
    pub max_bytes: u64,
    /// Number of rotated files to keep.
    pub files: u32,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self { file: None, full: None, plain: false, max_bytes: 10_000_000, files: 5 }
    }
}

/// Maximum number of records in the queue, while the log cannot be written. Further refused calls are
/// not recorded.
const MAX_QUEUED_REFUSALS: usize = 1000;

/// An error writing the audit log.
#[derive(Debug)]
pub struct AuditError {
    path: PathBuf,
    error: io::Error,
}

impl fmt::Display for AuditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the audit log `{}` cannot be written: {}", self.path.display(), self.error)
    }
}

impl From<AuditError> for ToolError {
    fn from(failed: AuditError) -> Self {
        Self::new(Code::AuditFailed, failed.to_string()).hint(
            "ask a person to free space or repair the log; calls work again once it can be written",
        )
    }
}

/// The audit log of one server process.
#[derive(Debug)]
pub struct Audit {
    plain: bool,
    wants_text: bool,
    /// Records that are not written yet, oldest first.
    queue: Mutex<VecDeque<QueuedRecord>>,
    files: tokio::sync::Mutex<AuditFiles>,
}

#[derive(Debug)]
struct QueuedRecord {
    record: AuditRecord,
    /// The full answer, until it is written to its file.
    text: Option<String>,
}

#[derive(Debug)]
struct AuditFiles {
    log: Option<LogFile>,
    folder: Option<AnswerFolder>,
}

/// The result of a call, for its record.
#[derive(Debug)]
pub struct CallOutcome {
    /// The objects it used.
    pub ids: ObjectIds,
    /// The questions to a person.
    pub asked: Vec<AskedPerson>,
    /// `ok`, or the code of the error.
    pub outcome: &'static str,
    /// The length of the answer's text.
    pub output_bytes: Option<usize>,
    /// The full answer, for a file of its own.
    pub text: Option<String>,
}

impl Audit {
    /// `None` if the settings name no log and no directory. Opens no file yet.
    pub fn new(options: AuditOptions) -> Option<Self> {
        let AuditOptions { file, full, plain, max_bytes, files } = options;
        if file.is_none() && full.is_none() {
            return None;
        }
        let log = file.map(|path| LogFile::new(path, max_bytes, files));
        let folder = full.map(AnswerFolder::new);
        Some(Self {
            plain,
            wants_text: folder.is_some(),
            queue: Mutex::default(),
            files: tokio::sync::Mutex::new(AuditFiles { log, folder }),
        })
    }

    /// Opens the log and the directory, so that a wrong path is found at start. Needs a Tokio runtime.
    pub async fn open(&self) -> Result<(), AuditError> {
        // With a handler, a write beyond the file size limit fails. By default SIGXFSZ ends the process.
        if let Err(error) = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())) {
            tracing::warn!("cannot handle SIGXFSZ: {error}");
        }
        let mut files = self.files.lock().await;
        let AuditFiles { log, folder } = &mut *files;
        if let Some(folder) = folder {
            folder.open().map_err(|error| failed(folder.path(), error))?;
        }
        if let Some(log) = log {
            log.open().await.map_err(|error| failed(log.path(), error))?;
        }
        Ok(())
    }

    /// Whether full answers are kept.
    pub fn wants_text(&self) -> bool {
        self.wants_text
    }

    /// Starts the record of a call.
    pub fn begin(
        &self,
        tool: &str,
        disclosure: &Disclosure,
        arguments: &Map<String, Value>,
        caller: CallOrigin,
    ) -> PendingRecord<'_> {
        let (arguments, legacy) = match self.plain {
            true => (arguments.clone(), record::LegacyFields::of(tool, arguments)),
            false => (disclosure.show_all(arguments), record::LegacyFields::default()),
        };
        let record = AuditRecord {
            seq: 0,
            ts: record::stamp(Utc::now()),
            tool: tool.chars().take(100).collect(),
            ids: ObjectIds::default(),
            arguments,
            legacy,
            asked: Vec::new(),
            duration_ms: 0.0,
            outcome: String::new(),
            output_bytes: None,
            full: None,
            caller,
            prev: String::new(),
        };
        PendingRecord { audit: self, record: Some(record), begun: Instant::now() }
    }

    /// Writes the queued records. While that fails, no call may be made.
    pub async fn ready(&self) -> Result<(), AuditError> {
        if self.queue().is_empty() {
            return Ok(());
        }
        self.write().await
    }

    async fn write(&self) -> Result<(), AuditError> {
        let mut files = self.files.lock().await;
        loop {
            let Some(next) = self.queue().pop_front() else { return Ok(()) };
            let mut unwritten = Unwritten { audit: self, next: Some(next) };
            if let Some(next) = &mut unwritten.next {
                files.write(next).await?;
            }
            unwritten.next = None;
        }
    }

    /// Writes the queued records for the last time.
    pub async fn close(&self) {
        if let Err(error) = self.write().await {
            let lost = self.queue().len();
            tracing::error!("{error}; {lost} records are lost");
        }
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, VecDeque<QueuedRecord>> {
        lock(&self.queue)
    }
}

impl AuditFiles {
    async fn write(&mut self, queued: &mut QueuedRecord) -> Result<(), AuditError> {
        let QueuedRecord { record, text } = queued;
        if let (Some(folder), Some(full)) = (&mut self.folder, text.as_ref()) {
            let stem = full::stem(&record.ids, &record.tool);
            let name = folder.keep(&stem, full);
            record.full = Some(name.map_err(|error| failed(folder.path(), error))?);
            *text = None;
        }
        match &mut self.log {
            Some(log) => log.write(record).await.map_err(|error| failed(log.path(), error)),
            None => Ok(()),
        }
    }
}

fn failed(path: &Path, error: io::Error) -> AuditError {
    AuditError { path: path.to_owned(), error }
}

/// The record that is being written. When it is dropped unwritten, because of an error or a cancelled
/// call, it returns to the front of the queue.
struct Unwritten<'a> {
    audit: &'a Audit,
    next: Option<QueuedRecord>,
}

impl Drop for Unwritten<'_> {
    fn drop(&mut self) {
        if let Some(next) = self.next.take() {
            self.audit.queue().push_front(next);
        }
    }
}

/// The record of a call in progress. Dropping it records the call as cancelled.
#[derive(Debug)]
pub struct PendingRecord<'a> {
    audit: &'a Audit,
    record: Option<AuditRecord>,
    begun: Instant,
}

impl PendingRecord<'_> {
    /// Completes the record and writes it.
    pub async fn end(mut self, outcome: CallOutcome) -> Result<(), AuditError> {
        self.enqueue(outcome);
        self.audit.write().await
    }

    /// Records a call that was not made because the log cannot be written.
    pub fn refuse(mut self, outcome: &'static str) {
        if self.audit.queue().len() < MAX_QUEUED_REFUSALS {
            self.enqueue(CallOutcome {
                ids: ObjectIds::default(),
                asked: Vec::new(),
                outcome,
                output_bytes: None,
                text: None,
            });
        }
        self.record = None;
    }

    fn enqueue(&mut self, outcome: CallOutcome) {
        let Some(mut record) = self.record.take() else { return };
        let CallOutcome { ids, asked, outcome, output_bytes, text } = outcome;
        record.ids = ids;
        record.asked = asked;
        record.duration_ms = (self.begun.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        outcome.clone_into(&mut record.outcome);
        record.output_bytes = output_bytes;
        self.audit.queue().push_back(QueuedRecord { record, text });
    }
}

impl Drop for PendingRecord<'_> {
    fn drop(&mut self) {
        let (ids, asked) = (ObjectIds::default(), Vec::new());
        let outcome = "cancelled";
        self.enqueue(CallOutcome { ids, asked, outcome, output_bytes: None, text: None });
    }
}

/// The path of a rotated file: `log.1`, `log.2`, …
fn rotated(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}
