//! `password`: a program asks for a password.

use super::{Condition, ConditionKind, Needs};
use crate::watch::moment::{Doing, Moment};

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "password",
    argument: None,
    help: "a program reads a line that is not shown",
    make: |_, _| Ok(Box::new(Password)),
};

struct Password;

impl Condition for Password {
    fn needs(&self) -> Needs {
        Needs::Program
    }

    fn holds(&self, moment: &Moment<'_>) -> Option<String> {
        (moment.doing == Some(Doing::Password)).then(|| moment.row.to_owned())
    }
}
