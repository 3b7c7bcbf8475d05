//! The condition `idle:…`: there is no output for some time.

use std::time::Duration;

use tokio::time::Instant;

use super::{Condition, ConditionKind, Needs, seconds};
use crate::watch::observation::Observation;

pub(super) const KIND: ConditionKind = ConditionKind {
    name: "idle",
    argument: Some("SECONDS"),
    help: "nothing is printed for this time, counted from the start of the call",
    make: |argument, _| Ok(Box::new(Idle(seconds(argument)?))),
};

struct Idle(Duration);

impl Condition for Idle {
    fn needs(&self) -> Needs {
        Needs::Time
    }

    fn holds(&self, observed: &Observation<'_>) -> Option<String> {
        (observed.now >= observed.quiet_since + self.0).then(String::new)
    }

    fn due(&self, observed: &Observation<'_>) -> Option<Instant> {
        Some(observed.quiet_since + self.0)
    }
}
