//! The right to type into a pane: one call at a time, from its first key to the last.
//!
//! A line is checked, tried with keys and entered in several steps, and a script elsewhere in more. Keys of another
//! call in between would go into that line, or end the program that reads the script.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use tmux_control::PaneId;
use tokio::sync::{Mutex as PaneMutex, OwnedMutexGuard, OwnedRwLockReadGuard, RwLock};
use tokio::time::{Instant, timeout, timeout_at};

use super::limits::{DISTURBANCE_TIMEOUT, LAST_LINE_TIMEOUT};
use super::{Engine, Refusal};
use crate::lock::lock;

/// The locks of all panes, shared by all MCP clients.
#[derive(Debug, Default)]
pub(super) struct TypingLocks {
    panes: Mutex<HashMap<PaneId, Weak<PaneMutex<()>>>>,
    /// Held for reading while anything is typed.
    process: Arc<RwLock<()>>,
    /// Set when the process is about to exit: then no line may begin.
    has_ended: AtomicBool,
}

/// The right to type into one pane. Released when dropped.
#[derive(Debug)]
pub(crate) struct TypingGuard {
    _pane: OwnedMutexGuard<()>,
    _process: OwnedRwLockReadGuard<()>,
}

impl TypingLocks {
    fn of(&self, pane: PaneId) -> Arc<PaneMutex<()>> {
        let mut panes = lock(&self.panes);
        if let Some(held) = panes.get(&pane).and_then(Weak::upgrade) {
            return held;
        }
        panes.retain(|_, unused| unused.strong_count() > 0);
        let new = Arc::default();
        panes.insert(pane, Arc::downgrade(&new));
        new
    }
}

impl Engine {
    /// Acquires the right to type into a pane, or refuses if another call keeps it.
    pub(crate) async fn typing(&self, pane: PaneId) -> Result<TypingGuard, Refusal> {
        self.typing_until(pane, Instant::now() + DISTURBANCE_TIMEOUT).await
    }

    /// The same with another time limit. Waits for ever once the process is about to exit.
    pub(super) async fn typing_until(
        &self,
        pane: PaneId,
        until: Instant,
    ) -> Result<TypingGuard, Refusal> {
        let locks = &self.shared.typing;
        let of_pane = timeout_at(until, locks.of(pane).lock_owned()).await;
        let _pane = of_pane.map_err(|_| Refusal::Contended { pane })?;
        let _process = Arc::clone(&locks.process).read_owned().await;
        if locks.has_ended.load(Ordering::Relaxed) {
            drop(_process);
            return std::future::pending().await;
        }
        Ok(TypingGuard { _pane, _process })
    }

    /// Lets no line begin at a prompt, and waits for those that have begun: one that is typed in part when
    /// the process exits would stay in a person's line. A shell that does not react is not waited for.
    pub async fn end_typing(&self) {
        let locks = &self.shared.typing;
        locks.has_ended.store(true, Ordering::Relaxed);
        let _ = timeout(LAST_LINE_TIMEOUT, locks.process.write()).await;
    }
}
