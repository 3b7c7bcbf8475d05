//! `change`: anything is printed.

use super::{Condition, ConditionKind};
use crate::watch::moment::Moment;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "change",
    argument: None,
    help: "anything is printed or erased",
    make: |_, _| Ok(Box::new(Change)),
};

struct Change;

impl Condition for Change {
    fn holds(&self, moment: &Moment<'_>) -> Option<String> {
        moment.changed.then(|| moment.row.to_owned())
    }
}
