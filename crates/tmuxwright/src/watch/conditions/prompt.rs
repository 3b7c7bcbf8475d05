//! The condition `prompt`: a shell is at its prompt.

use super::{Condition, ConditionKind, Needs};
use crate::watch::observation::{Observation, ProgramState};

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "prompt",
    argument: None,
    help: "a shell is at its prompt",
    make: |_, _| Ok(Box::new(Prompt)),
};

struct Prompt;

impl Condition for Prompt {
    fn needs(&self) -> Needs {
        Needs::Program
    }

    fn awaits_shell(&self) -> bool {
        true
    }

    fn holds(&self, observed: &Observation<'_>) -> Option<String> {
        (observed.program == Some(ProgramState::Prompt)).then(|| observed.row.to_owned())
    }
}
