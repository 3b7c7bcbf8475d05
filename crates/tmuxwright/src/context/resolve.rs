//! The ways from words to tmux objects. All of them ask the guard, so what the policy hides is
//! neither found nor listed.

use std::collections::HashSet;

use tmux_control::target::{self, Id, Level, Place, TargetError};
use tmux_control::{Command, PaneId, Reply, Row, Server, SessionId, WindowId};

use super::Cx;
use crate::contract::{Code, ObjectIds, PaneIdentity, Target, TargetObject, Tier, ToolError};
use crate::host::{
    Ownership, PaneRow, PaneState, ProcessState, SessionRow, WindowRow, none_without_server,
};

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

    fn ids(&self) -> ObjectIds {
        let (id, none) = (Some(self.id()), ObjectIds::default());
        match self.level {
            Level::Session => ObjectIds { session_id: id, ..none },
            Level::Window => ObjectIds { window_id: id, ..none },
            Level::Pane => ObjectIds { pane_id: id, ..none },
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

/// What a call may see of a server.
#[derive(Debug)]
pub struct VisibleTree {
    /// The panes.
    pub panes: Vec<PaneRow>,
    /// Who made what, of all there is.
    pub ownership: Ownership,
    /// What is shown, where some is not.
    shown: Option<(HashSet<SessionId>, HashSet<WindowId>)>,
}

impl VisibleTree {
    fn shows_session(&self, id: SessionId) -> bool {
        self.shown.as_ref().is_none_or(|(sessions, _)| sessions.contains(&id))
    }

    fn shows_window(&self, session: SessionId, id: WindowId) -> bool {
        let shown = self.shown.as_ref();
        shown.is_none_or(|(sessions, windows)| sessions.contains(&session) && windows.contains(&id))
    }
}

impl Cx {
    /// The panes that the call may see.
    pub async fn panes(&self) -> Result<Vec<PaneRow>, ToolError> {
        let mut panes = self.host.panes().await?;
        panes.retain(|row| self.guard.hides(&self.spot(row)).is_none());
        Ok(panes)
    }

    /// The same, and who made what.
    pub async fn tree(&self) -> Result<VisibleTree, ToolError> {
        let mut panes = self.host.panes().await?;
        let ownership = Ownership::of(&self.host, &panes);
        panes.retain(|row| self.guard.hides(&self.spot(row)).is_none());
        let shown = self.guard.hides_panes().then(|| {
            let sessions = panes.iter().map(|row| row.session.id).collect();
            (sessions, panes.iter().map(|row| row.window.id).collect())
        });
        Ok(VisibleTree { panes, ownership, shown })
    }

    /// The sessions that the call may see, and whether this server made them.
    pub async fn sessions(&self) -> Result<Vec<(SessionRow, bool)>, ToolError> {
        let list = self.tmux().rows::<SessionRow>(Command::query("list-sessions"));
        let (sessions, tree) = tokio::join!(list, self.tree());
        let (sessions, tree) = (none_without_server(sessions)?, tree?);
        let shown = sessions.into_iter().filter(|row| tree.shows_session(row.session));
        Ok(shown
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
        let shown = windows.into_iter().filter(|row| tree.shows_window(row.session, row.window));
        Ok(shown
            .map(|row| {
                let own = tree.ownership.window(row.window);
                (row, own)
            })
            .collect())
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

    /// The same for a call that does something to the window or session around what is named.
    pub async fn resolve_container(
        &self,
        target: &Target,
        level: Level,
    ) -> Result<Resolved, ToolError> {
        let Resolved { level: named, pane } = self.look_up(target).await?;
        let around = Resolved { level: level.min(named), pane };
        self.admit(target, &around).await?;
        Ok(Resolved { level: named, ..around })
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
        if let Some(Id::Pane(id)) = Id::parse(target.0.trim())
            && !self.guard.hides_panes()
        {
            let mut commands = vec![Server::row_query::<PaneState>(&id.to_string())];
            commands.extend(queries(id));
            // Anything out of the ordinary is for the slow way to explain.
            if let Ok(mut answers) = self.tmux().sequence(commands).await
                && let Ok(pane) = PaneState::parse_one("display-message", &answers.remove(0).0)
                && pane.process_state != ProcessState::Exited(None)
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
            self.panes().await?.iter().map(|row| row.session.id).collect();
        sessions.dedup();
        match sessions.as_slice() {
            [only] => Ok(Target(only.to_string())),
            _ => Err(ToolError::invalid_argument("argument `target` is missing")
                .hint("name a session, window or pane; list_panes shows them")),
        }
    }

    /// Asks whether a pane may still be seen that was found by an earlier call. One that is gone may.
    pub async fn may_see(&self, pane: PaneId) -> Result<(), ToolError> {
        if !self.guard.hides_panes() {
            return Ok(());
        }
        let panes = self.host.panes().await?;
        let here: Vec<&PaneRow> = panes.iter().filter(|row| row.pane.id == pane).collect();
        let rules = here.iter().map(|row| self.guard.hides(&self.spot(row)));
        match rules.collect::<Option<Vec<_>>>().and_then(|rules| rules.first().copied()) {
            Some(rule) => Err(outside(Level::Pane, &Target(pane.to_string()), rule)),
            None => Ok(()),
        }
    }

    async fn look_up(&self, target: &Target) -> Result<Resolved, ToolError> {
        if self.guard.hides_panes() {
            return self.look_up_shown(target).await;
        }
        // A name may begin or end with a blank, an id cannot.
        let text = target.0.as_str();
        if let Some(id) = Id::parse(text.trim())
            && let Ok(pane) = self.host.pane(text.trim()).await
        {
            return Ok(Resolved { level: id.level(), pane });
        }
        // By name; and an id that was not found comes here for the list of what there is.
        let places = Place::all(self.tmux()).await?;
        self.at(target::find(text, &places)?).await
    }

    /// Looks among what the policy shows. A window that is in several sessions is found in one that
    /// it shows.
    async fn look_up_shown(&self, target: &Target) -> Result<Resolved, ToolError> {
        let text = target.0.as_str();
        let text = if Id::parse(text.trim()).is_some() { text.trim() } else { text };
        let (places, panes) = tokio::join!(Place::all(self.tmux()), self.panes());
        let places = places?;
        let panes: HashSet<(SessionId, PaneId)> =
            panes?.iter().map(|row| (row.session.id, row.pane.id)).collect();
        let is_shown = |place: &&Place| panes.contains(&(place.session, place.pane));
        let shown: Vec<Place> = places.iter().filter(is_shown).cloned().collect();
        match (target::find(text, &shown), target::find(text, &places)) {
            // A session whose active pane is hidden is not to be taken for another pane in it.
            (Ok(found), Ok(all)) if found.place.pane == all.place.pane => self.at(found).await,
            (Ok(found), _) if found.level == Level::Pane => self.at(found).await,
            (Err(error @ TargetError::Ambiguous { .. }), _) => Err(error.into()),
            (_, Ok(all)) => {
                let pane = self.at(all).await?.pane;
                let rule = self.guard.hides(&self.spot_of(&pane)).unwrap_or("policy");
                Err(outside(all.level, target, rule))
            }
            (found, Err(_)) => self.at(found?).await,
        }
    }

    async fn at(&self, found: target::Found<'_>) -> Result<Resolved, ToolError> {
        let Place { session, window, pane, .. } = found.place;
        let pane = self.host.pane(&format!("{session}:{window}.{pane}")).await?;
        Ok(Resolved { level: found.level, pane })
    }

    async fn admit(&self, target: &Target, resolved: &Resolved) -> Result<(), ToolError> {
        self.request.first_target.note(resolved.ids());
        let panes = self.affected_panes(resolved).await?;
        for pane in &panes {
            if let Some(rule) = self.guard.hides(&self.spot_of(pane)) {
                return Err(outside(resolved.level, target, rule));
            }
        }
        let subject = self.subject(resolved.level, resolved.id(), &panes, target);
        self.guard.admit_object(self.meta, &subject)
    }

    pub(super) fn subject<'a>(
        &self,
        level: Level,
        id: String,
        panes: &[PaneState],
        target: &'a Target,
    ) -> TargetObject<'a> {
        TargetObject {
            level,
            id,
            foreign: panes.iter().filter(|p| !self.host.owns(&p.owner)).map(|p| p.pane).collect(),
            holds_caller: panes.iter().any(|p| self.host.is_caller(p.pane, p.pid)),
            target,
        }
    }

    /// The panes that the call can do something to. A call that reads gets the one that stands for
    /// the object, and the lists it makes are filtered.
    async fn affected_panes(&self, resolved: &Resolved) -> Result<Vec<PaneState>, ToolError> {
        let own_only = matches!(self.meta.tier, Tier::MutateOwn | Tier::DestroyOwn | Tier::Destroy);
        let changes = self.meta.tier != Tier::Read;
        let list = Command::query("list-panes");
        if resolved.level < Level::Pane && (own_only || (changes && self.guard.hides_panes())) {
            let list = list.option("-t", resolved.id());
            let list = list.arg_if(resolved.level == Level::Session, "-s");
            return Ok(self.tmux().rows(list).await?);
        }
        if self.meta.types() && resolved.pane.synchronized {
            let list = list.option("-t", resolved.pane.window);
            let mut panes: Vec<PaneState> = self.tmux().rows(list).await?;
            panes.retain(|pane| pane.synchronized || pane.pane == resolved.pane.pane);
            return Ok(panes);
        }
        Ok(vec![resolved.pane.clone()])
    }

    fn spot<'a>(&self, row: &'a PaneRow) -> PaneIdentity<'a> {
        PaneIdentity {
            pane: row.pane.id,
            session: row.session.id,
            session_name: &row.session.name,
            own: self.host.owns(&row.pane.owner),
        }
    }

    fn spot_of<'a>(&self, pane: &'a PaneState) -> PaneIdentity<'a> {
        PaneIdentity {
            pane: pane.pane,
            session: pane.session,
            session_name: &pane.session_name,
            own: self.host.owns(&pane.owner),
        }
    }
}

fn outside(level: Level, target: &Target, rule: &str) -> ToolError {
    ToolError::new(Code::Denied, format!("{level} `{target}` is outside `{rule}`")).hint(format!(
        "list_panes shows what can be reached; a person can add to `{rule}` in the config file"
    ))
}
