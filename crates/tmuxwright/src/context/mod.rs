//! The call context (`Cx`): the engines of the MCP client that calls, the request, and guarded access
//! to tmux objects, buffers, files and shells.
//!
//! A tool gets objects only from [`Cx::resolve`] and [`Cx::panes`], and buffers only from
//! [`Cx::buffer`]. These ask the guard first, as do the methods for files, shells and new panes. So a
//! tool cannot use an object that the policy forbids, and needs no knowledge of the policy.

mod admission;
mod buffers;
mod consent;
mod detached;
mod engines;
mod errors;
pub(crate) mod files;
mod progress;
mod redaction;
mod request;
mod resolve;
mod server;
mod tool;
mod turn;
mod typed_line;
mod visibility;

use std::collections::HashSet;
#[cfg(feature = "files")]
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tmux_control::Server;
use tokio::time::Instant;

use crate::changes::Changes;
use crate::contract::{Code, CreateLocation, Guard, Meta, OptionReach, ToolError, VariableReach};
#[cfg(feature = "files")]
use crate::contract::{FilePath, file_failed};
#[cfg(feature = "files")]
use crate::file_io;
use crate::host::Host;
use crate::run::Engine;
use crate::watch::Watches;

pub(crate) use buffers::{buffer_failed, buffer_label, no_buffer};
pub use consent::{ANSWER_TIME, AskPerson, NobodyToAsk, Questions};
pub use detached::{CallEvent, DetachedCall, DetachedCalls, RequestProgress};
pub use engines::Engines;
pub use progress::{Progress, ProgressStep};
pub use redaction::SecretFinder;
pub use request::{FirstTarget, Request, ToolCaller};
pub use resolve::{Resolved, VisibleTree};
pub use server::{ReachableServer, ServerScope};
pub use tool::{Tool, ToolEntry, ToolHandler};
pub(crate) use turn::Turn;
pub use turn::TypedLines;
pub(crate) use typed_line::Keystroke;

/// The context of one call.
pub struct Cx {
    /// The name of the tmux server, and its place among the others.
    pub server: Arc<ServerScope>,
    /// The tmux server, as the calling MCP client sees it.
    pub host: Arc<Host>,
    /// Runs commands.
    pub runs: Arc<Engine>,
    /// Watches panes.
    pub watches: Watches,
    /// Notifies of changes to tmux objects.
    pub changes: Changes,
    /// The request that the call belongs to.
    pub request: Request,
    pub(super) meta: &'static Meta,
    pub(super) guard: Arc<dyn Guard>,
    pub(super) typed_lines: Arc<TypedLines>,
    /// Facts about objects that a person allowed the call to destroy.
    pub(super) accepted: Mutex<HashSet<String>>,
    /// The longest wait of a call for an MCP client that did not ask for progress.
    block: Duration,
}

/// Interval of progress reports while a call waits.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

/// The longest wait of any call, in seconds.
const MAX_WAIT_SECONDS: f64 = 600.0;

impl Cx {
    /// The context of a call of the tool with this declaration.
    pub fn new(
        engines: &Engines,
        meta: &'static Meta,
        guard: Arc<dyn Guard>,
        request: Request,
    ) -> Self {
        let Engines { server, host, runs, watches, changes, block, typed_lines } = engines.clone();
        Self {
            server,
            host,
            runs,
            watches,
            changes,
            request,
            meta,
            guard,
            accepted: Mutex::default(),
            block,
            typed_lines,
        }
    }

    /// The time this call may wait, if `argument` asks for so many seconds. Bounded by `limits.block`,
    /// unless the MCP client gets progress reports and so does not time out.
    pub fn max_wait(&self, argument: &str, seconds: f64) -> Result<Duration, ToolError> {
        if !(0.0..=MAX_WAIT_SECONDS).contains(&seconds) {
            return Err(ToolError::invalid_argument(format!(
                "`{argument}`: {seconds} is not between 0 and {MAX_WAIT_SECONDS} seconds"
            ))
            .hint("give fewer seconds, and call again for a longer wait"));
        }
        let asked = Duration::from_secs_f64(seconds);
        let longest = match self.request.progress.is_wanted() {
            true => Duration::from_secs_f64(MAX_WAIT_SECONDS),
            false => self.block,
        };
        Ok(asked.min(longest.saturating_sub(self.request.begun.elapsed())))
    }

    /// Awaits `work` and reports progress meanwhile. `None` after the timeout.
    pub async fn wait<T>(
        &self,
        timeout: Duration,
        work: impl Future<Output = T>,
        message: impl Fn() -> String,
    ) -> Option<T> {
        let begun = Instant::now();
        let until = begun + timeout;
        tokio::pin!(work);
        loop {
            let step = match self.request.progress.is_wanted() {
                true => (Instant::now() + PROGRESS_INTERVAL).min(until),
                false => until,
            };
            if let Ok(done) = tokio::time::timeout_at(step, &mut work).await {
                return Some(done);
            }
            if step == until {
                return None;
            }
            let done = begun.elapsed().as_secs_f64();
            let total = Some(timeout.as_secs_f64());
            self.request.progress.report(ProgressStep { done, total, message: message() }).await;
        }
    }

    /// The connection to tmux.
    pub fn tmux(&self) -> &Server {
        self.host.tmux()
    }

    /// Asks the guard whether a session, window or pane may be created there.
    pub fn may_create(&self, location: CreateLocation<'_>) -> Result<(), ToolError> {
        self.guard.admit_creation(location)
    }

    /// Asks the guard whether the call may set this environment variable.
    pub fn may_set_variable(&self, name: &str, reach: VariableReach) -> Result<(), ToolError> {
        self.guard.admit_variable(name, reach)
    }

    /// Asks the guard whether the call may set a tmux option of an object, or with `None` a global one,
    /// to a value. `name` has no index.
    pub async fn may_set_option(
        &self,
        name: &str,
        value: Option<&str>,
        object: Option<&Resolved>,
    ) -> Result<(), ToolError> {
        match self.guard.admit_option(name, value)? {
            OptionReach::Anywhere => Ok(()),
            OptionReach::AsCommand => self.may_run(value.unwrap_or_default()),
            OptionReach::OwnObjects => {
                let refused = || {
                    let message = format!(
                        "`{name}` could close, rename or resize what this server did not make"
                    );
                    ToolError::new(Code::Denied, message).hint(
                        "set it on a session from create_session; for others a person can start \
                         tmuxwright with --tier destructive",
                    )
                };
                self.may_end(object, refused).await
            }
        }
    }

    /// The path in an argument, if the file may be read.
    #[cfg(feature = "files")]
    pub async fn file_to_read(
        &self,
        path: &FilePath,
        argument: &str,
    ) -> Result<PathBuf, ToolError> {
        self.ask_about_file("read", path.check(argument)?, Guard::admit_read).await
    }

    /// The path in an argument, if the file may be written.
    #[cfg(feature = "files")]
    pub async fn file_to_write(
        &self,
        path: &FilePath,
        argument: &str,
    ) -> Result<PathBuf, ToolError> {
        self.ask_about_file("written", path.check(argument)?, Guard::admit_write).await
    }

    /// The path in an argument, if the tmux server may write the file on its system.
    #[cfg(feature = "files")]
    pub async fn file_for_tmux(
        &self,
        path: &FilePath,
        argument: &str,
    ) -> Result<PathBuf, ToolError> {
        self.ask_about_file("written", path.check(argument)?, Guard::admit_write_by_tmux).await
    }

    /// Asks the guard about a file. It resolves links, and so can meet a file system that hangs.
    #[cfg(feature = "files")]
    async fn ask_about_file(
        &self,
        action: &str,
        path: PathBuf,
        question: fn(&(dyn Guard + 'static), &Path) -> Result<PathBuf, ToolError>,
    ) -> Result<PathBuf, ToolError> {
        let (guard, asked) = (Arc::clone(&self.guard), path.clone());
        let answer = file_io::off_runtime(move || question(guard.as_ref(), &asked)).await;
        answer.map_err(|error| file_failed(action, &path, &error))?
    }
}
