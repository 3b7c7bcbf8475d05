//! The MCP clients of one server process. They share the connection to tmux, the rules and the knowledge
//! of panes. Panes, buffers and jobs belong to one client and are removed when it disconnects.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::context::Engines;
use crate::lock::lock;

/// The connected clients with engines of their own.
#[derive(Debug, Default)]
pub(super) struct Clients {
    count: AtomicU32,
    connected: Mutex<HashMap<u32, Engines>>,
    /// Clean-up tasks of disconnected clients; [`Clients::close`] waits for them.
    cleanups: Mutex<JoinSet<()>>,
}

/// The entry of a connected client. Dropping it starts the removal of the client's panes and buffers.
#[derive(Debug)]
pub(super) struct ClientRegistration {
    clients: Arc<Clients>,
    number: u32,
}

impl Drop for ClientRegistration {
    fn drop(&mut self) {
        self.clients.disconnect(self.number);
    }
}

impl Clients {
    /// Adds a client. Its engines share the connection and the knowledge of panes with `process`.
    pub(super) fn connect(self: &Arc<Self>, process: &Engines) -> (Engines, ClientRegistration) {
        let number = self.count.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let engines = process.for_client(number);
        lock(&self.connected).insert(number, engines.clone());
        (engines, ClientRegistration { clients: Arc::clone(self), number })
    }

    fn disconnect(&self, number: u32) {
        let Some(engines) = lock(&self.connected).remove(&number) else { return };
        let Ok(runtime) = Handle::try_current() else { return };
        let mut cleanups = lock(&self.cleanups);
        while cleanups.try_join_next().is_some() {}
        cleanups.spawn_on(async move { close(&engines).await }, &runtime);
    }

    /// Removes the panes and buffers of all clients.
    pub(super) async fn close(&self) {
        let connected: Vec<Engines> =
            lock(&self.connected).drain().map(|(_, engines)| engines).collect();
        futures::future::join_all(connected.iter().map(close)).await;
        let cleanups = std::mem::take(&mut *lock(&self.cleanups));
        cleanups.join_all().await;
    }
}

async fn close(engines: &Engines) {
    engines.host.close().await;
    engines.runs.forget_pool();
}
