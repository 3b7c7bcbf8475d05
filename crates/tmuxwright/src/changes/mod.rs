//! Change notifications for objects of a tmux server, without polling.
//!
//! A subscriber is notified of the first change at once, of further ones at most ten times a second,
//! and always once after the last one. Changes of a pane's text come from its stream, changes of a
//! command from its job. All other subjects are parts of one tree of the server (`tree`). A shared task
//! (`observer`) reads the tree again after events of tmux; a subscriber is notified if its part differs.
//! Without subscribers nothing runs; dropping a `ChangeSubscription` releases its resources.

mod observer;
mod throttle;
mod tree;

use std::sync::Arc;

use futures::FutureExt;
use tmux_control::stream::{PaneStream, StreamChange};
use tmux_control::{Error, PaneId, SessionId, WindowId};

use crate::host::Host;
use crate::run::{Job, JobProgress};
use observer::{TreeObserver, TreeSubscription};
use throttle::Throttle;

/// An object whose changes can be subscribed to.
#[derive(Debug, Clone)]
pub(crate) enum ChangeSubject {
    /// The tmux server: its process and its number of sessions.
    Server,
    /// The list of sessions.
    Sessions,
    /// The list of attached terminals.
    Clients,
    /// A session with its windows and panes.
    Session(SessionId),
    /// A window with its panes.
    Window(WindowId),
    /// A pane's properties.
    Pane(PaneId),
    /// A pane's text; the pane is in this session.
    Output(SessionId, PaneId),
    /// A command.
    Command(Arc<Job>),
}

/// The properties of a pane on which the policy decides its visibility.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PaneWithOwner<'a> {
    /// Id of the pane.
    pub(crate) pane: PaneId,
    /// Id of its session.
    pub(crate) session: SessionId,
    /// Name of its session.
    pub(crate) session_name: &'a str,
    /// Value of its option `@mcp_owner`.
    pub(crate) owner: &'a str,
}

/// Predicate for the panes that a subscriber may see; `None` if it may see all panes.
pub(crate) type PaneFilter = Option<Arc<dyn Fn(&PaneWithOwner<'_>) -> bool + Send + Sync>>;

/// The subscriptions on one tmux server.
#[derive(Debug, Clone)]
pub struct Changes {
    host: Arc<Host>,
    observer: Arc<TreeObserver>,
}

impl Changes {
    /// A value without subscribers; starts nothing.
    pub(crate) fn new(host: Arc<Host>) -> Self {
        let observer = Arc::new(TreeObserver::new(Arc::clone(&host)));
        Self { host, observer }
    }

    /// Subscribes to changes from now on.
    pub(crate) async fn subscribe(
        &self,
        subject: ChangeSubject,
        filter: PaneFilter,
    ) -> Result<ChangeSubscription, Error> {
        let source = match subject {
            ChangeSubject::Command(job) => ChangeSource::Command { stage: job.progress(), job },
            ChangeSubject::Output(session, pane) => {
                let stream = self.host.tmux().stream_in(session, pane).await?;
                let facts =
                    self.observer.subscribe(ChangeSubject::Output(session, pane), filter).await?;
                ChangeSource::Output { stream, facts }
            }
            subject => ChangeSource::Facts(self.observer.subscribe(subject, filter).await?),
        };
        let finished = matches!(&source, ChangeSource::Command { stage, .. } if stage.has_exited());
        Ok(ChangeSubscription {
            source,
            throttle: Throttle::default(),
            unreported: false,
            finished,
        })
    }
}

/// A change of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Further changes can follow.
    More,
    /// The subject is gone or has ended.
    Final,
}

/// A subscription to the changes of one subject.
#[derive(Debug)]
pub(crate) struct ChangeSubscription {
    source: ChangeSource,
    throttle: Throttle,
    /// Whether there was a change that `next` has not returned yet.
    unreported: bool,
    /// Whether there can be no further change.
    finished: bool,
}

/// The origin of a subject's changes.
#[derive(Debug)]
enum ChangeSource {
    Facts(TreeSubscription),
    Output { stream: PaneStream, facts: TreeSubscription },
    Command { job: Arc<Job>, stage: JobProgress },
}

impl ChangeSubscription {
    /// Waits for the next change. `None` if the previous one was the last. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<()> {
        if !self.unreported {
            if self.finished {
                return None;
            }
            self.record_change().await;
        }
        self.throttle.ready().await;
        // Merge the changes that came while the throttle waited.
        while !self.finished && self.record_change().now_or_never().is_some() {}
        self.unreported = false;
        Some(())
    }

    async fn record_change(&mut self) {
        let change = self.source.change().await;
        self.unreported = true;
        self.finished = change == Change::Final;
    }
}

impl ChangeSource {
    /// Waits for a change. Cancel-safe.
    async fn change(&mut self) -> Change {
        match self {
            Self::Facts(facts) => facts.change().await,
            Self::Command { job, stage } => {
                *stage = job.progress_beyond(stage).await;
                if stage.has_exited() { Change::Final } else { Change::More }
            }
            Self::Output { stream, facts } => loop {
                tokio::select! {
                    news = stream.changed() => match news {
                        StreamChange::Output => return Change::More,
                        StreamChange::Layout => facts.request_refresh(),
                        StreamChange::End(_) => return Change::Final,
                    },
                    change = facts.change() => return change,
                }
            },
        }
    }
}
