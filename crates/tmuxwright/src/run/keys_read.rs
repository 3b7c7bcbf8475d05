//! Evidence that a program has read the keys that were pressed. A program that is just being handed a key still seems to
//! wait for it. This system says whether keys are unread, so that no such program counts as waiting; another system does
//! not, but counts what a process has read.

use process::{Inspection, ReadCount};

use super::Engine;

/// What a process had read before keys were pressed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReadBefore {
    /// `None` if the keys need no evidence, or there is none.
    of_process: Option<(u32, ReadCount)>,
}

impl ReadBefore {
    /// Asks about the process that will read the keys as they come. To be called before they are pressed.
    pub(super) async fn of(engine: &Engine, pid: u32) -> Self {
        if engine.host().system().is_local() {
            return Self::default();
        }
        let count = engine.processes().read_count(pid).await;
        Self { of_process: count.map(|count| (pid, count)) }
    }

    /// The same, by an inspection that may show it.
    pub(super) async fn has_read_by(
        &self,
        look: &Inspection,
        engine: &Engine,
        keys: usize,
    ) -> bool {
        let Some((pid, before)) = self.of_process else { return true };
        match look.read_count(pid) {
            Some(now) => now.has_read_keys_since(before, keys),
            None => self.has_read(engine, keys).await,
        }
    }

    /// Whether the process has read this number of keys since. True without evidence.
    pub(super) async fn has_read(&self, engine: &Engine, keys: usize) -> bool {
        let Some((pid, before)) = self.of_process else { return true };
        let now = engine.processes().read_count(pid).await;
        now.is_none_or(|now| now.has_read_keys_since(before, keys))
    }
}
