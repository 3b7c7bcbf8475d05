//! The MCP clients of one server process. They share the connections to tmux, the rules and the knowledge
//! of panes. Panes, buffers and jobs belong to one client and are removed when it disconnects.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::servers::{Servers, Views};
use crate::lock::lock;

/// The connected clients with engines of their own.
#[derive(Debug, Default)]
pub(super) struct Clients {
    count: AtomicU32,
    connected: Mutex<HashMap<u32, Arc<Views>>>,
    /// Clean-up tasks of disconnected clients; [`Clients::cleaned_up`] waits for them.
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
    /// Adds a client.
    pub(super) fn connect(self: &Arc<Self>, servers: &Servers) -> (Arc<Views>, ClientRegistration) {
        let number = self.count.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let views = Arc::new(Views::new(number, servers));
        lock(&self.connected).insert(number, Arc::clone(&views));
        (views, ClientRegistration { clients: Arc::clone(self), number })
    }

    fn disconnect(&self, number: u32) {
        let Some(views) = lock(&self.connected).remove(&number) else { return };
        let Ok(runtime) = Handle::try_current() else { return };
        let mut cleanups = lock(&self.cleanups);
        while cleanups.try_join_next().is_some() {}
        cleanups.spawn_on(async move { views.close().await }, &runtime);
    }

    /// Takes the views of all connected clients, to be closed.
    pub(super) fn take(&self) -> Vec<Arc<Views>> {
        lock(&self.connected).drain().map(|(_, views)| views).collect()
    }

    /// Waits for the clean-up of disconnected clients.
    pub(super) async fn cleaned_up(&self) {
        let cleanups = std::mem::take(&mut *lock(&self.cleanups));
        cleanups.join_all().await;
    }
}
