//! The open connections. When there are too many, the one that has waited longest without a request is
//! closed, so that connections which send nothing lock nobody out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::task::{AbortHandle, JoinSet};

use crate::lock::lock;

/// Concurrent connections. More than there can be requests in progress, so there is always one without
/// a request, which can be closed.
pub(super) const MAX_CONNECTIONS: usize = 256;

/// The tasks of all connections.
#[derive(Debug, Default)]
pub(super) struct Connections {
    tasks: JoinSet<()>,
    table: Arc<Mutex<Table>>,
}

#[derive(Debug, Default)]
struct Table {
    /// The number of changes so far; orders connections by when they began to wait.
    changes: u64,
    open: HashMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    task: AbortHandle,
    /// Requests with the right token in progress.
    requests: usize,
    /// Whether there has been a request with the right token.
    is_known: bool,
    waiting_since: u64,
}

impl Connections {
    /// Starts the task of a new connection, and closes another one if there are too many.
    pub(super) fn spawn<F>(&mut self, task: impl FnOnce(Connection) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut table = lock(&self.table);
        if table.open.len() >= MAX_CONNECTIONS {
            table.close_longest_waiting();
        }
        table.changes += 1;
        let number = table.changes;
        let task = self.tasks.spawn(task(Connection { number, table: Arc::clone(&self.table) }));
        let entry = Entry { task, requests: 0, is_known: false, waiting_since: number };
        table.open.insert(number, entry);
    }

    /// Waits until a connection has ended. `None` if there is none.
    pub(super) async fn next_end(&mut self) -> Option<()> {
        self.tasks.join_next().await.map(drop)
    }
}

impl Table {
    /// Closes the connection that has waited longest; one that never sent the token before others.
    fn close_longest_waiting(&mut self) {
        let waiting = self.open.iter().filter(|(_, entry)| entry.requests == 0);
        let longest = waiting.min_by_key(|(_, entry)| (entry.is_known, entry.waiting_since));
        if let Some(entry) = longest.map(|(number, _)| *number).and_then(|n| self.open.remove(&n)) {
            entry.task.abort();
        }
    }
}

/// An open connection, held by its task.
#[derive(Debug)]
pub(super) struct Connection {
    number: u64,
    table: Arc<Mutex<Table>>,
}

impl Connection {
    /// Notes that a request with the right token is in progress, until the result is dropped.
    pub(super) fn begin_request(self: &Arc<Self>) -> RequestInProgress {
        if let Some(entry) = lock(&self.table).open.get_mut(&self.number) {
            entry.requests += 1;
            entry.is_known = true;
        }
        RequestInProgress(Arc::clone(self))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        lock(&self.table).open.remove(&self.number);
    }
}

/// A request in progress; its connection is not closed for others.
#[derive(Debug)]
pub(super) struct RequestInProgress(Arc<Connection>);

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        let mut table = lock(&self.0.table);
        table.changes += 1;
        let now = table.changes;
        if let Some(entry) = table.open.get_mut(&self.0.number) {
            entry.requests = entry.requests.saturating_sub(1);
            entry.waiting_since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[tokio::test]
    async fn longest_waiting_connection_is_closed_first() {
        let mut connections = Connections::default();
        let (started, mut handles) = unbounded_channel();
        let open = |connections: &mut Connections| {
            let started = started.clone();
            connections.spawn(|connection| async move {
                let _ = started.send(Arc::new(connection));
                std::future::pending::<()>().await;
            });
        };
        for _ in 0..MAX_CONNECTIONS {
            open(&mut connections);
        }
        let mut all = Vec::new();
        while all.len() < MAX_CONNECTIONS {
            all.push(handles.recv().await.unwrap());
        }
        let is_open = |number: usize| {
            let connection: &Arc<Connection> = &all[number];
            lock(&connection.table).open.contains_key(&connection.number)
        };
        let busy = all[0].begin_request();
        drop(all[1].begin_request());
        open(&mut connections);
        assert!(is_open(0) && is_open(1) && !is_open(2) && is_open(3));
        drop(busy);
        // Those that had a request wait since its end, and are closed last.
        for _ in 3..MAX_CONNECTIONS {
            open(&mut connections);
        }
        assert!(is_open(0) && is_open(1) && !is_open(MAX_CONNECTIONS - 1));
        assert_eq!(connections.next_end().await, Some(()));
    }
}
