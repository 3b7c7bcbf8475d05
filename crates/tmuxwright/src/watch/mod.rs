//! Waiting for things to happen in panes, without polling.
//!
//! One `Watch` has the panes of one wait. Each pane's raw output is followed from the very moment
//! the watch begins (`pane`), turned into lines (`view`), freed from the echo of what we typed
//! (`echo`), and shown to the conditions (`conditions`, `until`). Output and exits are events; only
//! what a program does with its terminal has to be looked up, after it printed something and then
//! more and more rarely (`looks`). Nothing outlives a watch: dropping it frees all it had.

mod conditions;
mod echo;
mod looks;
mod moment;
mod pane;
mod place;
mod until;
mod view;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use futures::FutureExt;
use tmux_control::PaneId;

use crate::bookmark::Bookmark;
use crate::host::{Host, PaneState};
use crate::run::{Engine, Started};
pub(crate) use conditions::ErrorPatterns;
pub use conditions::{CONDITION_KINDS, ConditionKind, ERROR_PATTERNS};
use pane::Watched;
pub(crate) use until::{InvalidCondition, Until};

/// What watches on one tmux server have in common.
#[derive(Debug, Clone)]
pub struct Watches {
    host: Arc<Host>,
    runs: Arc<Engine>,
    patterns: ErrorPatterns,
}

impl Watches {
    /// Nothing is watched yet. `patterns` say what an error looks like.
    pub(crate) fn new(host: Arc<Host>, runs: Arc<Engine>, patterns: ErrorPatterns) -> Self {
        Self { host, runs, patterns }
    }

    /// The same for a further client.
    pub(crate) fn for_client(&self, host: Arc<Host>, runs: Arc<Engine>) -> Self {
        Self::new(host, runs, self.patterns.clone())
    }

    /// Reads conditions.
    pub(crate) fn until(&self, words: &[String]) -> Result<Until, InvalidCondition> {
        Until::parse(words, &self.patterns)
    }

    /// Begins to watch panes, each once however often it is listed. Their output counts from now on.
    pub(crate) async fn begin(
        &self,
        mut panes: Vec<PaneState>,
        until: &Until,
    ) -> Result<Watch, tmux_control::Error> {
        let mut seen = HashSet::new();
        panes.retain(|pane| seen.insert(pane.pane));
        let begin = panes.into_iter().map(|pane| Watched::begin(self, pane, until.clone()));
        Ok(Watch { panes: futures::future::try_join_all(begin).await? })
    }

    /// Watches a command that was just typed, from its first output on.
    pub(crate) async fn follow(
        &self,
        started: Started,
        until: &Until,
    ) -> Result<Watch, tmux_control::Error> {
        Ok(Watch { panes: vec![Watched::follow(self, started, until.clone()).await?] })
    }
}

/// The panes of one wait.
pub(crate) struct Watch {
    panes: Vec<Watched>,
}

/// Something that happened.
#[derive(Debug)]
pub(crate) struct WatchEvent {
    /// Where.
    pub(crate) pane: PaneId,
    /// The condition that holds, in the words it was given in; or `exit`, which ends every watch.
    pub(crate) condition: String,
    /// The line that made it hold, or what else there is to say.
    pub(crate) detail: String,
    /// Whether nothing more can happen in this pane.
    pub(crate) is_last: bool,
}

/// Why a pane can be watched no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatchLost {
    /// It is gone.
    PaneGone(PaneId),
    /// It has another program now.
    Respawned(PaneId),
    /// The tmux server is gone.
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

/// What a pane showed during a watch.
#[derive(Debug, Clone, Default)]
pub(crate) struct WatchedOutput {
    /// The newest of what it printed.
    pub(crate) output: String,
    /// Whether the begin of that is not kept.
    pub(crate) is_cut: bool,
    /// Whether bytes were missed.
    pub(crate) missed: bool,
}

impl Watch {
    /// The next thing that happens. May be dropped and called again.
    pub(crate) async fn next(&mut self) -> Result<WatchEvent, WatchLost> {
        // What holds already: the condition that was listed first, wherever it holds.
        let held = self.panes.iter_mut().filter_map(|pane| pane.held().map(|held| (held, pane)));
        if let Some((held, pane)) = held.min_by_key(|(held, _)| held.index) {
            return Ok(pane.tell(held));
        }
        let panes = self.panes.iter_mut().map(|pane| pane.next().boxed());
        futures::future::select_all(panes).await.0
    }

    /// What a pane has shown.
    pub(crate) fn output(&self, pane: PaneId) -> WatchedOutput {
        let watched = self.panes.iter().find(|watched| watched.id() == pane);
        watched.map(Watched::seen).unwrap_or_default()
    }

    /// The same up to this very moment, for a pane that is there, and a mark behind it.
    pub(crate) async fn output_now(
        &mut self,
        pane: &PaneState,
    ) -> (WatchedOutput, Option<Bookmark>) {
        match self.panes.iter_mut().find(|watched| watched.id() == pane.pane) {
            Some(watched) => {
                let mark = watched.catch_up(pane).await;
                (watched.seen(), mark)
            }
            None => (WatchedOutput::default(), None),
        }
    }

    /// Stops watching a pane. False if that was the last one.
    pub(crate) fn leave(&mut self, pane: PaneId) -> bool {
        self.panes.retain(|watched| watched.id() != pane);
        !self.panes.is_empty()
    }

    /// The panes that are watched.
    pub(crate) fn panes(&self) -> impl Iterator<Item = PaneId> {
        self.panes.iter().map(Watched::id)
    }
}
