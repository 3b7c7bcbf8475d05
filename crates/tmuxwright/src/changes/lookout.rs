//! The one who looks at a tmux server for all followers: when tmux tells of an event, and never
//! otherwise.

use std::sync::Arc;
use std::time::Duration;

use tmux_control::Error;
use tmux_control::control::event::Event;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Mutex, Notify, broadcast, watch};

use super::pace::Pace;
use super::tree::{self, Part, Tree};
use super::{Change, ChangeSubject, PaneFilter};
use crate::host::Host;

/// How long to wait after a look to which tmux gave no answer, at first and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Looks for whoever follows something on this server.
#[derive(Debug)]
pub(super) struct Lookout {
    host: Arc<Host>,
    /// Held while a look is taken, so that none overtakes another.
    post: Mutex<Post>,
    /// Told when somebody wants a look.
    wanted: Arc<Notify>,
}

#[derive(Debug)]
struct Post {
    /// What was last seen.
    trees: watch::Sender<Arc<Tree>>,
    /// Whether somebody stands there and listens.
    manned: bool,
}

impl Lookout {
    pub(super) fn new(host: Arc<Host>) -> Self {
        let (trees, _) = watch::channel(Arc::default());
        Self { host, post: Mutex::new(Post { trees, manned: false }), wanted: Arc::default() }
    }

    /// Begins to follow a part of the tree.
    pub(super) async fn follow(
        self: &Arc<Self>,
        subject: ChangeSubject,
        sees: PaneFilter,
    ) -> Result<Follower, Error> {
        let mut post = self.post.lock().await;
        // Who comes first also listens, before the first look: nothing may change in between.
        let events = (!post.manned).then(|| self.host.tmux().events());
        let tree = tree::look(&self.host).await?;
        let trees = post.trees.subscribe();
        post.trees.send_replace(Arc::new(tree));
        if let Some(events) = events {
            self.host.tmux().compare(Some(tree::compared()));
            post.manned = true;
            tokio::spawn(Arc::clone(self).stand(events, post.trees.clone()));
        }
        drop(post);
        Ok(Follower::new(trees, subject, sees, Arc::clone(&self.wanted)))
    }

    /// Looks after each event until nobody follows any more.
    async fn stand(
        self: Arc<Self>,
        mut events: broadcast::Receiver<Event>,
        trees: watch::Sender<Arc<Tree>>,
    ) {
        let mut pace = Pace::default();
        let mut again = None;
        loop {
            let failed = async {
                match again {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                event = events.recv() => if event == Err(RecvError::Closed) {
                    return;
                },
                () = self.wanted.notified() => {}
                () = failed => {}
                () = trees.closed() => {
                    let mut post = self.post.lock().await;
                    if trees.receiver_count() > 0 {
                        continue;
                    }
                    post.manned = false;
                    self.host.tmux().compare(None);
                    return;
                }
            }
            pace.turn().await;
            events = events.resubscribe();
            again = match self.look().await {
                Ok(()) => None,
                Err(error) => {
                    tracing::debug!("looking at the tmux server: {error}");
                    Some(again.map_or(AGAIN.0, |pause: Duration| (pause * 2).min(AGAIN.1)))
                }
            };
        }
    }

    async fn look(&self) -> Result<(), Error> {
        let post = self.post.lock().await;
        let tree = tree::look(&self.host).await?;
        post.trees.send_if_modified(|last| {
            let modified = **last != tree;
            if modified {
                *last = Arc::new(tree);
            }
            modified
        });
        Ok(())
    }
}

/// Somebody who follows a part of the tree.
pub(super) struct Follower {
    trees: watch::Receiver<Arc<Tree>>,
    subject: ChangeSubject,
    sees: PaneFilter,
    /// The server it was found on.
    pid: Option<u32>,
    last: Option<Part>,
    wanted: Arc<Notify>,
}

impl Follower {
    fn new(
        mut trees: watch::Receiver<Arc<Tree>>,
        subject: ChangeSubject,
        sees: PaneFilter,
        wanted: Arc<Notify>,
    ) -> Self {
        let tree = Arc::clone(&trees.borrow_and_update());
        let last = tree.part(&subject, &sees);
        Self { trees, pid: tree.pid(), subject, sees, last, wanted }
    }

    /// Waits until its part of the tree is another. May be dropped at any time.
    pub(super) async fn change(&mut self) -> Change {
        while self.last.is_some() {
            if self.trees.changed().await.is_err() {
                return Change::Last;
            }
            let tree = Arc::clone(&self.trees.borrow_and_update());
            let same_server = !self.subject.is_one_object() || tree.pid() == self.pid;
            let part = tree.part(&self.subject, &self.sees).filter(|_| same_server);
            if part != self.last {
                self.last = part;
                if self.last.is_some() {
                    return Change::Passing;
                }
            }
        }
        Change::Last
    }

    /// Asks for a look: something was heard of that tmux tells of nowhere else.
    pub(super) fn look(&self) {
        self.wanted.notify_one();
    }
}

impl std::fmt::Debug for Follower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower").field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl ChangeSubject {
    /// Whether it is gone with its server, even if another server has something of that name.
    fn is_one_object(&self) -> bool {
        !matches!(self, Self::Server | Self::Sessions | Self::Clients)
    }
}
