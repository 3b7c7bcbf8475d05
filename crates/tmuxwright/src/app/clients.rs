//! The MCP clients of one server process. They share the connection to tmux, the rules and the knowledge
//! of panes; panes, buffers and commands belong to the client that made them and go when it goes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::context::Engines;
use crate::lock::lock;

/// The clients beside the process itself.
#[derive(Debug, Default)]
pub(super) struct Clients {
    count: AtomicU32,
    connected: Mutex<HashMap<u32, Engines>>,
    /// Clean-ups of clients that have gone; [`Clients::close`] waits for them.
    leaving: Mutex<JoinSet<()>>,
}

/// A client's place among the others. Dropping it begins to remove what the client made.
#[derive(Debug)]
pub(super) struct ClientRegistration {
    clients: Arc<Clients>,
    number: u32,
}

impl Drop for ClientRegistration {
    fn drop(&mut self) {
        self.clients.leave(self.number);
    }
}

impl Clients {
    /// Adds a client with engines of its own, which share with `process` what can be shared.
    pub(super) fn enter(self: &Arc<Self>, process: &Engines) -> (Engines, ClientRegistration) {
        let number = self.count.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let engines = process.for_client(number);
        lock(&self.connected).insert(number, engines.clone());
        (engines, ClientRegistration { clients: Arc::clone(self), number })
    }

    fn leave(&self, number: u32) {
        let Some(engines) = lock(&self.connected).remove(&number) else { return };
        let Ok(runtime) = Handle::try_current() else { return };
        let mut leaving = lock(&self.leaving);
        while leaving.try_join_next().is_some() {}
        leaving.spawn_on(async move { close(&engines).await }, &runtime);
    }

    /// Removes what all of them made.
    pub(super) async fn close(&self) {
        let connected: Vec<Engines> =
            lock(&self.connected).drain().map(|(_, engines)| engines).collect();
        futures::future::join_all(connected.iter().map(close)).await;
        let leaving = std::mem::take(&mut *lock(&self.leaving));
        leaving.join_all().await;
    }
}

async fn close(engines: &Engines) {
    engines.host.close().await;
    engines.runs.forget_pool();
}
