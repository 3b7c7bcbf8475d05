//! The condition `bell`: the bell rings.

use super::{Condition, ConditionKind};
use crate::watch::observation::Observation;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "bell",
    argument: None,
    help: "the bell rings",
    make: |_, _| Ok(Box::new(Bell)),
};

struct Bell;

impl Condition for Bell {
    fn holds(&self, observed: &Observation<'_>) -> Option<String> {
        observed.bell.then(String::new)
    }
}
