//! Admission: what the guard is asked about an object before a call may use or end it, and the person
//! after it.

use tmux_control::Command;
use tmux_control::target::Level;

use super::consent::Question;
use super::resolve::outside;
use super::{Cx, Resolved};
use crate::contract::{Admission, Meta, Target, TargetObject, Tier, ToolError};
use crate::host::PaneState;

/// The id that stands for all objects of a tmux server.
const ALL_OBJECTS: &str = "all";

impl Cx {
    /// Resolves a target to the object that `choose` makes of the found one, if the call may use it.
    pub(super) async fn resolve_admitted(
        &self,
        target: &Target,
        choose: impl FnMut(Resolved) -> Result<Resolved, ToolError>,
    ) -> Result<Resolved, ToolError> {
        let mut resolved = self.admitted(std::slice::from_ref(target), choose).await?;
        resolved.pop().ok_or_else(|| ToolError::internal(format!("`{target}` was not resolved")))
    }

    /// The same for several targets. If a person has to be asked, everything is looked up again after
    /// the answer, since any time may have passed.
    pub(super) async fn admitted(
        &self,
        targets: &[Target],
        mut choose: impl FnMut(Resolved) -> Result<Resolved, ToolError>,
    ) -> Result<Vec<Resolved>, ToolError> {
        let mut was_asked = false;
        loop {
            let (mut resolved, mut questions) = (Vec::new(), Vec::new());
            for target in targets {
                let object = choose(self.find(target).await?)?;
                questions.extend(self.admit(target, &object).await?);
                resolved.push(object);
            }
            match questions.first() {
                None => return Ok(resolved),
                Some(first) if was_asked => return Err(self.changed_meanwhile(&first.subject)),
                Some(_) => self.ask(questions).await?,
            }
            was_asked = true;
        }
    }

    /// Asks the guard about a resolved object. Returns the question to put to a person, if one is needed.
    pub(super) async fn admit(
        &self,
        target: &Target,
        resolved: &Resolved,
    ) -> Result<Option<Question>, ToolError> {
        Ok(self.admit_panes(target, resolved).await?.1)
    }

    /// The same, with all panes that the call can affect.
    pub(super) async fn admit_panes(
        &self,
        target: &Target,
        resolved: &Resolved,
    ) -> Result<(Vec<PaneState>, Option<Question>), ToolError> {
        self.request.first_target.note(resolved.ids());
        let panes = self.affected_panes(resolved).await?;
        for pane in &panes {
            if let Some(rule) = self.guard.hides(&self.identity_of(pane)) {
                return Err(outside(resolved.level, target, rule));
            }
        }
        let object = self.target_object(resolved.level, resolved.id(), &panes, target);
        let admission = self.guard.admit_object(self.meta, &object)?;
        let question = self.question(admission, &object).await?;
        Ok((panes, question))
    }

    /// The question to a person that an admission requires, unless the person accepted it already.
    async fn question(
        &self,
        admission: Admission,
        object: &TargetObject<'_>,
    ) -> Result<Option<Question>, ToolError> {
        if admission == Admission::Granted {
            return Ok(None);
        }
        let facts = self.pane_facts(&object.foreign).await?;
        let subject = match object.id.as_str() {
            ALL_OBJECTS => "everything on this tmux server".to_owned(),
            id => format!("{} {id}", object.level),
        };
        Ok(Some(Question { subject, facts }).filter(|question| !self.is_accepted(&question.facts)))
    }

    fn target_object<'a>(
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
            contains_caller: panes.iter().any(|p| self.host.is_caller(p.pane, p.pid)),
            target,
        }
    }

    /// The panes that the call can affect. For a call that reads this is the resolved pane, because
    /// the lists it returns are filtered.
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

    /// Asks the guard, and a person if needed, whether the call may end an object, or with `None` all
    /// panes of the tmux server. `refused` makes the error of a refusal.
    pub async fn may_end(
        &self,
        object: Option<&Resolved>,
        refused: impl Fn() -> ToolError,
    ) -> Result<(), ToolError> {
        let Some(question) = self.question_of_end(object, &refused).await? else { return Ok(()) };
        let subject = question.subject.clone();
        self.ask(vec![question]).await?;
        match self.question_of_end(object, &refused).await? {
            Some(_) => Err(self.changed_meanwhile(&subject)),
            None => Ok(()),
        }
    }

    async fn question_of_end(
        &self,
        object: Option<&Resolved>,
        refused: impl Fn() -> ToolError,
    ) -> Result<Option<Question>, ToolError> {
        let panes = self.panes_of(object).await?;
        let level = object.map_or(Level::Session, |object| object.level);
        let id = object.map_or_else(|| ALL_OBJECTS.to_owned(), Resolved::id);
        let target = Target(id.clone());
        let meta = Meta { tier: Tier::DestroyOwn, ..*self.meta };
        let object = self.target_object(level, id, &panes, &target);
        let admission = self.guard.admit_object(&meta, &object).map_err(|_| refused())?;
        self.question(admission, &object).await
    }

    /// Whether this server made all panes of an object for the caller, or with `None` all panes of the
    /// tmux server.
    pub async fn owns(&self, object: Option<&Resolved>) -> Result<bool, ToolError> {
        let panes = self.panes_of(object).await?;
        Ok(panes.iter().all(|pane| self.host.owns(&pane.owner)))
    }

    /// All panes of an object, or with `None` of the tmux server.
    async fn panes_of(&self, object: Option<&Resolved>) -> Result<Vec<PaneState>, ToolError> {
        let list = Command::query("list-panes");
        let list = match object {
            Some(object) => {
                let all = object.level == Level::Session;
                list.option("-t", object.id()).arg_if(all, "-s")
            }
            None => list.arg("-a"),
        };
        let mut panes: Vec<PaneState> = self.tmux().rows(list).await?;
        if let Some(Resolved { level: Level::Pane, pane }) = object {
            panes.retain(|row| row.pane == pane.pane);
            // A tool clears the owner if what it would end is not the pane's, such as a pipe.
            let foreign = pane.owner.is_empty();
            panes.iter_mut().filter(|_| foreign).for_each(|row| row.owner.clear());
        }
        Ok(panes)
    }
}
