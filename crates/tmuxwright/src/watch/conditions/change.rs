//! The condition `change`: anything is printed or erased.

use super::{Condition, ConditionKind};
use crate::watch::observation::Observation;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "change",
    argument: None,
    help: "anything is printed or erased",
    make: |_, _| Ok(Box::new(Change)),
};

struct Change;

impl Condition for Change {
    fn holds(&self, observed: &Observation<'_>) -> Option<String> {
        observed.changed.then(|| observed.row.to_owned())
    }
}
