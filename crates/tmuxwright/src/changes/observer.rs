//! Shared task that re-reads the tree after tmux events and notifies subscribers.

use std::sync::Arc;
use std::time::Duration;

use tmux_control::Error;
use tmux_control::control::event::TmuxEvent;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Mutex, Notify, broadcast, watch};

use super::throttle::Throttle;
use super::tree::{self, TreePart, TreeSnapshot};
use super::{Change, ChangeSubject, PaneFilter};
use crate::host::Host;

/// Delay before the tree is read again after an error: the first one, and the longest.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Reads the tree of one tmux server for all subscribers.
#[derive(Debug)]
pub(super) struct TreeObserver {
    host: Arc<Host>,
    /// Locked while the tree is read, so that a newer tree is never replaced by an older one.
    shared: Mutex<Shared>,
    /// Notified by subscribers that need the tree to be read again.
    refresh_requested: Arc<Notify>,
}

#[derive(Debug)]
struct Shared {
    /// The newest tree.
    trees: watch::Sender<Arc<TreeSnapshot>>,
    /// Whether the task runs.
    running: bool,
}

impl TreeObserver {
    pub(super) fn new(host: Arc<Host>) -> Self {
        let (trees, _) = watch::channel(Arc::default());
        Self {
            host,
            shared: Mutex::new(Shared { trees, running: false }),
            refresh_requested: Arc::default(),
        }
    }

    /// Subscribes to a part of the tree.
    pub(super) async fn subscribe(
        self: &Arc<Self>,
        subject: ChangeSubject,
        filter: PaneFilter,
    ) -> Result<TreeSubscription, Error> {
        let mut shared = self.shared.lock().await;
        // The first subscriber starts the task. Events are subscribed to before the tree is read, so
        // that no change in between is missed.
        let events = (!shared.running).then(|| self.host.tmux().events());
        let tree = tree::read(&self.host).await?;
        let trees = shared.trees.subscribe();
        shared.trees.send_replace(Arc::new(tree));
        if let Some(events) = events {
            self.host.tmux().subscribe_format(Some(tree::compared()));
            shared.running = true;
            tokio::spawn(Arc::clone(self).run(events, shared.trees.clone()));
        }
        drop(shared);
        Ok(TreeSubscription::new(trees, subject, filter, Arc::clone(&self.refresh_requested)))
    }

    /// Reads the tree after each event, until there are no subscribers.
    async fn run(
        self: Arc<Self>,
        mut events: broadcast::Receiver<TmuxEvent>,
        trees: watch::Sender<Arc<TreeSnapshot>>,
    ) {
        let mut throttle = Throttle::default();
        let mut retry = None;
        loop {
            let failed = async {
                match retry {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                event = events.recv() => if event == Err(RecvError::Closed) {
                    return;
                },
                () = self.refresh_requested.notified() => {}
                () = failed => {}
                () = trees.closed() => {
                    let mut shared = self.shared.lock().await;
                    if trees.receiver_count() > 0 {
                        continue;
                    }
                    shared.running = false;
                    self.host.tmux().subscribe_format(None);
                    return;
                }
            }
            throttle.ready().await;
            events = events.resubscribe();
            retry =
                match self.refresh().await {
                    Ok(()) => None,
                    Err(error) => {
                        tracing::debug!("reading the tree: {error}");
                        Some(retry.map_or(RETRY_DELAYS.0, |pause: Duration| {
                            (pause * 2).min(RETRY_DELAYS.1)
                        }))
                    }
                };
        }
    }

    async fn refresh(&self) -> Result<(), Error> {
        let shared = self.shared.lock().await;
        let tree = tree::read(&self.host).await?;
        shared.trees.send_if_modified(|last| {
            let modified = **last != tree;
            if modified {
                *last = Arc::new(tree);
            }
            modified
        });
        Ok(())
    }
}

/// A subscription to a part of the tree.
pub(super) struct TreeSubscription {
    trees: watch::Receiver<Arc<TreeSnapshot>>,
    subject: ChangeSubject,
    filter: PaneFilter,
    /// Process id of the tmux server at the start.
    pid: Option<u32>,
    last: Option<TreePart>,
    refresh_requested: Arc<Notify>,
}

impl TreeSubscription {
    fn new(
        mut trees: watch::Receiver<Arc<TreeSnapshot>>,
        subject: ChangeSubject,
        filter: PaneFilter,
        refresh_requested: Arc<Notify>,
    ) -> Self {
        let tree = Arc::clone(&trees.borrow_and_update());
        let last = tree.part(&subject, &filter);
        Self { trees, pid: tree.pid(), subject, filter, last, refresh_requested }
    }

    /// Waits until its part of the tree differs. Cancel-safe.
    pub(super) async fn change(&mut self) -> Change {
        while self.last.is_some() {
            if self.trees.changed().await.is_err() {
                return Change::Final;
            }
            let tree = Arc::clone(&self.trees.borrow_and_update());
            let same_server = !self.subject.is_one_object() || tree.pid() == self.pid;
            let part = tree.part(&self.subject, &self.filter).filter(|_| same_server);
            if part != self.last {
                self.last = part;
                if self.last.is_some() {
                    return Change::More;
                }
            }
        }
        Change::Final
    }

    /// Requests a read of the tree, for a change of which tmux sends no event to the link.
    pub(super) fn request_refresh(&self) {
        self.refresh_requested.notify_one();
    }
}

impl std::fmt::Debug for TreeSubscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeSubscription").field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl ChangeSubject {
    /// Whether the subject ends with its tmux server, even if another server reuses its id.
    fn is_one_object(&self) -> bool {
        !matches!(self, Self::Server | Self::Sessions | Self::Clients)
    }
}
