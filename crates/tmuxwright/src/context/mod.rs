//! What a tool gets to work with: one tmux server, the caller's standing on it, a way to report
//! progress and to hear that it should stop.
//!
//! Objects are only handed out through [`Cx::resolve`] and [`Cx::panes`], buffers through
//! [`Cx::buffer`], which ask the guard first; so do the ways to files, shells and new things. A tool
//! cannot reach what the policy forbids, and need not know that there is one.

mod buffers;
mod engines;
mod errors;
pub(crate) mod files;
mod progress;
mod request;
mod resolve;
mod tool;
mod turn;
mod typed_line;
mod visibility;

#[cfg(feature = "files")]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tmux_control::Server;
use tokio::time::Instant;

use crate::changes::Changes;
#[cfg(feature = "files")]
use crate::contract::FilePath;
use crate::contract::{CreateLocation, Guard, Meta, ToolError};
use crate::host::Host;
use crate::run::Engine;
use crate::watch::Watches;

pub(crate) use buffers::{buffer_failed, buffer_label, no_buffer};
pub use engines::Engines;
pub use progress::{Progress, ProgressStep};
pub use request::{FirstTarget, Request, ToolCaller};
pub use resolve::{Resolved, VisibleTree};
pub use tool::{Tool, ToolEntry, ToolHandler};
pub(crate) use turn::Turn;
pub use turn::TypedLines;
pub(crate) use typed_line::Keystroke;

/// The surroundings of one call.
pub struct Cx {
    /// The tmux server the call is about.
    pub host: Arc<Host>,
    /// Runs commands there.
    pub runs: Arc<Engine>,
    /// Watches panes there.
    pub watches: Watches,
    /// Follows what changes there.
    pub changes: Changes,
    /// What came with the call.
    pub request: Request,
    pub(super) meta: &'static Meta,
    pub(super) guard: Arc<dyn Guard>,
    pub(super) typed_lines: Arc<TypedLines>,
    block: Duration,
}

/// How often a client is told that a call goes on.
const REPORT_EVERY: Duration = Duration::from_secs(5);

/// The longest that any call blocks, in seconds.
const LONGEST: f64 = 600.0;

impl Cx {
    /// The surroundings of a call of the tool `meta`.
    pub fn new(
        engines: &Engines,
        meta: &'static Meta,
        guard: Arc<dyn Guard>,
        request: Request,
    ) -> Self {
        let Engines { host, runs, watches, changes, block, typed_lines } = engines.clone();
        Self { host, runs, watches, changes, request, meta, guard, block, typed_lines }
    }

    /// How long this call may wait if it is asked to wait so many seconds.
    pub fn max_wait(&self, argument: &str, seconds: f64) -> Result<Duration, ToolError> {
        if !(0.0..=LONGEST).contains(&seconds) {
            return Err(ToolError::invalid_argument(format!(
                "`{argument}`: {seconds} is not from 0 to {LONGEST} seconds"
            ))
            .hint("give fewer seconds, and ask again for what takes longer"));
        }
        let asked = Duration::from_secs_f64(seconds);
        let longest = match self.request.progress.is_wanted() {
            true => Duration::from_secs_f64(LONGEST),
            false => self.block,
        };
        Ok(asked.min(longest.saturating_sub(self.request.begun.elapsed())))
    }

    /// Does some work until time is up, and tells the client now and then that it goes on. `None`
    /// if time was up.
    pub async fn wait<T>(
        &self,
        patience: Duration,
        work: impl Future<Output = T>,
        message: impl Fn() -> String,
    ) -> Option<T> {
        let begun = Instant::now();
        let until = begun + patience;
        tokio::pin!(work);
        loop {
            let step = match self.request.progress.is_wanted() {
                true => (Instant::now() + REPORT_EVERY).min(until),
                false => until,
            };
            if let Ok(done) = tokio::time::timeout_at(step, &mut work).await {
                return Some(done);
            }
            if step == until {
                return None;
            }
            let done = begun.elapsed().as_secs_f64();
            let total = Some(patience.as_secs_f64());
            self.request.progress.report(ProgressStep { done, total, message: message() }).await;
        }
    }

    /// The connection to tmux.
    pub fn tmux(&self) -> &Server {
        self.host.tmux()
    }

    /// Asks whether something may be made there.
    pub fn may_create(&self, place: CreateLocation<'_>) -> Result<(), ToolError> {
        self.guard.admit_creation(place)
    }

    /// Asks whether a call may set this environment variable.
    pub fn may_set_variable(&self, variable: &str) -> Result<(), ToolError> {
        self.guard.admit_variable(variable)
    }

    /// The file that a caller names, if it may be read.
    #[cfg(feature = "files")]
    pub fn file_to_read(&self, path: &FilePath, argument: &str) -> Result<PathBuf, ToolError> {
        self.guard.admit_read(&path.check(argument)?)
    }

    /// The file that a caller names, if it may be written.
    #[cfg(feature = "files")]
    pub fn file_to_write(&self, path: &FilePath, argument: &str) -> Result<PathBuf, ToolError> {
        self.guard.admit_write(&path.check(argument)?)
    }
}
