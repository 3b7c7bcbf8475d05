//! Waiting for conditions in panes, by events instead of polling.
//!
//! A `Watch` has the panes of one wait. The raw output of each pane is read from the moment the watch
//! begins (`pane`), turned into lines (`view`), stripped of the echo of typed text (`echo`), and tested
//! by the conditions (`conditions`, `until`). Output and exits are events; only whether a program waits
//! for input has to be probed (`input_probe`), soon after its last output and then ever more rarely.
//! Dropping a watch releases all its resources.

mod conditions;
mod echo;
mod limits;
mod observation;
mod pane;
mod position;
mod until;
mod view;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use futures::FutureExt;
use tmux_control::PaneId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::bookmark::{Bookmark, ShownScreens};
use crate::host::{Host, PaneState};
use crate::run::{Engine, StartedJob};
pub(crate) use conditions::ErrorPatterns;
pub use conditions::{CONDITION_KINDS, ConditionKind, ERROR_PATTERNS, HARMLESS_PATTERNS};
pub use conditions::{ErrorPattern, HarmlessPattern};
use pane::WatchedPane;
use pane::since::SincePlace;
pub(crate) use until::{InvalidCondition, Until};

/// Limit of the panes that are watched at the same time, for all MCP clients together. Each holds a
/// screen, and memory that is used once stays with the process.
pub(crate) const MAX_WATCHED_PANES: u32 = 256;

/// Starts the watches on one tmux server.
#[derive(Debug, Clone)]
pub struct Watches {
    host: Arc<Host>,
    runs: Arc<Engine>,
    patterns: ErrorPatterns,
    /// One permit for each further pane that may be watched. Shared by all MCP clients.
    free: Arc<Semaphore>,
    /// Alternate screens for which cursors were given. Shared by all MCP clients.
    shown_screens: ShownScreens,
}

impl Watches {
    /// A value without watches. `patterns` are those of the condition `error`.
    pub(crate) fn new(host: Arc<Host>, runs: Arc<Engine>, patterns: ErrorPatterns) -> Self {
        let free = Arc::new(Semaphore::new(MAX_WATCHED_PANES as usize));
        Self { host, runs, patterns, free, shown_screens: ShownScreens::default() }
    }

    /// The same for another MCP client.
    pub(crate) fn for_client(&self, host: Arc<Host>, runs: Arc<Engine>) -> Self {
        Self { host, runs, ..self.clone() }
    }

    /// Alternate screens for which cursors were given.
    pub(crate) fn shown_screens(&self) -> &ShownScreens {
        &self.shown_screens
    }

    /// Parses conditions.
    pub(crate) fn until(&self, texts: &[String]) -> Result<Until, InvalidCondition> {
        Until::parse(texts, &self.patterns)
    }

    /// Reserves a watch of this many panes.
    pub(crate) fn reserve(&self, panes: usize) -> Result<Reservation, TooManyWatched> {
        let permits = u32::try_from(panes).map_err(|_| TooManyWatched)?;
        let permit = Arc::clone(&self.free).try_acquire_many_owned(permits);
        permit.map(Reservation).map_err(|_| TooManyWatched)
    }

    /// Begins to watch panes; duplicates are ignored. Only output from now on counts.
    pub(crate) async fn begin(
        &self,
        reservation: Reservation,
        mut panes: Vec<PaneState>,
        until: &Until,
    ) -> Result<Watch, tmux_control::Error> {
        let mut seen = HashSet::new();
        panes.retain(|pane| seen.insert(pane.pane));
        let begin = panes.into_iter().map(|pane| WatchedPane::begin(self, pane, until.clone()));
        let panes = futures::future::try_join_all(begin).await?;
        Ok(Watch { panes, since: None, _reservation: reservation })
    }

    /// The same for one pane, with the text that it has printed since a bookmark.
    pub(crate) async fn begin_since(
        &self,
        reservation: Reservation,
        pane: PaneState,
        since: &Bookmark,
        until: &Until,
    ) -> Result<Watch, tmux_control::Error> {
        let begun = WatchedPane::begin_since(self, pane, until.clone(), since).await;
        let (pane, place) = begun?;
        Ok(Watch { panes: vec![pane], since: Some(place), _reservation: reservation })
    }

    /// Watches a command that was just started, from its first output on.
    pub(crate) async fn follow(
        &self,
        reservation: Reservation,
        started: StartedJob,
        until: &Until,
    ) -> Result<Watch, tmux_control::Error> {
        let panes = vec![WatchedPane::follow(self, started, until.clone()).await?];
        Ok(Watch { panes, since: None, _reservation: reservation })
    }
}

/// The right to watch panes, released when it is dropped.
#[must_use]
pub(crate) struct Reservation(
    #[expect(dead_code, reason = "held, never read")] OwnedSemaphorePermit,
);

/// The limit of watched panes is reached.
#[derive(Debug, thiserror::Error)]
#[error(
    "at most {MAX_WATCHED_PANES} panes are watched at the same time, and the call would exceed that"
)]
pub(crate) struct TooManyWatched;

/// A watch: the panes of one wait.
pub(crate) struct Watch {
    panes: Vec<WatchedPane>,
    /// The place before now at which it begins, if it has one.
    since: Option<SincePlace>,
    _reservation: Reservation,
}

/// A condition that holds in a pane.
#[derive(Debug)]
pub(crate) struct WatchEvent {
    /// Id of the pane.
    pub(crate) pane: PaneId,
    /// The condition as the caller wrote it; or `exit`, which ends every watch.
    pub(crate) condition: String,
    /// The line that met the condition, or another detail such as the exit code.
    pub(crate) detail: String,
    /// Whether the condition is about the state of the foreground program.
    pub(crate) is_program_state: bool,
    /// Whether no further event can come from this pane.
    pub(crate) is_last: bool,
}

/// The reason why a pane can no longer be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatchLost {
    /// The pane was closed.
    PaneGone(PaneId),
    /// The pane was respawned with another program.
    Respawned(PaneId),
    /// The tmux server has exited.
    ServerGone,
}

impl fmt::Display for WatchLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PaneGone(pane) => write!(f, "{pane} went away"),
            Self::Respawned(pane) => write!(f, "{pane} was given to another program"),
            Self::ServerGone => f.write_str("the tmux server went away"),
        }
    }
}

/// The output of a pane during a watch.
#[derive(Debug, Clone, Default)]
pub(crate) struct WatchedOutput {
    /// Printed text; only the end of it if it is long.
    pub(crate) output: String,
    /// Whether the beginning was dropped.
    pub(crate) is_cut: bool,
    /// Whether bytes of the stream were lost.
    pub(crate) missed: bool,
    /// Whether the pane was closed: tmux drops output that it has not sent yet.
    pub(crate) pane_closed: bool,
}

impl Watch {
    /// Waits for the next event. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Result<WatchEvent, WatchLost> {
        // Of the conditions that hold already, in any pane, the first in the list wins.
        let held = self.panes.iter_mut().filter_map(|pane| pane.held().map(|held| (held, pane)));
        if let Some((held, pane)) = held.min_by_key(|(held, _)| held.index) {
            return Ok(pane.report(held));
        }
        let panes = self.panes.iter_mut().map(|pane| pane.next().boxed());
        futures::future::select_all(panes).await.0
    }

    /// The place before now at which it begins, if it has one.
    pub(crate) fn since(&self) -> Option<&SincePlace> {
        self.since.as_ref()
    }

    /// Notes that keys were typed into the panes since the watch began. What was printed since then
    /// counts; a state counts only once the keys are read.
    pub(crate) async fn keys_typed(&mut self) {
        for pane in &mut self.panes {
            pane.keys_typed().await;
        }
    }

    /// Whether no program has read the keys typed into a pane.
    pub(crate) fn has_unread_keys(&self, pane: PaneId) -> bool {
        self.panes.iter().any(|watched| watched.id() == pane && watched.has_unread_keys())
    }

    /// The output of a pane so far.
    pub(crate) fn output(&self, pane: PaneId) -> WatchedOutput {
        let watched = self.panes.iter().find(|watched| watched.id() == pane);
        watched.map(WatchedPane::output).unwrap_or_default()
    }

    /// The output of an existing pane up to this moment, and a bookmark after it.
    pub(crate) async fn output_now(
        &mut self,
        pane: &PaneState,
    ) -> (WatchedOutput, Option<Bookmark>) {
        match self.panes.iter_mut().find(|watched| watched.id() == pane.pane) {
            Some(watched) => {
                let bookmark = watched.catch_up(pane).await;
                (watched.output(), bookmark)
            }
            None => (WatchedOutput::default(), None),
        }
    }

    /// Stops watching a pane. False if it was the last one.
    pub(crate) fn unwatch(&mut self, pane: PaneId) -> bool {
        self.panes.retain(|watched| watched.id() != pane);
        !self.panes.is_empty()
    }

    /// Ids of the watched panes.
    pub(crate) fn panes(&self) -> impl Iterator<Item = PaneId> {
        self.panes.iter().map(WatchedPane::id)
    }
}
