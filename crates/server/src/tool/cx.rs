//! What a tool gets to work with: one tmux server, the caller's standing on it, a way to report
//! progress and to hear that it should stop.
//!
//! Objects are only handed out through [`Cx::resolve`], and buffers through [`Cx::buffer`], which
//! ask the guard first: a tool cannot reach what the policy forbids, and need not know that there is
//! one.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tmux::target::{self, Id, Level, Place};
use tmux::{Command, PaneId, Reply, Row, Server, SessionId};
use tokio::time::Instant;

use super::{Meta, Request, Target, Tier, ToolError};
use crate::host::{Host, Life, PaneRow, PaneState};
use crate::run::Engine;
use crate::watch::Watches;

/// What a call is about to touch.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The object's kind.
    pub level: Level,
    /// The object's id.
    pub id: String,
    /// Panes in it that this server did not make. Looked up only for what destroys.
    pub foreign: Vec<PaneId>,
    /// Whether this process runs in it.
    pub holds_caller: bool,
    /// The object as the caller named it.
    pub target: &'a Target,
}

/// Decides whether a tool may touch something.
pub trait Guard: Send + Sync {
    /// Lets the call through or says why not.
    fn admit(&self, meta: &Meta, subject: &Subject<'_>) -> Result<(), ToolError>;

    /// The same for a paste buffer, which this server made or not.
    fn admit_buffer(&self, meta: &Meta, name: &str, own: bool) -> Result<(), ToolError>;
}

/// One step of a long call.
#[derive(Debug, Clone)]
pub struct Step {
    /// How far it is.
    pub done: f64,
    /// How far it has to go, if that is known.
    pub total: Option<f64>,
    /// What it is doing.
    pub message: String,
}

/// Tells the client how a long call is getting on, if it wants to know.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(Step) -> BoxFuture<'static, ()> + Send + Sync>>);

impl Progress {
    /// Progress that goes through `send`.
    pub fn new(send: impl Fn(Step) -> BoxFuture<'static, ()> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(send)))
    }

    /// Whether the client wants to know.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Reports a step. It is on its way to the client when this returns.
    pub async fn report(&self, step: Step) {
        if let Some(send) = &self.0 {
            send(step).await;
        }
    }
}

/// The object a target names.
#[derive(Debug)]
pub struct Resolved {
    /// Its kind.
    pub level: Level,
    /// The pane that stands for it: itself, or the active one in it.
    pub pane: PaneState,
}

impl Resolved {
    /// The object's id.
    pub fn id(&self) -> String {
        match self.level {
            Level::Session => self.pane.session.to_string(),
            Level::Window => self.pane.window.to_string(),
            Level::Pane => self.pane.pane.to_string(),
        }
    }

    /// Whether a pane is in it, or is it.
    pub fn holds(&self, row: &PaneRow) -> bool {
        match self.level {
            Level::Session => row.session.id == self.pane.session,
            Level::Window => row.window.id == self.pane.window,
            Level::Pane => row.pane.id == self.pane.pane,
        }
    }
}

/// The surroundings of one call.
pub struct Cx {
    /// The tmux server the call is about.
    pub host: Arc<Host>,
    /// Runs commands there.
    pub runs: Arc<Engine>,
    /// Watches panes there.
    pub watches: Watches,
    /// What came with the call.
    pub request: Request,
    pub(super) meta: &'static Meta,
    pub(super) guard: Arc<dyn Guard>,
    block: Duration,
}

/// What every call of a server has in common.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The tmux server.
    pub host: Arc<Host>,
    /// Runs commands there.
    pub runs: Arc<Engine>,
    /// Watches panes there.
    pub watches: Watches,
    /// How long a call may block when its client cannot see that it goes on.
    pub block: Duration,
}

/// How often a client is told that a call goes on.
const REPORT_EVERY: Duration = Duration::from_secs(5);

/// The longest that any call blocks, in seconds.
const LONGEST: f64 = 600.0;

impl Cx {
    /// The surroundings of a call of the tool `meta`.
    pub fn new(
        around: &Surroundings,
        meta: &'static Meta,
        guard: Arc<dyn Guard>,
        request: Request,
    ) -> Self {
        let Surroundings { host, runs, watches, block } = around.clone();
        Self { host, runs, watches, request, meta, guard, block }
    }

    /// How long this call may wait if it is asked to wait so many seconds.
    pub fn patience(&self, argument: &str, seconds: f64) -> Result<Duration, ToolError> {
        if !(0.0..=LONGEST).contains(&seconds) {
            return Err(ToolError::invalid_argument(format!(
                "`{argument}`: {seconds} is not from 0 to {LONGEST} seconds"
            ))
            .hint("give fewer seconds, and ask again for what takes longer"));
        }
        let asked = Duration::from_secs_f64(seconds);
        let longest = match self.request.progress.is_wanted() {
            true => Duration::from_secs_f64(LONGEST),
            false => self.block,
        };
        Ok(asked.min(longest.saturating_sub(self.request.begun.elapsed())))
    }

    /// Does some work until time is up, and tells the client now and then that it goes on. `None`
    /// if time was up.
    pub async fn wait<T>(
        &self,
        patience: Duration,
        work: impl Future<Output = T>,
        message: impl Fn() -> String,
    ) -> Option<T> {
        let begun = Instant::now();
        let until = begun + patience;
        tokio::pin!(work);
        loop {
            let step = match self.request.progress.is_wanted() {
                true => (Instant::now() + REPORT_EVERY).min(until),
                false => until,
            };
            if let Ok(done) = tokio::time::timeout_at(step, &mut work).await {
                return Some(done);
            }
            if step == until {
                return None;
            }
            let done = begun.elapsed().as_secs_f64();
            let total = Some(patience.as_secs_f64());
            self.request.progress.report(Step { done, total, message: message() }).await;
        }
    }

    /// The connection to tmux.
    pub fn tmux(&self) -> &Server {
        self.host.tmux()
    }

    /// Finds what a target names, if the call may touch it. A tool that needs a pane takes
    /// [`Resolved::pane`].
    pub async fn resolve(&self, target: &Target) -> Result<Resolved, ToolError> {
        let resolved = self.look_up(target).await?;
        self.admit(target, &resolved).await?;
        Ok(resolved)
    }

    /// The same for a target that must be, or stand for, an object of this kind: a window's active
    /// pane is meant by its name, but never the session around it.
    pub async fn resolve_as(&self, target: &Target, level: Level) -> Result<Resolved, ToolError> {
        let mut resolved = self.look_up(target).await?;
        if resolved.level > level {
            let is = resolved.level;
            return Err(ToolError::invalid_argument(format!(
                "`{target}` is a {is}, not a {level}"
            ))
            .hint(format!("name the {level} itself")));
        }
        resolved.level = level;
        self.admit(target, &resolved).await?;
        Ok(resolved)
    }

    /// Finds the pane that a target names or stands for.
    pub async fn pane(&self, target: &Target) -> Result<PaneState, ToolError> {
        Ok(self.resolve(target).await?.pane)
    }

    /// Finds the pane and asks some things about it, in one round trip where the target is an id.
    /// The answers are of one moment, and handed out only if the call may touch the pane.
    pub async fn pane_with<const N: usize>(
        &self,
        target: &Target,
        queries: impl Fn(PaneId) -> [Command; N],
    ) -> Result<(PaneState, Vec<Reply>), ToolError> {
        if let Some(Id::Pane(id)) = Id::parse(target.0.trim()) {
            let mut commands = vec![Server::row_query::<PaneState>(&id.to_string())];
            commands.extend(queries(id));
            // Anything out of the ordinary is for the slow way to explain.
            if let Ok(mut answers) = self.tmux().sequence(commands).await
                && let Ok(pane) = PaneState::parse_one("display-message", &answers.remove(0).0)
                && pane.life != Life::Exited(None)
            {
                let resolved = Resolved { level: Level::Pane, pane };
                self.admit(target, &resolved).await?;
                return Ok((resolved.pane, answers));
            }
        }
        let pane = self.pane(target).await?;
        let answers = self.tmux().sequence(queries(pane.pane).into()).await?;
        Ok((pane, answers))
    }

    /// The target of a tool that can also go on from where things are: without one, and with a
    /// direction, our own session is meant, or the only one there is.
    pub async fn target_or_current(
        &self,
        target: Option<Target>,
        has_direction: bool,
        what: &str,
    ) -> Result<Target, ToolError> {
        if let Some(target) = target {
            return Ok(target);
        }
        if !has_direction {
            return Err(ToolError::invalid_argument("neither `target` nor `direction` is given")
                .hint(format!("name a {what} as `target`, or give `direction`")));
        }
        if let Some(own) = self.host.own_session().await {
            return Ok(Target(own.to_string()));
        }
        let mut sessions: Vec<SessionId> =
            self.host.panes().await?.iter().map(|row| row.session.id).collect();
        sessions.dedup();
        match sessions.as_slice() {
            [only] => Ok(Target(only.to_string())),
            _ => Err(ToolError::invalid_argument("argument `target` is missing")
                .hint("name a session, window or pane; list_panes shows them")),
        }
    }

    async fn look_up(&self, target: &Target) -> Result<Resolved, ToolError> {
        // A name may begin or end with a blank, an id cannot.
        let text = target.0.as_str();
        if let Some(id) = Id::parse(text.trim())
            && let Ok(pane) = self.host.pane(text.trim()).await
        {
            return Ok(Resolved { level: id.level(), pane });
        }
        // By name; and an id that was not found comes here for the list of what there is.
        let places = Place::all(self.tmux()).await?;
        let found = target::find(text, &places)?;
        let Place { session, window, pane, .. } = found.place;
        let pane = self.host.pane(&format!("{session}:{window}.{pane}")).await?;
        Ok(Resolved { level: found.level, pane })
    }

    async fn admit(&self, target: &Target, resolved: &Resolved) -> Result<(), ToolError> {
        let destroys = matches!(self.meta.tier, Tier::DestroyOwn | Tier::Destroy);
        let panes: Vec<PaneState> = if destroys && resolved.level < Level::Pane {
            let list = Command::query("list-panes").option("-t", resolved.id());
            self.tmux().rows(list.arg_if(resolved.level == Level::Session, "-s")).await?
        } else {
            vec![resolved.pane.clone()]
        };
        let subject = Subject {
            level: resolved.level,
            id: resolved.id(),
            foreign: panes.iter().filter(|p| !self.host.owns(&p.owner)).map(|p| p.pane).collect(),
            holds_caller: panes.iter().any(|p| self.host.is_caller(p.pane, p.pid)),
            target,
        };
        self.guard.admit(self.meta, &subject)
    }
}
