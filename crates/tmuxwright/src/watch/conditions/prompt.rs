//! `prompt`: a shell is at its prompt.

use super::{Condition, ConditionKind, Needs};
use crate::watch::moment::{Doing, Moment};

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

    fn holds(&self, moment: &Moment<'_>) -> Option<String> {
        (moment.doing == Some(Doing::Prompt)).then(|| moment.row.to_owned())
    }
}
