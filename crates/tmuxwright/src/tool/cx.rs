//! What a tool gets to work with: one tmux server, the caller's standing on it, a way to report
//! progress and to hear that it should stop.
//!
//! Objects are only handed out through [`Cx::resolve`] and [`Cx::panes`], buffers through
//! [`Cx::buffer`], which ask the guard first; so do the ways to files, shells and new things. A tool
//! cannot reach what the policy forbids, and need not know that there is one.

#[cfg(feature = "files")]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tmux_control::Server;
use tokio::time::Instant;

#[cfg(feature = "files")]
use super::FilePath;
use super::turn::Lines;
use super::{Guard, Meta, NewPlace, Request, ToolError};
use crate::changes::Changes;
use crate::host::Host;
use crate::run::Engine;
use crate::watch::Watches;

/// One step of a long call.
#[derive(Debug, Clone)]
pub struct Step {
    /// How far it is.
    pub done: f64,
    /// How far it has to go, if that is known.
    pub total: Option<f64>,
    /// What it is doing.
    pub message: String,
}

/// Tells the client how a long call is getting on, if it wants to know.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(Step) -> BoxFuture<'static, ()> + Send + Sync>>);

impl Progress {
    /// Progress that goes through `send`.
    pub fn new(send: impl Fn(Step) -> BoxFuture<'static, ()> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(send)))
    }

    /// Whether the client wants to know.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Reports a step. It is on its way to the client when this returns.
    pub async fn report(&self, step: Step) {
        if let Some(send) = &self.0 {
            send(step).await;
        }
    }
}

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
    pub(super) lines: Arc<Lines>,
    block: Duration,
}

/// What every call of a client has in common.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The tmux server.
    pub host: Arc<Host>,
    /// Runs commands there.
    pub runs: Arc<Engine>,
    /// Watches panes there.
    pub watches: Watches,
    /// Follows what changes there.
    pub changes: Changes,
    /// How long a call may block when its client cannot see that it goes on.
    pub block: Duration,
    /// What stands typed in the panes there.
    pub lines: Arc<Lines>,
}

impl Surroundings {
    /// The same for a further client of this process.
    #[must_use]
    pub fn for_client(&self, number: u32) -> Self {
        let host = Arc::new(self.host.for_client(number));
        let runs = Arc::new(self.runs.for_client(Arc::clone(&host)));
        let watches = self.watches.for_client(Arc::clone(&host), Arc::clone(&runs));
        let Self { changes, block, lines, .. } = self.clone();
        Self { host, runs, watches, changes, block, lines }
    }
}

/// How often a client is told that a call goes on.
const REPORT_EVERY: Duration = Duration::from_secs(5);

/// The longest that any call blocks, in seconds.
const LONGEST: f64 = 600.0;

impl Cx {
    /// The surroundings of a call of the tool `meta`.
    pub fn new(
        around: &Surroundings,
        meta: &'static Meta,
        guard: Arc<dyn Guard>,
        request: Request,
    ) -> Self {
        let Surroundings { host, runs, watches, changes, block, lines } = around.clone();
        Self { host, runs, watches, changes, request, meta, guard, block, lines }
    }

    /// How long this call may wait if it is asked to wait so many seconds.
    pub fn patience(&self, argument: &str, seconds: f64) -> Result<Duration, ToolError> {
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
            self.request.progress.report(Step { done, total, message: message() }).await;
        }
    }

    /// The connection to tmux.
    pub fn tmux(&self) -> &Server {
        self.host.tmux()
    }

    /// Asks whether something may be made there.
    pub fn may_create(&self, place: NewPlace<'_>) -> Result<(), ToolError> {
        self.guard.create(place)
    }

    /// Asks whether a call may set this environment variable.
    pub fn may_set(&self, variable: &str) -> Result<(), ToolError> {
        self.guard.set_variable(variable)
    }

    /// The file that a caller names, if it may be read.
    #[cfg(feature = "files")]
    pub fn file_to_read(&self, path: &FilePath, argument: &str) -> Result<PathBuf, ToolError> {
        self.guard.read_file(&path.check(argument)?)
    }

    /// The file that a caller names, if it may be written.
    #[cfg(feature = "files")]
    pub fn file_to_write(&self, path: &FilePath, argument: &str) -> Result<PathBuf, ToolError> {
        self.guard.write_file(&path.check(argument)?)
    }
}
