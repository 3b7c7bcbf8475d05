//! Resolution of targets to tmux objects, and lists of objects. Every method asks the guard, so hidden
//! objects are neither found nor listed.

use std::collections::HashSet;

use tmux_control::receivers::Receivers;
use tmux_control::target::{self, Level, ObjectId, PaneLocation, TargetError};
use tmux_control::{Command, PaneId, Row, Server, SessionId, TmuxReply, WindowId};

use super::Cx;
use crate::contract::{Code, ObjectIds, PaneIdentity, Target, ToolError};
use crate::host::{
    Ownership, PaneRow, PaneState, ProcessState, SessionRow, WindowRow, none_without_server,
};

/// The object a target names.
#[derive(Debug)]
pub struct Resolved {
    /// Its kind.
    pub level: Level,
    /// The pane itself, or the active pane of the window or session.
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

    pub(super) fn ids(&self) -> ObjectIds {
        let (id, none) = (Some(self.id()), ObjectIds::default());
        match self.level {
            Level::Session => ObjectIds { session_id: id, ..none },
            Level::Window => ObjectIds { window_id: id, ..none },
            Level::Pane => ObjectIds { pane_id: id, ..none },
        }
    }

    /// Whether a pane is this object or belongs to it.
    pub fn holds(&self, row: &PaneRow) -> bool {
        match self.level {
            Level::Session => row.session.id == self.pane.session,
            Level::Window => row.window.id == self.pane.window,
            Level::Pane => row.pane.id == self.pane.pane,
        }
    }
}

/// The panes that a call may see.
#[derive(Debug)]
pub struct VisibleTree {
    /// The panes.
    pub panes: Vec<PaneRow>,
    /// Ownership of sessions and windows, with hidden panes taken into account.
    pub ownership: Ownership,
    /// The visible sessions and windows; `None` if nothing is hidden.
    visible: Option<(HashSet<SessionId>, HashSet<WindowId>)>,
}

impl VisibleTree {
    fn is_visible_session(&self, id: SessionId) -> bool {
        self.visible.as_ref().is_none_or(|(sessions, _)| sessions.contains(&id))
    }

    fn is_visible_window(&self, session: SessionId, id: WindowId) -> bool {
        let visible = self.visible.as_ref();
        visible
            .is_none_or(|(sessions, windows)| sessions.contains(&session) && windows.contains(&id))
    }
}

impl Cx {
    /// The panes that the call may see.
    pub async fn panes(&self) -> Result<Vec<PaneRow>, ToolError> {
        let mut panes = self.host.panes().await?;
        panes.retain(|row| self.guard.hides(&self.identity(row)).is_none());
        Ok(panes)
    }

    /// The panes that the call may see, with the ownership of their sessions and windows.
    pub async fn tree(&self) -> Result<VisibleTree, ToolError> {
        let mut panes = self.host.panes().await?;
        let ownership = Ownership::of(&self.host, &panes);
        panes.retain(|row| self.guard.hides(&self.identity(row)).is_none());
        let visible = self.guard.hides_panes().then(|| {
            let sessions = panes.iter().map(|row| row.session.id).collect();
            (sessions, panes.iter().map(|row| row.window.id).collect())
        });
        Ok(VisibleTree { panes, ownership, visible })
    }

    /// The sessions that the call may see, and whether this server made them.
    pub async fn sessions(&self) -> Result<Vec<(SessionRow, bool)>, ToolError> {
        let list = self.tmux().rows::<SessionRow>(Command::query("list-sessions"));
        let (sessions, tree) = tokio::join!(list, self.tree());
        let (sessions, tree) = (none_without_server(sessions)?, tree?);
        let visible = sessions.into_iter().filter(|row| tree.is_visible_session(row.session));
        Ok(visible
            .map(|row| {
                let own = tree.ownership.session(row.session);
                (row, own)
            })
            .collect())
    }

    /// The windows that the call may see, of one session or all, and whether this server made them.
    pub async fn windows(
        &self,
        session: Option<SessionId>,
    ) -> Result<Vec<(WindowRow, bool)>, ToolError> {
        let list = Command::query("list-windows");
        let list = match session {
            Some(session) => list.option("-t", session),
            None => list.arg("-a"),
        };
        let (windows, tree) = tokio::join!(self.tmux().rows::<WindowRow>(list), self.tree());
        let (windows, tree) = (none_without_server(windows)?, tree?);
        let visible =
            windows.into_iter().filter(|row| tree.is_visible_window(row.session, row.window));
        Ok(visible
            .map(|row| {
                let own = tree.ownership.window(row.window);
                (row, own)
            })
            .collect())
    }

    /// Resolves a target, if the call may use the object. A tool that needs a pane takes
    /// [`Resolved::pane`].
    pub async fn resolve(&self, target: &Target) -> Result<Resolved, ToolError> {
        self.resolve_admitted(target, Ok).await
    }

    /// Resolves several targets. A person who has to be asked is asked once about all of them.
    pub async fn resolve_all(&self, targets: &[Target]) -> Result<Vec<Resolved>, ToolError> {
        self.admitted(targets, Ok).await
    }

    /// Resolves a target to an object of this kind. A session or window stands for its active window
    /// and pane; a pane never stands for its window or session.
    pub async fn resolve_as(&self, target: &Target, level: Level) -> Result<Resolved, ToolError> {
        self.resolve_admitted(target, |Resolved { level: actual, pane }| match actual > level {
            true => {
                Err(ToolError::invalid_argument(format!("`{target}` is a {actual}, not a {level}"))
                    .hint(format!("give the {level} as target")))
            }
            false => Ok(Resolved { level, pane }),
        })
        .await
    }

    /// Resolves a target for a call that changes the window or session containing it. The guard is
    /// asked about that container.
    pub async fn resolve_container(
        &self,
        target: &Target,
        level: Level,
    ) -> Result<Resolved, ToolError> {
        let mut named = level;
        let container = |found: Resolved| {
            named = found.level;
            Ok(Resolved { level: level.min(named), ..found })
        };
        let container = self.resolve_admitted(target, container).await?;
        Ok(Resolved { level: named, ..container })
    }

    /// Resolves a target to a pane: itself, or the active pane of the object.
    pub async fn pane(&self, target: &Target) -> Result<PaneState, ToolError> {
        Ok(self.resolve(target).await?.pane)
    }

    /// Resolves a target to a pane and runs queries on it, in one round trip if the target is a pane
    /// id. The replies belong to one moment, and are returned only if the call may use the pane.
    pub async fn pane_with<const N: usize>(
        &self,
        target: &Target,
        queries: impl Fn(PaneId) -> [Command; N],
    ) -> Result<(PaneState, Vec<TmuxReply>), ToolError> {
        if let Some(ObjectId::Pane(id)) = ObjectId::parse(target.0.trim())
            && !self.guard.hides_panes()
        {
            let mut commands = vec![Server::row_query::<PaneState>(&id.to_string())];
            commands.extend(queries(id));
            // All errors are left to the general path below, which explains them.
            if let Ok(mut answers) = self.tmux().sequence(commands).await
                && let Ok(pane) = PaneState::parse_one("display-message", &answers.remove(0).0)
                && pane.process_state != ProcessState::Exited(None)
            {
                let resolved = Resolved { level: Level::Pane, pane };
                if self.admit(target, &resolved).await?.is_none() {
                    return Ok((resolved.pane, answers));
                }
            }
        }
        let pane = self.pane(target).await?;
        let answers = self.tmux().sequence(queries(pane.pane).into()).await?;
        Ok((pane, answers))
    }

    /// The target of a tool that also works relative to the current object. Without a target, but with
    /// a direction, the target is the own session, or the only visible one.
    pub async fn target_or_current(
        &self,
        target: Option<Target>,
        has_direction: bool,
        kind: &str,
    ) -> Result<Target, ToolError> {
        if let Some(target) = target {
            return Ok(target);
        }
        if !has_direction {
            return Err(ToolError::invalid_argument("neither `target` nor `direction` is given")
                .hint(format!("give a {kind} as `target`, or give `direction`")));
        }
        if let Some(own) = self.host.own_session().await {
            return Ok(Target(own.to_string()));
        }
        let mut sessions: Vec<SessionId> =
            self.panes().await?.iter().map(|row| row.session.id).collect();
        sessions.dedup();
        match sessions.as_slice() {
            [only] => Ok(Target(only.to_string())),
            _ => Err(ToolError::invalid_argument("argument `target` is missing")
                .hint("give a session, window or pane as `target`; list_panes shows them")),
        }
    }

    /// Asks the guard about a pane that an earlier call found. A pane that no longer exists is visible.
    pub async fn may_see(&self, pane: PaneId) -> Result<(), ToolError> {
        if !self.guard.hides_panes() {
            return Ok(());
        }
        let panes = self.host.panes().await?;
        let here: Vec<&PaneRow> = panes.iter().filter(|row| row.pane.id == pane).collect();
        let rules = here.iter().map(|row| self.guard.hides(&self.identity(row)));
        match rules.collect::<Option<Vec<_>>>().and_then(|rules| rules.first().copied()) {
            Some(rule) => Err(outside(Level::Pane, &Target(pane.to_string()), rule)),
            None => Ok(()),
        }
    }

    pub(super) async fn find(&self, target: &Target) -> Result<Resolved, ToolError> {
        if self.guard.hides_panes() {
            return self.find_visible(target).await;
        }
        // A name can begin or end with a blank, an id cannot.
        let text = target.0.as_str();
        if let Some(id) = ObjectId::parse(text.trim())
            && let Ok(pane) = self.host.pane(text.trim()).await
        {
            return Ok(Resolved { level: id.level(), pane });
        }
        // A name, or an unknown id: the error of `find` lists the existing objects.
        let places = PaneLocation::all(self.tmux()).await?;
        self.at(target::find(text, &places)?).await
    }

    /// Resolves a target among the visible panes. A window that is linked into several sessions is
    /// found in a visible one.
    async fn find_visible(&self, target: &Target) -> Result<Resolved, ToolError> {
        let text = target.0.as_str();
        let text = if ObjectId::parse(text.trim()).is_some() { text.trim() } else { text };
        let (places, panes) = tokio::join!(PaneLocation::all(self.tmux()), self.panes());
        let places = places?;
        let panes: HashSet<(SessionId, PaneId)> =
            panes?.iter().map(|row| (row.session.id, row.pane.id)).collect();
        let is_visible = |place: &&PaneLocation| panes.contains(&(place.session, place.pane));
        let visible: Vec<PaneLocation> = places.iter().filter(is_visible).cloned().collect();
        match (target::find(text, &visible), target::find(text, &places)) {
            // A session whose active pane is hidden must not resolve to another of its panes.
            (Ok(found), Ok(all)) if found.location.pane == all.location.pane => {
                self.at(found).await
            }
            (Ok(found), _) if found.level == Level::Pane => self.at(found).await,
            (Err(error @ TargetError::Ambiguous { .. }), _) => Err(error.into()),
            (_, Ok(all)) => {
                let pane = self.at(all).await?.pane;
                let rule = self.guard.hides(&self.identity_of(&pane)).unwrap_or("policy");
                Err(outside(all.level, target, rule))
            }
            (found, Err(_)) => self.at(found?).await,
        }
    }

    async fn at(&self, found: target::TargetMatch<'_>) -> Result<Resolved, ToolError> {
        let PaneLocation { session, window, pane, .. } = found.location;
        let pane = self.host.pane(&format!("{session}:{window}.{pane}")).await?;
        Ok(Resolved { level: found.level, pane })
    }

    /// The panes that may receive what the call types into a pane: that pane, and those synchronized with
    /// it that the policy allows.
    pub(crate) async fn receivers(
        &self,
        target: &Target,
        pane: &PaneState,
    ) -> Result<Receivers, ToolError> {
        if !pane.synchronized {
            return Ok(pane.pane.into());
        }
        let resolved = Resolved { level: Level::Pane, pane: pane.clone() };
        let (panes, _) = self.admit_panes(target, &resolved).await?;
        Ok(Receivers::new(pane.pane, panes.into_iter().map(|pane| pane.pane)))
    }

    fn identity<'a>(&self, row: &'a PaneRow) -> PaneIdentity<'a> {
        PaneIdentity {
            pane: row.pane.id,
            session: row.session.id,
            session_name: &row.session.name,
            own: self.host.owns(&row.pane.owner),
        }
    }

    pub(super) fn identity_of<'a>(&self, pane: &'a PaneState) -> PaneIdentity<'a> {
        PaneIdentity {
            pane: pane.pane,
            session: pane.session,
            session_name: &pane.session_name,
            own: self.host.owns(&pane.owner),
        }
    }
}

pub(super) fn outside(level: Level, target: &Target, rule: &str) -> ToolError {
    ToolError::new(Code::Denied, format!("{level} `{target}` is outside `{rule}`")).hint(format!(
        "list_panes shows the panes that can be used; a person can add to `{rule}` in the config file"
    ))
}
