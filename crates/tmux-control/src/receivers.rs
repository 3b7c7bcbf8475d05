//! Typing that reaches only the panes that it is meant for.
//!
//! With `synchronize-panes`, tmux copies the input of a pane to other panes of its window. A person
//! or another program can switch it on between a check and a key. So the check is a tmux command of
//! its own, sent in one sequence with the key (`Command::require`).

use crate::command::Command;
use crate::error::Error;
use crate::id::PaneId;
use crate::server::Server;

/// The failure that tmux reports if another pane would receive the input.
const OTHER_RECEIVERS: &str = "input-reaches-other-panes";

/// The failure that tmux reports if the condition of a caller is not true.
const NOT_AS_EXPECTED: &str = "pane-is-not-as-expected";

/// The panes that may receive what is typed into a pane.
#[derive(Debug, Clone)]
pub struct Receivers {
    pane: PaneId,
    allowed: Vec<PaneId>,
}

impl From<PaneId> for Receivers {
    /// No pane but this one.
    fn from(pane: PaneId) -> Self {
        Self { pane, allowed: vec![pane] }
    }
}

impl Receivers {
    /// The pane, and others that its input may be copied to.
    pub fn new(pane: PaneId, others: impl IntoIterator<Item = PaneId>) -> Self {
        Self { pane, allowed: others.into_iter().chain([pane]).collect() }
    }

    /// The pane that is typed into.
    pub fn pane(&self) -> PaneId {
        self.pane
    }

    /// A query that fails if another pane would receive the input.
    pub(crate) fn check(&self) -> Command {
        let allowed: String = self.allowed.iter().map(|pane| format!("|{pane}|")).collect();
        let is_allowed = format!("#{{m:*|#{{pane_id}}|*,{allowed}}}");
        let others = format!("#{{P:#{{?pane_synchronized,#{{?{is_allowed},,x}},}}}}");
        let others = format!("#{{?pane_synchronized,{others},}}");
        Command::require(self.pane, &format!("#{{==:{others},}}"), OTHER_RECEIVERS)
    }

    /// The error of a sequence that contains the check.
    fn explain(&self, error: Error) -> Error {
        match error {
            Error::Refused { message, .. } if message.contains(OTHER_RECEIVERS) => {
                Error::Synchronized { pane: self.pane.to_string() }
            }
            error => error,
        }
    }
}

impl Server {
    /// Runs commands that type into a pane, each only if no other pane would receive the input. Once
    /// one is refused for that reason, no later one is run.
    pub async fn type_into(
        &self,
        receivers: &Receivers,
        commands: Vec<Command>,
    ) -> Result<(), Error> {
        let check = receivers.check();
        let lines = commands.into_iter().map(|command| vec![check.clone(), command]).collect();
        self.run_lines(lines).await.map_err(|error| receivers.explain(error))
    }

    /// Runs commands that type into a pane without a break, if no other pane would receive the input
    /// and the format `condition` is true for the pane at that moment. False if the condition is not
    /// true; then nothing was typed.
    ///
    /// tmux handles the keys of people between two sequences, never within one.
    pub async fn type_if(
        &self,
        receivers: &Receivers,
        condition: &str,
        commands: Vec<Command>,
    ) -> Result<bool, Error> {
        let condition = Command::require(receivers.pane, condition, NOT_AS_EXPECTED);
        let sequence = [receivers.check(), condition].into_iter().chain(commands).collect();
        match self.sequence(sequence).await {
            Ok(_) => Ok(true),
            Err(Error::Refused { message, .. }) if message.contains(NOT_AS_EXPECTED) => Ok(false),
            Err(error) => Err(receivers.explain(error)),
        }
    }
}
