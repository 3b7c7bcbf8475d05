//! Telling that something is another than it was, without polling.
//!
//! A follower is told when its object has changed, at once and then at most ten times a second, and
//! always once more after the last change. What a pane prints comes from its stream, what a command
//! does from the command. All else is a part of one tree of the whole server (`tree`), which is
//! looked at when tmux tells of an event (`lookout`) and compared: a follower hears only of what its
//! own part shows. Nothing runs while nobody follows; dropping a `ChangeSubscription` frees all it had.

mod lookout;
mod pace;
mod tree;

use std::sync::Arc;

use futures::FutureExt;
use tmux_control::stream::{News, PaneStream};
use tmux_control::{Error, PaneId, SessionId, WindowId};

use crate::host::Host;
use crate::run::{Job, Stage};
use lookout::{Follower, Lookout};
use pace::Pace;

/// What can be followed.
#[derive(Debug, Clone)]
pub(crate) enum ChangeSubject {
    /// The tmux server: whether it runs, and how many sessions it has.
    Server,
    /// The list of sessions.
    Sessions,
    /// The list of people's clients.
    Clients,
    /// A session with all that is in it.
    Session(SessionId),
    /// A window.
    Window(WindowId),
    /// What is known of a pane.
    Pane(PaneId),
    /// What a pane shows; it is in this session.
    Output(SessionId, PaneId),
    /// A command.
    Command(Arc<Job>),
}

/// A pane, in the words in which it is decided whether a follower may know of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PaneWithOwner<'a> {
    /// Its id.
    pub(crate) pane: PaneId,
    /// Its session.
    pub(crate) session: SessionId,
    /// Its session's name.
    pub(crate) session_name: &'a str,
    /// Who made it.
    pub(crate) owner: &'a str,
}

/// Says of each pane whether a follower may know of it; nothing if it may know of all.
pub(crate) type PaneFilter = Option<Arc<dyn Fn(&PaneWithOwner<'_>) -> bool + Send + Sync>>;

/// What followers on one tmux server have in common.
#[derive(Debug, Clone)]
pub struct Changes {
    host: Arc<Host>,
    lookout: Arc<Lookout>,
}

impl Changes {
    /// Nothing is followed yet.
    pub(crate) fn new(host: Arc<Host>) -> Self {
        let lookout = Arc::new(Lookout::new(Arc::clone(&host)));
        Self { host, lookout }
    }

    /// Begins to follow something. What changes from now on is told.
    pub(crate) async fn subscribe(
        &self,
        subject: ChangeSubject,
        sees: PaneFilter,
    ) -> Result<ChangeSubscription, Error> {
        let kind = match subject {
            ChangeSubject::Command(job) => Kind::Command { stage: job.stage(), job },
            ChangeSubject::Output(session, pane) => {
                let stream = self.host.tmux().stream_in(session, pane).await?;
                let facts = self.lookout.follow(ChangeSubject::Output(session, pane), sees).await?;
                Kind::Output { stream, facts }
            }
            subject => Kind::Facts(self.lookout.follow(subject, sees).await?),
        };
        let over = matches!(&kind, Kind::Command { stage, .. } if stage.is_over());
        Ok(ChangeSubscription { kind, pace: Pace::default(), untold: false, over })
    }
}

/// Whether more can come after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// It can.
    Passing,
    /// What was followed is gone.
    Last,
}

/// Something that is followed.
#[derive(Debug)]
pub(crate) struct ChangeSubscription {
    kind: Kind,
    pace: Pace,
    /// Whether something has changed that was not told yet.
    untold: bool,
    /// Whether nothing more can change.
    over: bool,
}

#[derive(Debug)]
enum Kind {
    Facts(Follower),
    Output { stream: PaneStream, facts: Follower },
    Command { job: Arc<Job>, stage: Stage },
}

impl ChangeSubscription {
    /// Waits for the next change. `None` when there will be none: the one before was the end of it.
    /// May be dropped and called again.
    pub(crate) async fn next(&mut self) -> Option<()> {
        if !self.untold {
            if self.over {
                return None;
            }
            self.note_change().await;
        }
        self.pace.turn().await;
        // What has come meanwhile is told of with this.
        while !self.over && self.note_change().now_or_never().is_some() {}
        self.untold = false;
        Some(())
    }

    async fn note_change(&mut self) {
        let change = self.kind.change().await;
        self.untold = true;
        self.over = change == Change::Last;
    }
}

impl Kind {
    /// Waits for a change. May be dropped at any time.
    async fn change(&mut self) -> Change {
        match self {
            Self::Facts(facts) => facts.change().await,
            Self::Command { job, stage } => {
                *stage = job.beyond(stage).await;
                if stage.is_over() { Change::Last } else { Change::Passing }
            }
            Self::Output { stream, facts } => loop {
                tokio::select! {
                    news = stream.news() => match news {
                        News::Output => return Change::Passing,
                        News::Rearranged => facts.look(),
                        News::End(_) => return Change::Last,
                    },
                    change = facts.change() => return change,
                }
            },
        }
    }
}
