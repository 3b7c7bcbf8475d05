//! The audit log: what was called, when, on what, with what outcome. One record per call, written
//! before the answer goes out.
//!
//! A log that cannot be written stops everything: the record is kept and written first when that
//! is possible again, and until then no call is made.
//!
//! - [`Disclosure`]: which arguments are harmless; `hide`: what is written of the others.
//! - [`AuditRecord`]: a line. `log`: the file of lines. `full`: whole answers in files.
//! - [`lines()`], [`verify()`]: for those who read the log.

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

use crate::contract::{Code, Disclosure, ObjectIds, ToolError};
use full::AnswerFolder;
use log::LogFile;

use crate::lock::lock;
pub use record::{AuditRecord, CallOrigin};
pub use verify::{AuditLine, AuditVerdict, lines, verify};

/// What is kept, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditOptions {
    /// The log.
    pub file: Option<PathBuf>,
    /// The directory for whole answers.
    pub full: Option<PathBuf>,
    /// Whether arguments are written down as they are.
    pub plain: bool,
    /// How large the log may get before it is rotated.
    pub max_bytes: u64,
    /// How many rotated files are kept.
    pub files: u32,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self { file: None, full: None, plain: false, max_bytes: 10_000_000, files: 5 }
    }
}

/// While the log cannot be written, this many refused calls are remembered for it.
const MAX_QUEUED_REFUSALS: usize = 1000;

/// Why a log cannot be kept.
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
            "a person has to free space or repair the log; calls work again once it can be written",
        )
    }
}

/// The audit of one server.
#[derive(Debug)]
pub struct Audit {
    plain: bool,
    wants_text: bool,
    /// Records that are not written yet, in the order in which they will be.
    waiting: Mutex<VecDeque<QueuedRecord>>,
    files: tokio::sync::Mutex<AuditFiles>,
}

#[derive(Debug)]
struct QueuedRecord {
    record: AuditRecord,
    /// The whole answer, until it has its file.
    text: Option<String>,
}

#[derive(Debug)]
struct AuditFiles {
    log: Option<LogFile>,
    folder: Option<AnswerFolder>,
}

/// How a call ended.
#[derive(Debug)]
pub struct CallOutcome {
    /// What it was about.
    pub ids: ObjectIds,
    /// `ok`, or the code of the error.
    pub outcome: &'static str,
    /// The length of the answer's text.
    pub output_bytes: Option<usize>,
    /// The whole answer, for a file of its own.
    pub text: Option<String>,
}

impl Audit {
    /// The audit that is asked for, if any is. Touches nothing yet.
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
            waiting: Mutex::default(),
            files: tokio::sync::Mutex::new(AuditFiles { log, folder }),
        })
    }

    /// Makes sure that it can be kept. Needs a Tokio runtime.
    pub async fn open(&self) -> Result<(), AuditError> {
        // At a limit on the size of files a write must fail; by itself this signal ends us.
        if let Err(error) = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())) {
            tracing::warn!("a signal cannot be watched: {error}");
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

    /// Whether whole answers are kept.
    pub fn wants_text(&self) -> bool {
        self.wants_text
    }

    /// Notes that a call has come in.
    pub fn begin(
        &self,
        tool: &str,
        disclosure: &Disclosure,
        arguments: &Map<String, Value>,
        caller: CallOrigin,
    ) -> PendingRecord<'_> {
        let (arguments, older) = match self.plain {
            true => (arguments.clone(), record::LegacyFields::of(tool, arguments)),
            false => (disclosure.show_all(arguments), record::LegacyFields::default()),
        };
        let record = AuditRecord {
            seq: 0,
            ts: record::stamp(Utc::now()),
            tool: tool.chars().take(100).collect(),
            ids: ObjectIds::default(),
            arguments,
            older,
            duration_ms: 0.0,
            outcome: String::new(),
            output_bytes: None,
            full: None,
            caller,
            prev: String::new(),
        };
        PendingRecord { audit: self, record: Some(record), begun: Instant::now() }
    }

    /// Writes what is waiting. While that fails, nothing may be done.
    pub async fn ready(&self) -> Result<(), AuditError> {
        if self.waiting().is_empty() {
            return Ok(());
        }
        self.write().await
    }

    async fn write(&self) -> Result<(), AuditError> {
        let mut files = self.files.lock().await;
        loop {
            let Some(next) = self.waiting().pop_front() else { return Ok(()) };
            let mut turn = Unwritten { audit: self, next: Some(next) };
            if let Some(next) = &mut turn.next {
                files.write(next).await?;
            }
            turn.next = None;
        }
    }

    /// Writes what is still waiting, for the last time.
    pub async fn close(&self) {
        if let Err(error) = self.write().await {
            let lost = self.waiting().len();
            tracing::error!("{error}; {lost} of its records are lost");
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, VecDeque<QueuedRecord>> {
        lock(&self.waiting)
    }
}

impl AuditFiles {
    async fn write(&mut self, waiting: &mut QueuedRecord) -> Result<(), AuditError> {
        let QueuedRecord { record, text } = waiting;
        if let (Some(folder), Some(whole)) = (&mut self.folder, text.as_ref()) {
            let stem = full::stem(&record.ids, &record.tool);
            let kept = folder.keep(&stem, whole);
            record.full = Some(kept.map_err(|error| failed(folder.path(), error))?);
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

/// A record whose turn it is. If it is not written, it goes back to its place.
struct Unwritten<'a> {
    audit: &'a Audit,
    next: Option<QueuedRecord>,
}

impl Drop for Unwritten<'_> {
    fn drop(&mut self) {
        if let Some(next) = self.next.take() {
            self.audit.waiting().push_front(next);
        }
    }
}

/// A call that is being made. If it is dropped, the call was given up.
#[derive(Debug)]
pub struct PendingRecord<'a> {
    audit: &'a Audit,
    record: Option<AuditRecord>,
    begun: Instant,
}

impl PendingRecord<'_> {
    /// Writes down how the call ended.
    pub async fn end(mut self, end: CallOutcome) -> Result<(), AuditError> {
        self.note(end);
        self.audit.write().await
    }

    /// Notes a call that was not made since the log cannot be written.
    pub fn refuse(mut self, outcome: &'static str) {
        if self.audit.waiting().len() < MAX_QUEUED_REFUSALS {
            self.note(CallOutcome {
                ids: ObjectIds::default(),
                outcome,
                output_bytes: None,
                text: None,
            });
        }
        self.record = None;
    }

    fn note(&mut self, end: CallOutcome) {
        let Some(mut record) = self.record.take() else { return };
        let CallOutcome { ids, outcome, output_bytes, text } = end;
        record.ids = ids;
        record.duration_ms = (self.begun.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        outcome.clone_into(&mut record.outcome);
        record.output_bytes = output_bytes;
        self.audit.waiting().push_back(QueuedRecord { record, text });
    }
}

impl Drop for PendingRecord<'_> {
    fn drop(&mut self) {
        let ids = ObjectIds::default();
        self.note(CallOutcome { ids, outcome: "cancelled", output_bytes: None, text: None });
    }
}

/// The name of a rotated file of a log.
fn rotated(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}
