//! Keys that were typed after a watch began: until a program has read them, the pane shows the state
//! from before them.

use std::time::Duration;

use tokio::time::Instant;

use super::WatchedPane;
use crate::watch::conditions::Needs;
use crate::watch::limits::{MAX_KEYS_INTERVAL, MIN_KEYS_INTERVAL};
use crate::watch::observation::ProgramState;

/// Typed keys that no program has read yet.
pub(super) struct UnreadKeys {
    /// Time of the next check, and interval to the one after it.
    pub(super) check_at: Instant,
    interval: Duration,
}

impl WatchedPane {
    /// Notes that keys were typed since the watch began. Output keeps its effect on conditions; states
    /// count again once the keys are read.
    pub(crate) async fn keys_typed(&mut self) {
        // tmux writes keys to the terminal before it answers the second command after them.
        let delivered = self.watches.host.tmux().catch_up(self.pane.session, self.id()).await;
        if let Err(error) = delivered {
            tracing::debug!("typing into {}: {error}", self.id());
        }
        let interval = MIN_KEYS_INTERVAL;
        self.unread_keys = Some(UnreadKeys { check_at: Instant::now(), interval });
        self.check_keys().await;
    }

    /// Whether typed keys are still unread.
    pub(crate) fn has_unread_keys(&self) -> bool {
        self.unread_keys.is_some()
    }

    /// The settled state of the program; `None` while keys are unread, since it may change with them.
    pub(super) fn program_state_now(&self) -> Option<ProgramState> {
        self.probes.settled().filter(|_| !self.has_unread_keys())
    }

    /// Checks, if it is time to, whether the keys were read. From then on states count, from the beginning.
    /// Cancel-safe.
    pub(super) async fn check_keys(&mut self) {
        let now = Instant::now();
        if self.unread_keys.as_ref().is_none_or(|keys| keys.check_at > now) {
            return;
        }
        // Another system does not say.
        let is_local = self.watches.host.system().is_local();
        let is_unread = is_local && {
            let look = self.watches.host.processes().inspect(self.pane.pid).await;
            look.has_unread_input() == Some(true)
        };
        if let Some(keys) = self.unread_keys.as_mut().filter(|_| is_unread) {
            keys.check_at = now + keys.interval;
            keys.interval = (keys.interval * 2).min(MAX_KEYS_INTERVAL);
            return;
        }
        self.unread_keys = None;
        self.last_output = now;
        self.probes.reset(now);
        if self.until.needs(Needs::Screen) {
            self.shown = None;
            self.dirty = Some(now);
        }
    }
}
