//! The condition `input`: the foreground program, or the shell at its prompt, waits for input.

use super::{Condition, ConditionKind, Needs};
use crate::watch::observation::{Observation, ProgramState};

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "input",
    argument: None,
    help: "a program, or the shell at its prompt, waits for a line, a password or keys",
    make: |_, _| Ok(Box::new(Input)),
};

struct Input;

impl Condition for Input {
    fn needs(&self) -> Needs {
        Needs::Program
    }

    fn awaits_shell(&self) -> bool {
        true
    }

    fn holds(&self, observed: &Observation<'_>) -> Option<String> {
        let waits = observed.program.is_some_and(|state| state != ProgramState::Running);
        waits.then(|| observed.row.to_owned())
    }
}
