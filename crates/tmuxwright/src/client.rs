//! The clients of one server. They share the connection to tmux, the rules and what is known of
//! panes; what each has made is its own and goes when it goes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::app::App;
use crate::tool::Surroundings;

/// One client: the server, and what its calls have in common.
#[derive(Debug)]
pub struct Client {
    /// The server.
    pub app: Arc<App>,
    /// The tmux server as this client sees it, and what runs commands there for it.
    pub around: Surroundings,
}

impl Client {
    /// Its number; `None` for the process itself, which has what nobody else has.
    pub fn number(&self) -> Option<u32> {
        Some(self.around.host.client()).filter(|number| *number > 0)
    }
}

impl Drop for Client {
    /// Begins to remove what it made. What the process itself made stays until its end.
    fn drop(&mut self) {
        if let Some(number) = self.number() {
            self.app.clients.leave(number);
        }
    }
}

/// The clients that a server has beside the process itself.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    count: AtomicU32,
    here: Mutex<HashMap<u32, Surroundings>>,
    leaving: Mutex<JoinSet<()>>,
}

impl Clients {
    /// The surroundings of a new one, which shares with `own` what can be shared.
    pub(crate) fn enter(&self, own: &Surroundings) -> Surroundings {
        let number = self.count.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let around = own.for_client(number);
        lock(&self.here).insert(number, around.clone());
        around
    }

    fn leave(&self, number: u32) {
        let Some(around) = lock(&self.here).remove(&number) else { return };
        let Ok(runtime) = Handle::try_current() else { return };
        let mut leaving = lock(&self.leaving);
        while leaving.try_join_next().is_some() {}
        leaving.spawn_on(async move { close(&around).await }, &runtime);
    }

    /// Removes what all of them made.
    pub(crate) async fn close(&self) {
        let here: Vec<Surroundings> = lock(&self.here).drain().map(|(_, around)| around).collect();
        futures::future::join_all(here.iter().map(close)).await;
        let leaving = std::mem::take(&mut *lock(&self.leaving));
        leaving.join_all().await;
    }
}

async fn close(around: &Surroundings) {
    around.host.close().await;
    around.runs.forget_pool();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
