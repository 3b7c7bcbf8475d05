//! `input`: whatever is in the foreground waits for input.

use super::{Condition, ConditionKind, Needs};
use crate::watch::moment::{Doing, Moment};

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "input",
    argument: None,
    help: "a line, a password or keys are waited for, by a program or by the shell at its prompt",
    make: |_, _| Ok(Box::new(Input)),
};

struct Input;

impl Condition for Input {
    fn needs(&self) -> Needs {
        Needs::Program
    }

    fn holds(&self, moment: &Moment<'_>) -> Option<String> {
        let waits = moment.doing.is_some_and(|doing| doing != Doing::Work);
        waits.then(|| moment.row.to_owned())
    }
}
