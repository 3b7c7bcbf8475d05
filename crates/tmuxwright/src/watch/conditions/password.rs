//! The condition `password`: a program waits for a password.

use super::{Condition, ConditionKind, Needs};
use crate::input_probe::AwaitedInput;
use crate::watch::observation::{Observation, ProgramState};

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "password",
    argument: None,
    help: "a program waits for a password, that is, a line without echo",
    make: |_, _| Ok(Box::new(Password)),
};

struct Password;

impl Condition for Password {
    fn needs(&self) -> Needs {
        Needs::Program
    }

    fn holds(&self, observed: &Observation<'_>) -> Option<String> {
        (observed.program == Some(ProgramState::Waits(AwaitedInput::Password)))
            .then(|| observed.row.to_owned())
    }
}
